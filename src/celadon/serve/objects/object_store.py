"""Objects on a store: JSON in and out, with the revision of a key as `metadata.resourceVersion`.

What is stored is an object in the version it was written as, without a resource version: that is
the entry's. Reading an entry decodes it once; the result is shared by all who read it.

INVARIANT (shared objects): nobody changes an object that came from here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from celadon.kube import JsonObject
from celadon.kube.catalogue import Resource
from celadon.records import dataclass
from celadon.serve.json_bytes import has_exact_numbers, read_stored, stored_bytes
from celadon.serve.objects.object_keys import collection_prefix, object_key
from celadon.serve.objects.object_memory import ObjectMemory, weight
from celadon.serve.objects.strange_values import read_strange
from celadon.serve.workers.loop_doors import on_loop
from celadon.store import (
    Committed,
    Condition,
    Entry,
    Event,
    Outcome,
    Put,
    Store,
    Transaction,
    create,
    delete,
    update,
)

_CURRENT: Final = 256 << 20
"""What decoded objects may weigh that are kept, one per key."""

_FORMER: Final = 32 << 20
"""The same for objects that have been replaced, which many watches may want to compare with."""

_CLAIMED: Final = b'{"kind":"RangeAllocation","apiVersion":"v1","metadata":{}}'

EVENT_SECONDS: Final = 3600
"""How long upstream keeps events unless it is told otherwise."""

_EVENTS: Final = frozenset({("", "events"), ("events.k8s.io", "events")})
"""Group and name of the resources whose objects go by themselves."""

_BEFORE_THE_VERSION: Final = ("name", "generateName", "namespace", "selfLink", "uid")


def is_event(resource: Resource) -> bool:
    """Whether objects of the resource are events: upstream keeps no cache of them."""
    return (resource.gvr.group, resource.gvr.resource) in _EVENTS


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as it is at `revision`, which is also its resource version."""

    object: JsonObject
    revision: int


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """Objects in the order of their keys, as they were at `revision`. `last` is the key, relative
    to the prefix of the list, of the last one; `remaining` more follow."""

    objects: tuple[StoredObject, ...]
    revision: int
    remaining: int
    last: str


