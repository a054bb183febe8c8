"""The engine: what the store tells about becomes work, and each controller does its own in order.

A controller names the key prefixes it looks at, says which items a change concerns, and brings one
item to where it should be. Items wait in a queue that holds each only once. An item that could not
be finished (somebody else wrote in between, or something failed) is taken up again later, each time
after twice as long; one that asks to be looked at again comes back when it wanted to.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, Literal, Protocol, TypeAlias, TypeVar
from urllib.parse import quote

from celadon.apiserver import object_store
from celadon.apiserver.discovery.discovery_documents import version_rank
from celadon.apiserver.http_messages import BrokenStream, HttpAnswer, HttpRequest
from celadon.apiserver.loop_offloading import LARGE_BYTES, RequestWork
from celadon.apiserver.operation.request_limits import Wake
from celadon.apiserver.workers import Turns, Workers
from celadon.kube import GroupResource, JsonObject, StatusError, User, metadata
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import FieldWriter, applied, track_update
from celadon.kube.go import json_text
from celadon.kube.json_types import JsonDict
from celadon.kube.rbac import service_account_user
from celadon.kube.registry import Target, draft_of, patch
from celadon.kube.resources import Catalog, Resource
from celadon.kube.well_known_values import MERGE_PATCH
from celadon.records import dataclass
from celadon.storage import Compacted, Entry, StoreClosed, Watch, WatchLost, WatchOverflow

FIRST_RETRY: Final = 0.01
LAST_RETRY: Final = 30.0
"""Seconds before an item is tried again: at first, and at most."""

MOST_TRIES: Final = 3
"""How often those who wait for controllers have them try at once what has failed."""
MOST_NOTED: Final = 100
"""Changes that are noted at once."""

GATHERED_SECONDS: Final = 0.02
"""In which simulated controllers gather changes: a status is not written for each of many pods."""
REST_SHARE: Final = 4.0
LONGEST_REST: Final = 0.5
"""How many times as long as a look has taken they gather changes after it; seconds at most."""
MOST_BYTES: Final = 4 << 20
"""Of an answer to a controller that comes from another server."""

TIMEOUT: Final = 504
"""The code of a work that took too long: it would take as long again."""

T = TypeVar("T")

_LOG: Final = logging.getLogger("celadon.controllers")


class Stale(Exception):
    """Says that somebody else has written the object since it was read, or that a request was
    refused: look again after a pause."""


@dataclass(frozen=True, slots=True)
class Change:
    """Says what happened under a key. `old` is None for what a controller sees for the first time,
    `new` for what is gone."""

    key: str
    old: JsonObject | None
    new: JsonObject | None


class Controller(Protocol):
    """Reconciles objects of some kinds. `urgent` ones are waited for before a request is answered:
    they must be quick, and must not make requests. Who has other `prefixes` after a change than
    before it is told what happens there from then on, but not of what is there already."""

    @property
    def prefixes(self) -> Sequence[str]: ...

    @property
    def urgent(self) -> bool: ...

    def concerned(self, change: Change) -> Iterable[str]:
        """Return the items to look at after a change."""

    async def reconcile(self, item: str) -> float | None:
        """Do what there is to do; in how many seconds to look again, if at all. Raises Stale."""


class Offload(Protocol):
    """Does in a worker what may take long, and gives what the function gives. Raises StatusError,
    when it had to end, and what the function raises."""

    def __call__(self, function: Callable[..., T], *args: object) -> Awaitable[T]: ...


class Timer(Protocol):
    """Calls something later, unless it is cancelled."""

    def cancel(self) -> None: ...


class Timers(Protocol):
    """Lets a loop wait: an event loop, or a clock that somebody else moves."""

    def call_later(self, delay: float, callback: Callable[..., object], *args: object) -> Timer: ...


class ControllerLoop:
    """One controller at work. What it does later waits by `clock`, or by the event loop. Changes of
    an item that come within `gathers` seconds after it was looked at, or longer if the look took
    long, are looked at together."""

    def __init__(
        self,
        objects: object_store.ObjectStore,
        controller: Controller,
        clock: Timers | None = None,
        gathers: float = 0.0,
    ) -> None:
        self.controller = controller
        self._objects = objects
        self._clock = clock
        self._gathers = gathers
        self._gathered: dict[str, None] = {}
        self._quiet: dict[str, float] = {}
        """Until when changes of an item that was looked at are gathered."""
        self._prefixes: Sequence[str] = controller.prefixes
        self._watches: dict[str, Watch] = {}
        self._events: deque[tuple[str, Entry | None, Entry | None]] = deque()
        """Key, what was there, what is there: of what has not been noted."""
        self._is_reading = False
        self._queue: dict[str, None] = {}
        self._failures: dict[str, int] = {}
        self._timers: dict[str, Timer] = {}
        self._wake = Wake()
        self._idle = asyncio.Event()
        self._turns = Turns()
        self._settled = 0
        """The revision up to which everything has been taken, when somebody last waited."""

    async def run(self) -> None:
        """Work until the store is closed or the task is cancelled."""
        try:
            while True:
                self._wake.clear()
                self._take()
                if self._events:
                    self._idle.clear()
                    await self._read_next()
                    await self._turns.take()
                elif self._queue:
                    self._idle.clear()
                    await self._next()
                    await self._turns.take()
                else:
                    self._idle.set()
                    await self._wake.wait()
        except StoreClosed:
            return
        finally:
            self._idle.set()
            for timer in self._timers.values():
                timer.cancel()
            for watch in self._watches.values():
                watch.close()

    def is_settled(self) -> bool:
        """Return whether all that has been acknowledged is dealt with; what waits for a later time
        does not count."""
        if self._queue or self._events or not self._idle.is_set():
            return False
        revision = self._objects.store.revision()
        if revision != self._settled:
            for watch in self._watches.values():
                if watch.is_waiting():
                    return False
            self._settled = revision
        return True

    async def settled(self) -> None:
        """Wait until the controller has nothing left to do."""
        if self.is_settled():
            return
        self._settled = self._objects.store.revision()
        try:
            self._take()
        except StoreClosed:
            return
        if self._queue or self._events:
            self._idle.clear()
            self._wake.set()
        if not self._idle.is_set():
            await self._idle.wait()

    def _take(self) -> None:
        """Note what has happened, not too much of it, up to what is large and has to be read."""
        for prefix in self._prefixes:
            watch = self._watches.get(prefix)
            try:
                events = () if watch is None or not watch.is_waiting() else watch.take().events
            except (Compacted, WatchLost, WatchOverflow):
                watch, events = None, ()
            if watch is None:
                self._load(prefix)
            for event in events:
                self._events.append((event.key, event.previous, event.entry))
        for _ in range(MOST_NOTED):
            if self._is_reading or not self._events:
                break
            key, previous, entry = self._events[0]
            if not (self._is_read(previous) and self._is_read(entry)):
                break
            self._events.popleft()
            old = None if previous is None else self._object(previous)
            new = None if entry is None else self._object(entry)
            self._note(key, old, new, entry)
        if self.controller.prefixes != self._prefixes:
            self._follow(self.controller.prefixes)

    def _follow(self, prefixes: Sequence[str]) -> None:
        """Watch other prefixes from now on."""
        for prefix in set(self._prefixes) - set(prefixes):
            self._watches.pop(prefix).close()
        for prefix in set(prefixes) - set(self._prefixes):
            self._watches[prefix] = self._objects.store.watch(prefix, notify=self._wake.set)
        self._prefixes = prefixes

    def _load(self, prefix: str) -> None:
        page = self._objects.store.range(prefix)
        self._watches[prefix] = self._objects.store.watch(prefix, page.revision, self._wake.set)
        self._events.extend((entry.key, None, entry) for entry in page.entries)

    async def _read_next(self) -> None:
        """Note the next event, when what it is about has been read. Those behind it wait."""
        key, previous, entry = self._events.popleft()
        self._is_reading = True
        try:
            old, new = await self._read(previous), await self._read(entry)
        finally:
            self._is_reading = False
        self._note(key, old, new, entry)

    def _note(
        self, key: str, old: JsonObject | None, new: JsonObject | None, entry: Entry | None
    ) -> None:
        """Queue the items that a change concerns. What cannot be decoded is nobody's work, and is
        not taken for gone."""
        if new is not None or (entry is None and old is not None):
            items = dict.fromkeys(self.controller.concerned(Change(key, old, new)))
            if items:
                if self._quiet:
                    self._gather(items)
                self._queue.update(items)

    def _gather(self, items: dict[str, None]) -> None:
        """Take those that were looked at a moment ago; the first of them sets the time."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for item in [item for item in items if self._quiet.get(item, now) > now]:
            del items[item]
            if not self._gathered:
                loop.call_at(self._quiet[item], self.look)
            self._gathered[item] = None

    def look(self) -> bool:
        """Look now at what was gathered; return whether there is anything."""
        now = asyncio.get_running_loop().time()
        self._quiet = {item: until for item, until in self._quiet.items() if until > now}
        changed = bool(self._gathered)
        self._queue.update(self._gathered)
        self._gathered.clear()
        self._wake.set()
        return changed

    def retry(self) -> bool:
        """Try now what would be tried again after a pause; return whether there is anything. Where
        a clock is simulated, its pauses are."""
        if self._clock is not None:
            return False
        failed = [failure for failure in self._failures if failure in self._timers]
        for item in failed:
            self._timers[item].cancel()
            self._due(item)
        return bool(failed)

    def _is_read(self, entry: Entry | None) -> bool:
        return entry is None or self._objects.is_read(entry)

    def _object(self, entry: Entry) -> JsonObject | None:
        """Return the object of an entry; None for one that cannot be decoded."""
        try:
            return self._objects.stored(entry).object
        except object_store.Undecodable as error:
            _LOG.warning("%s cannot be decoded: %s", entry.key, error)
            return None

    async def _read(self, entry: Entry | None) -> JsonObject | None:
        """Return the object of an entry as `_object` does, read beside the event loop where that
        takes long."""
        if entry is None:
            return None
        if self._objects.is_read(entry):
            return self._object(entry)
        try:
            return (await self._objects.read_aside(entry)).object
        except object_store.Undecodable as error:
            _LOG.warning("%s cannot be decoded: %s", entry.key, error)
            return None

    async def _next(self) -> None:
        item = next(iter(self._queue))
        del self._queue[item]
        began = asyncio.get_running_loop().time()
        again: float | None
        try:
            again = await self.controller.reconcile(item)
        except StoreClosed:
            raise
        except Stale:
            again = self._pause(item)
        except Exception as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # what was interrupted may say anything
                raise asyncio.CancelledError from error
            if isinstance(error, StatusError) and error.code == TIMEOUT:
                _LOG.warning("a controller gave up at %s, which takes too long", item)
                again = None
            else:
                _LOG.exception("a controller failed at %s", item)
                again = self._pause(item)
        else:
            self._failures.pop(item, None)
        if self._gathers:
            self._rest(item, began)
        if again is not None:
            self._later(item, again)

    def _rest(self, item: str, began: float) -> None:
        """Let an item rest that took long to look at, so that it costs no more than its share,
        however many changes there are."""
        now = asyncio.get_running_loop().time()
        took = min(REST_SHARE * (now - began), LONGEST_REST)
        self._quiet[item] = now + max(self._gathers, took)

    def _pause(self, item: str) -> float:
        failures = self._failures[item] = self._failures.get(item, 0) + 1
        return min(FIRST_RETRY * 2.0 ** min(failures, 30), LAST_RETRY)

    def _later(self, item: str, seconds: float) -> None:
        former = self._timers.pop(item, None)
        if former is not None:
            former.cancel()
        clock = asyncio.get_running_loop() if self._clock is None else self._clock
        self._timers[item] = clock.call_later(seconds, self._due, item)

    def _due(self, item: str) -> None:
        del self._timers[item]
        self._queue[item] = None
        self._wake.set()


