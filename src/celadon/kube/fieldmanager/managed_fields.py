"""`metadata.managedFields`: who owns which fields, read from entries and written as entries.

As k8s.io/apimachinery `pkg/util/managedfields/internal/managedfields.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from celadon.kube import metadata
from celadon.kube.defaulting.defaulting_rules import update_rules
from celadon.kube.errors import MalformedText
from celadon.kube.fieldmanager import field_sets
from celadon.kube.fieldmanager.structured_merge import Comparison
from celadon.kube.go.go_text import json_text, quote
from celadon.kube.go.go_time import TimeError, canonical_time
from celadon.kube.json_types import Json, JsonDict, JsonObject, same, text_member
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.registry.decoded_object import Target
from celadon.kube.registry.update import EVERYTHING, PARTS
from celadon.kube.releases import is_since, per_release
from celadon.kube.resources.api_resources import SCALE
from celadon.records import dataclass, field

APPLY: Final = "Apply"
UPDATE: Final = "Update"
FIELDS_V1: Final = "FieldsV1"
UNKNOWN: Final = "unknown"
"""The manager of requests that do not say who they are from."""


class EntryError(MalformedText):
    """An entry of `managedFields` that cannot be read."""


class ManagerId(NamedTuple):
    """Holds what makes two entries one manager's. Appliers have no version: they are the same
    whichever version they use."""

    name: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    def sort_text(self) -> str:
        """Return the text that managers are sorted by, which is their JSON."""
        members = {
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        return json_text({key: value for key, value in members.items() if value})


def manager_id(name: str, operation: str, api_version: str, subresource: str = "") -> ManagerId:
    """Return the id of the writer of a request in that version."""
    version = "" if operation == APPLY else api_version
    return ManagerId(name or UNKNOWN, operation, version, subresource)


class Owned(NamedTuple):
    """Fields, in terms of a version."""

    fields: field_sets.FieldSet
    api_version: str


@dataclass(slots=True)
class Managers:
    """The owners of an object's fields, and when each last changed what it owns (RFC 3339, empty if
    nobody knows). It belongs to whoever works on it; `copy` makes another."""

    owned: dict[ManagerId, Owned] = field(default_factory=dict)
    times: dict[ManagerId, str] = field(default_factory=dict)

    def copy(self) -> Managers:
        """Return a copy that shares the sets: they never change."""
        return Managers(dict(self.owned), dict(self.times))

    def keep(self, manager: ManagerId, fields: field_sets.FieldSet, api_version: str) -> None:
        """Keep the fields of a manager; one that owns nothing is none."""
        if fields:
            self.owned[manager] = Owned(fields, api_version)
        else:
            self.owned.pop(manager, None)


def decoded(entries: object) -> Managers:
    """Return the managers of `metadata.managedFields`; none for null. EntryError when an entry
    cannot be read."""
    managers = Managers()
    if entries is None:
        return managers
    if not isinstance(entries, list):
        raise EntryError("managedFields is a list")
    for index, entry in enumerate(entries):
        manager, owned = _decoded_entry(entry, index)
        managers.owned[manager] = owned
        managers.times[manager] = _time(entry)
    return managers


def entries_problem(entries: object) -> str:
    """Return why `metadata.managedFields` cannot be read; empty if they can."""
    try:
        decoded(entries)
    except EntryError as error:
        return str(error)
    return ""


def _decoded_entry(entry: object, index: int) -> tuple[ManagerId, Owned]:
    if not isinstance(entry, dict):
        raise EntryError("an entry of managedFields is an object")
    operation, api_version = text_member(entry, "operation"), text_member(entry, "apiVersion")
    if operation not in (APPLY, UPDATE):
        raise EntryError("operation must be `Apply` or `Update`")
    if not api_version:
        raise EntryError("apiVersion must not be empty")
    fields_type = text_member(entry, "fieldsType")
    if not fields_type:
        raise EntryError(f"missing fieldsType in managed fields entry {index}")
    if fields_type != FIELDS_V1:
        raise EntryError(f"invalid fieldsType {quote(fields_type)} in managed fields entry {index}")
    version = "" if operation == APPLY else api_version
    name, subresource = text_member(entry, "manager"), text_member(entry, "subresource")
    manager = ManagerId(name, operation, version, subresource)
    try:
        fields = field_sets.from_fields_v1(entry.get("fieldsV1") or {})
    except field_sets.FieldSetError as error:
        raise EntryError(str(error)) from error
    return manager, Owned(fields, api_version)


def _time(entry: JsonObject) -> str:
    try:
        return canonical_time(text_member(entry, "time"))
    except TimeError:
        return ""


def encoded(managers: Managers) -> list[JsonDict]:
    """Return the entries: appliers first, the oldest first, then by name, version and
    subresource."""
    times = managers.times
    entries = [
        entry_of(
            manager,
            owned.api_version,
            field_sets.to_fields_v1(owned.fields),
            times.get(manager, ""),
        )
        for manager, owned in managers.owned.items()
    ]
    if len(entries) > 1:
        entries.sort(key=_entry_order)
    return entries


def entry_of(manager: ManagerId, api_version: str, fields: JsonObject, time: str) -> JsonDict:
    """Return one entry; `fields` is FieldsV1."""
    result: dict[str, object] = {"manager": manager.name} if manager.name else {}
    result |= {"operation": manager.operation, "apiVersion": api_version}
    if time:
        result["time"] = time
    result["fieldsType"] = FIELDS_V1
    result["fieldsV1"] = fields
    if manager.subresource:
        result["subresource"] = manager.subresource
    return result


def _entry_order(entry: JsonObject) -> tuple[str, ...]:
    return (
        entry["operation"],
        entry.get("time", ""),
        entry.get("manager", ""),
        entry["apiVersion"],
        entry.get("subresource", ""),
    )


def managers_of(obj: JsonObject) -> Managers:
    """Return the managers of a stored object. EntryError as `decoded`."""
    return decoded(metadata.metadata(obj).get("managedFields"))


def is_reset(entries: object) -> bool:
    """Return whether a client asks for all managers to be forgotten: an empty list, or an empty
    entry."""
    return isinstance(entries, list) and (not entries or entries == [{}])


def managers_of_update(live: JsonObject, new: JsonObject, *, is_subresource: bool) -> Managers:
    """Return the managers that a write starts from: of the object that was sent, if it has readable
    ones and goes to the object itself, else those of the live one."""
    sent = metadata.metadata(new).get("managedFields")
    if not is_subresource and is_reset(sent):
        return Managers()
    if not is_subresource and sent != metadata.metadata(live).get("managedFields"):
        try:
            managers = decoded(sent)
        except EntryError:
            managers = Managers()
        if managers.owned:
            return managers
    try:
        return managers_of(live)
    except EntryError:
        return Managers()


def with_old_times(new: JsonObject, old: JsonObject) -> dict[str, object]:
    """Return the new object; with the entries of the old one if it differs from that in nothing but
    their times, so that a write of the same is no write."""
    result = dict(new)
    mine, theirs = metadata.metadata(new), metadata.metadata(old)
    entries, before = mine.get("managedFields"), theirs.get("managedFields")
    if not entries or not before or entries == before:
        return result
    if not renews(new, old):
        result["metadata"] = {**mine, "managedFields": before}
    return result


def renews(new: JsonObject, old: JsonObject) -> bool:
    """Return whether a write of the new object makes an entry, or gives one another time."""
    mine, theirs = metadata.metadata(new), metadata.metadata(old)
    entries, before = mine.get("managedFields") or (), theirs.get("managedFields") or ()
    return not (  # which mostly differ in the rest
        same(_rest(new, mine), _rest(old, theirs)) and same(_timeless(entries), _timeless(before))
    )


def _timeless(entries: Sequence[JsonObject]) -> list[dict[str, Json]]:
    return [_without(entry, ("time",)) for entry in entries]


def _rest(obj: JsonObject, meta: JsonObject) -> list[dict[str, Json]]:
    return [_without(obj, ("metadata",)), _without(meta, ("managedFields",))]


def _without(members: JsonObject, keys: Iterable[str]) -> dict[str, Json]:
    return {key: value for key, value in members.items() if key not in keys}


# --- Manager limits ----------------------------------------------------------
#
# Old updates are forgotten one by one: at most ten managers that update are told apart.
#
# As k8s.io/apimachinery `pkg/util/managedfields/internal/capmanagers.go`.

MAX_UPDATERS: Final = 10
ANCIENT: Final = "ancient-changes"
"""The manager that the oldest become."""


def limit_updaters(managers: Managers) -> None:
    """Merge the oldest updaters of each version into one, until there are few enough."""
    updaters = [manager for manager in managers.owned if manager.operation == UPDATE]
    count = len(updaters)
    if count <= MAX_UPDATERS:
        return
    updaters.sort(key=lambda manager: (managers.times.get(manager, ""), manager.sort_text()))
    first_of: dict[str, ManagerId] = {}
    merged: dict[ManagerId, list[field_sets.FieldSet]] = {}
    for manager in updaters:
        if count <= MAX_UPDATERS:
            break
        fields, version = managers.owned[manager]
        first = first_of.setdefault(version, manager)
        if first == manager:
            continue
        bucket = manager_id(ANCIENT, UPDATE, version)
        if bucket not in managers.owned:
            managers.owned[bucket] = managers.owned.pop(first)
        merged.setdefault(bucket, [managers.owned[bucket].fields]).append(fields)
        managers.times[bucket] = managers.times.get(manager, "")
        del managers.owned[manager]
        if manager == bucket:  # an older one with that name, which upstream forgets, too
            del merged[bucket]
        count -= 1
    for bucket, sets in merged.items():
        managers.owned[bucket] = Owned(field_sets.union(sets), bucket.api_version)


# --- Scale managers ----------------------------------------------------------
#
# Managers of an object as its `scale` has them, and back.
#
# A scale has one field that is also a field of the object; who owns the one owns the other. As
# k8s.io/apimachinery `pkg/util/managedfields/scalehandler.go`.

Path = tuple[str, ...]
PathOf = Callable[[str], Path | None]
"""Where the objects of a version have their count; None for a version that there is not."""

REPLICAS: Final = (field_sets.FIELD + "spec", field_sets.FIELD + "replicas")


def field_path(names: tuple[str, ...]) -> Path:
    """Return the path of a field, given by its names."""
    return tuple(field_sets.FIELD + name for name in names)


def managers_of_scale(parent: Managers, path_of: PathOf) -> Managers:
    """Return the managers of the object who own its count."""
    managers = Managers()
    for manager, owned in parent.owned.items():
        path = path_of(owned.api_version)
        if path is not None and path and owned.fields.has(*path):
            other = _in_scale(manager)
            managers.owned[other] = Owned(field_sets.field_set(REPLICAS), SCALE.api_version)
            managers.times[other] = parent.times.get(manager, "")
    return managers


def _in_scale(manager: ManagerId) -> ManagerId:
    """Return the manager of a scale. An updater is another one for each version in which it
    writes."""
    return (
        manager if manager.operation == APPLY else manager._replace(api_version=SCALE.api_version)
    )


def managers_of_parent(
    parent: Managers, scale: Managers, path_of: PathOf, api_version: str
) -> Managers:
    """Return the managers of the object after a write to its scale; the endpoint is in
    `api_version`. Who owned the count before and does so now keeps all else, too. Whoever did not
    own anything of the object before gets no time."""
    managers = Managers()
    claims = dict(scale.owned)
    for manager, owned in parent.owned.items():
        path = path_of(owned.api_version)
        if path is None:
            continue
        fields = owned.fields
        if path and fields.has(*path) and claims.pop(manager, None) is None:
            fields = fields - field_sets.field_set(path)
        managers.keep(manager, fields, owned.api_version)
        managers.times[manager] = parent.times.get(manager, "")
    path = path_of(api_version)
    for manager, owned in claims.items():
        if path and owned.fields.has(*REPLICAS):
            managers.owned[manager] = Owned(field_sets.field_set(path), api_version)
            managers.times[manager] = parent.times.get(manager, "")
    return managers


# --- Reset fields ------------------------------------------------------------
#
# Which fields an endpoint can give to a manager: those it can write.
#
# An update to the object leaves the status, one to the status leaves the rest, and nobody gets
# to own what he cannot change. What each kind keeps is known from the rules of its updates. As
# `GetResetFields` of the strategies of k8s.io/kubernetes `pkg/registry`.

ITEMS: Final = "[*]"
"""In a path: all items of the list before it."""

_WIPED_METADATA: Final = "metadata.annotations"
"""A status that resets this resets all metadata."""

_RESETS_BEFORE_1_36: Final[Mapping[GroupKind, tuple[str, ...]]] = {
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): ("metadata", "spec"),
}
"""What a status resets that is not what it keeps."""
_NO_RESETS_BEFORE_1_36: Final = frozenset({GroupKind("networking.k8s.io", "ServiceCIDR")})
"""Kinds whose endpoints say what they reset of a group that there is not, which counts for
nothing."""


@dataclass(frozen=True, slots=True)
class Writable:
    """Says which fields a write may own. `reset` are trees of fields that are not given to anybody;
    with `only`, nothing else is. Who owns fields in another version than the endpoint's loses what
    its body lacks of them all the same, unless it holds `in_all_versions`."""

    reset: field_sets.FieldSet = field(default_factory=field_sets.FieldSet)
    only: tuple[tuple[str, ...], ...] = ()
    in_all_versions: bool = True

    def of(self, fields: field_sets.FieldSet) -> field_sets.FieldSet:
        """Return what remains of a set."""
        if self.only:
            fields = _matching(fields, self.only)
        return fields.without_trees(self.reset)

    def of_comparison(self, comparison: Comparison) -> Comparison:
        """Return what remains of a comparison."""
        mapped = Comparison()
        mapped.added = self.of(comparison.added)
        mapped.modified = self.of(comparison.modified)
        mapped.removed = self.of(comparison.removed)
        return mapped


def _matching(
    fields: field_sets.FieldSet, paths: tuple[tuple[str, ...], ...]
) -> field_sets.FieldSet:
    """Return what is at or below the paths; `ITEMS` is any element."""
    field_set = field_sets.FieldSet()
    for element in fields.members | fields.children.keys():
        below = [rest for first, *rest in paths if first in (element, ITEMS)]
        if not below:
            continue
        children = fields.children.get(element)
        if not all(below):  # a path ends here: everything below counts
            if element in fields.members:
                field_set.members.add(element)
            if children is not None:
                field_set.children[element] = children
        elif children is not None:
            field_set.put(element, _matching(children, tuple(map(tuple, below))))
    return field_set


def writable(target: Target) -> Writable:
    """Return what the endpoint can write."""
    custom = target.custom
    if target.resource.custom or custom is not None:
        if target.subresource == "status" and not is_since("1.36"):
            spec = field_sets.field_set((field_sets.FIELD + "spec",))
            return Writable(spec, in_all_versions=is_since("1.35"))
        if target.subresource == "status":
            return Writable(only=((field_sets.FIELD + "status",),))
        if custom is not None and custom.has_status and not target.subresource:
            status = field_sets.field_set((field_sets.FIELD + "status",))
            return Writable(status, in_all_versions=False)
        return Writable()
    return _built_in(target.resource.gvk, target.subresource)


@per_release(maxsize=1024)
def _built_in(gvk: GroupVersionKind, subresource: str) -> Writable:
    rules = update_rules(gvk)
    if gvk.group_kind in _NO_RESETS_BEFORE_1_36 and not is_since("1.36"):
        return Writable()
    if not subresource:
        reset = rules.get("reset", rules.get("keep", ()))
        return Writable(_resets(path for path in reset if "." not in path))
    if subresource == "status":
        status_keep = rules.get("statusKeep", ())
        former = _RESETS_BEFORE_1_36.get(gvk.group_kind)
        if former is not None and not is_since("1.36"):
            return Writable(_resets(former))
        whole = ("metadata",) if _WIPED_METADATA in status_keep else ()
        return Writable(_resets((*status_keep, *whole)))
    # Where only parts can be written, upstream's strategies say so, and nobody asks them.
    return Writable(_resets(PARTS.get((gvk.kind, subresource), EVERYTHING).kept_fields))


def _resets(paths: Iterable[str]) -> field_sets.FieldSet:
    return field_sets.field_set(*map(_split, paths))


def _split(path: str) -> tuple[str, ...]:
    result: list[str] = []
    for name in path.split("."):
        result.append(field_sets.FIELD + name.removesuffix(ITEMS))
        if name.endswith(ITEMS):
            result.append(ITEMS)
    return tuple(result)
