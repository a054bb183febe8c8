"""Claims to storage, new and changed."""

from __future__ import annotations

from typing import Any

from celadon.kube import fieldpath, metadata
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.quantities.resource_amounts import parse
from celadon.kube.validation.field_checks import SPEC, Errors, immutable
from celadon.kube.validation.pods.claim_specs import claim_spec
from celadon.kube.validation.pods.pod_spec_diffs import claim_spec_diff
from celadon.kube.well_known_values import STORAGE_CLASS


def claim(obj: JsonObject) -> Errors:
    """What is wrong with a PersistentVolumeClaim, besides its metadata."""
    yield from claim_spec(SPEC, obj.get("spec") or {})


def claim_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The size may grow; whatever else changes is told by its difference."""
    yield from claim(obj)
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    bound = (obj.get("status") or old.get("status") or {}).get("phase") == "Bound"
    yield from _old_class(obj, old)
    was, fixed = _compared(spec, before, bound=bound)
    if fixed != was:
        detail = (
            "spec is immutable after creation except resources.requests and "
            f"volumeAttributesClassName for bound claims\n{claim_spec_diff(was, fixed)}"
        )
        yield fieldpath.forbidden(SPEC, detail)
    yield from _size(obj, old)
    yield from immutable(FieldPath("volumeMode"), spec.get("volumeMode"), before.get("volumeMode"))
    yield from attributes_class_kept(spec, before, or_empty=True)


def _size(obj: JsonObject, old: JsonObject) -> Errors:
    """A claim that could not grow may take back what it has not got."""
    new, was = (_requested(one.get("spec") or {}) for one in (obj, old))
    has = ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
    if parse(new).compare(parse(was)) < 0 and parse(new).compare(parse(has)) <= 0:
        at = SPEC.child("resources", "requests", "storage")
        yield fieldpath.forbidden(at, "field can not be less than status.capacity")


def _requested(spec: JsonObject) -> str:
    text: str = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    return text


def _old_class(obj: JsonObject, old: JsonObject) -> Errors:
    """The annotation that was there before the field stays what it is."""
    at = FieldPath("metadata", "annotations", STORAGE_CLASS)
    new, was = (metadata.annotations(one).get(STORAGE_CLASS, "") for one in (obj, old))
    named, before = ((one.get("spec") or {}).get("storageClassName") for one in (obj, old))
    moved = before is None and was and named == was and new in ("", was)
    if not moved:
        yield from immutable(at, new, was)


def attributes_class_kept(spec: JsonObject, before: JsonObject, *, or_empty: bool) -> Errors:
    """What has a VolumeAttributesClass gets another, never none; `or_empty`: the empty text is none
    as well."""
    name, was = (one.get("volumeAttributesClassName") for one in (spec, before))
    at = SPEC.child("volumeAttributesClassName")
    if was is not None and name is None:
        yield fieldpath.forbidden(at, "update from non-nil value to nil is forbidden")
    elif or_empty and was is not None and name == "" != was:
        yield fieldpath.forbidden(at, "update from non-nil value to an empty string is forbidden")


def _compared(
    spec: JsonObject, before: JsonObject, *, bound: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The old and the new spec, the same where they may differ."""
    was, fixed = dict(before), dict(spec)
    if not was.get("volumeName"):
        _take(was, spec, "volumeName")
    if was.get("storageClassName") is None:
        _take(fixed, before, "storageClassName")
    requests = (spec.get("resources") or {}).get("requests")
    if bound:
        _take(fixed, before, "volumeAttributesClassName")
    if bound and requests:
        size = ((before.get("resources") or {}).get("requests") or {}).get("storage", "0")
        fixed["resources"] = {**spec["resources"], "requests": {**requests, "storage": size}}
    return was, fixed


def _take(spec: dict[str, Any], other: JsonObject, field: str) -> None:
    if other.get(field) is None:
        spec.pop(field, None)
    else:
        spec[field] = other[field]
