"""The plugins about pods: what they refer to by name, how they are scheduled together, what a
backend says of their images.

As k8s.io/kubernetes `pkg/api/pod` (`VisitPodSecretNames`, `VisitPodConfigmapNames`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.admission.plugins.plugin_answers import CREATE, PODS, Behaviour, Opinion, forbidden
from celadon.admission.request import Operation, Request
from celadon.admission.world import World
from celadon.kube import (
    FieldPath,
    GroupResource,
    GroupVersionResource,
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
from celadon.kube.go import parse_bool, quote
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import parse_amounts, pod_needs, same_amount
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
    """The sources of all projected volumes."""
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


# --- Account checks ----------------------------------------------------------
#
# ServiceAccount: the account of a pod exists, and allows the secrets that the pod uses.
#
# As k8s.io/kubernetes `plugin/pkg/admission/serviceaccount`. What it fills in stands in the
# rules of `celadon.kube.defaulting`; here is what it refuses.


def _mutate(pod: JsonObject, request: Request, world: World) -> StatusError | None:
    if request.operation is not Operation.CREATE or request.subresource:
        return None
    if defaulting.MIRROR_POD in metadata.annotations(pod):
        return _mirror(pod, request)
    name = pod["spec"].get("serviceAccountName") or "default"
    return _missing(request, name) if _account(request, name, world) is None else None


def _validate(request: Request, world: World) -> StatusError | None:
    pod = request.object
    if pod is None:
        return None
    ephemeral = request.subresource == "ephemeralcontainers"
    if (request.operation is Operation.CREATE) == ephemeral:
        return None
    if defaulting.MIRROR_POD in metadata.annotations(pod) and not ephemeral:
        return _mirror(pod, request)
    name = pod["spec"].get("serviceAccountName")
    if not name:
        pod_name = f"{request.namespace}/{metadata.name(pod)}"
        return forbidden(request, f"no service account specified for pod {pod_name}")
    account = _account(request, name, world)
    if account is None:
        return _missing(request, name)
    if not parse_bool(metadata.annotations(account).get(well_known_values.MOUNTABLE_SECRETS, "")):
        return None
    complaints = _strange_ephemeral(account, pod) if ephemeral else _strange(account, pod)
    reason = next(complaints, None)
    return None if reason is None else forbidden(request, reason)


def _account(request: Request, name: str, world: World) -> JsonObject | None:
    return world.get(well_known_values.SERVICE_ACCOUNTS, request.namespace, name)


def _missing(request: Request, name: str) -> StatusError:
    reason = _unaskable(name) or f'serviceaccount "{name}" not found'
    return forbidden(
        request, f"error looking up service account {request.namespace}/{name}: {reason}"
    )


def _unaskable(name: str) -> str:
    """Return what upstream's client says before it looks for an object of a name that no path can
    have; empty for other names."""
    faults = name_rules.path_segment_name(name)
    return f"invalid resource name {quote(name)}: [{' '.join(faults)}]" if faults else ""


def _mirror(pod: JsonObject, request: Request) -> StatusError | None:
    """A pod that stands for one of a kubelet's files can use nothing of the API."""
    spec = pod["spec"]
    if spec.get("serviceAccountName"):
        return forbidden(request, "a mirror pod may not reference service accounts")
    if next(secret_names(spec), None) is not None:
        return forbidden(request, "a mirror pod may not reference secrets")
    if any(source.get("serviceAccountToken") is not None for source in projections(spec)):
        reason = "a mirror pod may not use ServiceAccountToken volume projections"
        return forbidden(request, reason)
    return None


def _strange(account: JsonObject, pod: JsonObject) -> Iterator[str]:
    """Secrets that the account does not name, in the order in which they are found."""
    spec = pod["spec"]
    names = _names(account.get("secrets"))
    refused = f"is not allowed because service account {metadata.name(account)} does not reference"
    for volume in spec.get("volumes") or ():
        secret = (volume.get("secret") or {}).get("secretName", "")
        if volume.get("secret") is not None and secret not in names:
            yield f'volume with secret.secretName="{secret}" {refused} that secret'
    for field, word in (("initContainers", "init container"), ("containers", "container")):
        for container in spec.get(field) or ():
            yield from _strange_in(container, word, names, refused)
    pullable = _names(account.get("imagePullSecrets"))
    for i, reference in enumerate(spec.get("imagePullSecrets") or ()):
        name = reference.get("name", "")
        if name not in pullable:
            yield f'imagePullSecrets[{i}].name="{name}" {refused} that imagePullSecret'


