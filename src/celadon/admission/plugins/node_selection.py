"""Where pods may run: PodNodeSelector, LimitPodHardAntiAffinityTopology, PodTopologyLabels.

As k8s.io/kubernetes `plugin/pkg/admission/{podnodeselector,antiaffinity,podtopologylabels}`. A pod
that is created on a node takes over its labels by a rule of `celadon.kube.defaulting`; one that is
bound to a node later takes them from the Binding, which is what is changed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from celadon.admission.plugins.plugin_answers import CREATE, PODS, WRITES, Behaviour, forbidden
from celadon.admission.request import Operation, Request
from celadon.admission.world import World
from celadon.kube import JsonObject, StatusError, metadata, status
from celadon.kube.defaulting import TOPOLOGY_LABELS, covers, merged
from celadon.kube.go import JsonSyntaxError, read_json
from celadon.kube.quantity import qos_class
from celadon.kube.schemas import DecodeError, decode_list
from celadon.kube.well_known_values import HOST_NAME, NATIVE_DOMAIN, NODES

NODE_SELECTOR: Final = "scheduler.alpha.kubernetes.io/node-selector"
"""Annotation of a namespace whose pods run on nodes with these labels."""


class _Unreadable(ValueError):
    """An annotation that is no list of labels."""


def _select(pod: dict[str, Any], request: Request, world: World) -> StatusError | None:
    try:
        wanted = _selector_of(request.namespace, world)
    except _Unreadable as error:
        return status.plain_error(str(error))
    present = pod["spec"].get("nodeSelector") or {}
    if _conflict(wanted, present):
        return _conflicting(request)
    if wanted:
        pod["spec"]["nodeSelector"] = {**wanted, **present}
    return None


def _validate_selector(request: Request, world: World) -> StatusError | None:
    try:
        wanted = _selector_of(request.namespace, world)
    except _Unreadable as error:
        return status.plain_error(str(error))
    present = ((request.object or {}).get("spec") or {}).get("nodeSelector") or {}
    return _conflicting(request) if _conflict(wanted, present) else None


def _conflict(wanted: dict[str, str], present: dict[str, str]) -> bool:
    return any(present.get(key, value) != value for key, value in wanted.items())


def _conflicting(request: Request) -> StatusError:
    why = "pod node label selector conflicts with its namespace node label selector"
    return forbidden(request, why)


def _selector_of(namespace: str, world: World) -> dict[str, str]:
    text = metadata.annotations(world.namespace(namespace)).get(NODE_SELECTOR, "")
    found = {}
    for term in text.split(",") if text else ():
        parts = term.split("=")
        if len(parts) != 2:
            raise _Unreadable(f"invalid selector: [{' '.join(parts)}]")
        found[parts[0].strip()] = parts[1].strip()
    return found


def _validate_affinity(request: Request, _: World) -> StatusError | None:
    spec = (request.object or {}).get("spec") or {}
    apart = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    for term in apart.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        key = term.get("topologyKey", "")
        if key != HOST_NAME:
            return forbidden(
                request,
                "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey "
                f"{key} but only key {HOST_NAME} is allowed",
            )
    return None


def _label_binding(binding: dict[str, Any], _: Request, world: World) -> StatusError | None:
    target = binding.get("target") or {}
    if target.get("kind") != "Node":
        return None
    labels = metadata.labels(world.get(NODES, "", target.get("name", "")))
    copied = {key: labels[key] for key in TOPOLOGY_LABELS if key in labels}
    if copied:
        meta = binding.setdefault("metadata", {})
        meta["labels"] = {**(meta.get("labels") or {}), **copied}
    return None


NODE_SELECTORS: Final = Behaviour(
    mutate=_select, validate=_validate_selector, resources=PODS, operations=CREATE
)
ANTI_AFFINITY: Final = Behaviour(validate=_validate_affinity, resources=PODS)
TOPOLOGY: Final = Behaviour(
    mutate=_label_binding,
    resources=PODS,
    subresources=frozenset({"binding"}),
    operations=CREATE,
)


# --- Toleration limits -------------------------------------------------------
#
# Which taints pods tolerate: PodTolerationRestriction, ExtendedResourceToleration.
#
# As k8s.io/kubernetes
# `plugin/pkg/admission/{podtolerationrestriction,extendedresourcetoleration}`; there is no
# configuration for a whole cluster.


DEFAULTS: Final = "scheduler.alpha.kubernetes.io/defaultTolerations"
ALLOWED: Final = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
"""Annotations of namespaces: lists of tolerations in JSON."""

_TOLERATION: Final = "io.k8s.api.core.v1.Toleration"

MEMORY_PRESSURE: Final = {
    "key": "node.kubernetes.io/memory-pressure",
    "operator": "Exists",
    "effect": "NoSchedule",
}
_SAME: Final = ("key", "operator", "value", "effect")
QUOTA_PREFIX: Final = "requests."


def _restrict(pod: dict[str, Any], request: Request, world: World) -> StatusError | None:
    spec = pod["spec"]
    tolerations = spec.get("tolerations") or []
    try:
        if request.operation is Operation.CREATE:
            given = _listed(request, world, DEFAULTS)
            tolerations = merged((*given, *tolerations)) if given else tolerations
        if qos_class(spec) != "BestEffort":
            tolerations = merged((*tolerations, MEMORY_PRESSURE))
        if tolerations:
            spec["tolerations"] = tolerations
        return _not_allowed(tolerations, request, world)
    except (JsonSyntaxError, DecodeError) as error:
        return status.plain_error(str(error))


def _validate(request: Request, world: World) -> StatusError | None:
    tolerations = ((request.object or {}).get("spec") or {}).get("tolerations") or []
    try:
        return _not_allowed(tolerations, request, world)
    except (JsonSyntaxError, DecodeError) as error:
        return status.plain_error(str(error))


def _not_allowed(
    tolerations: list[JsonObject], request: Request, world: World
) -> StatusError | None:
    allowed = _listed(request, world, ALLOWED) if tolerations else []
    if not allowed or all(any(covers(one, given) for one in allowed) for given in tolerations):
        return None
    return status.plain_error(
        "pod tolerations (possibly merged with namespace default tolerations) conflict with its "
        "namespace whitelist"
    )


def _listed(request: Request, world: World, annotation: str) -> list[JsonObject]:
    """Raises JsonSyntaxError or DecodeError when the annotation is no JSON or no such list."""
    text = metadata.annotations(world.namespace(request.namespace)).get(annotation)
    return [*decode_list(_TOLERATION, read_json(text).value)] if text else []


def _tolerate_resources(pod: dict[str, Any], _: Request, __: World) -> StatusError | None:
    spec = pod["spec"]
    for name in sorted(set(_extended_resources(spec))):
        wanted = {"key": name, "operator": "Exists", "effect": "NoSchedule"}
        present = spec.get("tolerations") or []
        if not any(_is_same(one, wanted) for one in present):
            spec["tolerations"] = [*present, wanted]
    return None


def _is_same(one: JsonObject, other: JsonObject) -> bool:
    return all(one.get(field, "") == other.get(field, "") for field in _SAME)


def _extended_resources(spec: JsonObject) -> Iterator[str]:
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            for name in (container.get("resources") or {}).get("requests") or ():
                if is_extended_resource(name):
                    yield name


def is_extended_resource(name: str) -> bool:
    """Return whether a resource is one that a device plugin offers."""
    if "/" not in name or NATIVE_DOMAIN in name:
        return False
    return not name.startswith(QUOTA_PREFIX)


TOLERATION_RESTRICTION: Final = Behaviour(mutate=_restrict, validate=_validate, resources=PODS)
RESOURCE_TOLERATION: Final = Behaviour(mutate=_tolerate_resources, resources=PODS)
DEFAULT_TOLERATIONS: Final = Behaviour(resources=PODS, rules_on=WRITES)
