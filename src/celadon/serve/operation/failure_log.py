"""Failures of our own, in the log: each cause with its traceback, but not again and again.

Whoever finds a request that makes something raise can send it a thousand times a second. A cause is
where it was raised; it is told once in a while, with how often it was seen in between.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from traceback import extract_tb
from typing import Final

from celadon.serve.operation import log_lines

QUIET_SECONDS: Final = 60.0
"""For so long a cause that was told is only counted."""

MOST_CAUSES: Final = 100
"""Causes that are told apart."""


class FailureLog:
    """Of one process. `now` is in seconds."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._told: dict[tuple[str, str, int], float] = {}
        self._counts: dict[tuple[str, str, int], int] = {}

    def tell(self, what: str, error: BaseException) -> None:
        """One line, or only a count."""
        cause = _cause(error)
        now, told = self._now(), self._told.get(cause)
        if told is not None and now - told < QUIET_SECONDS:
            self._counts[cause] = self._counts.get(cause, 0) + 1
            return
        if told is None and len(self._told) >= MOST_CAUSES:
            self._told.clear()
            self._counts.clear()
        self._told[cause] = now
        since = self._counts.pop(cause, 0)
        often = f" ({since} more since it was last told)" if since else ""
        log_lines.LOGGER.error("%s%s", what, often, exc_info=error)


def _cause(error: BaseException) -> tuple[str, str, int]:
    """What was raised, and where."""
    frames = extract_tb(error.__traceback__, limit=-1)
    file, line = (frames[0].filename, frames[0].lineno or 0) if frames else ("", 0)
    return type(error).__name__, file, line


FAILURES: Final = FailureLog()
"""Of this process."""
