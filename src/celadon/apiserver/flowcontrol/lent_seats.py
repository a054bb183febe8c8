"""How priority levels lend each other seats that they do not need.

A level has nominal seats by its shares. It lends a part of them, and borrows up to a limit. Every
ten seconds each gets as many as it could have used, by the average of the seats that were asked of
it; where that is more or less than there are, all get the same fraction of it, within their bounds.
Arithmetic only: what time it is says who calls. As k8s.io/apiserver `pkg/util/flowcontrol`,
`apf_controller.go`, `conc_alloc.go` and `fairqueuing/integrator.go`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from celadon.kube import JsonObject
from celadon.records import dataclass

PERIOD: Final = 10.0
"""Seconds from one adjustment to the next."""

_SMOOTHING: Final = 0.977
"""So slowly what was needed is forgotten: to a half within five minutes."""

_LEAST_TARGET: Final = 0.001
_NEGLIGIBLE: Final = 1e-7


def _rounded(number: float) -> int:
    """To the nearest one, a half upwards; Python's would go to the even one."""
    return math.floor(number + 0.5)


# --- Bounds of levels --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeatBounds:
    """The nominal seats of a level, and how few and how many it may have instead."""

    nominal: int
    least: int
    most: int
    is_exempt: bool = False

    @property
    def initial(self) -> int:
        """Before anything is known of what it needs."""
        return self.nominal - (self.nominal - self.least) // 2


def seat_bounds(limits: JsonObject, share: float, seats: int, *, is_exempt: bool) -> SeatBounds:
    """By the limits of a level whose share it is of all seats of a server."""
    nominal = math.ceil(seats * share)
    lent = _rounded(nominal * (limits.get("lendablePercent") or 0) / 100)
    borrowing = limits.get("borrowingLimitPercent")
    borrowed = seats if borrowing is None else _rounded(nominal * borrowing / 100)
    return SeatBounds(nominal, nominal - lent, nominal + borrowed, is_exempt)


# --- What is asked of a level ------------------------------------------------


class SeatDemand:
    """The seats that one level could use: of what executes there and what waits. `highest` to
    `smoothed` are those of the last period."""

    __slots__ = ("_at", "_integral", "_most", "_now", "_squares", "_started", "average",
                 "deviation", "highest", "smoothed")  # fmt: skip

    def __init__(self, now: float) -> None:
        self._now = self._most = 0
        self._at = self._started = now
        self._integral = self._squares = 0.0
        self.highest = 0
        self.average = self.deviation = self.smoothed = 0.0

    @property
    def seats(self) -> int:
        """That are asked for now."""
        return self._now

    def add(self, seats: int, now: float) -> None:
        """So many more, or less, from now on."""
        had, seconds = self._now, now - self._at
        self._at = now
        self._integral += seconds * had
        self._squares += seconds * had * had
        self._now = had = had + seats
        if had > self._most:
            self._most = had

    def end_period(self, now: float) -> None:
        """A period is over, and the next one begins."""
        self.add(0, now)
        seconds = now - self._started
        self.highest = self._most
        if seconds > 0:
            self.average = self._integral / seconds
            variance = self._squares / seconds - self.average * self.average
            self.deviation = math.sqrt(max(variance, 0.0))
            envelope = self.average + self.deviation
            smoothed = _SMOOTHING * self.smoothed + (1 - _SMOOTHING) * envelope
            self.smoothed = max(envelope, smoothed)
        self._started, self._most = now, self._now
        self._integral = self._squares = 0.0


# --- Dealing out seats -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a level should have, and its bounds."""

    target: float
    least: float
    most: float


def fair_allocation(total: int, classes: Sequence[Wanted]) -> tuple[list[float], float] | None:
    """What each gets, so that it is `total` together: the same fraction of its target, or a bound;
    and the fraction. None where the bounds do not allow it."""
    targets = [max(one.target, _LEAST_TARGET) for one in classes]
    low, high = sum(one.least for one in classes), sum(one.most for one in classes)
    if low - total > _NEGLIGIBLE or total - high > _NEGLIGIBLE:
        return None
    if total == 0:
        return [0.0] * len(classes), 0.0
    lows = [one.least / target for one, target in zip(classes, targets, strict=True)]
    highs = [one.most / target for one, target in zip(classes, targets, strict=True)]
    if low - total > -_NEGLIGIBLE:
        return [one.least for one in classes], min(lows)
    if total - high > -_NEGLIGIBLE:
        return [one.most for one in classes], max(highs)
    turns = [(bound, target) for bound, target in zip(lows, targets, strict=True)]
    turns += [(bound, -target) for bound, target in zip(highs, targets, strict=True)]
    fraction = _fraction(total, low, sorted(turns))
    found = [
        max(one.least, min(one.most, fraction * target))
        for one, target in zip(classes, targets, strict=True)
    ]
    return found, fraction


def _fraction(total: float, low: float, turns: Sequence[tuple[float, float]]) -> float:
    """The one with which all get `total`. Where a lower bound does not hold any more, a class grows
    with the fraction, by its target; from its upper bound on it does not."""
    fraction, dealt, grows = turns[0][0], low, 0.0
    for bound, change in turns:
        more = (bound - fraction) * grows
        if grows > 0 and dealt + more >= total:
            break
        dealt, fraction = dealt + more, bound
        grows += change
    return fraction + (total - dealt) / grows if grows > 0 else fraction


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What came of a period. `seats` and `targets` are by level."""

    seats: Mapping[str, int]
    targets: Mapping[str, float]
    fraction: float


def adjusted(
    bounds: Mapping[str, SeatBounds],
    demands: Mapping[str, SeatDemand],
    current: Mapping[str, int],
) -> Adjustment:
    """The seats of each level for the next period. Those that nothing limits take what they take,
    and the others share what is left, if that is little."""
    total = sum(one.nominal for one in bounds.values())
    needed = {
        name: max(
            one.least,
            demands[name].highest if one.is_exempt else min(one.nominal, demands[name].highest),
        )
        for name, one in bounds.items()
    }
    limited = [name for name, one in bounds.items() if not one.is_exempt]
    left = total - sum(needed[name] for name, one in bounds.items() if one.is_exempt)
    least = sum(bounds[name].least for name in limited)
    enough = sum(needed[name] for name in limited)
    targets = {name: max(float(needed[name]), demands[name].smoothed) for name in bounds}
    seats, fraction = dict(needed), 0.0
    if left <= least:
        seats |= {name: bounds[name].least for name in limited}
    elif left <= enough:
        part = (left - least) / (enough - least)
        for name in limited:
            low = bounds[name].least
            seats[name] = low + _rounded((needed[name] - low) * part)
    else:
        classes = [Wanted(targets[name], needed[name], bounds[name].most) for name in limited]
        found = fair_allocation(total, classes)
        if found is None:
            seats |= {name: current[name] for name in limited}
        else:
            fraction = found[1]
            dealt = zip(limited, found[0], strict=True)
            seats |= {name: _rounded(number) for name, number in dealt}
    return Adjustment(seats, targets, fraction)
