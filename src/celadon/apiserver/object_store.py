"""Objects on a store: JSON in and out, with the revision of a key as `metadata.resourceVersion`.

What is stored is an object in the version it was written as, without a resource version: that is
the entry's. Reading an entry decodes it once; the result is shared by all who read it.

INVARIANT (shared objects): nobody changes an object that came from here.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from operator import attrgetter, eq, itemgetter
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from celadon.apiserver.http_messages import (
    LARGE_JSON,
    has_exact_numbers,
    json_bytes,
    read_stored,
    sorted_json_bytes,
    stored_bytes,
)
from celadon.apiserver.loop_offloading import RequestWork
from celadon.apiserver.request_info import ListOptions
from celadon.apiserver.workers import aside, is_worker, on_loop
from celadon.kube import GroupResource, GroupVersionKind, GroupVersionResource, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import request_bodies
from celadon.kube.resources import Resource
from celadon.kube.schemas import json_kind
from celadon.kube.selectors import KeyConditions
from celadon.records import dataclass, field
from celadon.storage import (
    Committed,
    Condition,
    Entry,
    Event,
    Outcome,
    Page,
    Put,
    Store,
    Transaction,
    create,
    delete,
    update,
)

# --- Object keys -------------------------------------------------------------
#
# Under which key an object is stored: one place per object, whatever version it is read in.
#
# The form is `/registry/<group>/<resource>/[<namespace>/]<name>`, with `core` for the group
# without a name. Upstream has the same form with some prefixes that nobody else sees
# (k8s.io/kubernetes `pkg/kubeapiserver/default_storage_factory_builder.go`).

ROOT: Final = "/registry"
CLAIMS: Final = f"{ROOT}/ranges/"
"""Keys of no object, which say that something was given to one. As kube-apiserver's allocations."""

STORED_ELSEWHERE: Final = {GroupResource("events.k8s.io", "events"): GroupResource("", "events")}
"""Resources that are another view of the objects of another group."""


def collection_prefix(resource: Resource, namespace: str = "") -> str:
    """Return what the keys of all objects begin with: of all namespaces if none is named."""
    prefix = _prefix_of(resource.gvr)
    return f"{prefix}{namespace}/" if namespace and resource.namespaced else prefix


@functools.lru_cache(maxsize=1024)  # each request wants several: 1 % of the instructions of a get
def _prefix_of(gvr: GroupVersionResource) -> str:
    group, name = STORED_ELSEWHERE.get(gvr.group_resource, gvr.group_resource)
    return f"{ROOT}/{group or 'core'}/{name}/"


def object_key(resource: Resource, namespace: str, name: str) -> str:
    """`namespace` is ignored for a cluster-scoped resource."""
    return collection_prefix(resource, namespace) + name


# --- Object memory -----------------------------------------------------------
#
# Objects that are remembered, as long as all of them together do not weigh too much.
#
# Decoded, an object takes many times its text: a hostile one of 3 MB, of nothing but empty
# lists, a hundred megabytes. So what is remembered is counted by weight, not by number.

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")

_ITEM_BYTES: Final = 128
"""What an item or a list takes beside its text, at most: itself and its place in another."""
_MAP_BYTES: Final = 256


def weight(text: bytes) -> int:
    """Estimate the bytes that an object takes beside this text of it; rather more than less."""
    items = text.count(b",") + text.count(b"[")
    return len(text) + _ITEM_BYTES * items + _MAP_BYTES * text.count(b"{")