def _strange_ephemeral(account: JsonObject, pod: JsonObject) -> Iterator[str]:
    refused = f"is not allowed because service account {metadata.name(account)} does not reference"
    for container in pod["spec"].get("ephemeralContainers") or ():
        yield from _strange_in(
            container, "ephemeral container", _names(account.get("secrets")), refused
        )


def _strange_in(container: JsonObject, word: str, secrets: set[str], refused: str) -> Iterator[str]:
    name = container.get("name", "")
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
        secret = (reference or {}).get("name", "")
        if reference is not None and secret not in secrets:
            yield (
                f"{word} {name} with envVar {variable.get('name', '')} referencing "
                f'secret.secretName="{secret}" {refused} that secret'
            )
    for source in container.get("envFrom") or ():
        reference = source.get("secretRef")
        secret = (reference or {}).get("name", "")
        if reference is not None and secret not in secrets:
            yield (
                f"{word} {name} with envFrom referencing "
                f'secret.secretName="{secret}" {refused} that secret'
            )


def _names(references: Iterable[JsonObject] | None) -> set[str]:
    return {reference.get("name", "") for reference in references or ()}


SERVICE_ACCOUNT: Final = Behaviour(
    mutate=_mutate,
    validate=_validate,
    resources=PODS,
    subresources=frozenset({"", "ephemeralcontainers"}),
)


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


OS_LABEL: Final = "kubernetes.io/os"
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
    system = metadata.labels(node).get(OS_LABEL, "")
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


# --- Priority checks ---------------------------------------------------------
#
# Priority: a pod's number is that of its class, and only one class is everybody's.
#
# As k8s.io/kubernetes `plugin/pkg/admission/priority`. The rules of `celadon.kube.defaulting`
# fill the number in; here is what is refused, and what an update keeps.


PREEMPT: Final = "PreemptLowerPriority"
_KEPT: Final = ("priority", "preemptionPolicy")


def _priority_checks_mutate(pod: JsonDict, request: Request, world: World) -> StatusError | None:
    spec = pod["spec"]
    if request.operation is Operation.UPDATE:
        _keep(spec, (request.old_object or {}).get("spec") or {})
        return None
    priority_class = _priority_class(spec.get("priorityClassName"), request, world)
    if isinstance(priority_class, StatusError):
        return priority_class
    number = priority_class.get("value", 0)
    policy = priority_class.get("preemptionPolicy") or PREEMPT
    priority, preemption_policy = spec.get("priority"), spec.get("preemptionPolicy")
    if priority is not None and priority != number:
        return forbidden(
            request,
            f"the integer value of priority ({priority}) must not be provided in pod spec; "
            f"priority admission controller computed {number} from the given PriorityClass name",
        )
    if preemption_policy is not None and preemption_policy != policy:
        return forbidden(
            request,
            f"the string value of PreemptionPolicy ({preemption_policy}) must not be provided in "
            "pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name",
        )
    return None


def _priority_class(
    name: str | None, request: Request, world: World
) -> Mapping[str, Any] | StatusError:
    """Return the PriorityClass of a name; of no name the default one, empty where there is none. An
    error if there is no class of the name."""
    if not name:
        return defaulting.default_priority_class(world) or {}
    if name in defaulting.SYSTEM_PRIORITIES:
        return {"value": defaulting.SYSTEM_PRIORITIES[name]}
    named = world.get(defaulting.PRIORITY_CLASSES, "", name)
    if named is None:
        return forbidden(request, f"no PriorityClass with name {name} was found")
    return named


def _keep(spec: JsonDict, old: JsonDict) -> None:
    """An update that says nothing of them means the present ones."""
    for field in _KEPT:
        if spec.get(field) is None and old.get(field) is not None:
            spec[field] = old[field]


def _priority_checks_validate(request: Request, world: World) -> StatusError | None:
    result = request.object
    if result is None or not result.get("globalDefault"):
        return None
    present = metadata.name(defaulting.default_priority_class(world))
    if not present:
        return None
    if request.operation is Operation.UPDATE and present == metadata.name(result):
        return None
    reason = f"PriorityClass {present} is already marked as default. Only one default can exist"
    return forbidden(request, reason)


