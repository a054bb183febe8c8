"""Where pods may run: PodNodeSelector, LimitPodHardAntiAffinityTopology, PodTopologyLabels.

As k8s.io/kubernetes `plugin/pkg/admission/{podnodeselector,antiaffinity,podtopologylabels}`. A pod
that is created on a node takes over its labels by a rule of `celadon.kube.defaulting`; one that is
bound to a node later takes them from the Binding, which is what is changed here.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.admission.plugins.plugin_answers import CREATE, PODS, Behaviour, forbidden
from celadon.admission.request import Request
from celadon.admission.world import World
from celadon.kube import StatusError, metadata, status
from celadon.kube.defaulting import TOPOLOGY_LABELS
from celadon.kube.well_known_values import HOST_NAME, NODES

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
