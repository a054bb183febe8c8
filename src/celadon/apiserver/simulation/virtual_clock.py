"""A clock that stands still until somebody moves it."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class VirtualTimer:
    """Calls something at a time of a virtual clock."""

    def __init__(self, callback: Callable[..., object], args: tuple[object, ...]) -> None:
        self._callback: Callable[..., object] | None = callback
        self._args = args

    @property
    def is_cancelled(self) -> bool:
        """Tell whether the callback has been called, or will never be."""
        return self._callback is None

    def cancel(self) -> None:
        """Drop the callback: it will not be called."""
        self._callback = None

    def run(self) -> None:
        """Call the callback, once."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback(*self._args)


class VirtualClock:
    """Begins at the time of its making, or at the one it is given. What is due happens only in
    `move_to`, in the order of its times, and of its setting where they are the same."""

    def __init__(self, began: datetime | None = None) -> None:
        self._began = (began or datetime.now(UTC)).replace(microsecond=0)
        self._seconds = 0.0
        self._due: list[tuple[float, int, VirtualTimer]] = []
        self._number = itertools.count()

    @property
    def seconds(self) -> float:
        """Return the seconds since the clock began."""
        return self._seconds

    def now(self) -> datetime:
        """Return the time that the clock shows."""
        return self._began + timedelta(seconds=self._seconds)

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: object
    ) -> VirtualTimer:
        """Call something in so many seconds of this clock."""
        timer = VirtualTimer(callback, args)
        due = self._seconds + max(delay, 0.0)
        heapq.heappush(self._due, (due, next(self._number), timer))
        return timer

    def next_due(self) -> float | None:
        """The seconds of the first thing that is to happen, if there is any."""
        while self._due and self._due[0][2].is_cancelled:
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else None

    def move_to(self, seconds: float) -> None:
        """Forward; what is due by then happens."""
        self._seconds = max(self._seconds, seconds)
        due = self.next_due()
        while due is not None and due <= self._seconds:
            heapq.heappop(self._due)[2].run()
            due = self.next_due()
