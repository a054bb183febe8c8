"""Named time zones: `zoneinfo`, that is the machine's time-zone database.

Names come from policies, so the cache is bounded.
"""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from celadon.cel.errors import EvaluationError
from celadon.cel.values.timestamps import SECONDS_PER_DAY

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: Instants are moved into these bounds by whole 400-year cycles before `zoneinfo` sees them.
_CYCLE_SECONDS: Final = 146097 * SECONDS_PER_DAY
_ZONE_MIN: Final = -62135596800 + 2 * SECONDS_PER_DAY
_ZONE_MAX: Final = 253402300799 - 2 * SECONDS_PER_DAY


def offset_seconds(seconds: int, zone: str) -> int:
    """East of UTC, at an instant (seconds since 1970). Raises `EvaluationError`."""
    if seconds < _ZONE_MIN:
        seconds += _CYCLE_SECONDS
    elif seconds > _ZONE_MAX:
        seconds -= _CYCLE_SECONDS
    local = (_EPOCH + timedelta(seconds=seconds)).astimezone(_load_zone(zone))
    offset = local.utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0


@lru_cache(maxsize=256)
def _load_zone(name: str) -> zoneinfo.ZoneInfo:
    if ".." in name or name[0] in "/\\":
        raise EvaluationError("time: invalid location name")
    if "\x00" in name:
        raise EvaluationError("invalid argument")
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise EvaluationError(f"unknown time zone {name}") from error
