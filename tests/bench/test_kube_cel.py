"""What the page says of two sides, from ratios that are known."""

from __future__ import annotations

from bench.kube_cel import COUNTED, PLAIN, Row, part

ROUNDS = [{"a": 20.0, "b": 20.0}, {"a": 80.0, "b": 20.0}, {"a": 20.0, "b": 80.0}]


def test_means_are_of_rounds_and_medians_of_expressions() -> None:
    row = Row(PLAIN, ROUNDS)
    least, name = row.least
    assert [round(mean, 6) for mean in row.means] == [20, 40, 40]
    assert least == 20
    assert name == "a"
    assert row.holds


def test_a_slow_expression_misses_the_goal() -> None:
    row = Row(COUNTED, [{"a": 100.0, "b": 3.0}])
    assert not row.holds
    assert "| 3.0 (b) |" in part([row])
    assert "**missed**" in part([row])
