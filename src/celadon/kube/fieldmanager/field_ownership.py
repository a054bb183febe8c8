"""Decides who owns which fields after a write: the rules of updates and of applies, and the
conflicts of applies.

A writer owns what it changed, and everybody else loses that. An applier owns what it says, whether
or not that changed anything; what it no longer says it gives up, and if nobody else owns it, it is
removed. It may not change what others own, unless by force.

Managers may own fields in terms of other versions of the kind; then objects are compared in those.
As structured-merge-diff `merge/update.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celadon.kube.errors import KubeError
from celadon.kube.fieldmanager import field_sets
from celadon.kube.fieldmanager.managed_fields import ManagerId, Managers, Owned, Writable
from celadon.kube.fieldmanager.merge_types import DEDUCED, ListRule, MapRule, MergeType
from celadon.kube.fieldmanager.structured_merge import (
    Comparison,
    applied_set,
    both_are,
    compared,
    grouped,
    merged,
    reconciled,
    same,
    with_structs,
)
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.releases import is_since
from celadon.records import dataclass, field

# --- Item removal ------------------------------------------------------------
#
# A value without the fields of a set. As structured-merge-diff `typed/remove.go`.


def without(type_: MergeType, value: object, fields: field_sets.FieldSet) -> Any:
    """Return a new value, which shares what did not change; a container that loses all it has is
    empty, before 1.36 null. What is atomic has no fields of its own: it goes, if somebody thinks it
    has."""
    if not fields:
        return value
    if not value:
        return _emptied(value)
    if value.__class__ is dict and type_.map is not None:
        return None if type_.map.atomic else _without_members(type_.map, value, fields)
    if value.__class__ is list and type_.list is not None:
        return None if type_.list.atomic else _without_items(type_.list, value, fields)
    return value


def _emptied(value: object) -> object:
    """Return a container that is empty after something was taken from below it."""
    return value if is_since("1.36") else None


def _without_members(rule: MapRule, value: JsonObject, fields: field_sets.FieldSet) -> object:
    result = {}
    for name, member in value.items():
        element = field_sets.FIELD + name
        if element in fields.members:
            continue
        below = fields.children.get(element)
        result[name] = (
            member if below is None else without(rule.child(name) or DEDUCED, member, below)
        )
    return result or _emptied(result)


def _without_items(rule: ListRule, value: Sequence[Json], fields: field_sets.FieldSet) -> object:
    result = []
    for item in value:
        element = rule.element(item)
        if element in fields.members:
            continue
        below = fields.children.get(element)
        result.append(item if below is None else without(rule.item, item, below))
    return result or _emptied(result)


# --- New fields --------------------------------------------------------------
#
# What a new object gives its writer to own, written as FieldsV1 at once.
#
# `new_fields` says what `comparisons` calls added and modified when nothing but the zero value
# of a kind was there before, in the order in which servers write it. A create needs no sets of
# fields: nobody else owns anything, so there is nothing to add to, to take from, or to compare
# with.


def new_fields(type_: MergeType, zero: JsonObject, new: JsonObject) -> field_sets.FieldsV1:
    """Return the fields of an object of a kind whose zero value is `zero`, in which no list has
    items. Raises ItemError for an item without a key."""
    assert type_.map is not None, "objects are maps"
    return _set_members(type_.map, zero, new)


def _set_members(rule: MapRule, zero: JsonObject, new: JsonObject) -> field_sets.FieldsV1:
    result: field_sets.FieldsV1 = {}
    for name, element, type_ in rule.in_order(new):
        now = new[name]
        if name not in zero:
            result[element] = _whole(type_, now)
            continue
        was = zero[name]
        if was is now:
            continue
        is_set, below = _set_below(type_, was, now)
        if is_set:
            result[element] = {field_sets.SELF: {}, **below} if below else {}
        elif below:
            result[element] = below
    return result


def _set_below(type_: MergeType, zero: Any, new: Any) -> tuple[bool, field_sets.FieldsV1]:
    """Return whether the value itself is owned, and what is owned below it."""
    map_rule, list_rule = type_.map, type_.list
    if map_rule is not None and both_are(dict, zero, new):
        if map_rule.atomic or not (zero or new):
            return not same(zero, new), {}
        return False, _set_members(map_rule, zero or {}, new or {})
    if list_rule is not None and both_are(list, zero, new):
        if list_rule.atomic or not new:
            return not same(zero, new), {}
        return False, _put_items({}, list_rule, new)
    below: field_sets.FieldsV1 = {}
    if zero.__class__ is not new.__class__:
        whole = _whole(type_, new)
        below = {element: whole[element] for element in whole if element != field_sets.SELF}
    return not same(zero, new), below


# --- what has come as a whole; see `typed_sets.subtree` ---


def _whole(type_: MergeType, value: object) -> field_sets.FieldsV1:
    """Return the fields of a value that is owned itself, besides what is below it; shared."""
    if not value:
        return {}
    if value.__class__ is dict:
        rule = type_.map
        if rule is None or rule.atomic:
            return {}
        fields, members = rule.whole(value)
        if not members:
            return fields
        result = fields.copy()
        for name, element, child in members:
            result[element] = _whole(child, value[name])
        return result
    if value.__class__ is list and type_.list is not None and not type_.list.atomic:
        return _put_items({field_sets.SELF: {}}, type_.list, value)
    return {}


def _put_items(
    fields: field_sets.FieldsV1, rule: ListRule, value: Sequence[object]
) -> field_sets.FieldsV1:
    """Items that are there several times are owned as one."""
    if len(value) == 1:
        fields[rule.element(value[0])] = _whole(rule.item, value[0])
        return fields
    result = grouped(rule, value)
    for element in field_sets.ordered(result):
        items = result[element]
        fields[element] = _whole(rule.item, items[0]) if len(items) == 1 else {}
    return fields


STRIPPED: Final = field_sets.field_set(
    *((field_sets.FIELD + name,) for name in ("apiVersion", "kind", "metadata")),
    *(
        (field_sets.FIELD + "metadata", field_sets.FIELD + name)
        for name in (
            *("name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName"),
            *("generation", "managedFields", "resourceVersion"),
        )
    ),
)
"""What says which object it is, and what the server writes, is nobody's."""