class ObjectMemory(Generic[_K, _V]):
    """Remembers values by their weight. When one would make it heavier than `most`, the oldest are
    forgotten; one that is too heavy by itself is not remembered, and nothing else is forgotten
    because of it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._values: dict[_K, _V] = {}
        self._weights: dict[_K, int] = {}
        self.get = self._values.get

    def keep(self, key: _K, value: _V, heavy: int) -> None:
        """Remember a value in the place of what was there."""
        self._forget(key)
        if heavy > self._most:
            return
        while self._weight + heavy > self._most:
            self._forget(next(iter(self._values)))
        self._values[key] = value
        self._weights[key] = heavy
        self._weight += heavy

    def has_room(self, heavy: int) -> bool:
        """Return whether a value is remembered without another being forgotten."""
        return self._weight + heavy <= self._most

    def _forget(self, key: _K) -> None:
        self._values.pop(key, None)
        self._weight -= self._weights.pop(key, 0)

    def weight_of(self, key: _K) -> int:
        """Return the weight of what is remembered under a key; 0 for what is not."""
        return self._weights.get(key, 0)


# --- Strange values ----------------------------------------------------------
#
# Values that Celadon has not written: somebody else has access to etcd. (Files have checksums.)
#
# They are read as upstream reads what it finds there, or are refused with its words.

_UNKNOWN: Final = GroupVersionKind("", "", "")


class Undecodable(Exception):
    """The message is that of upstream's decoder; `key` says where the value is."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def read_strange(key: str, value: bytes) -> JsonDict:
    """Return the object, which has metadata. Raises Undecodable."""
    from celadon.goyaml import UnreadableError, first_document  # late: it takes long to load

    try:
        text = value
        if not value.lstrip().startswith(b"{"):  # then upstream takes it for YAML
            text = json.dumps(first_document(value).value).encode()
        kind, document = request_bodies.interpreted(text, _UNKNOWN)
    except UnreadableError as error:
        raise Undecodable(key, error.upstream) from None
    except request_bodies.Uninterpretable as error:
        raise Undecodable(key, str(error)) from None
    for member, word in (("Kind", kind.kind), ("apiVersion", kind.version)):
        if not word:
            message = value.decode("utf-8", "replace")
            raise Undecodable(key, f"Object '{member}' is missing in '{message}'")
    obj: JsonDict = document.value
    metadata = {} if obj.get("metadata") is None else obj["metadata"]
    if not isinstance(metadata, dict):
        wrong = f"{json_kind(metadata)} into Go struct field {kind.kind}.metadata"
        raise Undecodable(key, f"json: cannot unmarshal {wrong} of type v1.ObjectMeta")
    return {**obj, "metadata": metadata}


_CURRENT: Final = 256 << 20
"""What decoded objects may weigh that are kept, one per key."""

_FORMER: Final = 32 << 20
"""The same for objects that have been replaced, which many watches may want to compare with."""

_COMING: Final = 64 << 20
"""The same for objects that are read before they are there."""

_AT_ONCE: Final = 1_000
"""Objects that the event loop gives a worker."""

SMALL_WORK: Final = RequestWork()
"""For objects that are small: all is done at once."""

_CLAIMED: Final = b'{"kind":"RangeAllocation","apiVersion":"v1","metadata":{}}'

EVENT_SECONDS: Final = 3600
"""How long upstream keeps events unless it is told otherwise."""

_EVENTS: Final = frozenset({("", "events"), ("events.k8s.io", "events")})
"""Group and name of the resources whose objects go by themselves."""

_BEFORE_THE_VERSION: Final = ("name", "generateName", "namespace", "selfLink", "uid")


def is_event(resource: Resource) -> bool:
    """Return whether objects of the resource are events: upstream keeps no cache of them."""
    return (resource.gvr.group, resource.gvr.resource) in _EVENTS


# House rule 9: it is not frozen, since whether it reads back is found out later, and once.
@dataclass(slots=True)
class StoredObject:
    """An object as it is at `revision`, which is also its resource version; `size` says how many
    bytes are stored of it."""

    object: JsonObject
    revision: int
    size: int
    reads_back: bool | None = field(default=None, compare=False)
    """Whether reading it as if it were sent gives the same again, to the byte; None if nobody
    knows yet."""
    empty_bytes: frozenset[tuple[str | int, ...]] = field(default=frozenset(), compare=False)
    """Where it came with empty bytes, which upstream stores, and does not show."""


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """Holds objects in the order of their keys, as they were at `revision`. `last` is the key,
    relative to the prefix of the list, of the last one; `remaining` more follow."""

    objects: tuple[StoredObject, ...]
    revision: int
    remaining: int
    last: str


_KEY: Final = attrgetter("key")
_REVISION: Final = attrgetter("revision")
_MOD_REVISION: Final = attrgetter("mod_revision")