_DEFINITIONS: Final = f"{object_store.ROOT}/apiextensions.k8s.io/"

Leading: TypeAlias = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
"""Runs some work whenever this server leads, and cancels it when it no longer does."""


class Controllers:
    """Runs all controllers of a server, each in a task of its own. `led` are those that run only
    where `leading` says, if it is given; `simulated` are more of them, which wait by `clock`."""

    def __init__(
        self,
        objects: object_store.ObjectStore,
        controllers: Sequence[Controller],
        led: Sequence[Controller] = (),
        leading: Leading | None = None,
        simulated: Sequence[Controller] = (),
        clock: Timers | None = None,
    ) -> None:
        self._objects = objects
        self._led = led
        self._leading = leading
        self._simulated = simulated
        self._clock = clock
        self._loops = [ControllerLoop(objects, controller) for controller in controllers]
        if leading is None:
            self._loops += self._loops_of_leader()
        self._urgent = [loop for loop in self._loops if loop.controller.urgent]
        self._urgent_for_all = [
            loop
            for loop in self._urgent
            if not loop.controller.prefixes[0].startswith(_DEFINITIONS)
        ]
        self._led_loops: Sequence[ControllerLoop] = ()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start all loops in the running event loop."""
        self._tasks = [asyncio.create_task(loop.run()) for loop in self._loops]
        if self._leading is not None:
            self._tasks.append(asyncio.create_task(self._lead(self._leading)))

    def _loops_of_leader(self) -> list[ControllerLoop]:
        simulated = (
            ControllerLoop(self._objects, controller, self._clock, GATHERED_SECONDS)
            for controller in self._simulated
        )
        return [
            *(ControllerLoop(self._objects, controller) for controller in self._led),
            *simulated,
        ]

    async def _lead(self, leading: Leading) -> None:
        await leading(self._run_led)

    async def _run_led(self) -> None:
        self._led_loops = self._loops_of_leader()
        try:
            await asyncio.gather(*(loop.run() for loop in self._led_loops))
        finally:
            self._led_loops = ()

    async def stop(self) -> None:
        """End all tasks; work in progress is given up."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def caught_up(self, *, with_definitions: bool = True) -> None:
        """Wait until the urgent controllers have dealt with all that was acknowledged; those of
        definitions, which can be large, only if the request depends on them."""
        if self._tasks:
            for loop in self._urgent if with_definitions else self._urgent_for_all:
                if not loop.is_settled():
                    await loop.settled()

    def is_caught_up(self) -> bool:
        """Return whether nobody who depends on no definitions has to wait."""
        return not self._tasks or all(loop.is_settled() for loop in self._urgent_for_all)

    async def settled(self) -> None:
        """Wait until each controller has had nothing to do, one after the other."""
        if self._tasks:
            for loop in (*self._loops, *self._led_loops):
                await loop.settled()

    async def quiet(self) -> None:
        """Wait until nothing follows any more from what there is: what one controller has written
        may be work for another. What has failed is tried a few times more."""
        tries = MOST_TRIES
        while self._tasks:
            revision = self._objects.store.revision()
            await self.settled()
            if revision == self._objects.store.revision():
                loops = (*self._loops, *self._led_loops)
                looked = [loop.look() for loop in loops]
                if any(looked):
                    continue
                tried = [loop.retry() for loop in loops] if tries else []
                if not any(tried):
                    return
                tries -= 1


