"""Somebody for each extension server who looks at it again and again.

A server that takes its time holds up nobody but its own lookout.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Final

FIRST_RETRY: Final = 0.05
LAST_RETRY: Final = 30.0
"""Seconds after a look that found something wrong: at first, and at most."""

_LOG: Final = logging.getLogger("celadon.controllers")


class Lookouts:
    """Each in a task of its own. `look` says whether all was well; then the next look is in
    `seconds`, or when `wake` is called."""

    def __init__(self, look: Callable[[str], Awaitable[bool]], seconds: float) -> None:
        self._look = look
        self._seconds = seconds
        self._tasks: dict[str, tuple[asyncio.Task[None], asyncio.Event]] = {}

    def wake(self, name: str) -> None:
        """There is something to see."""
        known = self._tasks.get(name)
        if known is not None:
            known[1].set()
            return
        woken = asyncio.Event()
        self._tasks[name] = asyncio.ensure_future(self._watch(name, woken)), woken

    def forget(self, name: str) -> None:
        """There is nothing to look at any more."""
        known = self._tasks.pop(name, None)
        if known is not None:
            known[0].cancel()

    async def aclose(self) -> None:
        """Forget all of them."""
        tasks = [task for task, _ in self._tasks.values()]
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, name: str, woken: asyncio.Event) -> None:
        failures = 0
        while True:
            woken.clear()
            try:
                is_well = await self._look(name)
            except Exception:  # noqa: BLE001  whatever it was, there is another look
                _LOG.exception("a look at %s failed", name)
                is_well = False
            failures = 0 if is_well else min(failures + 1, 30)
            pause = min(FIRST_RETRY * 2.0**failures, LAST_RETRY)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds if is_well else pause):
                    await woken.wait()