class ObjectStore:
    """Synchronous reads, asynchronous writes. Errors are the store's, and Undecodable. Events go
    `event_seconds` after they were last written; None: never."""

    def __init__(self, store: Store, event_seconds: int | None = None) -> None:
        self.store = store
        self._event_seconds = event_seconds
        self._decoded = ObjectMemory[str, StoredObject](_CURRENT)
        self._former = ObjectMemory[tuple[str, int, int], StoredObject](_FORMER)
        """Earlier states, by key, the revision that wrote them and the one that they are shown
        with, which is later where something was deleted or left a selection."""
        self._coming = ObjectMemory[int, tuple[bytes, JsonObject]](_COMING)
        """What has been read before it was there, by the identity of its bytes, which are kept."""
        self._encoded: dict[int, JsonObject] = {}
        """What is being written, by the identity of its bytes, which the writing task holds."""

    async def synced(self) -> None:
        """Wait until all can be read here that was acknowledged before, to anyone. Raises
        ServiceError."""
        if self.store.is_shared:
            future = self.store.synced()
            if not future.done():
                await asyncio.wrap_future(future)

    def get(self, resource: Resource, namespace: str, name: str) -> StoredObject | None:
        """Return the object as it is now, in the version it was written as. A worker reads it
        itself."""
        entry, stored = self._entry(object_key(resource, namespace, name))
        if entry is None or stored is not None:
            return stored
        return self._kept(entry, self._object(entry))

    @on_loop
    def _entry(self, key: str) -> tuple[Entry | None, StoredObject | None]:
        """Return what is stored, and the object if it has been read."""
        entry = self.store.get(key)
        return entry, None if entry is None else self._known(entry)

    def page(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        start: str = "",
        limit: int | None = None,
        revision: int | None = None,
    ) -> ObjectPage:
        """Return objects from the relative key `start` on. A worker reads itself what has not been
        read, and the loop gives it some at once. Raises celadon.storage.RevisionError."""
        prefix = collection_prefix(resource, namespace)
        begin, objects, key = prefix + start if start else "", list[StoredObject](), prefix
        while True:
            left = None if limit is None else limit - len(objects)
            page, known_objects = self._entries(prefix, begin, left, revision)
            objects += self._all_read(page.entries, known_objects)
            key = page.entries[-1].key if page.entries else key
            if not page.remaining or len(objects) == limit:
                break
            begin, revision = f"{key}\0", page.revision
        return ObjectPage(tuple(objects), page.revision, page.remaining, key.removeprefix(prefix))

    def _entries(
        self, prefix: str, start: str, limit: int | None, revision: int | None
    ) -> tuple[Page, Sequence[StoredObject | None]]:
        """Return a page of what is stored, and those objects that have been read; a worker gets a
        smaller page."""
        if not is_worker():
            return self._known_page(prefix, start, limit, revision)
        most = _AT_ONCE if limit is None else min(limit, _AT_ONCE)
        return self._known_page(prefix, start, most, revision)

    @on_loop
    def _known_page(
        self, prefix: str, start: str, limit: int | None, revision: int | None
    ) -> tuple[Page, Sequence[StoredObject | None]]:
        page = self.store.range(prefix, start, limit, revision)
        return page, self._all_known(page.entries)

    @on_loop
    def has_any(self, resource: Resource, namespace: str) -> bool:
        """Return whether there is an object of the namespace."""
        return bool(self.store.range(collection_prefix(resource, namespace), limit=1).entries)

    def count(self, resource: Resource, namespace: str) -> int:
        """Return how many objects a list would have."""
        page = self.store.range(collection_prefix(resource, namespace), limit=1)
        return len(page.entries) + page.remaining

    def weighs(self, resource: Resource, namespace: str, limit: int) -> int:
        """Return the bytes of the first objects that a list would have."""
        page = self.store.range(collection_prefix(resource, namespace), limit=limit)
        return sum(len(entry.value) for entry in page.entries)

    def extent(self, group: str, name: str, sampled: int) -> tuple[int, int]:
        """Return how many objects of a resource there are, and the mean size of the first."""
        group, name = STORED_ELSEWHERE.get(GroupResource(group, name), (group, name))
        page = self.store.range(f"{ROOT}/{group or 'core'}/{name}/", limit=sampled)
        some = [len(entry.value) for entry in page.entries]
        return len(some) + page.remaining, sum(some) // len(some) if some else 0

    def counts(self, resources: Iterable[Resource]) -> dict[tuple[str, str], int]:
        """Return how many objects there are of each resource that is stored, by group and name."""
        return {
            (resource.gvr.group, resource.gvr.resource): self.count(resource, "")
            for resource in resources
            if "create" in resource.verbs and "list" in resource.verbs
        }

    def stored(self, entry: Entry) -> StoredObject:
        """Return an entry, decoded. Raises Undecodable."""
        known_object = self._known(entry)
        return self._kept(entry, self._object(entry)) if known_object is None else known_object

    def all_stored(self, entries: Sequence[Entry]) -> Sequence[StoredObject]:
        """Return many entries, decoded; a worker reads them itself."""
        return self._all_read(entries, self._all_known(entries))

    def _all_read(
        self, entries: Sequence[Entry], known: Sequence[StoredObject | None]
    ) -> Sequence[StoredObject]:
        if all(known):
            return cast("Sequence[StoredObject]", known)
        pairs = zip(entries, known, strict=True)
        read = [self._object(entry) if hit is None else hit.object for entry, hit in pairs]
        return self._all_kept(entries, read)

    def is_read(self, entry: Entry) -> bool:
        """Return whether the object takes no time."""
        return (
            len(entry.value) <= LARGE_JSON
            or id(entry.value) in self._encoded
            or self._coming.get(id(entry.value)) is not None
            or self._known(entry) is not None
        )

    async def read_aside(self, entry: Entry) -> StoredObject:
        """Return an object that is large, as `stored` does: a thread reads it, which waits for
        nobody."""
        return self._kept(entry, await aside(self._object, entry))

    def _known(self, entry: Entry) -> StoredObject | None:
        """Return what has been read already."""
        stored = self._decoded.get(entry.key)
        if stored is None or stored.revision < entry.mod_revision:
            return None
        if stored.revision == entry.mod_revision:
            return stored
        return self._former.get((entry.key, entry.mod_revision, entry.mod_revision))

    @on_loop
    def _all_known(self, entries: Sequence[Entry]) -> Sequence[StoredObject | None]:
        # As a rule nothing is called for each, which takes a quarter of the time.
        latest = list(map(self._decoded.get, map(_KEY, entries)))
        if all(latest) and all(map(eq, map(_REVISION, latest), map(_MOD_REVISION, entries))):
            return latest
        return [self._known(entry) for entry in entries]

    def _object(self, entry: Entry) -> JsonObject:
        """Return the object of an entry. One that has just been written need not be read: the store
        gives back the same bytes."""
        document = self._encoded.get(id(entry.value))
        if document is None:
            coming = self._coming.get(id(entry.value))
            document = None if coming is None else coming[1]
        if document is not None:
            return _with_version(document, str(entry.mod_revision))
        return decoded(entry, entry.mod_revision)

    @on_loop
    def _kept(self, entry: Entry, obj: JsonObject) -> StoredObject:
        """Remember an object that was read, and return the one that all share: another thread may
        have read it meanwhile."""
        stored = self._known(entry)
        if stored is not None:
            return stored
        stored_object = StoredObject(obj, entry.mod_revision, len(entry.value))
        newer = self._decoded.get(entry.key)
        if newer is not None and newer.revision > entry.mod_revision:
            written = (entry.key, entry.mod_revision, entry.mod_revision)
            self._former.keep(written, stored_object, weight(entry.value))
            return stored_object
        if newer is not None:
            former = self._decoded.weight_of(entry.key)
            self._former.keep((entry.key, newer.revision, newer.revision), newer, former)
        self._decoded.keep(entry.key, stored_object, weight(entry.value))
        return stored_object

    @on_loop
    def _all_kept(
        self, entries: Iterable[Entry], read: Iterable[JsonObject]
    ) -> Sequence[StoredObject]:
        return [self._kept(entry, obj) for entry, obj in zip(entries, read, strict=True)]

    def last(self, event: Event) -> JsonObject:
        """Return what an event took away from who watches, with the revision of the event."""
        assert event.previous is not None, "there was something"
        key = (event.key, event.previous.mod_revision, event.revision)
        stored = self._former.get(key)
        if stored is None:
            former = self._decoded.get(event.key)
            if former is not None and former.revision == event.previous.mod_revision:
                obj: JsonObject = _with_version(former.object, str(event.revision))
            else:
                obj = decoded(event.previous, event.revision)
            stored = StoredObject(obj, event.revision, len(event.previous.value))
            self._former.keep(key, stored, weight(event.previous.value))
        return stored.object

    def claim(self, key: str) -> Condition:
        """Return the condition that nobody claims the key between now and a write with it."""
        entry = self.store.get(key)
        return Condition(key, 0 if entry is None else entry.mod_revision)

    async def create(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        obj: JsonObject,
        claims: Collection[Condition] = (),
        work: RequestWork = SMALL_WORK,
    ) -> StoredObject | None:
        """Store a new object; return None when there is one already, or somebody else has claimed
        the same. What is large is encoded by `work`. Raises what that raises."""
        value, known_value = await work.step(_encoded_and_known, obj, resource)
        key = object_key(resource, namespace, name)
        transaction = create(key, value, self._seconds(resource))
        return await self._written(_claiming(transaction, claims), known_value)

    async def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        obj: JsonObject,
        revision: int,
        claims: Collection[Condition] = (),
        work: RequestWork = SMALL_WORK,
    ) -> StoredObject | None:
        """Store an object anew; return None when it is no longer at `revision`, or somebody else
        has claimed the same. What is there already is not written again. What is large is encoded
        by `work`. Raises what that raises."""
        key = object_key(resource, namespace, name)
        value, known_value = await work.step(_encoded_and_known, obj, resource)
        entry = self.store.get(key)
        if entry is not None and entry.mod_revision == revision and entry.value == value:
            return self.stored(entry)
        transaction = _claiming(update(key, value, revision, self._seconds(resource)), claims)
        return await self._written(transaction, known_value)

    def _seconds(self, resource: Resource) -> int | None:
        """Return how long its objects last."""
        return self._event_seconds if is_event(resource) else None

    async def delete(
        self, resource: Resource, namespace: str, name: str, revision: int
    ) -> int | None:
        """Return the revision of the deletion; None when the object is no longer at `revision`."""
        outcome = await self._submitted(delete(object_key(resource, namespace, name), revision))
        return outcome.revision if isinstance(outcome, Committed) else None

    async def _written(self, transaction: Transaction, obj: JsonObject) -> StoredObject | None:
        operation = transaction.operations[0]
        assert isinstance(operation, Put)
        value = operation.value
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

    async def submit(self, transaction: Transaction) -> Outcome:
        """Store objects that another process has encoded."""
        puts = (operation for operation in transaction.operations if isinstance(operation, Put))
        await self.read_before([put.value for put in puts])
        return await self._submitted(transaction)

    async def read_before(self, values: Iterable[bytes]) -> None:
        """Read large values that somebody else has encoded and that are going to be stored. They
        are read now, aside, so that nobody has to do that on the event loop."""
        for value in values:
            if len(value) > LARGE_JSON:
                obj = await aside(_read_if_plain, value)
                if obj is not None:
                    self._coming.keep(id(value), (value, obj), weight(value))

    async def _submitted(self, transaction: Transaction) -> Outcome:
        promise = _LoopPromise(asyncio.get_running_loop())
        self.store.carry_out(transaction, promise)
        return await promise.future