class ConflictError(KubeError):
    """An apply would change what others own."""

    def __init__(self, conflicts: Mapping[ManagerId, field_sets.FieldSet]) -> None:
        super().__init__("conflicts")
        self.conflicts = conflicts


@dataclass(frozen=True, slots=True)
class KindVersion:
    """A version of the kind: its type, and an object of the endpoint's version shown in it (and
    the other way round)."""

    type: MergeType
    to: Callable[[JsonObject], JsonObject]
    back: Callable[[JsonObject], JsonObject]


@dataclass(frozen=True, slots=True)
class Ownership:
    """The rules for one endpoint. `other_version` gives a version of the kind; None for one that
    there is not, whose managers are forgotten."""

    api_version: str
    type: MergeType
    writable: Writable = field(default_factory=Writable)
    other_version: Callable[[str], KindVersion | None] = lambda _: None

    def new_fields(self, zero: JsonObject, new: JsonObject) -> field_sets.FieldsV1:
        """Return what the writer of a new object owns: as `updated` of `zero`, which nobody owns.
        Raises ItemError for an item without a key."""
        fields, reset = new_fields(self.type, zero, new), self.writable.reset
        if self.writable.only or reset.children:
            return field_sets.to_fields_v1(
                self.writable.of(field_sets.from_fields_v1(fields)) - STRIPPED
            )
        writable = {element: fields[element] for element in fields if element not in reset.members}
        return field_sets.fields_v1_without(writable, STRIPPED)

    def updated(
        self, live: JsonObject, new: JsonObject, managers: Managers, writer: ManagerId, now: str
    ) -> Managers:
        """Return the managers after `live` has become `new`. ItemError when the objects cannot be
        compared."""
        owners = self._reconciled(managers)
        last = owners.owned.get(writer)
        changes = _Changes(self, live, new)
        changes.take_from(owners, None)
        mine = changes.made[self.api_version]
        gained = self.writable.of(mine.added | mine.modified) - STRIPPED
        if gained:
            before = owners.owned.get(writer)
            fields = gained if before is None else before.fields | gained
            # Mostly it changes what it has, and the FieldsV1 of that is known: 2 % of an update.
            if last is not None and fields == last.fields:
                fields = last.fields
            owners.keep(writer, fields, self.api_version)
            owners.times[writer] = now
        return owners

    def applied(
        self,
        live: JsonObject,
        config: JsonObject,
        managers: Managers,
        applier: ManagerId,
        *,
        force: bool,
        applied_fields: field_sets.FieldSet | None = None,
    ) -> tuple[JsonDict, Managers]:
        """Return the object with the configuration in it. ConflictError; ItemError as `updated`.
        `applied_fields` are those of the configuration, if they are known."""
        owners = self._reconciled(managers)
        result = merged(self.type, live, config)
        last = owners.owned.get(applier)
        if applied_fields is None:
            applied_fields = applied_set(self.type, config)
        fields = self.writable.of(applied_fields)
        owners.owned[applier] = Owned(fields, self.api_version)
        # to be equal, as a rule, is told in a third of the time that it takes to be a part
        stays = last is None or last.fields == fields or last.fields <= fields
        if last is not None and (last.api_version != self.api_version or not stays):
            result = self._pruned(result, owners, last)
        changes = _Changes(self, live, result)
        if not force:
            changes.require_none(owners, applier)
        changes.take_from(owners, applier)
        fields = fields - STRIPPED
        if last is not None and fields == last.fields:
            fields = last.fields
        owners.keep(applier, fields, self.api_version)
        return result, owners

    def _reconciled(self, managers: Managers) -> Managers:
        owners = managers.copy()
        for manager, owned in managers.owned.items():
            views = self._views(owned.api_version)
            if views is not None and owned.fields.fits is not views[0]:
                fields = reconciled(owned.fields, views[0])
                fields.fits = views[0]
                owners.owned[manager] = Owned(fields, owned.api_version)
        return owners

    def comparison(self, live: JsonObject, new: JsonObject, version: str) -> Comparison | None:
        """Compare in terms of a version what the endpoint can write; None when there is no such
        version."""
        views = self._views(version)
        if views is None:
            return None
        type_, convert, _ = views
        comparison = compared(type_, convert(live), convert(new))
        is_whole = version != self.api_version and not self.writable.in_all_versions
        return comparison if is_whole else self.writable.of_comparison(comparison)

    # --- pruning ---

    def _pruned(self, obj: JsonObject, managers: Managers, last: Owned) -> dict[str, object]:
        """Return the object without what the applier no longer says and nobody else owns."""
        views = self._views(last.api_version)
        if views is None:
            return dict(obj)
        type_, convert, back = views
        whole = convert(obj)
        named_last = with_structs(last.fields, type_)
        pruned = without(type_, whole, named_last)
        pruned = self._with_owned(obj, whole, pruned, last.api_version, managers)
        field_set = _named(type_, pruned)
        removed = (_named(type_, whole) - field_set) & named_last
        result = back(without(type_, whole, removed) or {})
        return dict(result)

    def _with_owned(
        self, obj: JsonObject, whole: JsonObject, pruned: Any, last: str, managers: Managers
    ) -> object:
        """Put back what somebody owns; the version in which it was pruned comes first."""
        by_version: dict[str, field_sets.FieldSet] = {last: field_sets.NOTHING}
        for fields, version in managers.owned.values():
            by_version[version] = by_version.get(version, field_sets.NOTHING) | fields
        last_views = self._views(last)
        assert last_views is not None, "it was pruned in that version"
        for version, fields in by_version.items():
            views = self._views(version)
            if views is None or not fields:
                continue
            type_, convert, back = views
            full, rest = (
                (whole, pruned)
                if version == last
                else (convert(obj), convert(last_views[2](pruned or {})))
            )
            field_set = _named(type_, full) - _named(type_, rest) - with_structs(fields, type_)
            rest = without(type_, full, field_set)
            pruned = rest if version == last else last_views[1](back(rest or {}))
        return pruned

    def _views(self, version: str) -> tuple[MergeType, _Convert, _Convert] | None:
        if version == self.api_version:
            return (self.type, *_SAME)
        other = self.other_version(version)
        return None if other is None else (other.type, other.to, other.back)