# --- Controller names --------------------------------------------------------
#
# Which controllers run: `--controllers`, in the words of kube-controller-manager.
#
# As k8s.io/kubernetes `cmd/kube-controller-manager/names` and k8s.io/controller-manager
# `pkg/healthz`, `app.IsControllerEnabled`.

ROOT_CERTIFICATES: Final = "root-ca-certificate-publisher-controller"
ROLE_AGGREGATION: Final = "clusterrole-aggregation-controller"
CONTROLLERS: Final = (
    ROLE_AGGREGATION,
    "garbage-collector-controller",
    "namespace-controller",
    "resourcequota-controller",
    ROOT_CERTIFICATES,
    "serviceaccount-controller",
    "storage-version-migrator-controller",
    "validatingadmissionpolicy-status-controller",
)
ON_BY_DEFAULT: Final = frozenset(CONTROLLERS) - {ROOT_CERTIFICATES}
"""What `*` stands for: without a pod nobody needs the certificates, and they would be in every list
of ConfigMaps."""


def controllers_named(text: str, *, pods_run: bool = False) -> frozenset[str]:
    """Return the controllers that a flag names: `*`, names, and names with `-` before them,
    separated by commas. Where pods run, `*` stands for all. Raises ValueError."""
    chosen: set[str] = set()
    refused: set[str] = set()
    for word in filter(None, (text.strip() for text in text.split(","))):
        name = word.removeprefix("-")
        if word == "*":
            chosen |= frozenset(CONTROLLERS) if pods_run else ON_BY_DEFAULT
        elif name not in CONTROLLERS:
            raise ValueError(f'"{name}" is not in the list of known controllers')
        else:
            (refused if word.startswith("-") else chosen).add(name)
    return frozenset(chosen - refused)


