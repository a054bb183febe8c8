"""How long ago, as tables show it: `5s`, `3m20s`, `47h`, `2y30d`.

As `HumanDuration` in k8s.io/apimachinery `pkg/util/duration`: the further back, the coarser.
"""

from __future__ import annotations

from typing import Final

UNKNOWN: Final = "<unknown>"
"""The age of what has no time of creation."""

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
YEAR: Final = 365 * DAY


def human_duration(seconds: int) -> str:
    """Whole seconds, rounded towards zero; a clock that is a second behind is forgiven."""
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    if seconds < 2 * MINUTE:
        return f"{seconds}s"
    if seconds < 10 * MINUTE:
        return _two(seconds, MINUTE, "m", 1, "s")
    if seconds < 3 * HOUR:
        return f"{seconds // MINUTE}m"
    if seconds < 8 * HOUR:
        return _two(seconds, HOUR, "h", MINUTE, "m")
    if seconds < 2 * DAY:
        return f"{seconds // HOUR}h"
    if seconds < 8 * DAY:
        return _two(seconds, DAY, "d", HOUR, "h")
    if seconds < 2 * YEAR:
        return f"{seconds // DAY}d"
    if seconds < 8 * YEAR:
        return _two(seconds, YEAR, "y", DAY, "d")
    return f"{seconds // YEAR}y"


def _two(seconds: int, unit: int, letter: str, small_unit: int, small_letter: str) -> str:
    """Without the second part when it is nothing."""
    whole, rest = divmod(seconds, unit)
    small = rest // small_unit
    return f"{whole}{letter}" + (f"{small}{small_letter}" if small else "")
