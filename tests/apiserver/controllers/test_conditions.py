"""Conditions: their order and their times."""

from __future__ import annotations

from celadon.apiserver.controllers.controller_loops import (
    condition,
    find_condition,
    is_true,
    with_condition,
)


def test_the_time_changes_with_the_status_only() -> None:
    first = with_condition(None, condition("A", "True", "R", "m"), "t1")
    both = with_condition(first, condition("B", "True", "R", "m"), "t2")
    again = with_condition(both, condition("A", "True", "Other", "n"), "t3")
    assert [(one["type"], one["lastTransitionTime"]) for one in again] == [("A", "t1"), ("B", "t2")]
    assert again[0]["reason"] == "Other"
    turned = with_condition(again, condition("A", "False", "Other", "n"), "t4")
    assert turned[0]["lastTransitionTime"] == "t4"
    assert turned[1] is again[1]


def test_conditions_are_found_by_type() -> None:
    found = with_condition((), condition("A", "False", "R", "m"), "t")
    assert find_condition(found, "A") == found[0]
    assert find_condition(None, "A") is None
    assert not is_true(found, "A")
    assert is_true([condition("A", "True", "R", "m")], "A")
