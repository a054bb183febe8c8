"""What strangers send is compared with its shape once, and read without further questions."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.json_types import DEFINITION, OBJECT, Needed, Shape, misfit, same

ITSELF: Shape = {"name": str}
ITSELF["below"] = [ITSELF]


@pytest.mark.parametrize(
    ("value", "shape", "text"),
    [
        ("a", str, ""),
        (None, str, ""),
        (None, Needed(str), "it must be text, not absent"),
        (1, str, "it must be text, not the number 1"),
        (1, int, ""),
        (2**63 - 1, int, ""),
        (2**63, int, "it must be a whole number, not the number 9223372036854775808"),
        (10**400, int, "it must be a whole number, not a very large number"),
        (True, int, "it must be a whole number, not true"),
        (1.5, int, "it must be a whole number, not the number 1.5"),
        (False, bool, ""),
        (0, bool, "it must be true or false, not the number 0"),
        ([1, "a"], [], ""),
        ({}, [], "it must be a list, not a map"),
        (["a", None], [str], ""),
        (["a", None], [Needed(str)], "`[1]` must be text, not absent"),
        ([["a"]], [str], "`[0]` must be text, not a list"),
        ({"b": 1}, {"a": str}, ""),
        ({"a": None}, {"a": str}, ""),
        ({"a": 1}, {"a": str}, "`a` must be text, not the number 1"),
        ({}, {"a": Needed(str)}, "`a` must be text, not absent"),
        ({"a": "b", "c": 10**400}, {str: str}, "`c` must be text, not a very large number"),
        ({"a": {"b": [{"c": []}]}}, {"a": {"b": [{"c": {}}]}}, "`a.b[0].c` must be a map"),
        (True, (bool, {}), ""),
        ({}, (bool, {}), ""),
        ("x", (bool, {}), "it must be a map, not text"),
        ({"below": [{"below": [{"name": 1}]}]}, ITSELF, "`below[0].below[0].name` must be text"),
        ({"metadata": {"labels": {"a": True}}}, OBJECT, "`metadata.labels.a` must be text"),
        ({"spec": {"group": "g"}}, DEFINITION, "`spec.names` must be a map, not absent"),
    ],
)
def test_shapes(value: Any, shape: Shape, text: str) -> None:
    found = misfit(value, shape)
    assert ("" if found is None else str(found)).startswith(text)
    assert bool(found) == bool(text)


class Text(str):
    """A text of another class, which has no bytes to be told by."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "before", "alike"),
    [
        ("a", "a", True),
        (1, True, False),
        (1, 1.0, False),
        (0, None, False),
        ([], {}, False),
        ([1], [True], False),
        ([1, {"a": []}], [1, {"a": []}], True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"b": 2, "a": [1]}, {"a": [1.0], "b": 2}, False),
        ({"a": {"b": 0.0}}, {"a": {"b": -0.0}}, True),
        ([Text("a"), {}], [Text("a"), {}], True),
        ([Text("a")], ["a"], False),
    ],
)
def test_values_are_the_same(value: object, before: object, alike: bool) -> None:
    assert same(value, before) is alike
    assert same([value], [before]) is alike
