"""How many seats a request takes, and for how long after its answer.

A list takes as many as there is to be read for it, by the number and the size of the objects that
are stored; so does a watch that begins with a list. A write takes one; but whoever watches is told
of it afterwards, which takes seats for some milliseconds more. As k8s.io/apiserver
`pkg/util/flowcontrol/request` and `watch_tracker.go`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.operation.request_limits import WatchCounts
from celadon.apiserver.request_info import RequestInfo
from celadon.kube import JsonObject
from celadon.kube.releases import is_since
from celadon.records import dataclass

_MOST_OF_A_WRITE: Final = 10
_MOST_OF_A_LIST: Final = 100
_OBJECTS_OF_A_SEAT: Final = 100
_BYTES_OF_A_SEAT: Final = 100_000
_STREAMED_BYTES: Final = 1_000_000
"""What a list that is sent piece by piece holds at once, at most."""

_LARGEST_OBJECT: Final = 1_500_000
"""Bytes; where it is not known how large objects are."""

EXPECTED_SECONDS: Final = 0.003
"""What a request is taken to last until it has ended."""

_WATCHES_OF_A_SEAT: Final = 10
_EVENT_SECONDS: Final = 0.005
"""For so long after a write the watches of a seat keep it busy."""

_PART_OF_A_LEVEL: Final = 0.15
"""Of the seats of a level that one request may take."""

_BY_SIZE_SINCE: Final = "1.34"
"""The release that looks at the size of objects (`SizeBasedListCostEstimate`)."""

_CONSISTENT_SINCE: Final = "1.31"
"""The release whose cache answers lists of the newest state (`ConsistentListFromCache`), and pages
that need not be of one revision."""

_WATCHES_FROM_NOWHERE_SINCE: Final = "1.35"
"""The release that charges watches without a revision for the list that they begin with."""

_MUTATING: Final = frozenset({"create", "update", "patch", "delete"})


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seats while a request executes, then others for some seconds."""

    seats: int = 1
    final_seats: int = 0
    final_seconds: float = 0.0

    @property
    def width(self) -> int:
        """All that have to be free before it begins."""
        return max(self.seats, self.final_seats)

    @property
    def seat_seconds(self) -> float:
        """The work that it is taken to be."""
        return EXPECTED_SECONDS * self.seats + self.final_seconds * self.final_seats


ONE_SEAT: Final = Estimate()


@dataclass(frozen=True, slots=True)
class StoredKind:
    """Says how many objects of a resource there are, and how large they are in the mean."""

    count: int
    mean_bytes: int = 0


def most_seats(nominal: int, queuing: JsonObject | None) -> int:
    """Return how many seats one request of a level may take; 0 where that is as for all."""
    if not queuing:
        return 0
    hand = queuing.get("handSize") or 1
    return max(1, min(math.ceil(nominal * _PART_OF_A_LEVEL), nominal // hand))


# --- Reading -----------------------------------------------------------------


def _list_seats(request: HttpRequest, info: RequestInfo, stored: StoredKind) -> int:
    limit = _limit(request.first("limit"))
    is_cached = info.verb == "watch" or _is_cached(request, limit)
    limited = min(limit, stored.count) if limit > 0 else stored.count
    is_selective = bool(request.first("fieldSelector") or request.first("labelSelector"))
    if not is_since(_BY_SIZE_SINCE):
        if info.name:
            read = 1
        elif is_cached:
            read = stored.count
        else:
            read = stored.count + limited if is_selective else 2 * limited
        return math.ceil(read / _OBJECTS_OF_A_SEAT)
    if info.name:
        read = 1
    else:
        chosen = is_selective and not is_cached
        read = max(limited, stored.count // 2) if chosen else limited
    held = read * (stored.mean_bytes or (_LARGEST_OBJECT if stored.count else 0))
    return math.ceil((min(held, _STREAMED_BYTES) if is_cached else held) / _BYTES_OF_A_SEAT)


def _is_cached(request: HttpRequest, limit: int) -> bool:
    """Tell whether upstream answers a list from its watch cache."""
    version, match = request.first("resourceVersion"), request.first("resourceVersionMatch")
    if not is_since(_CONSISTENT_SINCE) and (not version or (limit and version != "0")):
        return False
    if match:
        return match == "NotOlderThan"
    return not (request.first("continue") or (limit and version not in ("", "0")))


def _limit(text: str) -> int:
    """Read the limit of a list; what is no number counts as none, and is refused elsewhere."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _starts_with_list(request: HttpRequest) -> bool:
    """Tell whether a watch starts with a list, as far as it is charged for that."""
    if request.first("sendInitialEvents") in ("true", "1"):
        return True
    from_nowhere = request.first("resourceVersion") in ("", "0")
    return from_nowhere and is_since(_WATCHES_FROM_NOWHERE_SINCE)


def read_estimate(
    request: HttpRequest, info: RequestInfo, stored: StoredKind | None, most: int
) -> Estimate:
    """Estimate the seats of a list or a watch. `stored` is None for what other servers serve,
    `most` is 0 where the bound is that of all."""
    if stored is None or (info.verb == "watch" and not _starts_with_list(request)):
        return ONE_SEAT
    largest = _MOST_OF_A_LIST if is_since(_BY_SIZE_SINCE) else _MOST_OF_A_WRITE
    bound = min(most or largest, largest)
    return Estimate(min(max(_list_seats(request, info, stored), 1), bound))


# --- Writing -----------------------------------------------------------------


def write_estimate(info: RequestInfo, watches: int, most: int) -> Estimate:
    """Estimate the seats of a request that changes something that so many watch."""
    if _is_for_a_token(info) or watches < _WATCHES_OF_A_SEAT:
        return ONE_SEAT
    wide = math.ceil(watches / _WATCHES_OF_A_SEAT)
    narrow = min(wide, min(most or _MOST_OF_A_WRITE, _MOST_OF_A_WRITE))
    return Estimate(1, narrow, _EVENT_SECONDS * wide / narrow)


def watch_count(info: RequestInfo, watches: WatchCounts) -> int | None:
    """Return how many watches are told of what a request changes; None for a request of which no
    watch is told."""
    if not info.is_resource or info.verb not in _MUTATING or _is_for_a_token(info):
        return None
    return watches.interested(info)


def _is_for_a_token(info: RequestInfo) -> bool:
    return (info.resource, info.subresource) == ("serviceaccounts", "token")


Stored = Callable[[RequestInfo], StoredKind | None]
"""Knows how much there is of a resource; None of what is not stored here."""


def estimate(
    request: HttpRequest, info: RequestInfo, most: int, stored: Stored, watches: WatchCounts
) -> Estimate:
    """The seats of a request, of which a level gives it so many at most (0: as for all)."""
    if not info.is_resource:
        return ONE_SEAT
    if info.verb in ("list", "watch"):
        return read_estimate(request, info, stored(info), most)
    if info.verb in _MUTATING:
        return write_estimate(info, watches.interested(info), most)
    return ONE_SEAT
