"""An event loop in a thread of its own, for callers who have none to spare."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

from celadon.deep_calls import deep_thread

_T = TypeVar("_T")


class LoopThread:
    """Runs until it is closed; ends with the process at the latest."""

    def __init__(self, name: str) -> None:
        self.loop = uvloop.new_event_loop()
        self._thread = deep_thread(self._run, name)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def call(self, work: Coroutine[Any, Any, _T]) -> _T:
        """What the coroutine returns or raises; the caller waits."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def close(self) -> None:
        """Give up what still runs."""
        self.call(_cancel_others())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _cancel_others() -> None:
    others = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
    for one in others:
        one.cancel()
    await asyncio.gather(*others, return_exceptions=True)
