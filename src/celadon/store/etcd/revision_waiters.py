"""Who waits for the mirror to come to a revision."""

from __future__ import annotations

import asyncio
from heapq import heappop, heappush
from itertools import count


class RevisionWaiters:
    """In one event loop."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = count()

    def waiter(self, revision: int) -> asyncio.Future[None]:
        """Done when it is reached; who gives up cancels it."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (revision, next(self._numbers), future))
        return future

    def reached(self, revision: int) -> None:
        """Whoever waits for this one, or an older one, is told."""
        while self._waiting and self._waiting[0][0] <= revision:
            _, _, future = heappop(self._waiting)
            if not future.done():
                future.set_result(None)