# --- Server requests ---------------------------------------------------------
#
# Requests that controllers make of their own server.
#
# What a controller deletes or creates goes the way of every request: admission, finalizers,
# watches. Each acts as the service account that it has upstream.


@dataclass(frozen=True, slots=True)
class Reply:
    """Holds the answer to a controller's request. `body` is empty where it was not JSON."""

    code: int
    body: JsonObject

    @property
    def failed(self) -> bool:
        """Return whether there is a problem other than that the object is gone."""
        return self.code >= 400 and self.code != 404

    @property
    def message(self) -> str:
        """Return the text of an error."""
        return str(self.body.get("message", ""))


class RequestFailed(Exception):
    """A request that a controller cannot go on without was refused."""


@dataclass(frozen=True, slots=True)
class ServerRequests:
    """Makes requests to the server it is part of. `perform` answers a request as if this user had
    made it and were allowed to. Who asks is the service account, unless there is another `user`;
    `agent` is the program that they say they are."""

    perform: Callable[[HttpRequest, User], Awaitable[HttpAnswer]]
    account: str
    agent: str = "celadon"
    user: User | None = None

    async def call(
        self, method: str, path: str, body: JsonObject | None = None, content: str = ""
    ) -> Reply:
        """Make a request. PATCH is a merge patch, unless `content` says something else."""
        content = content or (MERGE_PATCH if method == "PATCH" else "application/json")
        headers = [
            ("accept", "application/json"),
            ("user-agent", f"{self.agent}/{self.account}"),
            ("content-type", content),
        ]
        data = b"" if body is None else json_text(body).encode("utf-8", "replace")
        user = self.user or service_account_user("kube-system", self.account)
        answer = await self.perform(HttpRequest(method, path, headers, data), user)
        try:
            document = json.loads(await _body(answer))
        except ValueError:
            document = {}
        return Reply(answer.code, document if isinstance(document, dict) else {})

    async def apply(
        self, path: str, body: JsonObject, manager: str, *, force: bool = False
    ) -> Reply:
        """Server-side apply, as a field manager."""
        query = f"fieldManager={manager}{'&force=true' if force else ''}"
        return await self.call("PATCH", f"{path}?{query}", body, patch.APPLY_PATCH)

    async def require(self, method: str, path: str, body: JsonObject | None = None) -> Reply:
        """Make a request that has to succeed. Raises RequestFailed, but not for an object that is
        gone."""
        reply = await self.call(method, path, body)
        if reply.failed:
            raise RequestFailed(f"{method} {path}: {reply.code} {reply.message}")
        return reply


