"""Objects go with their owners: after them, before them, or not at all, as their deletion says.

As k8s.io/kubernetes `pkg/controller/garbagecollector`: an object is deleted when none of the owners
it names lives; it loses the references to those that do not. An owner with the finalizer
`foregroundDeletion` goes after the dependents that block it, one with `orphan` after they have
forgotten it.

Dependents are judged as soon as they or their owners have changed. An owner that was deleted with
one of these finalizers keeps it for a moment, even if nothing depends on it: upstream's collector
is another process, and a client that reads, or releases, the object right after deleting it finds
it there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from celadon.apiserver.caches.served_resources import Served
from celadon.apiserver.controllers import controller_loops as loops
from celadon.apiserver.object_store import CLAIMS, ROOT, ObjectStore, StoredObject
from celadon.apiserver.workers import Turns
from celadon.kube import GroupResource, GroupVersionKind, JsonObject, metadata, parse_api_version
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Resource
from celadon.kube.well_known_values import FOREGROUND, ORPHAN
from celadon.records import dataclass, field

# --- Ownership graph ---------------------------------------------------------
#
# Who owns whom, among all objects in the store, and what that asks for.
#
# Objects are known by the key they are stored under; what they own, by their uid. An object may
# name owners that do not exist (yet, or any more).


@dataclass(frozen=True, slots=True)
class Owned:
    """References of an object, sorted by what has become of the owners: those that live, those
    that are gone, and those that are being deleted after what they own."""

    living: Sequence[JsonObject] = ()
    dangling: Sequence[JsonObject] = ()
    waiting: Sequence[JsonObject] = ()


@dataclass(slots=True)
class OwnershipGraph:
    """Knows who depends on whom, kept current by `note`, change by change."""

    _dependents: dict[str, dict[str, None]] = field(default_factory=dict)
    _owners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _keys: dict[str, str] = field(default_factory=dict)

    def note(self, key: str, old: JsonObject | None, new: JsonObject | None) -> Iterable[str]:
        """Take in a change; the keys of the objects to look at because of it."""
        concerned = self._owners.get(key, ())
        owners = () if new is None else owner_uids(new)
        if owners != concerned:
            self._place(key, owners)
        if new is None or (old is not None and metadata.uid(old) != metadata.uid(new)):
            uid = "" if old is None else metadata.uid(old)
            self._keys.pop(uid, None)
            yield from self.dependents(uid)
        if new is not None:
            uid = metadata.uid(new)
            self._keys[uid] = key
            if waits := is_waiting(new):
                yield from self.dependents(uid)
            if owners or waits or is_orphaning(new):
                yield key
        for uid in concerned:
            if uid in self._keys:
                yield self._keys[uid]

    def dependents(self, uid: str) -> list[str]:
        """Return the keys of the objects that name this owner."""
        return list(self._dependents.get(uid, ()))

    def _place(self, key: str, owners: tuple[str, ...]) -> None:
        for uid in self._owners.pop(key, ()):
            dependents = self._dependents[uid]
            del dependents[key]
            if not dependents:
                del self._dependents[uid]
        if owners:
            self._owners[key] = owners
        for uid in owners:
            self._dependents.setdefault(uid, {})[key] = None


def owner_references(obj: JsonObject) -> Sequence[JsonObject]:
    """Return the owner references as they stand in the object."""
    references: Sequence[JsonObject] = metadata.metadata(obj).get("ownerReferences") or ()
    return references


def owner_uids(obj: JsonObject) -> tuple[str, ...]:
    """Return the uid of each owner, once."""
    references = owner_references(obj)
    if not references:
        return ()
    return tuple(dict.fromkeys(str(reference.get("uid") or "") for reference in references))


def is_waiting(obj: JsonObject) -> bool:
    """Return whether the object is to be deleted after what it owns."""
    deleted = metadata.deletion_timestamp(obj)
    return bool(deleted) and metadata.has_finalizer(obj, FOREGROUND)


def is_orphaning(obj: JsonObject) -> bool:
    """Return whether the object is to be deleted, and what it owns to be kept."""
    return bool(metadata.deletion_timestamp(obj)) and metadata.has_finalizer(obj, ORPHAN)


def is_blocking(dependent: JsonObject, uid: str) -> bool:
    """Return whether an owner that waits has to wait for this one."""
    return any(
        reference.get("uid") == uid and reference.get("blockOwnerDeletion") is True
        for reference in owner_references(dependent)
    )


def _unblocked(obj: JsonObject) -> list[JsonDict]:
    """Return the references of an object for which nobody waits any more."""
    return [{**reference, "blockOwnerDeletion": False} for reference in owner_references(obj)]


def propagation(obj: JsonObject, *, owns: bool, owned: Owned) -> str:
    """Return how an object goes whose owners do not live."""
    if owned.waiting and owns:
        return "Foreground"
    finalizers = metadata.finalizers(obj)
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"


LAG_SECONDS: Final = 0.5
"""How long an owner keeps its finalizer at least: enough for a client's next request, and less than
anybody waits for an object to be gone."""

_IGNORED: Final = (f"{ROOT}/core/events/", CLAIMS)
"""Too many to look at, or no objects; and owned by nobody."""


class GarbageCollection:
    """Deletes objects whose owners are gone. Items are keys of objects."""

    urgent = False
    prefixes = (f"{ROOT}/",)

    def __init__(
        self,
        objects: ObjectStore,
        served: Callable[[], Served],
        requests: loops.ServerRequests,
        lag: float = LAG_SECONDS,
    ) -> None:
        self._lag = lag
        self._objects = objects
        self._served = served
        self._requests = requests
        self._graph = OwnershipGraph()
        self._for: Served | None = None
        self._resources: dict[GroupResource, Resource] = {}
        self._release_times: dict[str, float] = {}
        """Before which owners keep their finalizers; of the loop's clock, by uid."""

    def concerned(self, change: loops.Change) -> Iterable[str]:
        if change.key.startswith(_IGNORED):
            return ()
        if change.new is None and change.old is not None:
            self._release_times.pop(metadata.uid(change.old), None)
        return self._graph.note(change.key, change.old, change.new)

    async def reconcile(self, item: str) -> float | None:
        obj = self._get(item)
        if obj is None:
            return None
        if is_orphaning(obj) or is_waiting(obj):
            return await self._let_go(item, obj)
        if owner_references(obj) and not metadata.deletion_timestamp(obj):
            await self._judge(item, obj)
        return None

    # --- the three cases ---

    async def _let_go(self, key: str, obj: JsonObject) -> float | None:
        """Finish an owner that was deleted with a finalizer; return in how many seconds to look
        again, if it is too early."""
        now, uid = asyncio.get_running_loop().time(), metadata.uid(obj)
        early = self._release_times.setdefault(uid, now + self._lag) - now
        if early > 0:
            return early
        await (self._orphan if is_orphaning(obj) else self._wait)(key, obj)
        return None

    async def _orphan(self, key: str, obj: JsonObject) -> None:
        turns = Turns()
        for dependent in self._graph.dependents(metadata.uid(obj)):
            await turns.take()
            current = self._get(dependent)
            if current is not None:
                result = [
                    reference
                    for reference in owner_references(current)
                    if reference.get("uid") != metadata.uid(obj)
                ]
                await self._change(dependent, current, {"ownerReferences": result or None})
        await self._release(key, obj, ORPHAN)

    async def _wait(self, key: str, obj: JsonObject) -> None:
        """Release an owner that no dependent blocks any more. Deletions of dependents come back as
        changes, which concern their owner."""
        uid = metadata.uid(obj)
        turns = Turns()
        for dependent in self._graph.dependents(uid):
            await turns.take()
            current = self._get(dependent)
            if current is not None and is_blocking(current, uid):
                return
        await self._release(key, obj, FOREGROUND)

    async def _judge(self, key: str, obj: JsonObject) -> None:
        owned = await self._sorted(obj)
        if not owned.dangling and not owned.waiting:
            return
        if owned.living:
            await self._change(key, obj, {"ownerReferences": list(owned.living)})
            return
        dependents = self._graph.dependents(metadata.uid(obj))
        if owned.waiting and await self._closes_circle(obj, dependents):
            await self._change(key, obj, {"ownerReferences": _unblocked(obj)})
            return  # the change brings it back
        owns = bool(dependents)
        body = {
            "propagationPolicy": propagation(obj, owns=owns, owned=owned),
            "preconditions": _as_it_is(obj),
        }
        await self._request("DELETE", key, obj, body)

    async def _closes_circle(self, obj: JsonObject, dependents: Sequence[str]) -> bool:
        """Return whether something that the object owns waits, too, while the object would block
        its own owners: they could wait for each other without end."""
        if not any(
            reference.get("blockOwnerDeletion") is True for reference in owner_references(obj)
        ):
            return False
        turns = Turns()
        for dependent in dependents:
            await turns.take()
            current = self._get(dependent)
            if current is not None and is_waiting(current):
                return True
        return False

    # --- what they need ---

    async def _sorted(self, obj: JsonObject) -> Owned:
        """Return the owners in order; an object may name tens of thousands of them."""
        turns = Turns()
        living: list[JsonObject] = []
        dangling: list[JsonObject] = []
        waiting: list[JsonObject] = []
        for reference in owner_references(obj):
            await turns.take()
            owner = self._owner(obj, reference)
            if owner is None:
                dangling.append(reference)
            elif is_waiting(owner):
                waiting.append(reference)
            else:
                living.append(reference)
        return Owned(living, dangling, waiting)

    def _owner(self, obj: JsonObject, reference: JsonObject) -> JsonObject | None:
        """Return the owner that a reference names, or None when it does not exist. An owner of a
        kind that nobody knows may exist (the object stands for it), and so may one that cannot own
        the object, having a namespace."""
        group_version = parse_api_version(str(reference.get("apiVersion") or ""))
        kind = GroupVersionKind(*group_version, str(reference.get("kind") or ""))
        resource = self._served().catalog.by_gvk(kind)
        space = metadata.namespace(obj)
        if resource is None or (resource.namespaced and not space):
            return obj
        owner = self._objects.get(resource, space, str(reference.get("name") or ""))
        if owner is None or metadata.uid(owner.object) != reference.get("uid"):
            return None
        return owner.object

    def _get(self, key: str) -> JsonObject | None:
        stored = self._stored(key)
        return None if stored is None else stored.object

    def _stored(self, key: str) -> StoredObject | None:
        entry = self._objects.store.get(key)
        return None if entry is None else self._objects.stored(entry)

    async def _release(self, key: str, obj: JsonObject, finalizer: str) -> None:
        finalizers = [text for text in metadata.finalizers(obj) if text != finalizer]
        await self._change(key, obj, {"finalizers": finalizers or None})

    async def _change(self, key: str, obj: JsonObject, meta: JsonObject) -> None:
        await self._request("PATCH", key, obj, {"metadata": {**_as_it_is(obj), **meta}})

    async def _request(self, method: str, key: str, obj: JsonObject, body: JsonObject) -> None:
        """Ask for a change of an object; nothing for one that is not served (any more). Raises
        Stale, RequestFailed."""
        resource = self._resource(key)
        if resource is None:
            return
        path = loops.resource_path(resource, metadata.namespace(obj), metadata.name(obj))
        reply = await self._requests.call(method, path, body)
        if reply.code == 409:
            raise loops.Stale
        if reply.failed:
            raise loops.RequestFailed(f"{method} {path}: {reply.code} {reply.message}")

    def _resource(self, key: str) -> Resource | None:
        """Return the resource of a key, in one of its versions."""
        served = self._served()
        if served is not self._for:
            self._for = served
            self._resources = loops.asked_resources(served.catalog)
        group, name = key.split("/", 4)[2:4]
        return self._resources.get(GroupResource("" if group == "core" else group, name))


def _as_it_is(obj: JsonObject) -> JsonDict:
    """Return the preconditions that the object is still this one, unchanged, when the request
    arrives."""
    return {"uid": metadata.uid(obj), "resourceVersion": metadata.resource_version(obj)}
