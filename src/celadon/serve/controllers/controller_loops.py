"""The engine: what the store tells about becomes work, and each controller does its own in order.

A controller names the key prefixes it looks at, says which items a change concerns, and brings one
item to where it should be. Items wait in a queue that holds each only once. An item that could not
be finished (somebody else wrote in between, or something failed) is taken up again later, each time
after twice as long; one that asks to be looked at again comes back when it wanted to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, Protocol, TypeAlias

from celadon.kube import JsonObject
from celadon.records import dataclass
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.objects.strange_values import Undecodable
from celadon.store import Compacted, Entry, StoreClosed, Watch, WatchLost, WatchOverflow

FIRST_RETRY: Final = 0.01
LAST_RETRY: Final = 30.0
"""Seconds before an item is tried again: at first, and at most."""

_LOG: Final = logging.getLogger("celadon.controllers")


class Stale(Exception):
    """Somebody else has written the object since it was read: look again."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened under a key. `old` is None for what a controller sees for the first time, `new`
    for what is gone."""

    key: str
    old: JsonObject | None
    new: JsonObject | None


class Controller(Protocol):
    """`urgent` ones are waited for before a request is answered: they must be quick, and must not
    make requests."""

    @property
    def prefixes(self) -> Sequence[str]: ...

    @property
    def urgent(self) -> bool: ...

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""

    async def reconcile(self, item: str) -> float | None:
        """Do what there is to do; in how many seconds to look again, if at all. Raises Stale."""


class ControllerLoop:
    """One controller at work."""

    def __init__(self, objects: ObjectStore, controller: Controller) -> None:
        self.controller = controller
        self._objects = objects
        self._watches: dict[str, Watch] = {}
        self._queue: dict[str, None] = {}
        self._failures: dict[str, int] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._settled = 0
        """The revision up to which everything has been taken, when somebody last waited."""

    async def run(self) -> None:
        """Until the store is closed or the task is cancelled."""
        try:
            while True:
                self._wake.clear()
                self._take()
                if self._queue:
                    self._idle.clear()
                    await self._next()
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

    async def settled(self) -> None:
        """Wait until all that has been acknowledged is dealt with; what waits for a later time is
        not waited for."""
        revision = self._objects.store.revision()
        if revision == self._settled and self._idle.is_set() and not self._queue:
            return
        self._settled = revision
        try:
            self._take()
        except StoreClosed:
            return
        if self._queue:
            self._idle.clear()
            self._wake.set()
        if not self._idle.is_set():
            await self._idle.wait()

    def _take(self) -> None:
        for prefix in self.controller.prefixes:
            watch = self._watches.get(prefix)
            try:
                events = () if watch is None else watch.take().events
            except (Compacted, WatchLost, WatchOverflow):
                watch, events = None, ()
            if watch is None:
                self._load(prefix)
            for event in events:
                self._note(event.key, event.previous, event.entry)

    def _load(self, prefix: str) -> None:
        page = self._objects.store.range(prefix)
        self._watches[prefix] = self._objects.store.watch(prefix, page.revision, self._wake.set)
        for entry in page.entries:
            self._note(entry.key, None, entry)

    def _note(self, key: str, previous: Entry | None, entry: Entry | None) -> None:
        """What cannot be decoded is nobody's work, and is not taken for gone."""
        change = Change(key, self._object(previous), self._object(entry))
        if change.new is not None or (entry is None and change.old is not None):
            self._queue.update(dict.fromkeys(self.controller.concerned(change)))

    def _object(self, entry: Entry | None) -> JsonObject | None:
        """None also for what cannot be decoded."""
        if entry is None:
            return None
        try:
            return self._objects.stored(entry).object
        except Undecodable as error:
            _LOG.warning("%s cannot be decoded: %s", entry.key, error)
            return None

    async def _next(self) -> None:
        item = next(iter(self._queue))
        del self._queue[item]
        again: float | None
        try:
            again = await self.controller.reconcile(item)
        except StoreClosed:
            raise
        except Stale:
            again = self._pause(item)
        except Exception:  # noqa: BLE001  the outer edge: a controller goes on with other objects
            _LOG.exception("a controller failed at %s", item)
            again = self._pause(item)
        else:
            self._failures.pop(item, None)
        if again is not None:
            self._later(item, again)

    def _pause(self, item: str) -> float:
        failures = self._failures[item] = self._failures.get(item, 0) + 1
        return min(FIRST_RETRY * 2.0 ** min(failures, 30), LAST_RETRY)

    def _later(self, item: str, seconds: float) -> None:
        former = self._timers.pop(item, None)
        if former is not None:
            former.cancel()
        self._timers[item] = asyncio.get_running_loop().call_later(seconds, self._due, item)

    def _due(self, item: str) -> None:
        del self._timers[item]
        self._queue[item] = None
        self._wake.set()


Leading: TypeAlias = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
"""Runs some work whenever this server leads, and cancels it when it no longer does."""


class Controllers:
    """All controllers of a server, each in a task of its own. `led` are those that run only where
    `leading` says, if it is given."""

    def __init__(
        self,
        objects: ObjectStore,
        controllers: Sequence[Controller],
        led: Sequence[Controller] = (),
        leading: Leading | None = None,
    ) -> None:
        everywhere = controllers if leading is not None else (*controllers, *led)
        self._objects = objects
        self._led = led
        self._leading = leading
        self._loops = [ControllerLoop(objects, one) for one in everywhere]
        self._urgent = [one for one in self._loops if one.controller.urgent]
        self._led_loops: Sequence[ControllerLoop] = ()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """In the running event loop."""
        self._tasks = [asyncio.create_task(one.run()) for one in self._loops]
        if self._leading is not None:
            self._tasks.append(asyncio.create_task(self._lead(self._leading)))

    async def _lead(self, leading: Leading) -> None:
        await leading(self._run_led)

    async def _run_led(self) -> None:
        self._led_loops = [ControllerLoop(self._objects, one) for one in self._led]
        try:
            await asyncio.gather(*(one.run() for one in self._led_loops))
        finally:
            self._led_loops = ()

    async def stop(self) -> None:
        """End all tasks; work in progress is given up."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def caught_up(self) -> None:
        """Wait until the urgent controllers have dealt with all that was acknowledged."""
        if self._tasks:
            for one in self._urgent:
                await one.settled()

    async def settled(self) -> None:
        """Wait until each controller has had nothing to do, one after the other."""
        if self._tasks:
            for one in (*self._loops, *self._led_loops):
                await one.settled()