class ObjectStore:
    """Synchronous reads, asynchronous writes. Errors are the store's, and Undecodable. Events go
    `event_seconds` after they were last written; None: never."""

    def __init__(self, store: Store, event_seconds: int | None = None) -> None:
        self.store = store
        self._event_seconds = event_seconds
        self._decoded = ObjectMemory[str, StoredObject](_CURRENT)
        self._former = ObjectMemory[tuple[str, int], StoredObject](_FORMER)
        self._encoded: dict[int, JsonObject] = {}
        """What is being written, by the identity of its bytes, which the writing task holds."""

    async def synced(self) -> None:
        """Returns when all can be read here that was acknowledged before, to anyone. Raises
        ServiceError."""
        future = self.store.synced()
        if not future.done():
            await asyncio.wrap_future(future)

    @on_loop
    def get(self, resource: Resource, namespace: str, name: str) -> StoredObject | None:
        """The object as it is now, in the version it was written as."""
        entry = self.store.get(object_key(resource, namespace, name))
        return None if entry is None else self.stored(entry)

    def size(self, resource: Resource, namespace: str, name: str) -> int:
        """Bytes of a stored object; 0 if there is none."""
        entry = self.store.get(object_key(resource, namespace, name))
        return 0 if entry is None else len(entry.value)

    @on_loop
    def page(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        start: str = "",
        limit: int | None = None,
        revision: int | None = None,
    ) -> ObjectPage:
        """Objects from the relative key `start` on. Raises celadon.store.RevisionError."""
        prefix = collection_prefix(resource, namespace)
        page = self.store.range(prefix, prefix + start if start else "", limit, revision)
        last = page.entries[-1].key.removeprefix(prefix) if page.entries else ""
        return ObjectPage(
            tuple(map(self.stored, page.entries)), page.revision, page.remaining, last
        )

    @on_loop
    def has_any(self, resource: Resource, namespace: str) -> bool:
        """Whether there is an object of the namespace."""
        return bool(self.store.range(collection_prefix(resource, namespace), limit=1).entries)

    def count(self, resource: Resource, namespace: str) -> int:
        """How many objects a list would have."""
        page = self.store.range(collection_prefix(resource, namespace), limit=1)
        return len(page.entries) + page.remaining

    def counts(self, resources: Iterable[Resource]) -> dict[tuple[str, str], int]:
        """How many objects there are of each resource that is stored, by group and name."""
        return {
            (resource.gvr.group, resource.gvr.resource): self.count(resource, "")
            for resource in resources
            if "create" in resource.verbs and "list" in resource.verbs
        }

    def stored(self, entry: Entry) -> StoredObject:
        """An entry, decoded. Raises Undecodable."""
        found = self._decoded.get(entry.key)
        if found is not None and found.revision == entry.mod_revision:
            return found
        if found is not None and found.revision > entry.mod_revision:
            return self._former_object(entry)
        return self._keep(entry, self._object(entry))

    def _object(self, entry: Entry) -> JsonObject:
        """What has just been written need not be read: the store gives back the same bytes."""
        known = self._encoded.get(id(entry.value))
        if known is not None:
            return _with_version(known, str(entry.mod_revision))
        return decoded(entry, entry.mod_revision)

    def _keep(self, entry: Entry, obj: JsonObject) -> StoredObject:
        found = self._decoded.get(entry.key)
        if found is not None:
            former = self._decoded.weight_of(entry.key)
            self._former.keep((entry.key, found.revision), found, former)
        made = StoredObject(obj, entry.mod_revision)
        self._decoded.keep(entry.key, made, weight(entry.value))
        return made

    def last(self, event: Event) -> JsonObject:
        """What a deletion took away, with the revision of the deletion."""
        assert event.previous is not None, "a deletion of something"
        key = (event.key, event.revision)
        found = self._former.get(key)
        if found is None:
            obj = decoded(event.previous, event.revision)
            found = StoredObject(obj, event.revision)
            self._former.keep(key, found, weight(event.previous.value))
        return found.object

    def _former_object(self, entry: Entry) -> StoredObject:
        key = (entry.key, entry.mod_revision)
        found = self._former.get(key)
        if found is None:
            found = StoredObject(decoded(entry, entry.mod_revision), entry.mod_revision)
            self._former.keep(key, found, weight(entry.value))
        return found

    def claim(self, key: str) -> Condition:
        """That nobody claims the key between now and a write with this."""
        entry = self.store.get(key)
        return Condition(key, 0 if entry is None else entry.mod_revision)

    async def create(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        obj: JsonObject,
        claims: Collection[Condition] = (),
    ) -> StoredObject | None:
        """None when there is one already, or somebody else has claimed the same."""
        value = encoded(obj, custom=resource.custom)
        key = object_key(resource, namespace, name)
        transaction = create(key, value, self._seconds(resource))
        return await self._written(_claiming(transaction, claims), obj, resource)

    async def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        obj: JsonObject,
        revision: int,
        claims: Collection[Condition] = (),
    ) -> StoredObject | None:
        """None when it is no longer at `revision`, or somebody else has claimed the same. What is
        there already is not written again."""
        key, value = object_key(resource, namespace, name), encoded(obj, custom=resource.custom)
        entry = self.store.get(key)
        if entry is not None and entry.mod_revision == revision and entry.value == value:
            return self.stored(entry)
        transaction = _claiming(update(key, value, revision, self._seconds(resource)), claims)
        return await self._written(transaction, obj, resource)

    def _seconds(self, resource: Resource) -> int | None:
        """How long its objects last."""
        return self._event_seconds if is_event(resource) else None

    async def delete(
        self, resource: Resource, namespace: str, name: str, revision: int
    ) -> int | None:
        """The revision of the deletion; None when the object is no longer at `revision`."""
        outcome = await self._submitted(delete(object_key(resource, namespace, name), revision))
        return outcome.revision if isinstance(outcome, Committed) else None

    async def _written(
        self, transaction: Transaction, obj: JsonObject, resource: Resource
    ) -> StoredObject | None:
        operation = transaction.operations[0]
        assert isinstance(operation, Put)
        value = operation.value
        if has_exact_numbers(resource):  # else decoding gives other numbers
            self._encoded[id(value)] = obj
        try:
            outcome = await self._submitted(transaction)
            if not isinstance(outcome, Committed):
                return None
            event = outcome.events[0]
            assert event is not None
            assert event.entry is not None
            return self.stored(event.entry)
        finally:
            self._encoded.pop(id(value), None)

    async def _submitted(self, transaction: Transaction) -> Outcome:
        future = self.store.submit(transaction)
        return future.result() if future.done() else await asyncio.wrap_future(future)


def _claiming(transaction: Transaction, claims: Collection[Condition]) -> Transaction:
    """Which is carried out only if all claims hold, and takes what they are about."""
    if not claims:
        return transaction
    return Transaction(
        (*transaction.conditions, *claims),
        (*transaction.operations, *(Put(one.key, _CLAIMED) for one in claims)),
    )


def encoded(obj: JsonObject, *, custom: bool = False) -> bytes:
    """What is stored: the member order stays (or all is sorted, for custom resources); the resource
    version has an empty place, behind the uid if the object had none, so that the same object is
    always the same bytes."""
    return stored_bytes(_with_version(obj, ""), custom=custom)


def _with_version(obj: JsonObject, version: str) -> dict[str, Any]:
    metadata = obj.get("metadata")
    found = metadata if isinstance(metadata, Mapping) else {}
    if "resourceVersion" in found:
        return {**obj, "metadata": {**found, "resourceVersion": version}}
    before = {key: found[key] for key in _BEFORE_THE_VERSION if key in found}
    return {**obj, "metadata": {**before, "resourceVersion": version, **found}}


def decoded(entry: Entry, revision: int) -> JsonObject:
    """A stored object with its resource version. Raises Undecodable."""
    try:
        obj = read_stored(entry.value)
        obj["kind"], obj["apiVersion"]  # each object says what it is
        obj["metadata"]["resourceVersion"] = str(revision)
    except (ValueError, LookupError, TypeError):
        obj = read_strange(entry.key, entry.value)
        obj["metadata"]["resourceVersion"] = str(revision)
    return obj
