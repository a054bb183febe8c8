"""Validation of Events: of the core group, and of their own, which has names of its own for most
fields.

As k8s.io/kubernetes `pkg/apis/core/validation/events.go`: inside there is one kind of Event, and
both are complained about by the names it has there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.validation import object_meta
from celadon.kube.validation.field_checks import IMMUTABLE, Errors, qualified_name

MAX_WORD: Final = 128
MAX_MESSAGE: Final = 1024
TYPES: Final = ("Normal", "Warning")
CORE_NAMES: Final = {
    "regarding": "involvedObject",
    "note": "message",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "deprecatedSource": "source",
}
"""Fields of `events.k8s.io` and what they are called in the core group, and inside."""
_NAMING: Final = object_meta.Naming()
_ROOT: Final = FieldPath()
_UNSET: Final = "needs to be unset"


def core_event(obj: JsonObject) -> Errors:
    """Yield what is wrong with an Event of the core group, which keeps the old rules for events
    without a time of their own."""
    return _event(obj, "reportingComponent", obj.get("reportingComponent") or "")


def _event(obj: JsonObject, reporter_field: str, reporter: str) -> Errors:
    namespace = (obj.get("metadata") or {}).get("namespace") or ""
    involved = (obj.get("involvedObject") or {}).get("namespace") or ""
    if obj.get("eventTime"):
        fits = bool(involved) or namespace in {"default", "kube-system"}
    elif involved:
        fits = involved == namespace
    else:
        fits = namespace in {"", "default"}
    if not fits:
        path = FieldPath("involvedObject", "namespace")
        yield fieldpath.invalid(path, involved, "does not match event.namespace")
    if obj.get("eventTime"):
        yield from _timed_event(obj, _ROOT.child(reporter_field), reporter)


def _timed_event(obj: JsonObject, reporter_path: FieldPath, reporter: str) -> Errors:
    if not reporter:
        yield fieldpath.required(reporter_path)
    yield from qualified_name(reporter_path, reporter)
    for field in ("reportingInstance", "action", "reason"):
        value = obj.get(field) or ""
        if not value:
            yield fieldpath.required(_ROOT.child(field))
        if len(value.encode()) > MAX_WORD:
            detail = f"can have at most {MAX_WORD} characters"
            yield fieldpath.invalid(_ROOT.child(field), "", detail)
    if len((obj.get("message") or "").encode()) > MAX_MESSAGE:
        detail = f"can have at most {MAX_MESSAGE} characters"
        yield fieldpath.invalid(_ROOT.child("message"), "", detail)


def _inside(obj: JsonObject) -> JsonDict:
    """Return an Event of `events.k8s.io` by the names of the core group."""
    return {CORE_NAMES.get(field, field): value for field, value in obj.items()}


def event(obj: JsonObject) -> Errors:
    """Yield what is wrong with a new Event of `events.k8s.io`, its metadata included."""
    inside = _inside(obj)
    yield from _event(inside, "reportingController", obj.get("reportingController") or "")
    yield from object_meta.validate_object_meta(obj.get("metadata") or {}, _NAMING)
    yield from object_meta.standard_finalizers(obj.get("metadata") or {}, _NAMING)
    yield from _series(inside)
    if not inside.get("eventTime"):
        yield fieldpath.required(_ROOT.child("eventTime"))
    kind = inside.get("type") or ""
    if kind not in TYPES:
        yield fieldpath.invalid(_ROOT.child("type"), "", f"has invalid value: {kind}")
    for field in ("firstTimestamp", "lastTimestamp", "count"):
        if inside.get(field):
            yield fieldpath.invalid(_ROOT.child(field), "", _UNSET)
    source = inside.get("source") or {}
    if source.get("component") or source.get("host"):
        yield fieldpath.invalid(_ROOT.child("source"), "", _UNSET)


def _series(inside: JsonObject) -> Errors:
    # As `validateV1EventSeries` of `pkg/apis/core/validation`.
    series = inside.get("series")
    if series is None:
        return
    if (series.get("count") or 0) < 2:
        yield fieldpath.invalid(FieldPath("series.count"), "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield fieldpath.required(FieldPath("series.lastObservedTime"))


def event_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a changed Event: only its series may change."""
    # As `ValidateEventUpdate` of `pkg/apis/core/validation`.
    inside, before = _inside(obj), _inside(old)
    yield from _event(inside, "reportingController", obj.get("reportingController") or "")
    yield from object_meta.validate_object_meta_update(
        obj.get("metadata") or {}, old.get("metadata") or {}
    )
    yield from object_meta.standard_finalizers(obj.get("metadata") or {}, _NAMING)
    if inside.get("series") != before.get("series"):
        yield from _series(inside)
    for field in LASTING:
        zero = ZEROS.get(field, "")
        new, was = (item.get(field) or zero for item in (inside, before))
        if field == "related":  # the only pointer: an empty reference is one
            new, was = inside.get(field), before.get(field)
        if new != was:
            yield fieldpath.invalid(_ROOT.child(field), _printed(field, new), IMMUTABLE)


LASTING: Final = (
    *("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count"),
    *("reason", "type", "eventTime", "action", "related", "reportingController"),
    "reportingInstance",
)
"""What may not change, in upstream's order: a reason is looked at twice."""
ZEROS: Final[JsonObject] = {
    "involvedObject": {},
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "count": 0,
    "eventTime": None,
    "related": None,
}
"""What such a field is when it is not there, where that is no empty text."""

_REFERENCE: Final = {
    "Kind": "kind",
    "Namespace": "namespace",
    "Name": "name",
    "UID": "uid",
    "APIVersion": "apiVersion",
    "ResourceVersion": "resourceVersion",
    "FieldPath": "fieldPath",
}
_GO_TYPES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "involvedObject": ("core.ObjectReference", _REFERENCE),
    "related": ("core.ObjectReference", _REFERENCE),
    "source": ("core.EventSource", {"Component": "component", "Host": "host"}),
    "firstTimestamp": ("v1.Time", {}),
    "lastTimestamp": ("v1.Time", {}),
    "eventTime": ("v1.MicroTime", {}),
}
"""Types of fields, with the members of structs, which have no JSON names inside."""


def _printed(field: str, value: Json) -> object:
    """Return what Go prints of the new value of a field."""
    if field not in _GO_TYPES or (field == "related" and value is None):
        return value
    type_, members = _GO_TYPES[field]
    if isinstance(value, dict):
        value = {name: value.get(key) or "" for name, key in members.items()}
    return GoValue(value, type_)
