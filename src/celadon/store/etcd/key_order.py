"""Turns for work on keys: what has a key in common happens in the order in which it came."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from types import TracebackType


class KeyOrder:
    """In one event loop."""

    def __init__(self) -> None:
        self._last: dict[bytes, Turn] = {}

    def turn(self, keys: Collection[bytes]) -> Turn:
        """To be entered at once (`async with`); begins when all former turns of these keys have
        ended."""
        return Turn(self._last, keys)


class Turn:
    """`last` are the newest turns of all keys."""

    __slots__ = ("_former", "_keys", "_last", "_waiting")

    def __init__(self, last: dict[bytes, Turn], keys: Collection[bytes]) -> None:
        self._last = last
        self._keys = keys
        self._former = {one for key in keys if (one := last.get(key)) is not None}
        self._waiting: list[asyncio.Future[None]] = []
        last.update(dict.fromkeys(keys, self))

    async def __aenter__(self) -> None:
        """Nobody ends while others begin to wait: all of this is in one step of the loop."""
        if not self._former:
            return
        loop = asyncio.get_running_loop()
        ends = [loop.create_future() for _ in self._former]
        for one, end in zip(self._former, ends, strict=True):
            one._waiting.append(end)
        self._former = set()  # so that no chain of turns is kept
        try:
            for end in ends:
                await end
        except BaseException:
            self._end()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        for one in self._waiting:
            if not one.done():
                one.set_result(None)
        for key in self._keys:
            if self._last.get(key) is self:
                del self._last[key]
