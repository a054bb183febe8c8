"""`metadata.managedFields`: who owns which fields, read from entries and written as entries.

As k8s.io/apimachinery `pkg/util/managedfields/internal/managedfields.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Final, NamedTuple

from celadon.kube import metadata
from celadon.kube.apply.field_elements import FieldSetError
from celadon.kube.apply.field_sets import FieldSet, from_fields_v1, to_fields_v1
from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import json_text, quote
from celadon.kube.go.go_time import TimeError, canonical_time
from celadon.kube.json_types import JsonObject
from celadon.records import dataclass

APPLY: Final = "Apply"
UPDATE: Final = "Update"
FIELDS_V1: Final = "FieldsV1"
UNKNOWN: Final = "unknown"
"""The manager of requests that do not say who they are from."""


class EntryError(MalformedText):
    """An entry of `managedFields` that cannot be read."""


class ManagerId(NamedTuple):
    """What makes two entries one manager's. Appliers have no version: they are the same whichever
    version they use."""

    name: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    def sort_text(self) -> str:
        """Managers are sorted by this text, which is their JSON."""
        members = {
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        return json_text({key: value for key, value in members.items() if value})


def manager_id(name: str, operation: str, api_version: str, subresource: str = "") -> ManagerId:
    """Of the writer of a request in that version."""
    version = "" if operation == APPLY else api_version
    return ManagerId(name or UNKNOWN, operation, version, subresource)


class Owned(NamedTuple):
    """Fields, in terms of a version."""

    fields: FieldSet
    api_version: str


@dataclass(slots=True)
class Managers:
    """The owners of an object's fields, and when each last changed what it owns (RFC 3339, empty if
    nobody knows). It belongs to whoever works on it; `copy` makes another."""

    owned: dict[ManagerId, Owned] = field(default_factory=dict)
    times: dict[ManagerId, str] = field(default_factory=dict)

    def copy(self) -> Managers:
        """The sets are shared: they never change."""
        return Managers(dict(self.owned), dict(self.times))

    def keep(self, manager: ManagerId, fields: FieldSet, api_version: str) -> None:
        """Who owns nothing is none."""
        if fields:
            self.owned[manager] = Owned(fields, api_version)
        else:
            self.owned.pop(manager, None)


def decoded(entries: object) -> Managers:
    """The managers of `metadata.managedFields`; none for null. EntryError when an entry cannot be
    read."""
    found = Managers()
    if entries is None:
        return found
    if not isinstance(entries, list):
        raise EntryError("managedFields is a list")
    for at, entry in enumerate(entries):
        manager, owned = _decoded_entry(entry, at)
        found.owned[manager] = owned
        found.times[manager] = _time(entry)
    return found


def entries_problem(entries: object) -> str:
    """Why `metadata.managedFields` cannot be read; empty if they can."""
    try:
        decoded(entries)
    except EntryError as error:
        return str(error)
    return ""


def _decoded_entry(entry: object, at: int) -> tuple[ManagerId, Owned]:
    if not isinstance(entry, dict):
        raise EntryError("an entry of managedFields is an object")
    operation, api_version = _text(entry, "operation"), _text(entry, "apiVersion")
    if operation not in (APPLY, UPDATE):
        raise EntryError("operation must be `Apply` or `Update`")
    if not api_version:
        raise EntryError("apiVersion must not be empty")
    fields_type = _text(entry, "fieldsType")
    if not fields_type:
        raise EntryError(f"missing fieldsType in managed fields entry {at}")
    if fields_type != FIELDS_V1:
        raise EntryError(f"invalid fieldsType {quote(fields_type)} in managed fields entry {at}")
    version = "" if operation == APPLY else api_version
    name, subresource = _text(entry, "manager"), _text(entry, "subresource")
    manager = ManagerId(name, operation, version, subresource)
    try:
        fields = from_fields_v1(entry.get("fieldsV1") or {})
    except FieldSetError as error:
        raise EntryError(str(error)) from error
    return manager, Owned(fields, api_version)


def _text(entry: JsonObject, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _time(entry: JsonObject) -> str:
    try:
        return canonical_time(_text(entry, "time"))
    except TimeError:
        return ""


def encoded(managers: Managers) -> list[dict[str, Any]]:
    """The entries: appliers first, the oldest first, then by name, version and subresource."""
    times = managers.times
    entries = [
        entry_of(manager, owned.api_version, to_fields_v1(owned.fields), times.get(manager, ""))
        for manager, owned in managers.owned.items()
    ]
    if len(entries) > 1:
        entries.sort(key=_entry_order)
    return entries


def entry_of(manager: ManagerId, api_version: str, fields: JsonObject, time: str) -> dict[str, Any]:
    """One entry; `fields` is FieldsV1."""
    made: dict[str, Any] = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": api_version,
    }
    if time:
        made["time"] = time
    made["fieldsType"] = FIELDS_V1
    made["fieldsV1"] = fields
    if manager.subresource:
        made["subresource"] = manager.subresource
    return made


def _entry_order(entry: JsonObject) -> tuple[str, ...]:
    return (
        entry["operation"],
        entry.get("time", ""),
        entry["manager"],
        entry["apiVersion"],
        entry.get("subresource", ""),
    )


def managers_of(obj: JsonObject) -> Managers:
    """Those of a stored object. EntryError as `decoded`."""
    return decoded(metadata.metadata(obj).get("managedFields"))


def is_reset(entries: object) -> bool:
    """Whether a client asks for all managers to be forgotten: an empty list, or an empty entry."""
    return isinstance(entries, list) and (not entries or entries == [{}])


def managers_of_update(live: JsonObject, new: JsonObject, *, is_subresource: bool) -> Managers:
    """Those that a write starts from: of the object that was sent, if it has readable ones and goes
    to the object itself, else those of the live one."""
    sent = metadata.metadata(new).get("managedFields")
    if not is_subresource:
        if is_reset(sent):
            return Managers()
        try:
            found = decoded(sent)
        except EntryError:
            found = Managers()
        if found.owned:
            return found
    try:
        return managers_of(live)
    except EntryError:
        return Managers()


def with_old_times(new: JsonObject, old: JsonObject) -> dict[str, Any]:
    """The new object; with the entries of the old one if it differs from that in nothing but their
    times, so that a write of the same is no write."""
    made = dict(new)
    mine, theirs = metadata.metadata(new), metadata.metadata(old)
    entries, before = mine.get("managedFields"), theirs.get("managedFields")
    if not entries or not before or entries == before:
        return made
    if not renews(new, old):
        made["metadata"] = {**mine, "managedFields": before}
    return made


def renews(new: JsonObject, old: JsonObject) -> bool:
    """Whether a write of the new object makes an entry, or gives one another time."""
    mine, theirs = metadata.metadata(new), metadata.metadata(old)
    entries, before = mine.get("managedFields") or (), theirs.get("managedFields") or ()
    return _timeless(entries) != _timeless(before) or _rest(new, mine) != _rest(old, theirs)


def _timeless(entries: Sequence[JsonObject]) -> list[dict[str, Any]]:
    return [_without(entry, ("time",)) for entry in entries]


def _rest(obj: JsonObject, meta: JsonObject) -> tuple[dict[str, Any], dict[str, Any]]:
    return _without(obj, ("metadata",)), _without(meta, ("managedFields",))


def _without(members: JsonObject, keys: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key not in keys}
