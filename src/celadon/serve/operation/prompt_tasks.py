"""Requests that wait for nothing are answered without a task and without a timer.

asyncio begins a coroutine in a task, in the next turn of its loop, and gives it a timer where its
time is limited. A good part of what a get costs goes there, and hardly any request ever waits. So
`started` runs a coroutine at once; what remains when it first waits for something becomes a task.
`within` limits a time as `asyncio.timeout` does; the timer is made at the first wait. Whoever needs
a task around them (`TaskGroup`, `asyncio.timeout`, what other libraries do) begins with `in_task`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

from celadon.serve.http_messages import Departure

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
            made: T = done.value
            return made
        finally:  # an error that was waited for knows this frame: they would keep each other
            self._waits_for = None


def started(
    loop: asyncio.AbstractEventLoop, work: Coroutine[_Wait, None, None]
) -> asyncio.Task[None] | None:
    """The task of what is left of the work; None if it is done. Raises what the work raises before
    it waits."""
    try:
        waits_for = work.send(None)
    except StopIteration:
        return None
    return loop.create_task(_finished(_Begun(work, waits_for)))


async def _finished(begun: _Begun[None]) -> None:
    await begun


async def within(
    seconds: float | None, work: Coroutine[_Wait, None, T], departure: Departure | None = None
) -> T:
    """What the work gives; None is no limit. Raises TimeoutError when it has waited too long, or
    its client has gone: it is cancelled then, and whatever it makes of that is too late."""
    if seconds is None:
        return await work
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        made: T = done.value
        return made
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
    """Go on within a task."""
    if asyncio.current_task() is None:
        await asyncio.sleep(0)
