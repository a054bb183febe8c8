"""Who owns what after a write: the rules of updates and of applies.

A writer owns what it changed, and everybody else loses that. An applier owns what it says, whether
or not that changed anything; what it no longer says it gives up, and if nobody else owns it, it is
removed. It may not change what others own, unless by force.

Managers may own fields in terms of other versions of the kind; then objects are compared in those.
As structured-merge-diff `merge/update.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

from celadon.kube.apply.field_elements import FIELD
from celadon.kube.apply.field_sets import (
    NOTHING,
    FieldSet,
    FieldsV1,
    field_set,
    fields_v1_without,
    from_fields_v1,
    to_fields_v1,
)
from celadon.kube.apply.managed_fields import ManagerId, Managers, Owned
from celadon.kube.apply.reset_fields import Writable
from celadon.kube.apply.typed.comparisons import Comparison, compared
from celadon.kube.apply.typed.item_removal import without
from celadon.kube.apply.typed.merge_types import MergeType
from celadon.kube.apply.typed.merging import merged
from celadon.kube.apply.typed.new_fields import new_fields
from celadon.kube.apply.typed.typed_sets import applied_set, reconciled, with_structs
from celadon.kube.errors import KubeError
from celadon.kube.json_types import JsonObject
from celadon.records import dataclass

STRIPPED: Final = field_set(
    *((FIELD + name,) for name in ("apiVersion", "kind", "metadata")),
    *(
        (FIELD + "metadata", FIELD + name)
        for name in (
            *("name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName"),
            *("generation", "managedFields", "resourceVersion"),
        )
    ),
)
"""What says which object it is, and what the server writes, is nobody's."""


class ConflictError(KubeError):
    """An apply would change what others own."""

    def __init__(self, conflicts: Mapping[ManagerId, FieldSet]) -> None:
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

    def new_fields(self, zero: JsonObject, new: JsonObject) -> FieldsV1:
        """What the writer of a new object owns: as `updated` of `zero`, which nobody owns. Raises
        ItemError for an item without a key."""
        fields, reset = new_fields(self.type, zero, new), self.writable.reset
        if self.writable.only or reset.children:
            return to_fields_v1(self.writable.of(from_fields_v1(fields)) - STRIPPED)
        writable = {element: fields[element] for element in fields if element not in reset.members}
        return fields_v1_without(writable, STRIPPED)

    def updated(
        self, live: JsonObject, new: JsonObject, managers: Managers, writer: ManagerId, now: str
    ) -> Managers:
        """After `live` has become `new`. ItemError when the objects cannot be compared."""
        found = self._reconciled(managers)
        changes = _Changes(self, live, new)
        changes.take_from(found, None)
        mine = changes.made[self.api_version]
        gained = self.writable.of(mine.added | mine.modified) - STRIPPED
        if gained:
            before = found.owned.get(writer)
            fields = gained if before is None else gained | before.fields
            found.keep(writer, fields, self.api_version)
            found.times[writer] = now
        return found

    def applied(
        self,
        live: JsonObject,
        config: JsonObject,
        managers: Managers,
        applier: ManagerId,
        *,
        force: bool,
    ) -> tuple[dict[str, Any], Managers]:
        """The object with the configuration in it. ConflictError; ItemError as `updated`."""
        found = self._reconciled(managers)
        made = merged(self.type, live, config)
        last = found.owned.get(applier)
        fields = self.writable.of(applied_set(self.type, config))
        found.owned[applier] = Owned(fields, self.api_version)
        if last is not None and (last.api_version != self.api_version or last.fields - fields):
            made = self._pruned(made, found, last)
        changes = _Changes(self, live, made)
        if not force:
            changes.require_none(found, applier)
        changes.take_from(found, applier)
        found.keep(applier, fields - STRIPPED, self.api_version)
        return made, found

    def _reconciled(self, managers: Managers) -> Managers:
        found = managers.copy()
        for manager, owned in managers.owned.items():
            views = self._views(owned.api_version)
            if views is not None:
                found.owned[manager] = Owned(reconciled(owned.fields, views[0]), owned.api_version)
        return found

    def comparison(self, live: JsonObject, new: JsonObject, version: str) -> Comparison | None:
        """In terms of a version, of what the endpoint can write; None when there is no such
        version."""
        views = self._views(version)
        if views is None:
            return None
        type_, to, _ = views
        return self.writable.of_comparison(compared(type_, to(live), to(new)))

    # --- pruning ---

    def _pruned(self, made: JsonObject, managers: Managers, last: Owned) -> dict[str, Any]:
        """Without what the applier no longer says and nobody else owns."""
        views = self._views(last.api_version)
        if views is None:
            return dict(made)
        type_, to, back = views
        whole = to(made)
        named_last = with_structs(last.fields, type_)
        pruned = without(type_, whole, named_last)
        pruned = self._with_owned(made, whole, pruned, last.api_version, managers)
        kept = _named(type_, pruned)
        gone = (_named(type_, whole) - kept) & named_last
        result = back(without(type_, whole, gone) or {})
        return dict(result)

    def _with_owned(
        self, made: JsonObject, whole: JsonObject, pruned: Any, last: str, managers: Managers
    ) -> Any:
        """Puts back what somebody owns; the version in which it was pruned comes first."""
        by_version: dict[str, FieldSet] = {last: NOTHING}
        for fields, version in managers.owned.values():
            by_version[version] = by_version.get(version, NOTHING) | fields
        own = self._views(last)
        assert own is not None, "it was pruned in that version"
        for version, fields in by_version.items():
            views = self._views(version)
            if views is None or not fields:
                continue
            type_, to, back = views
            full, rest = (
                (whole, pruned) if version == last else (to(made), to(own[2](pruned or {})))
            )
            gone = _named(type_, full) - _named(type_, rest) - with_structs(fields, type_)
            rest = without(type_, full, gone)
            pruned = rest if version == last else own[1](back(rest or {}))
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
            found = self._ownership.comparison(self._live, self._new, version)
            if found is None:
                return None
            self.made[version] = found
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


def _named(type_: MergeType, value: object) -> FieldSet:
    return with_structs(applied_set(type_, value), type_)
