"""What may change in a pod: images, tolerations, gates, and how long it may run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from celadon.kube import fieldpath, metadata
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.quantity import QOS_RESOURCES, parse_amounts, qos_class
from celadon.kube.releases import is_since, until
from celadon.kube.validation import text_rules
from celadon.kube.validation.field_checks import (
    METADATA,
    SPEC,
    Errors,
    in_range,
    items,
)
from celadon.kube.validation.object_meta import Update
from celadon.kube.validation.pods.containers import trimmed_image
from celadon.kube.validation.pods.internal_types import (
    ephemeral_container_diff,
    internal_value,
    is_same_pod_spec,
    pod_spec_diff,
)
from celadon.kube.validation.pods.pod_specs import annotation_changes, pod_in_general
from celadon.kube.validation.pods.scheduling import tolerations
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
        for at, container in items(spec, field, SPEC):
            if not container.get("image"):
                yield fieldpath.required(at.child("image"))
            yield from trimmed_image(at, container)
    found = list(_deadline(spec, before))
    yield from found
    if found and spec.get("activeDeadlineSeconds") is not None:
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
    if not is_same_pod_spec(fixed, before):
        named = ",".join(CHANGEABLE)
        difference = pod_spec_diff(before, fixed)
        detail = f"pod updates may not change fields other than {named}\n{difference}"
        yield fieldpath.forbidden(SPEC, detail)


@until("1.32")
def _lasting_class(obj: JsonObject, old: JsonObject) -> Errors:
    """Later a resize is what is asked this."""
    if _class_changes(obj, old):
        shown = NamedText((obj.get("status") or {}).get("qosClass") or "")
        yield fieldpath.invalid(METADATA, shown, "Pod QoS is immutable")


def _class_changes(obj: JsonObject, old: JsonObject) -> bool:
    """Return whether the pod would be of another class of quality of service."""
    given = (old.get("status") or {}).get("qosClass") or qos_class(old.get("spec") or {})
    return bool(given != qos_class(obj.get("spec") or {}))


def _deadline(spec: JsonObject, before: JsonObject) -> Errors:
    at = SPEC.child("activeDeadlineSeconds")
    new, old = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if new is None:
        if old is not None:
            detail = "must not update from a positive integer to nil value"
            yield fieldpath.invalid(at, None, detail)
    elif not 0 <= new <= text_rules.MAX_ID:
        yield from in_range(at, new, 0, text_rules.MAX_ID)
    elif old is not None and old < new:
        yield fieldpath.invalid(at, new, "must be less than or equal to previous value")


def _tolerations(spec: JsonObject, before: JsonObject) -> Errors:
    """Only the time of a toleration may change."""
    # As `validateOnlyAddedTolerations` of `pkg/apis/core/validation`.

    def lasting(toleration: JsonObject) -> frozenset[tuple[str, str]]:
        return frozenset(item for item in toleration.items() if item[0] != "tolerationSeconds")

    kept = {lasting(one) for one in spec.get("tolerations") or ()}
    if any(lasting(one) not in kept for one in before.get("tolerations") or ()):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield fieldpath.forbidden(SPEC.child("tolerations"), detail)
    else:
        yield from tolerations(SPEC, spec)


def _gates(spec: JsonObject, before: JsonObject) -> Errors:
    # As `validateOnlyDeletedSchedulingGates` of `pkg/apis/core/validation`.
    known = {one.get("name") for one in before.get("schedulingGates") or ()}
    for at, gate in items(spec, "schedulingGates", SPEC):
        name = gate.get("name")
        if name not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield fieldpath.forbidden(at.child("name"), detail)


def _with_old_fields(spec: JsonObject, before: JsonObject) -> JsonDict:
    """The new spec with the old one's values where they may change."""
    made_anew = {*FREE_FIELDS, *CONTAINER_LISTS}
    kept = {key: value for key, value in spec.items() if key not in made_anew}
    kept.update((field, before[field]) for field in FREE_FIELDS if before.get(field))
    for field in CONTAINER_LISTS:
        if spec.get(field):
            pairs = zip(spec[field], before[field], strict=True)
            kept[field] = [{**one, "image": other.get("image")} for one, other in pairs]
    grace = before.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        kept["terminationGracePeriodSeconds"] = grace
    return kept


