"""Which values are tried: at least all at which a comparison changes its mind."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.policytest.mutants.input_combinations import _OTHERS, Inputs, choices
from celadon.cli.reading.json_text import Path

PLACE: Path = ("object", "spec", "x")


def tried(related: list[Any], now: object, place: Path = PLACE) -> list[Any]:
    (choice,) = choices(Inputs({place: related}), {place: now})
    return [one.value for one in choice.values]


@pytest.mark.parametrize(
    ("related", "now", "values"),
    [
        ([5], 3, [5, 4, 6, 0, 1, -5]),
        ([3], "abc", ["3", "4", "2", "xxx", "xxxx", "xx"]),
        (["yes"], "no", ["yes", "yesx", "xyes"]),
        (["Draft>Live"], "Draft", ["Live", "Draft>Live"]),
        (["a"], ["b"], [["a"], []]),
        ([], True, [False]),
        ([], None, ["other", 1, True, {}, []]),
    ],
)
def test_values(related: list[Any], now: object, values: list[Any]) -> None:
    found = tried(related, now)
    assert [one for one in values if one not in found] == []
    assert (None in found) == (now is not None)
    assert now is None or all(one is None or type(one) is type(now) for one in found)
    assert now not in [one for one in found if one is not None]


def test_a_second_item() -> None:
    place: Path = ("object", "spec", "list", 0, "image")
    first, second = choices(Inputs({place: ["a"]}), {place: "b"})
    assert first.place == place
    assert second.place == ("object", "spec", "list", 1)
    assert {"a", "b"} <= {one.value for one in second.values}
    assert all(one.second for one in second.values)


def test_how_many_values_there_are() -> None:
    """Nothing, and as many more as there may be of one input; fewer of each of many."""
    related = [f"text {number}" for number in range(1000)]
    few = len(tried(related, "now"))
    assert len(tried(related[:3], "now")) < few
    assert len(tried(related[: few - 1], "now")) == few
    assert len(tried(related, None)) == few - 1 + len(_OTHERS)
    places: list[Path] = [("object", "spec", f"x{number}") for number in range(50)]
    of_many = choices(Inputs(dict.fromkeys(places, related)), dict.fromkeys(places, "now"))
    assert {len(one.values) for one in of_many} < set(range(2, few))
