"""Values that are put into examples, so that validation takes them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("z3")

from celadon.kube import Json
from celadon.prove.example_repair import _plain_values, _put
from tests.prove.definitions.definitions import INTEGER, TEXT, kind_of, listed, obj


@pytest.mark.parametrize(
    ("value", "steps", "changed"),
    [
        ({}, ("a",), {"a": "new"}),
        ({"a": 1, "b": 2}, ("a",), {"a": "new", "b": 2}),
        ({}, ("a", "b", "c"), {"a": {"b": {"c": "new"}}}),
        ({"a": {"b": 1}}, ("a", "c"), {"a": {"b": 1, "c": "new"}}),
        ({"a": [{}, {"b": 1}]}, ("a", 1, "b"), {"a": [{}, {"b": "new"}]}),
        ({"a": ["x", "y"]}, ("a", 1), {"a": ["x", "new"]}),
        # Nothing is added to lists, nor put into what has no places.
        ({"a": ["x"]}, ("a", 1), {"a": ["x"]}),
        ({"a": [{}]}, ("a", 1, "b"), {"a": [{}]}),
        ({"a": "x"}, ("a", "b"), {"a": "x"}),
        ({"a": "x"}, ("a", "b", "c"), {"a": "x"}),
        ({}, ("a", 0), {"a": []}),
    ],
)
def test_a_value_is_put_into_its_place(value: Any, steps: tuple[Any, ...], changed: Any) -> None:
    copied = copy.deepcopy(value)
    _put(copied, steps, "new")
    assert copied == changed


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (TEXT, ["s", "t"]),
        (TEXT | {"enum": ["a", "b"]}, ["a", "b"]),
        (INTEGER, [1, 0]),
        ({"type": "number"}, [1, 0]),
        ({"type": "boolean"}, []),
        (listed(TEXT), [["s"], ["t"]]),
        (obj(("a", "c", "z"), a=TEXT, b=TEXT, c=INTEGER), [{"a": "s", "c": 1}]),
    ],
)
def test_plain_values(schema: dict[str, Any], values: list[Json]) -> None:
    found = _plain_values(kind_of(schema).schema.properties["spec"], ["s", "t"])
    assert list(found) == values
    assert list(_plain_values(None, ["s"])) == []
