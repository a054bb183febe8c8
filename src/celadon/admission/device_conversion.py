"""Devices and claims of them in the versions of resource.k8s.io.

Up to v1beta1 a request for devices of one class has its fields beside those of a request with
alternatives, since v1beta2 in `exactly`; and what a device is stood in `basic`. In v1alpha3 a
capacity is a bare amount. After k8s.io/kubernetes `pkg/apis/resource/v1beta1/conversion.go` and its
like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from celadon.kube import GroupKind, GroupVersionKind, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import DYNAMIC_RESOURCES

_OLDER: Final = frozenset({"v1alpha3", "v1beta1"})
_BARE: Final = "v1alpha3"
_BEFORE: Final = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess")
_BEHIND: Final = ("tolerations", "capacity")
"""The fields of a request for devices of one class, in v1beta1 around `firstAvailable`."""
_EMPTY: Final = ("", 0, None)

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
    """The object with each member of a list changed."""
    field, *below = place
    inner: Any = obj.get(field)
    if not inner:
        return obj
    if below:
        return {**obj, field: _each(tuple(below), change, inner)}
    return {**obj, field: [change(one) for one in inner]}


def _exact(request: JsonDict) -> JsonDict:
    """A request of v1beta1, as later versions have it."""
    fields = {key: request[key] for key in (*_BEFORE, *_BEHIND) if request.get(key) not in _EMPTY}
    rest = {key: value for key, value in request.items() if key not in (*_BEFORE, *_BEHIND)}
    if not fields:
        return rest
    return _with_name_first(rest, {"exactly": {"deviceClassName": "", **fields}})


def _plain(request: JsonDict) -> JsonDict:
    """A request of v1, as v1beta1 has it."""
    exactly: JsonObject = request.get("exactly") or {}
    rest = {key: value for key, value in request.items() if key != "exactly"}
    before, behind = (
        {key: exactly[key] for key in keys if exactly.get(key) not in _EMPTY}
        for keys in (_BEFORE, _BEHIND)
    )
    return {**_with_name_first(rest, before), **behind}


def _with_name_first(rest: JsonDict, fields: JsonObject) -> JsonDict:
    name = {key: rest[key] for key in ("name",) if key in rest}
    return {**name, **fields, **rest}


def _slice(obj: JsonDict, *, source: str, target: str) -> JsonDict:
    def device(one: JsonDict) -> JsonDict:
        properties = one if source not in _OLDER else one.get("basic") or {}
        shown = {key: value for key, value in properties.items() if key != "name"}
        if shown.get("capacity"):
            shown["capacity"] = {
                name: _amount(amount, source, target) for name, amount in shown["capacity"].items()
            }
        name = {key: one[key] for key in ("name",) if key in one}
        return {**name, "basic": shown} if target in _OLDER else {**name, **shown}

    return _each(_PLACES[GroupKind(DYNAMIC_RESOURCES, "ResourceSlice")], device, obj)


def _amount(capacity: Any, source: str, target: str) -> Any:  # noqa: ANN401 - JSON
    if target == _BARE:
        return capacity["value"]
    return {"value": capacity} if source == _BARE else capacity