class _LoopPromise:
    """Takes what becomes of a write from a store, in any thread: `future` is for the loop. Whoever
    is cancelled while they wait for it cancels the write, if it has not begun. A
    `concurrent.futures.Future` has locks that nobody needs here, and `asyncio.wrap_future` would
    wake the loop by a system call where a local store settles on the loop."""

    __slots__ = ("_loop", "future")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.future: asyncio.Future[Outcome] = loop.create_future()

    def set_running_or_notify_cancel(self) -> bool:
        return not self.future.cancelled()

    def set_result(self, result: Outcome) -> None:
        if asyncio._get_running_loop() is not self._loop:
            self._carry(self.set_result, result)
        elif not self.future.done():
            self.future.set_result(result)

    def set_exception(self, exception: BaseException) -> None:
        if asyncio._get_running_loop() is not self._loop:
            self._carry(self.set_exception, exception)
        elif not self.future.done():
            self.future.set_exception(exception)

    def _carry(self, settle: Callable[[_V], None], value: _V) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits
            self._loop.call_soon_threadsafe(settle, value)


def _claiming(transaction: Transaction, claims: Collection[Condition]) -> Transaction:
    """Return a transaction that is carried out only if all claims hold, and takes what they are
    about."""
    if not claims:
        return transaction
    return Transaction(
        (*transaction.conditions, *claims),
        (*transaction.operations, *(Put(claim.key, _CLAIMED) for claim in claims)),
    )


