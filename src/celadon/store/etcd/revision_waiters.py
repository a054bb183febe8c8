"""Who waits for the mirror to come to a revision."""

from __future__ import annotations

import asyncio
from functools import partial
from heapq import heappop, heappush
from itertools import count


class RevisionWaiters:
    """In one event loop."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, asyncio.Future[bool]]] = []
        self._numbers = count()

    async def wait(self, revision: int, seconds: float) -> bool:
        """Whether it is reached within that time."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bool] = loop.create_future()
        heappush(self._waiting, (revision, next(self._numbers), future))
        late = loop.call_later(seconds, partial(_settle, future, is_reached=False))
        try:
            return await future
        finally:
            late.cancel()

    def reached(self, revision: int) -> None:
        """Whoever waits for this one, or an older one, is told."""
        while self._waiting and self._waiting[0][0] <= revision:
            _settle(heappop(self._waiting)[2], is_reached=True)


def _settle(future: asyncio.Future[bool], *, is_reached: bool) -> None:
    if not future.done():
        future.set_result(is_reached)