def _with_old_nodes(spec: JsonObject, before: JsonObject) -> JsonDict:
    """The same for where a pod may run: what waits for a gate can still become choosier."""
    kept = {key: value for key, value in spec.items() if key != "nodeSelector"}
    if before.get("nodeSelector"):
        kept["nodeSelector"] = before["nodeSelector"]
    affinity, was = spec.get("affinity"), before.get("affinity")
    nodes = (was or {}).get("nodeAffinity")
    if (affinity or {}).get("nodeAffinity") == nodes:
        return kept
    others = {key: one for key, one in (affinity or {}).items() if key != "nodeAffinity"}
    if affinity is not None and was is None and not others:
        del kept["affinity"]
    else:
        kept["affinity"] = others if nodes is None else {**others, "nodeAffinity": nodes}
    return kept


def _chosen_nodes(spec: JsonObject, before: JsonObject) -> Errors:
    """Selectors may get more terms, and lose none."""
    # As `validateNodeAffinityMutation` of `pkg/apis/core/validation`.
    chosen, was = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(chosen.get(key) != value for key, value in was.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        shown = GoValue(spec.get("nodeSelector"), "map[string]string")
        yield fieldpath.invalid(SPEC.child("nodeSelector"), shown, detail)
    given, old_terms = _required_terms(spec), _required_terms(before)
    terms = given or []
    at = SPEC.child("affinity", "nodeAffinity", REQUIRED_TERMS, "nodeSelectorTerms")
    if not old_terms:
        return
    if len(terms) != len(old_terms):
        inner = [internal_value(one, "core.v1.NodeSelectorTerm") for one in terms]
        shown = GoValue(None if given is None else inner, "[]core.NodeSelectorTerm")
        yield fieldpath.invalid(at, shown, ADDED_TERMS)
        return
    for index, (term, old) in enumerate(zip(terms, old_terms, strict=True)):
        if not _only_adds(term, old):
            detail = "only additions are allowed (no mutations or deletions)"
            one = internal_value(term, "core.v1.NodeSelectorTerm")
            yield fieldpath.invalid(at.index(index), GoValue(one, "core.NodeSelectorTerm"), detail)


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
    at = SPEC.child("ephemeralContainers")
    given = {one.get("name"): one for one in _ephemeral(obj)}
    for one in _ephemeral(old):
        name = one.get("name") or ""
        new = given.get(name)
        intro = f"existing ephemeral containers {quote(name)} may not be"
        if new is None:
            yield fieldpath.forbidden(at, f"{intro} removed\n")
        elif new != one:
            difference = ephemeral_container_diff(one, new)
            yield fieldpath.forbidden(at, f"{intro} changed\n{difference}")


def _ephemeral(obj: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = (obj.get("spec") or {}).get("ephemeralContainers") or []
    return found


def resize(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a write through `pods/resize`: cpu and memory may change, the class
    of quality of service may not."""
    # As `ValidatePodResize` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    if not is_since("1.35") and _has_pod_amounts(spec, before):
        why = "pods with pod-level resources cannot be resized"
        yield fieldpath.forbidden(_NOWHERE, why)
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
        why = (
            "resize of pods with pod-level resources is forbidden when "
            "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
        )
        yield fieldpath.forbidden(_NOWHERE, why)
        return
    errors = [*_pod_amounts(spec, before), *_claims(old)]
    for field in ("initContainers", "containers"):
        errors += _container_amounts(spec, before, field)
    for field in ("containers", "initContainers"):
        errors += _only_amounts(spec, before, field)
    yield from errors
    fixed = _with_old_amounts(spec, before)
    if not errors and not is_same_pod_spec(fixed, before):
        difference = pod_spec_diff(before, fixed)
        yield fieldpath.forbidden(SPEC, f"{ONLY_AMOUNTS}\n{difference}")


def _class(obj: JsonObject, old: JsonObject) -> Errors:
    status = old.get("status") or {}
    if _class_changes(obj, old):
        shown = NamedText((obj.get("status") or {}).get("qosClass") or "")
        why = "Pod QOS Class may not change as a result of resizing"
        yield fieldpath.invalid(SPEC, shown, why)
    running = (
        one
        for one in status.get("containerStatuses") or ()
        if (one.get("state") or {}).get("running") is not None
    )
    first = next(running, None)
    if first is not None and first.get("resources") is None:
        yield fieldpath.forbidden(SPEC, "Pod running on node without support for resize")


def _pod_amounts(spec: JsonObject, before: JsonObject) -> Errors:
    given, was = spec.get("resources"), before.get("resources")
    if not _has_pod_amounts(spec, before):
        return
    if given is None:
        yield fieldpath.forbidden(_RESOURCES, "pod-level resources cannot be removed")
        return
    for part in ("requests", "limits"):
        if _lacks(given, was or {}, part):
            why = f"pod-level resource {part} cannot be removed"
            yield fieldpath.forbidden(_RESOURCES.child(part), why)
    if _without_amounts(given) != _without_amounts(was or {}):
        yield fieldpath.forbidden(SPEC, f"{ONLY_AMOUNTS} at pod-level")


def _has_pod_amounts(spec: JsonObject, before: JsonObject) -> bool:
    """Return whether the pod, besides its containers, asks for something, or has before."""
    return any(
        (one.get("resources") or {}).get(part)
        for one in (spec, before)
        for part in ("requests", "limits")
    )


def _claims(old: JsonObject) -> Errors:
    if (old.get("status") or {}).get("nodeAllocatableResourceClaimStatuses"):
        why = "pods with node allocatable resource claims cannot be resized"
        yield fieldpath.forbidden(SPEC, why)


def _lacks(given: JsonObject, was: JsonObject, part: str) -> bool:
    return not set(was.get(part) or ()) <= set(given.get(part) or ())


def _without_amounts(resources: JsonObject) -> JsonDict:
    """Return the part of resources that a resize does not change: other resources, and the
    devices."""
    kept = {
        part: {
            name: amount
            for name, amount in (resources.get(part) or {}).items()
            if name not in QOS_RESOURCES
        }
        for part in ("limits", "requests")
    }
    return {**kept, "claims": list(resources.get("claims") or ())}


def _pairs(
    spec: JsonObject, before: JsonObject, field: str
) -> Iterator[tuple[FieldPath, JsonObject, JsonObject]]:
    """Each container and what it was; a resize adds and removes none."""
    pairs = zip(spec.get(field) or (), before.get(field) or (), strict=False)
    for index, (container, was) in enumerate(pairs):
        yield SPEC.child(field).index(index), container, was


def _container_amounts(spec: JsonObject, before: JsonObject, field: str) -> Errors:
    for at, container, was in _pairs(spec, before, field):
        if field == "initContainers" and not _may_resize(was):
            continue
        given, had = (one.get("resources") or {} for one in (container, was))
        for part in ("requests", "limits"):
            if _lacks(given, had, part):
                why = f"resource {part} cannot be removed"
                yield fieldpath.forbidden(at.child("resources", part), why)
        yield from _less_memory(at.child("resources", "limits").key("memory"), container, had)


def _may_resize(container: JsonObject) -> bool:
    """Return whether an init container may be resized; before 1.36 only one that goes on
    running."""
    return is_since("1.36") or container.get("restartPolicy") == "Always"


@until("1.34")
def _less_memory(path: FieldPath, container: JsonObject, had: JsonObject) -> Errors:
    """Yield an error if a running container is given less memory, which was not possible at
    first."""
    policies = container.get("resizePolicy") or ()
    chosen = (one.get("restartPolicy") for one in policies if one.get("resourceName") == "memory")
    if next(chosen, None) == "RestartContainer":
        return
    resources = container.get("resources") or {}
    limit, was = ((one.get("limits") or {}).get("memory") for one in (resources, had))
    if limit is None:
        return
    if was is None or parse_amounts(limit).compare(parse_amounts(was)) < 0:
        done = "added" if was is None else "decreased"
        why = f"memory limits cannot be {done} unless resizePolicy is RestartContainer"
        yield fieldpath.forbidden(path, why)


def _only_amounts(spec: JsonObject, before: JsonObject, field: str) -> Errors:
    for at, container, was in _pairs(spec, before, field):
        fixed = _with_old(container, was)
        changed = internal_value(fixed, "core.v1.Container") != internal_value(
            was, "core.v1.Container"
        )
        if field == "containers":
            if changed:
                yield fieldpath.forbidden(SPEC, ONLY_AMOUNTS)
            continue
        if not is_since("1.36"):
            yield from _old_init_amounts(container, was, changed=changed)
            continue
        if changed:
            why = "only cpu and memory resources for init or sidecar containers are mutable"
            yield fieldpath.forbidden(at, why)
        policies = container.get("resizePolicy") or ()
        restarts = any(one.get("restartPolicy") == "RestartContainer" for one in policies)
        if container != was and container.get("restartPolicy") != "Always" and restarts:
            why = (
                "non-sidecar init containers with a resize policy of RestartContainer cannot be "
                "resized"
            )
            yield fieldpath.forbidden(at, why)


def _old_init_amounts(container: JsonObject, was: JsonObject, *, changed: bool) -> Errors:
    """Init containers that end had their amounts for good."""
    if container.get("restartPolicy") == "Always":
        if changed:
            why = "only cpu and memory resources for sidecar containers are mutable"
            yield fieldpath.forbidden(SPEC, why)
    elif internal_value(container, "core.v1.Container") != internal_value(was, "core.v1.Container"):
        yield fieldpath.forbidden(SPEC, "resources for non-sidecar init containers are immutable")


def _with_old(container: JsonObject, was: JsonObject) -> JsonDict:
    """The new container with the old one's cpu and memory; upstream forgets about its devices, so
    that one with devices is never as it was."""
    given, had = (one.get("resources") or {} for one in (container, was))
    parts = ("limits", "requests")
    fixed = {part: _old_amounts(given.get(part) or {}, had.get(part) or {}) for part in parts}
    stays = all(fixed[part] == (had.get(part) or {}) for part in parts) and not had.get("claims")
    return {**container, "resources": had if stays else fixed}


def _old_amounts(given: JsonObject, had: JsonObject) -> JsonObject:
    """Before 1.35, what was added where there was nothing was not looked at."""
    if not had and not is_since("1.35"):
        return {}
    others = {name: one for name, one in given.items() if name not in QOS_RESOURCES}
    return {**others, **{name: one for name, one in had.items() if name in QOS_RESOURCES}}


def _with_old_amounts(spec: JsonObject, before: JsonObject) -> JsonDict:
    fixed = {**spec, "resources": before.get("resources")}
    for field in ("containers", "initContainers"):
        fixed.pop(field, None)
        if spec.get(field):
            fixed[field] = [_with_old(one, was) for _, one, was in _pairs(spec, before, field)]
    return fixed


POD_SUBRESOURCES: Final[Mapping[str, Update]] = {
    "ephemeralcontainers": ephemeral_containers,
    "resize": resize,
}
"""What is looked at in an update of a Pod through a subresource, besides the metadata."""
