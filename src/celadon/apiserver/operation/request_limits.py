"""Limits how many requests are served at once, and how long each may take.

How requests share what is served at once is in `flowcontrol`; without that, whoever comes when the
house is full is sent away with 429 and told to come back, and administrators always get in.
As k8s.io/apiserver `pkg/server/filters/{maxinflight,timeout}.go`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Coroutine, Generator, Iterator
from typing import Any, Final, Generic, TypeVar

from celadon.apiserver.http_messages import Departure, HttpAnswer, HttpRequest, plain_text
from celadon.apiserver.request_info import LONG_RUNNING, RequestInfo
from celadon.cel.value_functions import parse_duration
from celadon.kube import MASTERS, User
from celadon.records import dataclass

READING_VERBS: Final = frozenset({"get", "list", "watch"})
LONG_RUNNING_SUBRESOURCES: Final = frozenset({"attach", "exec", "proxy", "log", "portforward"})
READING: Final = "readOnly"
MUTATING: Final = "mutating"
NO_LIMIT: Final = 0


def too_many(retry_after: int) -> HttpAnswer:
    """Return a 429 that says to come back after so many seconds."""
    text = "Too many requests, please try again later.\n"
    return plain_text(429, text, ("Retry-After", str(retry_after)))


TOO_MANY: Final = too_many(1)
TIMED_OUT: Final = plain_text(
    504,
    '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the '
    'allotted timeout","reason":"Timeout","details":{},"code":504}\n',
)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Holds how many requests are served at once, and for how long. The defaults are those of
    kube-apiserver; 0 is no limit. `seconds` is for the answer, `watch_seconds` the least time that
    a watch without a time of its own lasts: up to twice as long. `watches` is ours: how many may be
    open. With `fairness`, `reading` and `mutating` together are the seats that priority levels
    share."""

    reading: int = 400
    mutating: int = 200
    watches: int = 10_000
    seconds: float = 60.0
    watch_seconds: float = 1800.0
    fairness: bool = True

    def deadline(self, request: HttpRequest, info: RequestInfo) -> float | None:
        """Seconds for the answer: those of the request's own `timeout` if they are fewer; None for
        what lasts."""
        if is_long_running(info):
            return None
        limit = self.seconds or None
        text = request.first("timeout") if "timeout=" in request.target else ""
        duration = parse_duration(text) if text else None
        if duration is None or duration.nanoseconds <= 0:
            return limit
        seconds = duration.nanoseconds / 1e9
        return seconds if limit is None else min(seconds, limit)


def is_long_running(info: RequestInfo) -> bool:
    """Return whether a request lasts as long as its client wants."""
    return info.verb in LONG_RUNNING or info.subresource in LONG_RUNNING_SUBRESOURCES


class TooManyRequests(Exception):
    """Try again later: after so many seconds."""

    def __init__(self, retry_after: int = 1) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


class WatchCounts:
    """The watches that are open, by what they watch."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str, str]] = Counter()

    @contextlib.contextmanager
    def watching(self, info: RequestInfo) -> Iterator[None]:
        """Count a watch while it is open."""
        watched = info.group, info.resource, info.namespace, info.name
        self._counts[watched] += 1
        try:
            yield
        finally:
            self._counts[watched] -= 1
            if not self._counts[watched]:
                del self._counts[watched]

    def interested(self, info: RequestInfo) -> int:
        """Return the watches that a write is told to: of all objects, of its namespace, of that
        object."""
        if info.verb in READING_VERBS:
            return 0
        counts, kind = self._counts, (info.group, info.resource)
        if not counts:
            return 0
        count = counts[*kind, "", ""]
        if info.namespace:
            count += counts[*kind, info.namespace, ""]
        if info.name:
            count += counts[*kind, info.namespace, info.name]
        return count


class InFlight:
    """The requests that are being answered, by kind, and the watches that are open."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self.counts = {READING: 0, MUTATING: 0}
        self.watches = 0
        self.watched = WatchCounts()

    def enter(self, info: RequestInfo, user: User) -> str:
        """Return the kind, for `leave`; empty for what lasts. Raises TooManyRequests."""
        if is_long_running(info):
            self._check(self.watches, self._limits.watches, user)
            return ""
        kind = READING if info.verb in READING_VERBS else MUTATING
        if not self._limits.fairness:
            limit = self._limits.reading if kind is READING else self._limits.mutating
            self._check(self.counts[kind], limit, user)
        self.counts[kind] += 1
        return kind

    def leave(self, kind: str) -> None:
        """Count one request less of a kind that `enter` has let in."""
        if kind:
            self.counts[kind] -= 1

    @contextlib.contextmanager
    def watching(self, info: RequestInfo) -> Iterator[None]:
        """Count a watch while it is open."""
        self.watches += 1
        try:
            with self.watched.watching(info):
                yield
        finally:
            self.watches -= 1

    @staticmethod
    def _check(count: int, limit: int, user: User) -> None:
        if limit != NO_LIMIT and count >= limit and MASTERS not in user.groups:
            raise TooManyRequests


