"""Turns for work on keys: what has a key in common happens in the order in which it came."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager


class KeyOrder:
    """In one event loop."""

    def __init__(self) -> None:
        self._last: dict[bytes, asyncio.Event] = {}

    @asynccontextmanager
    async def turn(self, keys: Iterable[bytes]) -> AsyncIterator[None]:
        """Begins when all former turns of these keys have ended."""
        keys = tuple(keys)
        former = {last for key in keys if (last := self._last.get(key)) is not None}
        mine = asyncio.Event()
        self._last.update(dict.fromkeys(keys, mine))
        try:
            for one in former:
                await one.wait()
            yield
        finally:
            mine.set()
            for key in keys:
                if self._last.get(key) is mine:
                    del self._last[key]
