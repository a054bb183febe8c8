"""Namespaces in which something has been charged that is not stored yet.

Who counts what is there must not do so meanwhile: they would take the charge back.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

PATIENCE: Final = 1.0
"""Seconds that somebody waits for a namespace in which there is always something."""


class OpenCharges:
    """One per server, used in its event loop only."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._waiting: dict[str, asyncio.Event] = {}

    @contextmanager
    def keep(self, namespace: str) -> Iterator[None]:
        """From before the charge until what it was for is stored, or is not."""
        self._open[namespace] += 1
        try:
            yield
        finally:
            self._open[namespace] -= 1
            if not self._open[namespace]:
                del self._open[namespace]
                if namespace in self._waiting:
                    self._waiting.pop(namespace).set()

    async def closed(self, namespace: str) -> None:
        """When there is none, or after PATIENCE."""
        if self._open[namespace]:
            event = self._waiting.setdefault(namespace, asyncio.Event())
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), PATIENCE)
