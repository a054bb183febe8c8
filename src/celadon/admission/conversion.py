"""Objects in another version of their API.

Custom resources without a conversion webhook only change their `apiVersion`; nothing is pruned.
So do built-in kinds whose versions have the same fields. The others have functions here: Events
(core and events.k8s.io name the same things differently, k8s.io/kubernetes
`pkg/apis/core/conversion`), HorizontalPodAutoscalers (`autoscaler_conversion`), and devices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

from celadon.kube import GroupKind, GroupVersionKind, Json, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Catalog
from celadon.kube.resources.autoscaler_conversion import to_v1, to_v2
from celadon.kube.well_known_values import DYNAMIC_RESOURCES

EVENTS_GROUP: Final = "events.k8s.io"
HPA: Final = GroupKind("autoscaling", "HorizontalPodAutoscaler")

_EVENT_FIELDS: Final = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_ALWAYS_IN_CORE: Final = ("reportingComponent", "reportingInstance")
_CORE_FIELDS: Final = {new: old for old, new in _EVENT_FIELDS.items()}


class ConversionError(Exception):
    """Says that an object cannot be shown in a version of its API."""

    def __init__(self, text: str) -> None:
        super().__init__(f"failed to convert object version: {text}")


class WebhookNotCalled(ConversionError):
    """A conversion webhook would know, and nobody here calls it, or it is out of reach from here:
    what the object looks like in that version is not known, whatever a server would say."""

    def __init__(
        self, source: GroupVersionKind, target: GroupVersionKind, reason: str = "is not called"
    ) -> None:
        super().__init__(
            f"the conversion webhook for {source} {reason}, so the object is not known as "
            f"{target.api_version}"
        )


class Converter(Protocol):
    """Asks the conversion webhook about objects of one kind. Raises ConversionError;
    WebhookNotCalled for a webhook that is out of reach."""

    def converted(
        self, objects: Sequence[JsonObject], kind: GroupVersionKind
    ) -> Sequence[JsonObject]:
        """Return objects in a version, just as the webhook gives them."""
        ...

    def shown(self, objects: Sequence[JsonObject], kind: GroupVersionKind) -> Sequence[JsonObject]:
        """Return stored objects in a version, as a server shows them."""
        ...


def convert(
    obj: JsonObject,
    kind: GroupVersionKind,
    catalog: Catalog | None = None,
    converter: Converter | None = None,
) -> JsonObject:
    """Return the object as `kind`, a version of its own kind; `converter` is asked where a webhook
    converts, as the catalogue says. Raises ConversionError; WebhookNotCalled without a
    converter."""
    if obj.get("kind") == kind.kind and obj.get("apiVersion") == kind.api_version:
        return obj
    have = metadata.gvk(obj)
    resource = None if catalog is None else catalog.by_gvk(kind)
    if resource is not None and resource.by_webhook:
        if converter is None:
            raise WebhookNotCalled(have, kind)
        return converter.converted([obj], kind)[0]
    renamed = {**obj, "apiVersion": kind.api_version, "kind": kind.kind}
    if kind.kind == "Event" and have.group != kind.group:
        return _event(renamed, to_core=kind.group != EVENTS_GROUP)
    if have.group_kind != kind.group_kind:
        return renamed
    of_hpa = _HPA_CHANGES.get((have.version, kind.version)) if kind.group_kind == HPA else None
    change = of_hpa or change_of_version(have, kind)
    return renamed if change is None else _changed(change, renamed)


def _event(obj: JsonObject, *, to_core: bool) -> dict[str, Json]:
    """Convert an Event: the core version always says who reports, if only with an empty text; the
    other leaves out what is empty."""
    fields = _CORE_FIELDS if to_core else _EVENT_FIELDS
    renamed = {fields.get(key, key): value for key, value in obj.items()}
    if to_core:
        return {
            **renamed,
            **{field_name: renamed.get(field_name, "") for field_name in _ALWAYS_IN_CORE},
        }
    absent = {
        _EVENT_FIELDS.get(field_name, field_name)
        for field_name in _ALWAYS_IN_CORE
        if not obj.get(field_name)
    }
    return {key: value for key, value in renamed.items() if key not in absent}


def _changed(
    change: Callable[[dict[str, object]], dict[str, object]], obj: dict[str, object]
) -> dict[str, object]:
    """Apply a change to an object. Raises ConversionError for one that lacks the shape of its kind:
    whoever sends reviews may send anything."""
    try:
        return change(obj)
    except (AttributeError, LookupError, TypeError, ValueError):
        raise ConversionError("the object does not have the fields of its kind") from None


_HPA_CHANGES: Final[Mapping[tuple[str, str], Callable[[dict[str, object]], dict[str, object]]]] = {
    ("v1", "v2"): to_v2,
    ("v2", "v1"): to_v1,
}


# --- Devices -----------------------------------------------------------------
#
# Devices and claims of them in the versions of resource.k8s.io.
#
# Up to v1beta1 a request for devices of one class has its fields beside those of a request with
# alternatives, since v1beta2 in `exactly`; and what a device is stood in `basic`. In v1alpha3 a
# capacity is a bare amount. After k8s.io/kubernetes `pkg/apis/resource/v1beta1/conversion.go`
# and its like.

_OLDER: Final = frozenset({"v1alpha3", "v1beta1"})
_BARE: Final = "v1alpha3"
_BEFORE: Final = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess")
_BEHIND: Final = ("tolerations", "capacity")
"""The fields of a request for devices of one class, in v1beta1 around `firstAvailable`."""


def _is_empty(value: object) -> bool:
    """Return whether a field is as good as absent; a false stands behind a pointer."""
    return not value and value is not False


Change = Callable[[JsonDict], JsonDict]


def change_of_version(have: GroupVersionKind, want: GroupVersionKind) -> Change | None:
    """Return what makes an object one of another version; None if that has the same fields."""
    place = _PLACES.get(want.group_kind)
    if place is None or have.version == want.version:
        return None
    if want.kind == "ResourceSlice":
        return partial(_slice, source=have.version, target=want.version)
    if (have.version in _OLDER) == (want.version in _OLDER):
        return None
    change = _exact if have.version in _OLDER else _plain
    return partial(_each, place, change)


_PLACES: Final[Mapping[GroupKind, tuple[str, ...]]] = {
    GroupKind(DYNAMIC_RESOURCES, "ResourceClaim"): ("spec", "devices", "requests"),
    GroupKind(DYNAMIC_RESOURCES, "ResourceClaimTemplate"): ("spec", "spec", "devices", "requests"),
    GroupKind(DYNAMIC_RESOURCES, "ResourceSlice"): ("spec", "devices"),
}
"""Where the lists stand whose members differ."""


def _each(place: tuple[str, ...], change: Change, obj: JsonDict) -> JsonDict:
    """Return the object with each member of a list changed."""
    field, *below = place
    inner: Any = obj.get(field)
    if not inner:
        return obj
    if below:
        return {**obj, field: _each(tuple(below), change, inner)}
    return {**obj, field: [change(item) for item in inner]}


def _exact(request: JsonDict) -> JsonDict:
    """Return a request of v1beta1 as later versions have it."""
    fields = {key: request[key] for key in (*_BEFORE, *_BEHIND) if not _is_empty(request.get(key))}
    rest = {key: value for key, value in request.items() if key not in (*_BEFORE, *_BEHIND)}
    if not fields:
        return rest
    return _with_name_first(rest, {"exactly": {"deviceClassName": "", **fields}})


def _plain(request: JsonDict) -> JsonDict:
    """Return a request of v1 as v1beta1 has it."""
    exactly: JsonObject = request.get("exactly") or {}
    rest = {key: value for key, value in request.items() if key != "exactly"}
    before, behind = (
        {key: exactly[key] for key in keys if not _is_empty(exactly.get(key))}
        for keys in (_BEFORE, _BEHIND)
    )
    return {**_with_name_first(rest, {"deviceClassName": "", **before}), **behind}


def _with_name_first(rest: JsonDict, fields: JsonObject) -> JsonDict:
    name = {key: rest[key] for key in ("name",) if key in rest}
    return {**name, **fields, **rest}


def _slice(obj: JsonDict, *, source: str, target: str) -> JsonDict:
    def device(item: JsonDict) -> JsonDict:
        properties = item if source not in _OLDER else item.get("basic") or {}
        basic = {key: value for key, value in properties.items() if key != "name"}
        if basic.get("capacity"):
            basic["capacity"] = {
                name: _amount(amount, source, target) for name, amount in basic["capacity"].items()
            }
        name = {key: item[key] for key in ("name",) if key in item}
        return {**name, "basic": basic} if target in _OLDER else {**name, **basic}

    return _each(_PLACES[GroupKind(DYNAMIC_RESOURCES, "ResourceSlice")], device, obj)


def _amount(capacity: Any, source: str, target: str) -> Any:  # noqa: ANN401 - JSON
    if target == _BARE:
        return capacity["value"]
    return {"value": capacity} if source == _BARE else capacity