async def _body(answer: HttpAnswer) -> bytes:
    """Return the body of an answer that may come from another server; empty for one that is too
    long."""
    if answer.stream is None:
        return answer.body
    parts, size = [], 0
    try:
        async for part in answer.stream:
            size += len(part)
            if size > MOST_BYTES:
                return b""
            parts.append(part)
    except BrokenStream:
        return b""
    finally:
        await answer.stream.aclose()
    return b"".join(parts)


def asked_resources(catalog: Catalog) -> dict[GroupResource, Resource]:
    """Return each resource that is served, in the version in which clients ask for it that look
    into discovery."""
    result: dict[GroupResource, Resource] = {}
    for resource in catalog:
        group_resource = resource.gvr.group_resource
        preferred = result.get(group_resource)
        if resource.served and (
            preferred is None or (resource.custom and _rank(resource) < _rank(preferred))
        ):
            result[group_resource] = resource
    return result


def _rank(resource: Resource) -> tuple[int, int, int, str]:
    return version_rank(resource.gvr.version)


def resource_path(resource: Resource, namespace: str = "", name: str = "") -> str:
    """Return the path of a collection, or of one object."""
    gvr = resource.gvr
    parts = ["apis", gvr.group, gvr.version] if gvr.group else ["api", gvr.version]
    if resource.namespaced and namespace:
        parts += ["namespaces", namespace]
    parts += [gvr.resource, *([name] if name else [])]
    return "/" + "/".join(quote(part, safe="") for part in parts)


# --- Status writes -----------------------------------------------------------
#
# The objects of one cluster-scoped resource, whose status a controller writes.
#
# A status does not pass admission: no policy can keep a controller from saying what is. Who
# wrote it is kept where upstream's controllers are known by a name.

_OWNER: Final = "the statuses that controllers write"


def with_applied_status(
    live: JsonObject, status: JsonObject, resource: Resource, writer: FieldWriter
) -> JsonObject:
    """Return the object with that status, applied by somebody who takes it from whoever had it."""
    named = {"metadata": {"name": metadata.name(live)}, "status": status}
    config = {"apiVersion": resource.gvk.api_version, "kind": resource.gvk.kind, **named}
    target = Target(resource, "", metadata.name(live), "status")
    managers = metadata.metadata(applied(config, live, target, writer, force=True))["managedFields"]
    meta = {**metadata.metadata(live), "managedFields": managers}
    return {**live, "metadata": meta, "status": status}


