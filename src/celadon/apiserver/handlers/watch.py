"""Watches: what happens to the objects of a collection, as a stream of events.

A watch begins with what is there (as ADDED events), or with the history after a revision, and goes
on with what comes. It ends when its time is over, when the server closes, when its definition goes
away or becomes another, when its reader is too slow, or is not who they were any more. Bookmarks
tell a client how far it has come.
As k8s.io/apiserver `pkg/storage/cacher` and `pkg/endpoints/handlers/watch.go`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextvars import copy_context
from functools import partial
from typing import Final

from celadon.apiserver import object_store
from celadon.apiserver.authz.authorizer_chain import STANDING_SECONDS, Standing
from celadon.apiserver.caches.served_resources import ServedResources
from celadon.apiserver.handlers.read import Reader
from celadon.apiserver.handlers.resource_endpoints import Endpoint
from celadon.apiserver.http_messages import Outlet
from celadon.apiserver.loop_offloading import MANY_BYTES, MANY_OBJECTS, RequestWork
from celadon.apiserver.operation.request_limits import Wake
from celadon.apiserver.request_info import ListOptions, revision_of
from celadon.apiserver.workers import TooMuchWork, Turns
from celadon.kube import GroupKind, JsonObject, StatusError, status
from celadon.kube.go import sorted_members
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Resource
from celadon.kube.schemas import round_trip
from celadon.records import dataclass, field
from celadon.storage import Compacted, Entry, Event, StoreError, Watch

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"
ERROR: Final = "ERROR"
CHANGES: Final = frozenset({ADDED, MODIFIED, DELETED})
"""Events whose object is a stored one."""

BOOKMARK_SECONDS: Final = 60.0
"""Between two bookmarks of one watch."""

LAST_BOOKMARK_SECONDS: Final = 2.0
"""How long before its end a watch gets its last bookmark."""

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
_COUNTS_REPLICAS: Final = frozenset(
    GroupKind("apps", kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet")
)
"""Kinds whose zero object has a number of replicas (k8s.io/kubernetes `pkg/apis/apps/types.go`)."""

_CLOCK_TICK: Final = 0.005
"""More than timers of event loops are wrong by, in seconds."""

_GATHERED: Final = 10_000
"""Entries taken from the store, none of them decoded, before others may have their turn."""

_LOOKED_AT: Final = 50
"""Objects that are looked at, of those there are at first, before others may have their turn."""

RETRY_SECONDS: Final = 1.0
"""Before a conversion webhook is asked again that could not be reached."""

PATIENCE_SECONDS: Final = 30.0
"""With it; then the watch ends (`MaxInternalErrorRetryDuration` of upstream's cache)."""

_AT_ONCE: Final = 200
"""Events taken from the store before the loop gets a chance to do something else."""

WOKEN_AT_ONCE: Final = 50
"""Watches that look what there is in one turn of the loop; each takes some 30 µs for it."""

_WAKE_BYTES: Final = 32 << 10
"""Of an event: to send so much takes as long as a watch that looks."""

SENT_AT_ONCE: Final = 8
"""Revisions whose events one watch sends without a step of its stream."""

_FAILURES: Final = (StatusError, TooMuchWork, Compacted, object_store.Undecodable)
"""What is said in the last event of a watch."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """Holds an event of a watch. `object` is in the version of the endpoint; a Status if `type` is
    ERROR."""

    type: str
    object: JsonObject


LineWriter = Callable[[WatchEvent], bytes]
"""Writes a change for those who watch. What writes the same for many is the same object."""


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """Holds what a client wants to watch. `seconds` is how long the watch lasts; `definition` the
    key of the CustomResourceDefinition without which there is nothing to watch, `standing` what the
    reader has shown to be who they are, if they are anybody. `work` gathers what there is at first.
    Changes may go to `outlet`, as `line` writes them."""

    endpoint: Endpoint
    options: ListOptions
    seconds: float
    definition: str = ""
    standing: Standing | None = None
    work: RequestWork = field(default_factory=RequestWork)
    outlet: Outlet | None = None
    line: LineWriter | None = None

    @property
    def selection(self) -> object_store.ObjectSelection:
        return object_store.ObjectSelection.of(self.options)


_Seen = tuple[
    Event | None, Resource | None, tuple[JsonObject | None, JsonObject | None]
]  # an event, for whom, and the states before and after


class SparingWake(Wake):
    """A wake of someone who is spared it if `does_all`, done while they wait, returns True. It is
    done in their context, since that knows the release of the answer."""

    __slots__ = ("does_all",)

    def __init__(self) -> None:
        super().__init__()
        self.does_all: Callable[[], bool] | None = None

    def set_or_do(self) -> None:
        """Say that there is something to look at, or do what there is."""
        waiter = self._waiter
        if waiter is None or waiter.done() or self.does_all is None or not self.does_all():
            self.set()


class Wakes:
    """Watches that are to look what there is: however many see the same event, others have their
    turn between some of them and the next."""

    def __init__(self) -> None:
        self._woken = 0
        """In this turn of the loop."""
        self._waiting: deque[Callable[[], None]] = deque()

    def wake(self, tell: Callable[[], None]) -> None:
        """Tell a waiting watch now, or in a turn to come."""
        woken = self._woken
        if woken < WOKEN_AT_ONCE:
            if not woken:
                asyncio.get_running_loop().call_soon(self._next_turn)
            self._woken = woken + 1
            tell()
        else:
            self._waiting.append(tell)

    def sent(self, size: int) -> None:
        """Count what somebody who was told has sent: large events are sent to few in one turn."""
        self._woken += size // _WAKE_BYTES

    def _next_turn(self) -> None:
        self._woken = 0
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._next_turn)
        while self._waiting and self._woken < WOKEN_AT_ONCE:
            self._woken += 1
            self._waiting.popleft()()


class Watching:
    """Opens watches on the objects of one server."""

    def __init__(
        self, objects: object_store.ObjectStore, reader: Reader, served: ServedResources
    ) -> None:
        self._objects = objects
        self._reader = reader
        self._served = served
        self._seen: _Seen = (None, None, (None, None))
        self._latest_line: tuple[Event | None, LineWriter | None, bytes] = None, None, b""
        """The last change as who sees all objects was told of it, and what has written that."""
        self.wakes = Wakes()

    def open(self, request: WatchRequest) -> AsyncGenerator[WatchEvent, None]:
        """Open a watch. Raises StatusError for what cannot be one; all later errors are events."""
        try:
            revision = revision_of(request.options.resource_version)
        except ValueError as error:
            raise status.plain_error(str(error)) from None
        return self._events(request, revision)

    async def _events(
        self, request: WatchRequest, revision: int
    ) -> AsyncGenerator[WatchEvent, None]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + request.seconds
        wake = SparingWake()
        notify = partial(self.wakes.wake, wake.set_or_do)
        options, entries, start = request.options, deque[Entry](), revision or None
        try:
            if _wants_initial_events(options, revision):
                await self._reader.reach(revision)
                entries, start = await self._gathered(request)
            else:
                self._require_history(request, revision)
            stream = _Stream(self, request, self._open(request, start, notify))
            if request.outlet is not None and not self.may_wait(request):
                send = partial(stream.send_at_once, request.outlet)
                wake.does_all = partial(copy_context().run, send)
        except _FAILURES as error:
            yield _failed(error, revision)
            return
        definition = self._definition(request, partial(self.wakes.wake, wake.set))
        try:
            turns, selection = Turns(), request.selection
            while entries:
                for number, obj in enumerate(await self._next(request, entries)):
                    if number % _LOOKED_AT == 0:
                        await turns.take()
                    if selection.matches(obj):
                        yield WatchEvent(ADDED, obj)
            if start is not None and options.allow_bookmarks and options.send_initial_events:
                yield bookmark(request.endpoint.resource, start, initial_end=True)
            async for event in stream.events(wake, deadline, definition):
                yield event
        except _FAILURES as error:
            yield _failed(error, revision)
        finally:
            stream.close()
            if definition is not None:
                definition.close()

    def _open(self, request: WatchRequest, after: int | None, notify: Callable[[], None]) -> Watch:
        endpoint = request.endpoint
        prefix = object_store.collection_prefix(endpoint.resource, endpoint.namespace)
        return self._objects.store.watch(prefix, after, notify)

    async def _gathered(self, request: WatchRequest) -> tuple[deque[Entry], int]:
        """Return all there is at one revision, as it is stored, and the revision. Raises
        Compacted."""
        prefix = object_store.collection_prefix(
            request.endpoint.resource, request.endpoint.namespace
        )
        entries, turns, start, revision = deque[Entry](), Turns(), "", None
        while True:
            page = self._objects.store.range(prefix, start, _GATHERED, revision)
            entries += page.entries
            if not page.remaining:
                return entries, page.revision
            start, revision = f"{page.entries[-1].key}\0", page.revision
            await turns.take()

    async def _next(self, request: WatchRequest, entries: deque[Entry]) -> Iterable[JsonObject]:
        """Take so much of what there is at first as a short list has, and return it in the version
        of the endpoint: one who reads slowly holds no more decoded than that. Raises StatusError,
        TooMuchWork, Undecodable."""
        some = [entries.popleft()]
        left = MANY_BYTES - len(some[0].value)
        while entries and len(some) < MANY_OBJECTS and len(entries[0].value) <= left:
            some.append(entries.popleft())
            left -= len(some[-1].value)
        work, resource = request.work, request.endpoint.resource
        read = work.step if all(map(self._objects.is_read, some)) else work.aside
        objects = [stored.object for stored in await read(self._objects.all_stored, some)]
        if self._reader.may_wait(resource):
            return await self._reader.prepared(objects, resource)
        return (self._reader.shown(obj, resource) for obj in objects)

    def _require_history(self, request: WatchRequest, revision: int) -> None:
        """Refuse a watch of a custom resource from before its definition, of which nothing is
        known. Raises StatusError."""
        entry = self._objects.store.get(request.definition) if request.definition else None
        if entry is not None and 0 < revision < entry.create_revision:
            raise _too_old(revision, entry.create_revision + 1)

    def _definition(self, request: WatchRequest, notify: Callable[[], None]) -> Watch | None:
        if not request.definition:
            return None
        return self._objects.store.watch(request.definition, None, notify)

    def defined_by(self, request: WatchRequest) -> object:
        """Return what defines a custom kind now: another object once it says something else."""
        return self._served.current().custom.definition(request.endpoint.resource.gvk)

    async def settled(self) -> None:
        """Wait until `defined_by` is about what is stored."""
        await self._served.settled()

    def translated(self, event: Event, request: WatchRequest) -> WatchEvent | None:
        """Return what a change means to who sees only what is selected; None if nothing."""
        old, new = self._states(event, request.endpoint.resource)
        if not request.options.has_selector and new is not None:
            return WatchEvent(ADDED if old is None else MODIFIED, new)
        selection = request.selection
        was = old is not None and selection.matches(old)
        if new is not None and selection.matches(new):
            return WatchEvent(MODIFIED if was else ADDED, new)
        if not was or event.previous is None:
            return None
        last = self._objects.last(event)
        return WatchEvent(DELETED, self._reader.shown(last, request.endpoint.resource))

    def line(self, event: Event, request: WatchRequest) -> bytes | None:
        """Return what a watch is sent of a change; None if nothing."""
        write = request.line
        sees_all = not request.options.has_selector
        # Of a thousand watches of an event all but the first come no further than this line, which
        # takes a fifth of what each costs.
        if sees_all:
            latest_event, latest_write, latest_line = self._latest_line
            if event is latest_event and write is latest_write:
                return latest_line
        watch_event = self.translated(event, request)
        if watch_event is None:
            return None
        assert write is not None, "there is an outlet"
        text = write(watch_event)
        if sees_all:
            self._latest_line = event, write, text
        return text

    def may_wait(self, request: WatchRequest) -> bool:
        """Return whether its changes are for `converted`."""
        return self._reader.may_wait(request.endpoint.resource)

    async def converted(self, event: Event, request: WatchRequest) -> WatchEvent | None:
        """Translate a change as `translated` does, where a webhook may have to be asked. Raises
        StatusError."""
        resource = request.endpoint.resource
        entries = [entry for entry in (event.previous, event.entry) if entry is not None]
        objects = [self._objects.stored(entry).object for entry in entries]
        if event.entry is None and event.previous is not None:
            objects.append(self._objects.last(event))
        documents = list(await self._reader.prepared(objects, resource))
        was = event.previous is not None and request.selection.matches(documents[0])
        if event.entry is not None and request.selection.matches(documents[-1]):
            return WatchEvent(MODIFIED if was else ADDED, documents[-1])
        if not was:
            return None
        if event.entry is None:
            return WatchEvent(DELETED, documents[-1])
        (last,) = await self._reader.prepared([self._objects.last(event)], resource)
        return WatchEvent(DELETED, last)

    def _states(
        self, event: Event, resource: Resource
    ) -> tuple[JsonObject | None, JsonObject | None]:
        """Return the object before and after; all watchers of an event, who come one after the
        other, share them."""
        event_seen, resource_seen, states = self._seen
        if event is not event_seen or resource is not resource_seen:
            states = self._shown(event.previous, resource), self._shown(event.entry, resource)
            self._seen = event, resource, states
        return states

    def _shown(self, entry: Entry | None, resource: Resource) -> JsonObject | None:
        if entry is None:
            return None
        return self._reader.shown(self._objects.stored(entry).object, resource)


class _Stream:
    """The live part of one watch."""

    def __init__(self, watching: Watching, request: WatchRequest, watch: Watch) -> None:
        self._watching = watching
        self._request = request
        self._watch = watch
        self._defined_by = watching.defined_by(request) if request.definition else None
        self._failure: Exception | None = None

    def close(self) -> None:
        self._watch.close()

    def send_at_once(self, outlet: Outlet) -> bool:
        """Send what has come past the stream, as far as the client takes it; return whether that
        was all. What fails here fails in `events`."""
        request = self._request
        standing = request.standing
        try:
            if not outlet.is_ready() or not (standing is None or standing.holds()):
                return False
            event = self._watch.take_only()
            if event is None:
                return self._send_several(outlet)
            line = self._watching.line(event, request)
            if line is not None:
                outlet.send(line)
                self._watching.wakes.sent(len(line))
        except Exception as error:  # noqa: BLE001  raised where the stream can say it
            self._failure = error
            return False
        return True

    def _send_several(self, outlet: Outlet) -> bool:
        """Send what has come as long as the client is ready; return whether that was all."""
        for _ in range(SENT_AT_ONCE):
            delivery = self._watch.take(1)
            for event in delivery.events:
                line = self._watching.line(event, self._request)
                if line is not None:
                    outlet.send(line)
                    self._watching.wakes.sent(len(line))
            if delivery.is_all:
                return True
            if not outlet.is_ready():
                return False
        return False

    async def events(
        self, wake: Wake, deadline: float, definition: Watch | None
    ) -> AsyncGenerator[WatchEvent, None]:
        """Yield the events until the deadline, or until the watch ends."""
        loop = asyncio.get_running_loop()
        standing = self._request.standing
        may_wait = self._watching.may_wait(self._request)
        bookmarks = self._bookmarks(loop.time(), deadline)
        next_bookmark = next(bookmarks)
        pause = float("inf") if standing is None else STANDING_SECONDS
        due = min(deadline, next_bookmark, loop.time() + pause)
        wake_soon = partial(self._watching.wakes.wake, wake.set)
        timer = loop.call_at(due, wake_soon)  # one for many events: each costs more than an event
        try:
            while True:
                wake.clear()
                if self._failure is not None:
                    raise self._failure
                if standing is not None and not standing.holds():
                    return
                try:
                    delivery = self._watch.take(_AT_ONCE)
                except StoreError:
                    return
                for event in delivery.events:
                    if may_wait:
                        is_known, watch_event = await self._converted(event)
                        if not is_known:
                            return
                    else:
                        watch_event = self._watching.translated(event, self._request)
                    if watch_event is not None:
                        yield watch_event
                if len(delivery.events) >= _AT_ONCE:
                    await asyncio.sleep(0)
                    continue
                if definition is not None and await self._is_over(definition):
                    return
                now = loop.time()
                if now >= next_bookmark:
                    yield bookmark(self._request.endpoint.resource, delivery.revision)
                    next_bookmark = next(bookmarks)
                if now >= deadline:
                    return
                if now >= due - _CLOCK_TICK:  # the timer has gone off, perhaps too early
                    timer.cancel()
                    due = min(deadline, next_bookmark, now + pause)
                    timer = loop.call_at(max(due, now + _CLOCK_TICK), wake_soon)
                await wake.wait()
        finally:
            timer.cancel()

    async def _converted(self, event: Event) -> tuple[bool, WatchEvent | None]:
        """Convert an event as `Watching.converted` does, again and again while the webhook is out
        of reach; return first whether that succeeded in the end. If not, clients have to begin
        anew."""
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE_SECONDS
        while True:
            try:
                return True, await self._watching.converted(event, self._request)
            except StatusError:
                if loop.time() >= end:
                    return False, None
            await asyncio.sleep(RETRY_SECONDS)

    async def _is_over(self, definition: Watch) -> bool:
        """Return whether the definition was deleted, or may have been, or is another one: upstream
        begins anew then with all that is kept of its objects."""
        try:
            events = definition.take().events
        except StoreError:
            return True
        if not events:
            return False
        if any(event.entry is None for event in events):
            return True
        await self._watching.settled()
        return self._watching.defined_by(self._request) is not self._defined_by

    def _bookmarks(self, start: float, deadline: float) -> Iterator[float]:
        """Yield when bookmarks are due; never, if the client did not allow them."""
        if self._request.options.allow_bookmarks:
            due = start + BOOKMARK_SECONDS
            while due < deadline - LAST_BOOKMARK_SECONDS:
                yield due
                due += BOOKMARK_SECONDS
            yield max(deadline - LAST_BOOKMARK_SECONDS, start)
        while True:
            yield float("inf")


def _wants_initial_events(options: ListOptions, revision: int) -> bool:
    """Return whether the watch begins with what is there. A version that is 0 in disguise (`00`)
    means any state, too, but promises no bookmark."""
    if options.send_initial_events is None:
        return revision == 0
    return options.send_initial_events


def _failed(
    error: StatusError | TooMuchWork | Compacted | object_store.Undecodable, revision: int
) -> WatchEvent:
    """Return the last event of a watch after `revision`, which failed."""
    if isinstance(error, TooMuchWork):
        error = status.too_many_requests("try again later")
    elif isinstance(error, Compacted):
        error = _too_old(revision, error.oldest)
    elif isinstance(error, object_store.Undecodable):
        error = status.internal_error(str(error))
    return WatchEvent(ERROR, error.status.to_json())


def _too_old(revision: int, oldest: int) -> StatusError:
    """`oldest` is the first revision that is still known."""
    return status.expired(f"too old resource version: {revision} ({oldest - 1})")


def bookmark(resource: Resource, revision: int, *, initial_end: bool = False) -> WatchEvent:
    """Return the zero object of the kind with nothing but a resource version."""
    meta: JsonDict = {"resourceVersion": str(revision)}
    if initial_end:
        meta["annotations"] = {INITIAL_EVENTS_END: "true"}
    obj: JsonDict = {
        "kind": resource.gvk.kind,
        "apiVersion": resource.gvk.api_version,
        "metadata": meta,
    }
    if resource.gvk.group_kind in _COUNTS_REPLICAS:
        obj["spec"] = {"replicas": 0}
    # What has no type is a map, whose members Go writes in order.
    return WatchEvent(BOOKMARK, round_trip(obj, resource.gvk) or sorted_members(obj))
