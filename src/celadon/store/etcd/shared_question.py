"""A question that many ask at once, answered for all of them.

Whoever asks gets an answer to a question that was put no earlier than they asked: who comes while
one is under way waits for the next, together with everybody else who does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future

from celadon.store.errors import StoreClosed


class SharedQuestion:
    """In one event loop. `put` asks, once for all who wait."""

    def __init__(self, put: Callable[[], Awaitable[int]]) -> None:
        self._put = put
        self._next: Future[int] | None = None
        self._asking: asyncio.Task[None] | None = None

    def ask(self) -> Future[int]:
        """The answer, or what `put` raised. It cannot be cancelled, as it is for others, too."""
        if self._next is None:
            self._next = Future()
            self._next.set_running_or_notify_cancel()
            if self._asking is None:
                self._asking = asyncio.get_running_loop().create_task(self._ask())
        return self._next

    async def _ask(self) -> None:
        while self._next is not None:
            answer, self._next = self._next, None
            try:
                answer.set_result(await self._put())
            except asyncio.CancelledError:
                answer.set_exception(StoreClosed("the store is closed"))
                raise
            except Exception as error:  # noqa: BLE001  # House rule 17: who asked judges it
                answer.set_exception(error)
        self._asking = None

    async def stop(self) -> None:
        """Nothing is asked any more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait((self._asking,))