PRIORITY: Final = Behaviour(mutate=_priority_checks_mutate, resources=PODS)
PRIORITY_CLASS: Final = Behaviour(
    validate=_priority_checks_validate,
    resources=frozenset({GroupResource("scheduling.k8s.io", "priorityclasses")}),
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
    if not name:
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
    if name and result is None:
        return _runtime_checks_missing(request, name)
    fixed = None if result is None else _fixed(result)
    if fixed is None:
        return forbidden(request, STRANGE_OVERHEAD) if overhead else None
    return None if _same(fixed, overhead or {}) else forbidden(request, OTHER_OVERHEAD)


def _runtime_checks_missing(request: Request, name: str) -> StatusError:
    unaskable = _unaskable(name)
    if unaskable:
        return status.plain_error(unaskable)
    return forbidden(request, f"pod rejected: RuntimeClass {quote(name)} not found")


def _fixed(runtime_class: JsonObject) -> JsonObject | None:
    """The overhead of every pod of a class; None if it says nothing of one."""
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


# --- Groups of pods ----------------------------------------------------------
#
# Pods that are scheduled together: the priority of a PodGroup, its Workload, and its Job.
#
# As k8s.io/kubernetes `plugin/pkg/admission/priority`, `podgroup` and `job`. There are no
# PodGroups without the gate GenericWorkload, and nobody looks at their priority without
# WorkloadAwarePreemption.

WORKLOADS: Final = GroupVersionResource("scheduling.k8s.io", "v1alpha2", "workloads")
POD_GROUPS: Final = GroupVersionResource("scheduling.k8s.io", "v1alpha2", "podgroups")
_GROUPS: Final = frozenset({POD_GROUPS.group_resource})
_JOBS: Final = frozenset({GroupResource("batch", "jobs")})


def _check_priority(group: JsonDict, request: Request, world: World) -> StatusError | None:
    spec = group.get("spec") or {}
    priority_class = _priority_class(spec.get("priorityClassName"), request, world)
    if isinstance(priority_class, StatusError):
        return priority_class
    priority, number = spec.get("priority"), priority_class.get("value", 0)
    if priority is None or priority == number:
        return None
    return forbidden(
        request,
        f"priority set in the pod group ({priority}) must match the priority computed ({number}) "
        "based on the priority class set in the spec",
    )


def _find_workload(request: Request, world: World) -> StatusError | None:
    spec = (request.object or {}).get("spec") or {}
    reference = (spec.get("podGroupTemplateRef") or {}).get("workload")
    if reference is None:
        return None
    name, template = reference.get("workloadName", ""), reference.get("podGroupTemplateName", "")
    workload = world.get(WORKLOADS, request.namespace, name)
    if workload is None:
        return forbidden(request, f"PodGroup rejected: Workload {quote(name)} not found")
    if (workload.get("metadata") or {}).get("deletionTimestamp"):
        return forbidden(request, f"PodGroup rejected: Workload {quote(name)} is being deleted")
    templates = (workload.get("spec") or {}).get("podGroupTemplates") or ()
    if any(candidate.get("name") == template for candidate in templates):
        return None
    return forbidden(
        request,
        f"PodGroup rejected: PodGroupTemplate {quote(template)} not found in Workload "
        f"{quote(name)}",
    )


def _keep_parallelism(request: Request, world: World) -> StatusError | None:
    """A Job whose pods are scheduled all or none has the number of pods that it was made with."""
    new, old = ((item or {}).get("spec") or {} for item in (request.object, request.old_object))
    if new.get("parallelism") == old.get("parallelism"):
        return None
    gang = next((group for group in _groups_of(request, old, world) if _is_gang(group)), None)
    if gang is None:
        return None
    reason = "cannot change parallelism for a Job referencing gang-scheduled PodGroup"
    return forbidden(request, f"{reason} {quote(metadata.name(gang))}")


def _groups_of(request: Request, spec: JsonObject, world: World) -> list[JsonObject]:
    pods = (spec.get("template") or {}).get("spec") or {}
    name = (pods.get("schedulingGroup") or {}).get("podGroupName")
    if name is not None:
        group = world.get(POD_GROUPS, request.namespace, name)
        return [] if group is None else [group]
    uid = ((request.old_object or {}).get("metadata") or {}).get("uid")
    return [
        pod_group
        for pod_group in world.list(POD_GROUPS, request.namespace)
        if _controller(pod_group) == uid
    ]


def _controller(group: JsonObject) -> str | None:
    owners = (group.get("metadata") or {}).get("ownerReferences") or ()
    return next((owner.get("uid") for owner in owners if owner.get("controller")), None)


def _is_gang(group: JsonObject) -> bool:
    policy = (group.get("spec") or {}).get("schedulingPolicy") or {}
    return policy.get("gang") is not None


GROUP_PRIORITY: Final = Behaviour(mutate=_check_priority, resources=_GROUPS, operations=CREATE)
GROUP_WORKLOAD: Final = Behaviour(validate=_find_workload, resources=_GROUPS, operations=CREATE)
JOB_PARALLELISM: Final = Behaviour(
    validate=_keep_parallelism, resources=_JOBS, operations=frozenset({Operation.UPDATE})
)


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
