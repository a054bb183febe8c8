"""Who owns whom, among all objects in the store, and what that asks for.

Objects are known by the key they are stored under; what they own, by their uid. An object may name
owners that do not exist (yet, or any more).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from celadon.kube import JsonObject, metadata
from celadon.kube.well_known_values import FOREGROUND, ORPHAN
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Owned:
    """References of an object, sorted by what has become of the owners: those that live, those
    that are gone, and those that are being deleted after what they own."""

    living: Sequence[JsonObject] = ()
    gone: Sequence[JsonObject] = ()
    waiting: Sequence[JsonObject] = ()


@dataclass(slots=True)
class OwnershipGraph:
    """Kept by `note`, change by change."""

    _dependents: dict[str, dict[str, None]] = field(default_factory=dict)
    _owners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _keys: dict[str, str] = field(default_factory=dict)

    def note(self, key: str, old: JsonObject | None, new: JsonObject | None) -> Iterable[str]:
        """Take in a change; the keys of the objects to look at because of it."""
        concerned = dict.fromkeys(self._owners.get(key, ()))
        self._place(key, () if new is None else owner_uids(new))
        if new is None or (old is not None and metadata.uid(old) != metadata.uid(new)):
            uid = "" if old is None else metadata.uid(old)
            self._keys.pop(uid, None)
            yield from self.dependents(uid)
        if new is not None:
            self._keys[metadata.uid(new)] = key
            if is_waiting(new):
                yield from self.dependents(metadata.uid(new))
            if owner_uids(new) or is_waiting(new) or is_orphaning(new):
                yield key
        for uid in concerned:
            if uid in self._keys:
                yield self._keys[uid]

    def dependents(self, uid: str) -> list[str]:
        """Keys of the objects that name this owner."""
        return list(self._dependents.get(uid, ()))

    def _place(self, key: str, owners: tuple[str, ...]) -> None:
        for uid in self._owners.pop(key, ()):
            found = self._dependents[uid]
            del found[key]
            if not found:
                del self._dependents[uid]
        if owners:
            self._owners[key] = owners
        for uid in owners:
            self._dependents.setdefault(uid, {})[key] = None


def owner_references(obj: JsonObject) -> Sequence[JsonObject]:
    """As they stand in the object."""
    found: Sequence[JsonObject] = metadata.metadata(obj).get("ownerReferences") or ()
    return found


def owner_uids(obj: JsonObject) -> tuple[str, ...]:
    """Each once."""
    return tuple(dict.fromkeys(str(one.get("uid") or "") for one in owner_references(obj)))


def is_waiting(obj: JsonObject) -> bool:
    """Whether the object is to be deleted after what it owns."""
    deleted = metadata.deletion_timestamp(obj)
    return bool(deleted) and FOREGROUND in metadata.finalizers(obj)


def is_orphaning(obj: JsonObject) -> bool:
    """Whether the object is to be deleted, and what it owns to be kept."""
    return bool(metadata.deletion_timestamp(obj)) and ORPHAN in metadata.finalizers(obj)


def is_blocking(dependent: JsonObject, uid: str) -> bool:
    """Whether an owner that waits has to wait for this one."""
    return any(
        one.get("uid") == uid and one.get("blockOwnerDeletion") is True
        for one in owner_references(dependent)
    )


def propagation(obj: JsonObject, *, owns: bool, owned: Owned) -> str:
    """How an object goes whose owners do not live."""
    if owned.waiting and owns:
        return "Foreground"
    finalizers = metadata.finalizers(obj)
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"
