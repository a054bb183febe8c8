"""Validation of updates of a pod: images, tolerations, gates and deadlines may change, the rest may
not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from celadon.kube import fieldpath, metadata
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.quantity import QOS_RESOURCES, parse_amounts, qos_class
from celadon.kube.releases import is_since, until
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import METADATA, SPEC, Errors, in_range, items
from celadon.kube.validation.object_meta import Update
from celadon.kube.validation.pods import internal_types
from celadon.kube.validation.pods.containers import trimmed_image
from celadon.kube.validation.pods.pod_placement import tolerations
from celadon.kube.validation.pods.pod_specs import annotation_changes, pod_in_general
from celadon.kube.well_known_values import MIRROR_POD, REQUIRED_TERMS

CHANGEABLE: Final = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
FREE_FIELDS: Final = ("activeDeadlineSeconds", "tolerations", "schedulingGates")
ADDED_TERMS: Final = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
CONTAINER_LISTS: Final = ("containers", "initContainers")


def pod_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a changed pod; the last text ends with what has changed."""
    # As `ValidatePodUpdate` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from pod_in_general(obj, old)
    yield from annotation_changes(obj, old)
    for field in CONTAINER_LISTS:
        if len(spec.get(field) or ()) != len(before.get(field) or ()):
            detail = "pod updates may not add or remove containers"
            yield fieldpath.forbidden(SPEC.child(field), detail)
            return
        for path, container in items(spec, field, SPEC):
            if not container.get("image"):
                yield fieldpath.required(path.child("image"))
            yield from trimmed_image(path, container)
    errors = list(_deadline(spec, before))
    yield from errors
    if errors and spec.get("activeDeadlineSeconds") is not None:
        return
    yield from _tolerations(spec, before)
    yield from _gates(spec, before)
    if spec == before:
        return
    yield from _lasting_class(obj, old)
    fixed = _with_old_fields(spec, before)
    if before.get("schedulingGates"):
        yield from _chosen_nodes(fixed, before)
        fixed = _with_old_nodes(fixed, before)
    if not internal_types.is_same_pod_spec(fixed, before):
        named = ",".join(CHANGEABLE)
        difference = internal_types.pod_spec_diff(before, fixed)
        detail = f"pod updates may not change fields other than {named}\n{difference}"
        yield fieldpath.forbidden(SPEC, detail)