class _Changes:
    """The comparisons of two states, in all versions that managers own fields in."""

    __slots__ = ("_live", "_new", "_ownership", "made")

    def __init__(self, ownership: Ownership, live: JsonObject, new: JsonObject) -> None:
        self._ownership = ownership
        self._live, self._new = live, new
        changes = ownership.comparison(live, new, ownership.api_version)
        assert changes is not None, "the endpoint's own version is known"
        self.made: dict[str, Comparison] = {ownership.api_version: changes}

    def _of(self, version: str) -> Comparison | None:
        if version not in self.made:
            comparison = self._ownership.comparison(self._live, self._new, version)
            if comparison is None:
                return None
            self.made[version] = comparison
        return self.made[version]

    def require_none(self, managers: Managers, applier: ManagerId) -> None:
        """ConflictError when others own what changes."""
        conflicts = {}
        for manager, (fields, version) in managers.owned.items():
            changes = self._of(version)
            if manager != applier and changes is not None:
                overlap = fields & (changes.modified | changes.added)
                if overlap:
                    conflicts[manager] = overlap
        if conflicts:
            raise ConflictError(conflicts)

    def take_from(self, managers: Managers, writer: ManagerId | None) -> None:
        """All but the writer lose what changes."""
        for manager, (fields, version) in list(managers.owned.items()):
            if manager == writer:
                continue
            changes = self._of(version)
            if changes is None:
                del managers.owned[manager]
            elif changes:
                lost = changes.modified | changes.added | changes.removed
                managers.keep(manager, fields - lost, version)


_Convert = Callable[[JsonObject], JsonObject]


def _itself(obj: JsonObject) -> JsonObject:
    return obj


_SAME: Final = (_itself, _itself)


def _named(type_: MergeType, value: object) -> field_sets.FieldSet:
    return with_structs(applied_set(type_, value), type_)