# --- Prompt tasks ------------------------------------------------------------
#
# Requests that wait for nothing are answered without a task and without a timer.
#
# asyncio begins a coroutine in a task, in the next turn of its loop, and gives it a timer where
# its time is limited. A good part of what a get costs goes there, and hardly any request ever
# waits. So `started` runs a coroutine at once; what remains when it first waits for something
# becomes a task. `within` limits a time as `asyncio.timeout` does; the timer is made at the
# first wait. Whoever needs a task around them (`TaskGroup`, `asyncio.timeout`, what other
# libraries do) begins with `in_task`.

T = TypeVar("T")

_Wait = Any
"""What asyncio is told to wait for: a future, or None for the next turn of the loop."""


class _Begun(Generic[T]):
    """Work that waits for something; awaiting it goes on with the work. `is_late` once it has been
    told to `end`."""

    __slots__ = ("_must_end", "_waits_for", "_work", "is_late")

    def __init__(self, work: Coroutine[_Wait, None, T], waits_for: _Wait) -> None:
        self._work = work
        self._waits_for = waits_for
        self._must_end = False
        self.is_late = False

    def end(self) -> None:
        """Cancel it as a task is cancelled: by what it waits for, or when it is woken."""
        self.is_late = True
        if self._waits_for is None or not self._waits_for.cancel():
            self._must_end = True

    def __await__(self) -> Generator[_Wait, None, T]:
        try:
            while True:
                try:
                    yield self._waits_for
                except BaseException as error:  # noqa: BLE001  whatever it is, it is for the work
                    self._waits_for = self._work.throw(error)
                    continue
                if self._must_end:
                    self._must_end = False
                    self._waits_for = self._work.throw(asyncio.CancelledError())
                else:
                    self._waits_for = self._work.send(None)
        except StopIteration as done:
            value: T = done.value
            return value
        finally:  # an error that was waited for knows this frame: they would keep each other
            self._waits_for = None


def started(
    loop: asyncio.AbstractEventLoop, work: Coroutine[_Wait, None, None]
) -> asyncio.Task[None] | None:
    """Return the task of what is left of the work; None if it is done. Raises what the work raises
    before it waits."""
    try:
        waits_for = work.send(None)
    except StopIteration:
        return None
    return loop.create_task(_Rest(work, waits_for))


class _Rest(Coroutine[_Wait, None, None]):
    """What is left of work that waits for something. A task that is cancelled before its first step
    throws that into what it was made of: a coroutine that had not begun would not tell the work,
    which would wait for ever."""

    __slots__ = ("_is_new", "_waits_for", "_work")

    def __init__(self, work: Coroutine[_Wait, None, None], waits_for: _Wait) -> None:
        self._work = work
        self._waits_for = waits_for
        self._is_new = True

    def send(self, value: None) -> _Wait:
        """Wait for what the work waits for, then go on with it."""
        if self._is_new:
            self._is_new = False
            waits_for, self._waits_for = self._waits_for, None
            return waits_for
        return self._work.send(value)

    def throw(self, *error: Any) -> _Wait:  # noqa: ANN401 - in each of the forms that there are
        """Let an exception come out of what the work waits for."""
        self._is_new, self._waits_for = False, None
        return self._work.throw(*error)

    def close(self) -> None:
        """Give the work up."""
        self._work.close()

    def __await__(self) -> Generator[_Wait, None, None]:
        return self._work.__await__()


async def within(
    seconds: float | None, work: Coroutine[_Wait, None, T], departure: Departure | None = None
) -> T:
    """Return what the work gives; None is no limit. Raises TimeoutError when it has waited too
    long, or its client has gone: it is cancelled then, and whatever it makes of that is too
    late."""
    if seconds is None:
        return await work
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    begun = _Begun(work, waits_for)
    timer = loop.call_at(end, begun.end)
    if departure is not None:
        departure.ends(begun.end)
    try:
        return await begun
    finally:
        timer.cancel()
        if departure is not None:
            departure.ends(None)
        if begun.is_late:
            raise TimeoutError from None


async def in_task() -> None:
    """Go on in a task, which is begun where there is none."""
    if asyncio.current_task() is None:
        await asyncio.sleep(0)


class Wake:
    """Wakes the one who waits: an `asyncio.Event` in a third of its time."""

    __slots__ = ("_is_set", "_waiter")

    def __init__(self) -> None:
        self._is_set = False
        self._waiter: asyncio.Future[None] | None = None

    def is_set(self) -> bool:
        """Return whether there is something that has not been looked at."""
        return self._is_set

    def set(self) -> None:
        """Say that there is something to look at."""
        self._is_set = True
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def clear(self) -> None:
        """Say that what there was has been looked at."""
        self._is_set = False

    async def wait(self) -> None:
        """Return when there is something."""
        if not self._is_set:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
