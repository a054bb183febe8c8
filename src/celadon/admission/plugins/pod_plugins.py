"""The plugins about where pods run, and with which images: AlwaysPullImages, ImagePolicyWebhook,
PodResizeValidator, RuntimeClass, PodNodeSelector, LimitPodHardAntiAffinityTopology,
PodTopologyLabels, PodTolerationRestriction, ExtendedResourceToleration; and what pods refer to by
name.

As k8s.io/kubernetes `pkg/api/pod` (`VisitPodSecretNames`, `VisitPodConfigmapNames`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final

from celadon.admission.cluster_lookups import World
from celadon.admission.plugins.plugin_interface import (
    CREATE,
    PODS,
    WRITES,
    Behaviour,
    Opinion,
    forbidden,
)
from celadon.admission.request import Operation, Request
from celadon.kube import (
    FieldPath,
    Json,
    JsonObject,
    StatusError,
    defaulting,
    fieldpath,
    metadata,
    name_rules,
    status,
    well_known_values,
)
from celadon.kube.defaulting import TOPOLOGY_LABELS, covers, merged
from celadon.kube.go import JsonSyntaxError, quote, read_json
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import parse_amounts, pod_needs, qos_class, same_amount
from celadon.kube.schemas import DecodeError, decode_list
from celadon.records import dataclass

_SECRET_FIELDS: Final = (
    ("azureFile", "secretName"),
    ("secret", "secretName"),
)
"""Volume sources that hold the name itself."""
_SECRET_REFERENCES: Final = (
    ("cephfs", "secretRef"),
    ("cinder", "secretRef"),
    ("flexVolume", "secretRef"),
    ("rbd", "secretRef"),
    ("scaleIO", "secretRef"),
    ("iscsi", "secretRef"),
    ("storageos", "secretRef"),
    ("csi", "nodePublishSecretRef"),
)
"""Volume sources that hold a reference with a name."""


def containers(spec: JsonObject) -> Iterator[JsonObject]:
    """Yield the containers of all three kinds, in the order in which upstream visits them."""
    for field in well_known_values.CONTAINER_LISTS:
        yield from spec.get(field) or ()


def secret_names(spec: JsonObject) -> Iterator[str]:
    """Yield every secret that a pod names, with repetitions; empty names are none."""
    return filter(None, _secrets(spec))


def _secrets(spec: JsonObject) -> Iterator[str]:
    for reference in spec.get("imagePullSecrets") or ():
        yield reference.get("name", "")
    yield from _named_in_containers(spec, "secretRef", "secretKeyRef")
    for volume in spec.get("volumes") or ():
        for source, field in _SECRET_FIELDS:
            if volume.get(source) is not None:
                yield volume[source].get(field, "")
        for source, field in _SECRET_REFERENCES:
            if (volume.get(source) or {}).get(field) is not None:
                yield volume[source][field].get("name", "")
        yield from _projected(volume, "secret")


def config_map_names(spec: JsonObject) -> Iterator[str]:
    """Yield every ConfigMap that a pod names, with repetitions; empty names are none."""
    return filter(None, _config_maps(spec))


def _config_maps(spec: JsonObject) -> Iterator[str]:
    yield from _named_in_containers(spec, "configMapRef", "configMapKeyRef")
    for volume in spec.get("volumes") or ():
        if volume.get("configMap") is not None:
            yield volume["configMap"].get("name", "")
        yield from _projected(volume, "configMap")


def projections(spec: JsonObject) -> Iterator[JsonObject]:
    """Yield the sources of all projected volumes."""
    for volume in spec.get("volumes") or ():
        yield from (volume.get("projected") or {}).get("sources") or ()


def _named_in_containers(spec: JsonObject, all_keys: str, one_key: str) -> Iterator[str]:
    for container in containers(spec):
        for source in container.get("envFrom") or ():
            if source.get(all_keys) is not None:
                yield source[all_keys].get("name", "")
        for variable in container.get("env") or ():
            reference = (variable.get("valueFrom") or {}).get(one_key)
            if reference is not None:
                yield reference.get("name", "")


def _projected(volume: JsonObject, kind: str) -> Iterator[str]:
    for source in (volume.get("projected") or {}).get("sources") or ():
        if source.get(kind) is not None:
            yield source[kind].get("name", "")


def unaskable_name(name: str) -> str:
    """Return what upstream's client says before it looks for an object of a name that no path can
    have; empty for other names."""
    if not name:
        return "resource name may not be empty"
    faults = name_rules.path_segment_name(name)
    return f"invalid resource name {quote(name)}: [{' '.join(faults)}]" if faults else ""


# --- Image pulling -----------------------------------------------------------
#
# AlwaysPullImages: nobody runs an image from a node's cache that they could not pull.
#
# As k8s.io/kubernetes `plugin/pkg/admission/alwayspullimages`.

ALWAYS: Final = "Always"


def _image_pulling_mutate(pod: JsonDict, request: Request, _: World) -> StatusError | None:
    spec = pod["spec"]
    if _has_no_new_images(request, spec):
        return None
    for container in containers(spec):
        if isinstance(container, dict):
            container["imagePullPolicy"] = ALWAYS
    for volume in spec.get("volumes") or ():
        if volume.get("image") is not None:
            volume["image"]["pullPolicy"] = ALWAYS
    return None


def _image_pulling_validate(request: Request, _: World) -> StatusError | None:
    spec = (request.object or {}).get("spec") or {}
    if _has_no_new_images(request, spec):
        return None
    texts = [str(forbidden(request, text)) for text in _complaints(spec)]
    if not texts:
        return None
    return status.plain_error(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


def _complaints(spec: JsonObject) -> Iterator[str]:
    for field in well_known_values.CONTAINER_LISTS:
        for i, container in enumerate(spec.get(field) or ()):
            policy = container.get("imagePullPolicy", "")
            if policy != ALWAYS:
                path = FieldPath("spec").child(field).index(i).child("imagePullPolicy")
                yield str(fieldpath.not_supported(path, policy, (ALWAYS,)))


def _has_no_new_images(request: Request, spec: JsonObject) -> bool:
    """Return whether an update leaves what is pulled as it is."""
    if request.operation is not Operation.UPDATE:
        return False
    old = _images((request.old_object or {}).get("spec") or {})
    return _images(spec) <= old


def _images(spec: JsonObject) -> set[str]:
    return {container.get("image", "") for container in containers(spec)}


IMAGE_PULLING: Final = Behaviour(
    mutate=_image_pulling_mutate, validate=_image_pulling_validate, resources=PODS
)


# --- Pod resizing ------------------------------------------------------------
#
# PodResizeValidator: a pod that is resized where it runs still fits its node.
#
# As k8s.io/kubernetes `plugin/pkg/admission/podresize`.


_DIGITS: Final = {"cpu": 3, "memory": 0}
"""How many digits behind the point are counted when resources are compared and shown."""


def _pod_resizing_validate(request: Request, world: World) -> StatusError | None:
    pod = request.object or {}
    name = (pod.get("spec") or {}).get("nodeName")
    if not name or metadata.generation(pod) == metadata.generation(request.old_object):
        return None
    node = world.get(well_known_values.NODES, "", name)
    if node is None:
        return forbidden(request, f"node {quote(name)} not found")
    missing = _pod_resizing_missing(pod["spec"], node)
    if missing:
        text = "; ".join(missing)
        reason = f"Node didn't have enough allocatable resources: {text}"
        return forbidden(request, reason)
    system = metadata.labels(node).get(well_known_values.OPERATING_SYSTEM, "")
    if system != "linux":
        return forbidden(
            request,
            f"pod resize is only supported on linux nodes, node {quote(name)} is {quote(system)}",
        )
    return None


def _pod_resizing_missing(spec: JsonObject, node: JsonObject) -> list[str]:
    allocatable_amounts = (node.get("status") or {}).get("allocatable") or {}
    requests = pod_needs(spec, "requests")
    result = []
    for name, digits in _DIGITS.items():
        requested = requests[name].int64_value(digits) if name in requests else 0
        allocatable = (
            parse_amounts(allocatable_amounts[name]).int64_value(digits)
            if name in allocatable_amounts
            else 0
        )
        if requested > allocatable:
            result.append(f"{name}, requested: {requested}, allocatable: {allocatable}")
    return result


POD_RESIZING: Final = Behaviour(
    validate=_pod_resizing_validate,
    resources=PODS,
    subresources=frozenset({"resize"}),
    operations=frozenset({Operation.UPDATE}),
)


# --- Runtime checks ----------------------------------------------------------
#
# RuntimeClass: the class of a pod exists, and its overhead is the pod's.
#
# As k8s.io/kubernetes `plugin/pkg/admission/runtimeclass`. What it fills in stands in the rules
# of `celadon.kube.defaulting`; here is what it refuses.

OTHER_OVERHEAD: Final = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
STRANGE_OVERHEAD: Final = (
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
)


def _runtime_checks_mutate(pod: JsonObject, request: Request, world: World) -> StatusError | None:
    spec = pod["spec"]
    name = spec.get("runtimeClassName")
    if name is None:
        return None
    result = world.get(defaulting.RUNTIME_CLASSES, "", name)
    if result is None:
        return _runtime_checks_missing(request, name)
    fixed = _fixed(result)
    if fixed is not None and spec.get("overhead") and not _same(fixed, spec["overhead"]):
        return forbidden(request, OTHER_OVERHEAD)
    node_selector = (result.get("scheduling") or {}).get("nodeSelector") or {}
    selector = spec.get("nodeSelector") or {}
    for key, value in sorted(node_selector.items()):
        if selector.get(key, value) != value:
            return forbidden(
                request,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}",
            )
    return None


def _runtime_checks_validate(request: Request, world: World) -> StatusError | None:
    spec = (request.object or {}).get("spec") or {}
    name, overhead = spec.get("runtimeClassName"), spec.get("overhead")
    result = world.get(defaulting.RUNTIME_CLASSES, "", name) if name else None
    if name is not None and result is None:
        return _runtime_checks_missing(request, name)
    fixed = None if result is None else _fixed(result)
    if fixed is None:
        return forbidden(request, STRANGE_OVERHEAD) if overhead else None
    return None if _same(fixed, overhead or {}) else forbidden(request, OTHER_OVERHEAD)


def _runtime_checks_missing(request: Request, name: str) -> StatusError:
    reason = unaskable_name(name)
    if reason:
        return status.plain_error(reason)
    return forbidden(request, f"pod rejected: RuntimeClass {quote(name)} not found")


def _fixed(runtime_class: JsonObject) -> JsonObject | None:
    """Return the overhead of every pod of a class; None if it says nothing of one."""
    overhead = runtime_class.get("overhead")
    return None if overhead is None else overhead.get("podFixed") or {}


def _same(a: JsonObject, b: JsonObject) -> bool:
    return a.keys() == b.keys() and all(same_amount(a[name], b[name]) for name in a)


RUNTIME_CLASS: Final = Behaviour(
    mutate=_runtime_checks_mutate,
    validate=_runtime_checks_validate,
    resources=PODS,
    operations=CREATE,
)


# --- Where pods may run ------------------------------------------------------
#
# Where pods may run: PodNodeSelector, LimitPodHardAntiAffinityTopology, PodTopologyLabels.
#
# As k8s.io/kubernetes `plugin/pkg/admission/{podnodeselector,antiaffinity,podtopologylabels}`. A
# pod that is created on a node takes over its labels by a rule of `celadon.kube.defaulting`; one
# that is bound to a node later takes them from the Binding, which is what is changed here.

NODE_SELECTOR: Final = "scheduler.alpha.kubernetes.io/node-selector"
"""Annotation of a namespace whose pods run on nodes with these labels."""


class _Unreadable(ValueError):
    """An annotation that is no list of labels."""


def _select(pod: JsonDict, request: Request, world: World) -> StatusError | None:
    try:
        selector = _selector_of(request.namespace, world)
    except _Unreadable as error:
        return status.plain_error(str(error))
    present = pod["spec"].get("nodeSelector") or {}
    if _conflict(selector, present):
        return _conflicting(request)
    if selector:
        pod["spec"]["nodeSelector"] = {**selector, **present}
    return None


def _validate_selector(request: Request, world: World) -> StatusError | None:
    try:
        selector = _selector_of(request.namespace, world)
    except _Unreadable as error:
        return status.plain_error(str(error))
    present = ((request.object or {}).get("spec") or {}).get("nodeSelector") or {}
    return _conflicting(request) if _conflict(selector, present) else None


def _conflict(expected: dict[str, str], present: dict[str, str]) -> bool:
    return any(present.get(key, value) != value for key, value in expected.items())


def _conflicting(request: Request) -> StatusError:
    reason = "pod node label selector conflicts with its namespace node label selector"
    return forbidden(request, reason)


def _selector_of(namespace: str, world: World) -> dict[str, str]:
    text = metadata.annotations(world.namespace(namespace)).get(NODE_SELECTOR, "")
    result = {}
    for term in text.split(",") if text else ():
        parts = term.split("=")
        if len(parts) != 2:
            raise _Unreadable(f"invalid selector: [{' '.join(parts)}]")
        result[parts[0].strip()] = parts[1].strip()
    return result


def _validate_affinity(request: Request, _: World) -> StatusError | None:
    spec = (request.object or {}).get("spec") or {}
    apart = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    for term in apart.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        key = term.get("topologyKey", "")
        if key != well_known_values.HOST_NAME:
            return forbidden(
                request,
                "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey "
                f"{key} but only key {well_known_values.HOST_NAME} is allowed",
            )
    return None


def _label_binding(binding: JsonDict, _: Request, world: World) -> StatusError | None:
    target = binding.get("target") or {}
    if target.get("kind") != "Node":
        return None
    labels = metadata.labels(world.get(well_known_values.NODES, "", target.get("name", "")))
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
    mutate=_label_binding, resources=PODS, subresources=frozenset({"binding"}), operations=CREATE
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


def _restrict(pod: JsonDict, request: Request, world: World) -> StatusError | None:
    spec = pod["spec"]
    tolerations = spec.get("tolerations") or []
    try:
        if request.operation is Operation.CREATE:
            listed = _listed(request, world, DEFAULTS)
            tolerations = merged((*listed, *tolerations)) if listed else tolerations
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
    if not allowed or all(
        any(covers(candidate, toleration) for candidate in allowed) for toleration in tolerations
    ):
        return None
    return status.plain_error(
        "pod tolerations (possibly merged with namespace default tolerations) conflict with its "
        "namespace whitelist"
    )


def _listed(request: Request, world: World, annotation: str) -> list[JsonObject]:
    """Read the tolerations of an annotation of the namespace. Raises JsonSyntaxError or DecodeError
    when it is no JSON or no such list."""
    text = metadata.annotations(world.namespace(request.namespace)).get(annotation)
    return [*decode_list(_TOLERATION, read_json(text).value)] if text else []


def _tolerate_resources(pod: JsonDict, _: Request, __: World) -> StatusError | None:
    spec = pod["spec"]
    for name in sorted(set(_extended_resources(spec))):
        expected = {"key": name, "operator": "Exists", "effect": "NoSchedule"}
        present = spec.get("tolerations") or []
        if not any(_is_same(toleration, expected) for toleration in present):
            spec["tolerations"] = [*present, expected]
    return None


def _is_same(value: JsonObject, other: JsonObject) -> bool:
    return all(value.get(field, "") == other.get(field, "") for field in _SAME)


def _extended_resources(spec: JsonObject) -> Iterator[str]:
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            for name in (container.get("resources") or {}).get("requests") or ():
                if is_extended_resource(name):
                    yield name


def is_extended_resource(name: str) -> bool:
    """Return whether a resource is one that a device plugin offers."""
    if "/" not in name or well_known_values.NATIVE_DOMAIN in name:
        return False
    return not name.startswith(QUOTA_PREFIX)


TOLERATION_RESTRICTION: Final = Behaviour(mutate=_restrict, validate=_validate, resources=PODS)
RESOURCE_TOLERATION: Final = Behaviour(mutate=_tolerate_resources, resources=PODS)
DEFAULT_TOLERATIONS: Final = Behaviour(resources=PODS, rules_on=WRITES)


# --- Images ------------------------------------------------------------------
#
# ImagePolicyWebhook without the asking: what a backend is sent about a pod, and what follows.
#
# As k8s.io/kubernetes `plugin/pkg/admission/imagepolicy`; the kinds are those of k8s.io/api
# `imagepolicy/v1alpha1`.

API_VERSION: Final = "imagepolicy.k8s.io/v1alpha1"
KIND: Final = "ImageReview"
PREFIX: Final = "imagepolicywebhook.image-policy.k8s.io/"
"""Of the keys of audit annotations."""

_TOLD: Final = ".image-policy.k8s.io/"
"""Annotations of a pod with this in their key are shown."""
_LISTS: Final = {
    "": ("containers", "initContainers"),
    well_known_values.EPHEMERAL_CONTAINERS: ("ephemeralContainers",),
}
_OPERATIONS: Final = frozenset({Operation.CREATE, Operation.UPDATE})


@dataclass(frozen=True, slots=True)
class ImageVerdict:
    """Holds what a backend has said about images."""

    allowed: bool = False
    reason: str = ""
    audit_annotations: Mapping[str, str] = dataclasses.field(default_factory=dict)


def image_review(request: Request) -> JsonObject | None:
    """Return what a backend is asked; None for requests that are not about images of pods."""
    if request.operation not in _OPERATIONS or request.object is None:
        return None
    lists = _LISTS.get(request.subresource)
    if lists is None or request.resource.group_resource not in PODS:
        return None
    pod = request.object
    spec = pod.get("spec") or {}
    reviewed = (container for name in lists for container in spec.get(name) or ())
    review_spec: dict[str, Json] = {}
    containers = [
        {"image": container["image"]} if container.get("image") else {} for container in reviewed
    ]
    if containers:
        review_spec["containers"] = containers
    review_annotations = {
        key: text for key, text in metadata.annotations(pod).items() if _TOLD in key
    }
    if review_annotations:
        review_spec["annotations"] = dict(sorted(review_annotations.items()))
    if request.namespace:
        review_spec["namespace"] = request.namespace
    head = {"kind": KIND, "apiVersion": API_VERSION, "metadata": {}}
    return {**head, "spec": review_spec, "status": {"allowed": False}}


def image_opinion(request: Request, verdict: ImageVerdict) -> Opinion:
    """Return what follows from an answer."""
    audit_annotations = {PREFIX + key: text for key, text in verdict.audit_annotations.items()}
    if verdict.allowed:
        return Opinion(audit_annotations=audit_annotations)
    reason = "one or more images rejected by webhook backend"
    if verdict.reason:
        reason = f"image policy webhook backend denied one or more images: {verdict.reason}"
    return Opinion(forbidden(request, reason), audit_annotations=audit_annotations)


def unanswered_opinion(request: Request, reason: str, *, allowed: bool) -> Opinion:
    """Return what follows from a failure; `allowed` is what the configuration says of it."""
    if allowed:
        return Opinion(audit_annotations={f"{PREFIX}failed-open": "true"})
    return Opinion(forbidden(request, reason))