def encoded(obj: JsonObject, *, custom: bool = False) -> bytes:
    """Return what is stored: the member order stays (or all is sorted, for custom resources); the
    resource version has an empty place, behind the uid if the object had none, so that the same
    object is always the same bytes."""
    return stored_bytes(_with_version(obj, ""), custom=custom)


def _encoded_and_known(obj: JsonObject, resource: Resource) -> tuple[bytes, JsonObject]:
    """Return what is stored, and what decoding it gives, but for the version."""
    value = encoded(obj, custom=resource.custom)
    return value, obj if has_exact_numbers(resource) else read_stored(value)


def _with_version(obj: JsonObject, version: str) -> JsonDict:
    metadata = obj.get("metadata")
    result = metadata if isinstance(metadata, dict) else {}
    if "resourceVersion" in result:
        return {**obj, "metadata": {**result, "resourceVersion": version}}
    before = {key: result[key] for key in _BEFORE_THE_VERSION if key in result}
    return {**obj, "metadata": {**before, "resourceVersion": version, **result}}


def _read_if_plain(value: bytes) -> JsonObject | None:
    """Return an object as we write them; None for anything else."""
    try:
        obj: object = read_stored(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(obj, dict) or not {"kind", "apiVersion"} <= obj.keys():
        return None
    return obj if isinstance(obj.get("metadata"), dict) else None


def decoded(entry: Entry, revision: int) -> JsonObject:
    """Return a stored object with its resource version. Raises Undecodable."""
    try:
        obj = read_stored(entry.value)
        obj["kind"], obj["apiVersion"]  # each object says what it is
        obj["metadata"]["resourceVersion"] = str(revision)
    except (ValueError, LookupError, TypeError):
        obj = read_strange(entry.key, entry.value)
        obj["metadata"]["resourceVersion"] = str(revision)
    return obj


# --- Object selection --------------------------------------------------------
#
# Which objects a request's selectors choose.

_FALSE_WHEN_ABSENT: Final = frozenset({"spec.unschedulable", "spec.hostNetwork"})
_ZERO_WHEN_ABSENT: Final = frozenset({"status.replicas", "status.successful"})
_SUCCEEDED: Final = "status.successful"


@dataclass(frozen=True, slots=True)
class ObjectSelection:
    """Selects objects by labels and fields, both of which must match; without terms they match
    everything."""

    labels: KeyConditions
    fields: KeyConditions
    selects: bool
    """Whether there is any term."""

    @classmethod
    def of(cls, options: ListOptions) -> ObjectSelection:
        """Return the selection of a list or watch."""
        return cls(*options.conditions, options.has_selector)

    def matches(self, obj: JsonObject) -> bool:
        """Tell whether the selectors choose an object, which is in the version of the request."""
        if not self.selects:
            return True
        if not self.labels.matches(metadata.labels(obj)):
            return False
        return self.fields.matches({field: field_text(obj, field) for field in self.fields.keys})


def field_text(obj: JsonObject, field: str) -> str:
    """Return the value of a field as selectors compare it."""
    if field == "source" and obj.get("kind") == "Event":
        component = (obj.get("source") or {}).get("component")
        return str(component or obj.get("reportingComponent") or "")
    value: Any = obj
    path = "status.succeeded" if field == _SUCCEEDED else field
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None:
        return _absent(field)
    if isinstance(value, bool):
        return "true" if value else "false"
    # Only `status.podIPs` is a list: upstream takes the term, but compares it with nothing.
    return "" if isinstance(value, list) else str(value)


def _absent(field: str) -> str:
    if field in _FALSE_WHEN_ABSENT:
        return "false"
    return "0" if field in _ZERO_WHEN_ABSENT else ""


# --- Object texts ------------------------------------------------------------
#
# The JSON of objects in the store, written once for all who read it.
#
# A get, a list and every watcher of an event show the same object; what they send is the same
# bytes. They are kept by the identity of the object, which is shared (INVARIANT (shared
# objects)), as long as there is room: a list of 10,000 objects is joined from them in a tenth
# of the time it takes to write it anew.

_MOST: Final = 64 << 20
"""What the texts that are kept may weigh, with their objects."""


class _ObjectText(NamedTuple):
    """Holds what is written of an object: all of it, and what a list shows, which for a built-in
    kind begins behind the brace."""

    object: JsonObject
    whole: bytes
    item: bytes | memoryview


_ITEM: Final = itemgetter(_ObjectText._fields.index("item"))
_PUSHED_OUT: Final = 8
"""One in so many texts of lists takes the place of an older one, where there is no room: what
nobody shows any more goes that way."""


class ObjectTexts:
    """Remembers texts, but only of objects that came from the store and are as they are stored."""

    def __init__(self, most: int = _MOST) -> None:
        self._texts = ObjectMemory[int, _ObjectText](most)
        """By identity, which the object that is kept beside the text keeps its own."""
        self._missed = 0
        """How many texts of lists there was no room for."""
        self._line: tuple[str, JsonObject, bytes] = ("", {}, b"")

    def whole(self, obj: JsonObject, resource: Resource) -> bytes:
        """Return the JSON of an object as a get shows it, without a line feed."""
        text = self._texts.get(id(obj))
        if text is None:
            text = _text_of(obj, resource)
            self._texts.keep(id(obj), text, weight(text.whole))
        return text.whole

    def _listed(self, obj: JsonObject, resource: Resource) -> _ObjectText:
        """Write what a list has not found. A list of more than all that is kept would else find
        nothing the next time, since its end has pushed out its beginning."""
        text = _text_of(obj, resource)
        heavy = weight(text.whole)
        has_room = self._texts.has_room(heavy)
        self._missed += not has_room
        if has_room or self._missed % _PUSHED_OUT == 0:
            self._texts.keep(id(obj), text, heavy)
        return text

    def event(self, kind: str, obj: JsonObject, resource: Resource) -> bytes:
        """Return a line of a watch. The last one is kept: watchers come one after the other."""
        kind_kept, obj_kept, line = self._line
        if obj is not obj_kept or kind != kind_kept:
            text = self.whole(obj, resource)
            line = b'{"type":"%b","object":%b}\n' % (kind.encode(), text)
            self._line = kind, obj, line
        return line

    def items(
        self,
        objects: Sequence[JsonObject],
        resource: Resource,
        before: bytes = b"",
        after: bytes = b"",
    ) -> bytes:
        """Return the JSON of objects as a list shows them, with commas between, and what comes
        before and after them."""
        if not objects:
            return before + after
        # Nothing is called for each: a list of what is known takes a sixth of the instructions.
        texts = list(map(self._texts.get, map(id, objects)))
        if not all(texts):
            pairs = zip(objects, texts, strict=True)
            texts = [text or self._listed(obj, resource) for obj, text in pairs]
        items: list[bytes | memoryview] = list(map(_ITEM, cast("list[_ObjectText]", texts)))
        brace = b"" if resource.custom else b"{"
        items[0] = b"".join((before, brace, items[0]))
        items[-1] = b"".join((items[-1], after))
        return (b"," + brace).join(items)


def _text_of(obj: JsonObject, resource: Resource) -> _ObjectText:
    if resource.custom:
        text = sorted_json_bytes(obj)
        return _ObjectText(obj, text, text)
    text = json_bytes(obj)
    head = _head_of(resource.gvk)
    if text.startswith(head):
        return _ObjectText(obj, text, memoryview(text)[len(head) :])
    unnamed = {key: obj[key] for key in obj if key not in ("apiVersion", "kind")}
    return _ObjectText(obj, text, json_bytes(unnamed)[1:])


@functools.lru_cache(maxsize=256)
def _head_of(kind: GroupVersionKind) -> bytes:
    """Return how objects of a kind begin; items of lists do not say what they are."""
    return json_bytes({"kind": kind.kind, "apiVersion": kind.api_version})[:-1] + b","
