"""Seats that levels lend each other: bounds, what was asked for, and what each gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.apiserver.flowcontrol.priority_levels import (
    SeatBounds,
    SeatDemand,
    SeatTarget,
    adjusted,
    fair_allocation,
    seat_bounds,
)

FREE = SeatBounds(0, 0, 600, is_exempt=True)


@pytest.mark.parametrize(
    ("limits", "share", "seats", "expected"),
    [
        ({}, 30 / 245, 600, (74, 74, 674, 74)),
        ({"lendablePercent": 33}, 30 / 245, 600, (74, 50, 674, 62)),
        ({"lendablePercent": 90}, 100 / 245, 600, (245, 24, 845, 135)),
        ({"lendablePercent": 50}, 1.0, 5, (5, 2, 10, 4)),
        ({"lendablePercent": 100, "borrowingLimitPercent": 50}, 0.5, 10, (5, 0, 8, 3)),
        ({"borrowingLimitPercent": 0}, 0.5, 10, (5, 5, 5, 5)),
        ({}, 0.0, 600, (0, 0, 600, 0)),
    ],
)
def test_bounds(
    limits: dict[str, int], share: float, seats: int, expected: tuple[int, int, int, int]
) -> None:
    found = seat_bounds(limits, share, seats, is_exempt=False)
    assert (found.nominal, found.least, found.most, found.initial) == expected


def test_what_was_asked_for_is_averaged_over_time() -> None:
    demand = SeatDemand(0.0)
    demand.add(4, 5.0)
    demand.end_period(10.0)
    assert (demand.highest, demand.average, demand.deviation) == (4, 2.0, 2.0)
    assert demand.smoothed == 4.0
    demand.add(-4, 10.0)
    demand.end_period(20.0)
    assert (demand.highest, demand.average, demand.deviation) == (4, 0.0, 0.0)
    assert demand.smoothed == pytest.approx(4.0 * 0.977)
    demand.end_period(20.0)
    assert demand.highest == 0
    assert demand.smoothed == pytest.approx(4.0 * 0.977)


@pytest.mark.parametrize(
    ("total", "classes", "expected"),
    [
        (10, [(5, 0, 10), (5, 0, 10)], ([5, 5], 1.0)),
        (10, [(1, 0, 10), (4, 0, 10)], ([2, 8], 2.0)),
        (10, [(1, 0, 10), (4, 0, 6)], ([4, 6], 4.0)),
        (10, [(20, 8, 10), (20, 0, 10)], ([8, 2], 0.1)),
        (10, [(0, 0, 10), (0, 0, 10)], ([5, 5], 5000.0)),
        (4, [(4, 2, 10), (3, 2, 5)], ([2, 2], 0.5)),
        (15, [(4, 2, 10), (3, 2, 5)], ([10, 5], 2.5)),
        (0, [(4, 0, 10)], ([0], 0.0)),
        (3, [(4, 4, 10)], None),
        (11, [(4, 4, 10)], None),
    ],
)
def test_allocations(
    total: int,
    classes: list[tuple[float, float, float]],
    expected: tuple[list[float], float] | None,
) -> None:
    found = fair_allocation(total, [SeatTarget(*one) for one in classes])
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found[0] == pytest.approx(expected[0])
        assert found[1] == pytest.approx(expected[1])


@st.composite
def wanted(draw: st.DrawFn) -> SeatTarget:
    least = draw(st.integers(0, 50))
    return SeatTarget(least + draw(st.floats(0, 100)), least, least + draw(st.integers(0, 200)))


@given(st.lists(wanted(), min_size=1, max_size=8), st.floats(0, 1))
def test_an_allocation_is_the_same_fraction_or_a_bound(
    classes: list[SeatTarget], between: float
) -> None:
    low, high = sum(one.least for one in classes), sum(one.most for one in classes)
    total = int(low + (high - low) * between)
    found = fair_allocation(total, classes)
    assert found is not None
    seats, fraction = found
    assert sum(seats) == pytest.approx(total, abs=1e-4)
    if total == 0:
        return
    for one, given_seats in zip(classes, seats, strict=True):
        assert one.least <= given_seats <= one.most
        fair = fraction * max(one.target, 0.001)
        clamped = max(one.least, min(one.most, fair))
        assert given_seats == pytest.approx(clamped, abs=1e-6)


def demands(**seats: int) -> dict[str, SeatDemand]:
    """Levels of which so much was asked for all of a period."""
    found = {}
    for name, number in seats.items():
        found[name] = SeatDemand(0.0)
        found[name].add(number, 0.0)
        found[name].end_period(10.0)
    return found


LENDING = {"a": SeatBounds(10, 5, 30), "b": SeatBounds(20, 10, 50)}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"a": 0, "b": 0}, {"a": 10, "b": 20}),
        ({"a": 10, "b": 20}, {"a": 10, "b": 20}),
        ({"a": 40, "b": 0}, {"a": 20, "b": 10}),
        ({"a": 0, "b": 40}, {"a": 5, "b": 25}),
        ({"a": 100, "b": 100}, {"a": 10, "b": 20}),
    ],
)
def test_levels_get_what_they_need(asked: dict[str, int], expected: dict[str, int]) -> None:
    found = adjusted(LENDING, demands(**asked), {"a": 10, "b": 20})
    assert found.seats == expected


@pytest.mark.parametrize(
    ("exempt", "expected"),
    [
        (5, {"free": 5, "a": 8, "b": 17}),
        (15, {"free": 15, "a": 5, "b": 10}),
        (100, {"free": 100, "a": 5, "b": 10}),
        (9, {"free": 9, "a": 7, "b": 14}),
    ],
)
def test_what_is_exempt_takes_what_it_takes(exempt: int, expected: dict[str, int]) -> None:
    """The others share what is left, if that is less than they need."""
    bounds = {"free": FREE, **LENDING}
    found = adjusted(bounds, demands(free=exempt, a=10, b=20), dict.fromkeys(bounds, 0))
    assert found.seats == expected
    assert found.fraction == 0.0
