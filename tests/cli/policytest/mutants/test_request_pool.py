"""Labels that selectors ask for, and objects with little in them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.policytest.mutants.input_combinations import Inputs, with_labels
from celadon.cli.policytest.mutants.request_pool import _OTHER, _label_sets, _wanted
from celadon.cli.policytest.referenced_fields import _value
from celadon.kube.json_types import JsonObject


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [
        (None, {}),
        ({}, {}),
        ({"matchLabels": {"a": "1"}}, {"a": ["1"]}),
        (
            {
                "matchLabels": {"a": "1"},
                "matchExpressions": [
                    {"key": "a", "operator": "NotIn", "values": ["2", "3"]},
                    {"key": "b", "operator": "Exists"},
                ],
            },
            {"a": ["1", "2", "3"], "b": ["yes"]},
        ),
    ],
)
def test_what_a_selector_names(selector: JsonObject | None, wanted: dict[str, list[str]]) -> None:
    assert _wanted(selector) == wanted


def test_sets_of_labels() -> None:
    """One with all that is asked for, none, and for each key one without it and with others."""
    assert list(_label_sets([])) == []
    assert list(_label_sets([{}])) == []
    assert list(_label_sets([{"a": ["1", "2"]}, {"b": ["x"], "a": ["1"]}])) == [
        {"a": "1", "b": "x"},
        {},
        {"b": "x"},
        *({"a": value, "b": "x"} for value in ("1", "2", _OTHER)),
        {"a": "1"},
        *({"a": "1", "b": value} for value in ("x", _OTHER)),
    ]


def test_labels_are_inputs() -> None:
    place = ("object", "metadata", "labels", "a")
    given = Inputs({place: ["0"]})
    found = with_labels(given, {"a": ["1", "2"], "b": ["x"]})
    assert found.related == {place: ["0", "1", "2"], (*place[:3], "b"): ["x"]}
    assert given.related == {place: ["0"]}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "default": 5, "enum": [7]}, 5),
        ({"type": "integer", "enum": [7, 8], "minimum": 9}, 7),
        ({"type": "integer", "minimum": 3, "maximum": 9}, 3),
        ({"type": "number", "maximum": 0}, 0),
        ({"type": "integer"}, 1),
        ({"type": "boolean"}, False),
        ({"type": "array", "items": {"type": "integer"}}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        ({"type": "string"}, "x"),
        ({"type": "string", "minLength": 3}, "xxx"),
        ({"type": "string", "minLength": 0}, "x"),
        (
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            },
            {"a": 1},
        ),
    ],
)
def test_something_small_of_a_type(schema: JsonObject, value: Any) -> None:
    found = _value(schema)
    assert (found, type(found)) == (value, type(value))
