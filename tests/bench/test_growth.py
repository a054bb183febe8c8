"""What a table says of costs that were measured elsewhere."""

from __future__ import annotations

import pytest
from bench.growth import Growth, row
from bench.server.beside import Row


@pytest.mark.parametrize(
    ("costs", "exponent"),
    [((1.0, 1.0), 0), ((1.0, 10.0), 1), ((1.0, 100.0), 2), ((0.0, 1.0), 0)],
)
def test_the_exponent_is_the_slope_between_the_two_largest_sizes(
    costs: tuple[float, ...], exponent: float
) -> None:
    assert Growth("objects", "get", (1, 10, 100), (5.0, *costs)).exponent == pytest.approx(exponent)


def test_a_row_shows_times_and_memory_of_each() -> None:
    assert "1: 20 µs; 10: 2.00 ms" in row(Growth("objects", "get", (1, 10), (2e-5, 2e-3)))
    assert "10: 1.0 KiB each" in row(Growth("objects", "memory", (1, 10), (0, 10 << 10)))


def test_a_goal_beside_another_server_is_held_by_the_median_of_its_rounds() -> None:
    found = Row("get", 3.0, own=(1.0, 1.0, 1.0), other=(2.0, 3.0, 9.0), etcd=(0.0, 0.0, 0.0))
    assert found.ratios == [2.0, 3.0, 9.0]
    assert found.judged == "reached"