@until("1.32")
def _lasting_class(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error when the QoS class changes. In later releases a resize is checked for this."""
    if _class_changes(obj, old):
        text = NamedText((obj.get("status") or {}).get("qosClass") or "")
        yield fieldpath.invalid(METADATA, text, "Pod QoS is immutable")


def _class_changes(obj: JsonObject, old: JsonObject) -> bool:
    """Return whether the pod would be of another class of quality of service."""
    old_class = (old.get("status") or {}).get("qosClass") or qos_class(old.get("spec") or {})
    return bool(old_class != qos_class(obj.get("spec") or {}))


def _deadline(spec: JsonObject, before: JsonObject) -> Errors:
    path = SPEC.child("activeDeadlineSeconds")
    new, old = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if new is None:
        if old is not None:
            detail = "must not update from a positive integer to nil value"
            yield fieldpath.invalid(path, None, detail)
    elif not 0 <= new <= format_checks.MAX_ID:
        yield from in_range(path, new, 0, format_checks.MAX_ID)
    elif old is not None and old < new:
        yield fieldpath.invalid(path, new, "must be less than or equal to previous value")


def _tolerations(spec: JsonObject, before: JsonObject) -> Errors:
    """Yield errors for changed tolerations: only the time of one may change."""
    # As `validateOnlyAddedTolerations` of `pkg/apis/core/validation`.

    def lasting(toleration: JsonObject) -> frozenset[tuple[str, str]]:
        return frozenset(item for item in toleration.items() if item[0] != "tolerationSeconds")

    result = {lasting(toleration) for toleration in spec.get("tolerations") or ()}
    if any(lasting(toleration) not in result for toleration in before.get("tolerations") or ()):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield fieldpath.forbidden(SPEC.child("tolerations"), detail)
    else:
        yield from tolerations(SPEC, spec)


def _gates(spec: JsonObject, before: JsonObject) -> Errors:
    # As `validateOnlyDeletedSchedulingGates` of `pkg/apis/core/validation`: of gates with the same
    # name, only the last is refused.
    old_names = {gate.get("name") for gate in before.get("schedulingGates") or ()}
    gates = {gate.get("name"): path for path, gate in items(spec, "schedulingGates", SPEC)}
    for name, path in gates.items():
        if name not in old_names:
            detail = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield fieldpath.forbidden(path.child("name"), detail)


def _with_old_fields(spec: JsonObject, before: JsonObject) -> JsonDict:
    """Return the new spec with the old one's values where they may change."""
    made_anew = {*FREE_FIELDS, *CONTAINER_LISTS}
    result = {key: value for key, value in spec.items() if key not in made_anew}
    result.update((field, before[field]) for field in FREE_FIELDS if before.get(field))
    for field in CONTAINER_LISTS:
        if spec.get(field):
            pairs = zip(spec[field], before[field], strict=True)
            result[field] = [{**pair, "image": other.get("image")} for pair, other in pairs]
    grace = before.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        result["terminationGracePeriodSeconds"] = grace
    return result


def _with_old_nodes(spec: JsonObject, before: JsonObject) -> JsonDict:
    """Return the same for where a pod may run: what waits for a gate can still become choosier."""
    result = {key: value for key, value in spec.items() if key != "nodeSelector"}
    if before.get("nodeSelector"):
        result["nodeSelector"] = before["nodeSelector"]
    affinity, was = spec.get("affinity"), before.get("affinity")
    nodes = (was or {}).get("nodeAffinity")
    if (affinity or {}).get("nodeAffinity") == nodes:
        return result
    others = {key: member for key, member in (affinity or {}).items() if key != "nodeAffinity"}
    if affinity is not None and was is None and not others:
        del result["affinity"]
    else:
        result["affinity"] = others if nodes is None else {**others, "nodeAffinity": nodes}
    return result


def _chosen_nodes(spec: JsonObject, before: JsonObject) -> Errors:
    """Selectors may get more terms, and lose none."""
    # As `validateNodeAffinityMutation` of `pkg/apis/core/validation`.
    chosen, was = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(chosen.get(key) != value for key, value in was.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        go_value = GoValue(spec.get("nodeSelector"), "map[string]string")
        yield fieldpath.invalid(SPEC.child("nodeSelector"), go_value, detail)
    required_terms, old_terms = _required_terms(spec), _required_terms(before)
    terms = required_terms or []
    path = SPEC.child("affinity", "nodeAffinity", REQUIRED_TERMS, "nodeSelectorTerms")
    if not old_terms:
        return
    if len(terms) != len(old_terms):
        inner = [internal_types.internal_value(term, "core.v1.NodeSelectorTerm") for term in terms]
        go_value = GoValue(None if required_terms is None else inner, "[]core.NodeSelectorTerm")
        yield fieldpath.invalid(path, go_value, ADDED_TERMS)
        return
    for index, (term, old) in enumerate(zip(terms, old_terms, strict=True)):
        if not _only_adds(term, old):
            detail = "only additions are allowed (no mutations or deletions)"
            internal_term = internal_types.internal_value(term, "core.v1.NodeSelectorTerm")
            yield fieldpath.invalid(
                path.index(index), GoValue(internal_term, "core.NodeSelectorTerm"), detail
            )


def _required_terms(spec: JsonObject) -> list[JsonObject] | None:
    nodes = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms: list[JsonObject] | None = (nodes.get(REQUIRED_TERMS) or {}).get("nodeSelectorTerms")
    return terms


def _only_adds(term: JsonObject, old: JsonObject) -> bool:
    """Return whether the requirements begin with the old ones; what required nothing stays so."""
    # As `validateNodeSelectorTermHasOnlyAdditions` of `pkg/apis/core/validation`.
    fields = ("matchExpressions", "matchFields")
    if not any(old.get(field) for field in fields) and any(term.get(field) for field in fields):
        return False
    pairs = ((term.get(field) or [], old.get(field) or []) for field in fields)
    return all(new[: len(was)] == was for new, was in pairs)


# --- Pod subresources --------------------------------------------------------
#
# Writes to parts of a running pod: containers to debug it with, and other amounts for it.
#
# As k8s.io/kubernetes `pkg/apis/core/validation`, `ValidatePodEphemeralContainersUpdate` and
# `ValidatePodResize`.

ONLY_AMOUNTS: Final = "only cpu and memory resources are mutable"
_NOWHERE: Final = FieldPath("")
_RESOURCES: Final = SPEC.child("resources")


def ephemeral_containers(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a write through `pods/ephemeralcontainers`: containers may come, and
    must stay what they are."""
    # As `ValidatePodEphemeralContainersUpdate` of `pkg/apis/core/validation`.
    if MIRROR_POD in metadata.annotations(old):
        yield fieldpath.forbidden(_NOWHERE, "static pods do not support ephemeral containers")
        return
    yield from pod_in_general(obj, old)
    yield from annotation_changes(obj, old)
    path = SPEC.child("ephemeralContainers")
    containers = {container.get("name"): container for container in _ephemeral(obj)}
    for container in _ephemeral(old):
        name = container.get("name") or ""
        new = containers.get(name)
        intro = f"existing ephemeral containers {quote(name)} may not be"
        if new is None:
            yield fieldpath.forbidden(path, f"{intro} removed\n")
        elif new != container:
            difference = internal_types.ephemeral_container_diff(container, new)
            yield fieldpath.forbidden(path, f"{intro} changed\n{difference}")


def _ephemeral(obj: JsonObject) -> list[JsonObject]:
    result: list[JsonObject] = (obj.get("spec") or {}).get("ephemeralContainers") or []
    return result


def resize(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a write through `pods/resize`: cpu and memory may change, the class
    of quality of service may not."""
    # As `ValidatePodResize` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    if not is_since("1.35") and _has_pod_amounts(spec, before):
        detail = "pods with pod-level resources cannot be resized"
        yield fieldpath.forbidden(_NOWHERE, detail)
        return
    if MIRROR_POD in metadata.annotations(old):
        yield fieldpath.forbidden(_NOWHERE, "static pods cannot be resized")
        return
    if (before.get("os") or {}).get("name") == "windows":
        yield fieldpath.forbidden(_NOWHERE, "windows pods cannot be resized")
        return
    yield from pod_in_general(obj, old)
    yield from annotation_changes(obj, old)
    yield from _class(obj, old)
    if not is_since("1.36") and _has_pod_amounts(spec, before):
        detail = (
            "resize of pods with pod-level resources is forbidden when "
            "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
        )
        yield fieldpath.forbidden(_NOWHERE, detail)
        return
    errors = [*_pod_amounts(spec, before), *_claims(old)]
    moved = [*_moved(spec, before, "containers"), *_moved(spec, before, "initContainers")]
    if moved:
        yield from (*errors, *moved)
        return
    for field in ("initContainers", "containers"):
        errors += _container_amounts(spec, before, field)
    for field in ("containers", "initContainers"):
        errors += _only_amounts(spec, before, field)
    yield from errors
    fixed = _with_old_amounts(spec, before)
    if not errors and not internal_types.is_same_pod_spec(fixed, before):
        difference = internal_types.pod_spec_diff(before, fixed)
        yield fieldpath.forbidden(SPEC, f"{ONLY_AMOUNTS}\n{difference}")


def _moved(spec: JsonObject, before: JsonObject, field: str) -> Errors:
    """Yield an error for each container that has another name than the one in its place had."""
    containers, old_containers = spec.get(field) or (), before.get(field) or ()
    if len(containers) != len(old_containers):
        yield fieldpath.forbidden(
            SPEC.child(field), f"{field} may not be added or removed on resize"
        )
        return
    for path, container, was in _pairs(spec, before, field):
        if container.get("name") != was.get("name"):
            detail = f"{field} may not be renamed or reordered on resize"
            yield fieldpath.forbidden(path.child("name"), detail)


def _class(obj: JsonObject, old: JsonObject) -> Errors:
    status = old.get("status") or {}
    if _class_changes(obj, old):
        text = NamedText((obj.get("status") or {}).get("qosClass") or "")
        detail = "Pod QOS Class may not change as a result of resizing"
        yield fieldpath.invalid(SPEC, text, detail)
    running = (
        container_status
        for container_status in status.get("containerStatuses") or ()
        if (container_status.get("state") or {}).get("running") is not None
    )
    first = next(running, None)
    if first is not None and first.get("resources") is None:
        yield fieldpath.forbidden(SPEC, "Pod running on node without support for resize")


def _pod_amounts(spec: JsonObject, before: JsonObject) -> Errors:
    resources, was = spec.get("resources"), before.get("resources")
    if not _has_pod_amounts(spec, before):
        return
    if resources is None:
        yield fieldpath.forbidden(_RESOURCES, "pod-level resources cannot be removed")
        return
    for part in ("requests", "limits"):
        if _lacks(resources, was or {}, part):
            detail = f"pod-level resource {part} cannot be removed"
            yield fieldpath.forbidden(_RESOURCES.child(part), detail)
    if _without_amounts(resources) != _without_amounts(was or {}):
        yield fieldpath.forbidden(SPEC, f"{ONLY_AMOUNTS} at pod-level")


def _has_pod_amounts(spec: JsonObject, before: JsonObject) -> bool:
    """Return whether the pod, besides its containers, asks for something, or has before."""
    return any(
        (item.get("resources") or {}).get(part)
        for item in (spec, before)
        for part in ("requests", "limits")
    )


def _claims(old: JsonObject) -> Errors:
    if (old.get("status") or {}).get("nodeAllocatableResourceClaimStatuses"):
        detail = "pods with node allocatable resource claims cannot be resized"
        yield fieldpath.forbidden(SPEC, detail)


def _lacks(value: JsonObject, was: JsonObject, part: str) -> bool:
    return not set(was.get(part) or ()) <= set(value.get(part) or ())


def _without_amounts(resources: JsonObject) -> JsonDict:
    """Return the part of resources that a resize does not change: other resources, and the
    devices."""
    result = {
        part: {
            name: amount
            for name, amount in (resources.get(part) or {}).items()
            if name not in QOS_RESOURCES
        }
        for part in ("limits", "requests")
    }
    return {**result, "claims": list(resources.get("claims") or ())}


def _pairs(
    spec: JsonObject, before: JsonObject, field: str
) -> Iterator[tuple[FieldPath, JsonObject, JsonObject]]:
    """Yield each container and what it was; a resize adds and removes none."""
    pairs = zip(spec.get(field) or (), before.get(field) or (), strict=False)
    for index, (container, was) in enumerate(pairs):
        yield SPEC.child(field).index(index), container, was


def _container_amounts(spec: JsonObject, before: JsonObject, field: str) -> Errors:
    for path, container, was in _pairs(spec, before, field):
        if field == "initContainers" and not _may_resize(was):
            continue
        resources, old_resources = (item.get("resources") or {} for item in (container, was))
        for part in ("requests", "limits"):
            if _lacks(resources, old_resources, part):
                detail = f"resource {part} cannot be removed"
                yield fieldpath.forbidden(path.child("resources", part), detail)
        yield from _less_memory(
            path.child("resources", "limits").key("memory"), container, old_resources
        )


def _may_resize(container: JsonObject) -> bool:
    """Return whether an init container may be resized; before 1.36 only one that goes on
    running."""
    return is_since("1.36") or container.get("restartPolicy") == "Always"


@until("1.34")
def _less_memory(path: FieldPath, container: JsonObject, had: JsonObject) -> Errors:
    """Yield an error if a running container is given less memory, which was not possible at
    first."""
    policies = container.get("resizePolicy") or ()
    chosen = (
        policy.get("restartPolicy") for policy in policies if policy.get("resourceName") == "memory"
    )
    if next(chosen, None) == "RestartContainer":
        return
    resources = container.get("resources") or {}
    limit, was = ((item.get("limits") or {}).get("memory") for item in (resources, had))
    if limit is None:
        return
    if was is None or parse_amounts(limit).compare(parse_amounts(was)) < 0:
        done = "added" if was is None else "decreased"
        detail = f"memory limits cannot be {done} unless resizePolicy is RestartContainer"
        yield fieldpath.forbidden(path, detail)


def _only_amounts(spec: JsonObject, before: JsonObject, field: str) -> Errors:
    for path, container, was in _pairs(spec, before, field):
        fixed = _with_old(container, was)
        changed = internal_types.internal_value(
            fixed, "core.v1.Container"
        ) != internal_types.internal_value(was, "core.v1.Container")
        if field == "containers":
            if changed:
                yield fieldpath.forbidden(SPEC, ONLY_AMOUNTS)
            continue
        if not is_since("1.36"):
            yield from _old_init_amounts(container, was, changed=changed)
            continue
        if changed:
            detail = "only cpu and memory resources for init or sidecar containers are mutable"
            yield fieldpath.forbidden(path, detail)
        policies = container.get("resizePolicy") or ()
        restarts = any(policy.get("restartPolicy") == "RestartContainer" for policy in policies)
        if container != was and container.get("restartPolicy") != "Always" and restarts:
            detail = (
                "non-sidecar init containers with a resize policy of RestartContainer cannot be "
                "resized"
            )
            yield fieldpath.forbidden(path, detail)


def _old_init_amounts(container: JsonObject, was: JsonObject, *, changed: bool) -> Errors:
    """Init containers that end had their amounts for good."""
    if container.get("restartPolicy") == "Always":
        if changed:
            detail = "only cpu and memory resources for sidecar containers are mutable"
            yield fieldpath.forbidden(SPEC, detail)
    elif internal_types.internal_value(
        container, "core.v1.Container"
    ) != internal_types.internal_value(was, "core.v1.Container"):
        yield fieldpath.forbidden(SPEC, "resources for non-sidecar init containers are immutable")


def _with_old(container: JsonObject, was: JsonObject) -> JsonDict:
    """Return the new container with the old one's cpu and memory; upstream forgets about its
    devices, so that one with devices is never as it was."""
    resources, old_resources = (item.get("resources") or {} for item in (container, was))
    parts = ("limits", "requests")
    fixed = {
        part: _old_amounts(resources.get(part) or {}, old_resources.get(part) or {})
        for part in parts
    }
    stays = all(
        fixed[part] == (old_resources.get(part) or {}) for part in parts
    ) and not old_resources.get("claims")
    return {**container, "resources": old_resources if stays else fixed}


def _old_amounts(value: JsonObject, had: JsonObject) -> JsonObject:
    """Before 1.35, what was added where there was nothing was not looked at."""
    if not had and not is_since("1.35"):
        return {}
    others = {name: member for name, member in value.items() if name not in QOS_RESOURCES}
    return {**others, **{name: member for name, member in had.items() if name in QOS_RESOURCES}}


def _with_old_amounts(spec: JsonObject, before: JsonObject) -> JsonDict:
    fixed = {**spec, "resources": before.get("resources")}
    for field in ("containers", "initContainers"):
        fixed.pop(field, None)
        if spec.get(field):
            fixed[field] = [_with_old(pair, was) for _, pair, was in _pairs(spec, before, field)]
    return fixed


POD_SUBRESOURCES: Final[Mapping[str, Update]] = {
    "ephemeralcontainers": ephemeral_containers,
    "resize": resize,
}
"""What is looked at in an update of a Pod through a subresource, besides the metadata."""
