"""Writes to parts of a running pod: containers to debug it with, and other amounts for it.

As k8s.io/kubernetes `pkg/apis/core/validation`, `ValidatePodEphemeralContainersUpdate` and
`ValidatePodResize`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from celadon.kube import fieldpath, metadata
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.quantities.qos_classes import QOS_RESOURCES, qos_class
from celadon.kube.validation.field_checks import SPEC, Errors
from celadon.kube.validation.pod_annotations import annotation_changes
from celadon.kube.validation.pods.internal_pod_types import internal_pod_spec, internal_value
from celadon.kube.validation.pods.pod_spec_diffs import ephemeral_container_diff, pod_spec_diff
from celadon.kube.validation.pods.pod_specs import pod_in_general
from celadon.kube.well_known_values import MIRROR_POD

ONLY_AMOUNTS: Final = "only cpu and memory resources are mutable"
_NOWHERE: Final = FieldPath("")
_RESOURCES: Final = SPEC.child("resources")


def ephemeral_containers(obj: JsonObject, old: JsonObject) -> Errors:
    """Of a write through `pods/ephemeralcontainers`: containers come, and stay what they are."""
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
    """Of a write through `pods/resize`: cpu and memory change, and not what class a pod is of."""
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    if MIRROR_POD in metadata.annotations(old):
        yield fieldpath.forbidden(_NOWHERE, "static pods cannot be resized")
        return
    if (before.get("os") or {}).get("name") == "windows":
        yield fieldpath.forbidden(_NOWHERE, "windows pods cannot be resized")
        return
    yield from pod_in_general(obj, old)
    yield from annotation_changes(obj, old)
    yield from _class(obj, old)
    errors = [*_pod_amounts(spec, before), *_claims(old)]
    for field in ("initContainers", "containers"):
        errors += _container_amounts(spec, before, field)
    for field in ("containers", "initContainers"):
        errors += _only_amounts(spec, before, field)
    yield from errors
    fixed = _with_old_amounts(spec, before)
    if not errors and internal_pod_spec(fixed) != internal_pod_spec(before):
        difference = pod_spec_diff(before, fixed)
        yield fieldpath.forbidden(SPEC, f"{ONLY_AMOUNTS}\n{difference}")


def _class(obj: JsonObject, old: JsonObject) -> Errors:
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    status = old.get("status") or {}
    if (status.get("qosClass") or qos_class(before)) != qos_class(spec):
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
    if not any((one or {}).get(part) for one in (given, was) for part in ("requests", "limits")):
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


def _claims(old: JsonObject) -> Errors:
    if (old.get("status") or {}).get("nodeAllocatableResourceClaimStatuses"):
        why = "pods with node allocatable resource claims cannot be resized"
        yield fieldpath.forbidden(SPEC, why)


def _lacks(given: JsonObject, was: JsonObject, part: str) -> bool:
    return not set(was.get(part) or ()) <= set(given.get(part) or ())


def _without_amounts(resources: JsonObject) -> dict[str, Any]:
    """What of them stays: other resources, and the devices."""
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
        given, had = (one.get("resources") or {} for one in (container, was))
        for part in ("requests", "limits"):
            if _lacks(given, had, part):
                why = f"resource {part} cannot be removed"
                yield fieldpath.forbidden(at.child("resources", part), why)


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


def _with_old(container: JsonObject, was: JsonObject) -> dict[str, Any]:
    """The new container with the old one's cpu and memory."""
    given, had = (one.get("resources") or {} for one in (container, was))
    if _without_amounts(given) == _without_amounts(had):
        return {**container, "resources": had}
    return dict(container)


def _with_old_amounts(spec: JsonObject, before: JsonObject) -> dict[str, Any]:
    fixed = {**spec, "resources": before.get("resources")}
    for field in ("containers", "initContainers"):
        if spec.get(field):
            fixed[field] = [_with_old(one, was) for _, one, was in _pairs(spec, before, field)]
    return fixed