class StatusWrites:
    """Reads and writes by name. `writer` says who writes, and when; without it nobody is noted.
    Upstream's controllers update statuses, but for those that `applies` stands for.
    What is large is made by `workers`, in turn with the other works of controllers."""

    def __init__(
        self,
        objects: object_store.ObjectStore,
        resource: Resource,
        writer: Callable[[], FieldWriter] | None = None,
        workers: Workers | None = None,
        *,
        applies: bool = False,
    ) -> None:
        self._workers = workers
        self._applies = applies
        self._objects = objects
        self._resource = resource
        self._writer = writer
        self.prefix = object_store.collection_prefix(resource)

    def get(self, name: str) -> object_store.StoredObject | None:
        """Return the object as it is now, or None."""
        return self._objects.get(self._resource, "", name)

    def all(self) -> list[JsonObject]:
        """Return all objects in the order of their names."""
        return [obj.object for obj in self._objects.page(self._resource).objects]

    async def write(
        self, stored: object_store.StoredObject, status: JsonObject
    ) -> object_store.StoredObject:
        """Write another status; nothing is written when it is the same. Raises Stale."""
        if status == stored.object.get("status"):
            return stored
        return await self.replace(stored, await self.managed(stored, status))

    async def managed(self, stored: object_store.StoredObject, status: JsonObject) -> JsonObject:
        """Return the object with another status, and with who manages what of that."""
        return await self._work(stored).step(self._managed, stored.object, status)

    def _work(self, stored: object_store.StoredObject) -> RequestWork:
        if self._workers is None or stored.size <= LARGE_BYTES:
            return object_store.SMALL_WORK
        return RequestWork(self._workers, _OWNER, is_large=True, size=stored.size)

    def _managed(self, live: JsonObject, status: JsonObject) -> JsonObject:
        """Return the object with that status and, if we are somebody, with us as its manager."""
        changed = {**live, "status": status}
        if self._writer is None:
            return changed
        if self._applies:
            return with_applied_status(live, status, self._resource, self._writer())
        target = Target(self._resource, "", metadata.name(live), "status")
        draft = draft_of(changed, target, DefaultingContext())
        track_update(draft, changed, live, target, self._writer())
        managers = metadata.metadata(draft.decoded).get("managedFields")
        if not managers:
            return changed
        return {**changed, "metadata": {**metadata.metadata(live), "managedFields": managers}}

    async def replace(
        self, stored: object_store.StoredObject, obj: JsonObject
    ) -> object_store.StoredObject:
        """Write another object in the place of this one. Raises Stale."""
        if obj == stored.object:
            return stored
        name = metadata.name(stored.object)
        updated = await self._objects.update(
            self._resource, "", name, obj, stored.revision, work=self._work(stored)
        )
        if updated is None:
            raise Stale
        return updated

    async def delete(self, stored: object_store.StoredObject) -> bool:
        """Delete the object as it was read; return False when somebody has written in between."""
        name = metadata.name(stored.object)
        return await self._objects.delete(self._resource, "", name, stored.revision) is not None


# --- Conditions --------------------------------------------------------------
#
# Conditions in a status: one per type, in the order in which they came, as values.
#
# `lastTransitionTime` changes with the status only. As `SetCRDCondition` of
# k8s.io/apiextensions-apiserver `pkg/apihelpers/helpers.go`.


def condition(type_: str, status: Literal["True", "False"], reason: str, message: str) -> JsonDict:
    """Return a condition without a time."""
    return {"type": type_, "status": status, "reason": reason, "message": message}


def find_condition(conditions: Sequence[JsonObject] | None, type_: str) -> JsonObject | None:
    """Return the condition of this type, or None if there is none."""
    return next(
        (condition for condition in conditions or () if condition.get("type") == type_), None
    )


def is_true(conditions: Sequence[JsonObject] | None, type_: str) -> bool:
    """Tell whether the condition of this type is true; False when there is none."""
    result = find_condition(conditions, type_)
    return result is not None and result.get("status") == "True"


def with_condition(
    conditions: Sequence[JsonObject] | None, condition: JsonObject, now: str
) -> list[JsonObject]:
    """Return the conditions with this one in the place of that of its type, or at the end."""
    result = list(conditions or ())
    former = find_condition(result, condition["type"])
    since = now
    if former is not None and former.get("status") == condition["status"]:
        since = former.get("lastTransitionTime") or now
    placed = {
        "type": condition["type"],
        "status": condition["status"],
        "lastTransitionTime": since,
        "reason": condition["reason"],
        "message": condition["message"],
    }
    if former is None:
        return [*result, placed]
    return [placed if item is former else item for item in result]
