"""Values in few characters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel import EvaluationError
from celadon.cel.extend import NONE, Optional
from celadon.cli.annotated_source import brief, shortened, size_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=30,
)


@pytest.mark.parametrize(
    ("value", "room", "expected"),
    [
        (1, 20, "1"),
        (True, 20, "true"),
        ("abc", 20, '"abc"'),
        ("abcdefghij", 8, '"abcde…"'),
        ([], 20, "[]"),
        ([1, 2, 3], 20, "[1, 2, 3]"),
        (list(range(100)), 20, "[0, 1, 2, … 97 more]"),
        ({"a": {"b": 1}}, 30, '{"a": {"b": 1}}'),
        ({"kind": "Deployment", "spec": {}}, 24, '{"kind": "Deployment", … 1 more}'),
        (NONE, 20, "optional.none()"),
        (Optional({"a": 1}), 40, 'optional.of({"a": 1})'),
        (EvaluationError("no such key: a"), 40, "error: no such key: a"),
    ],
)
def test_brief(value: Any, room: int, expected: str) -> None:
    assert brief(value, room) == expected


@given(JSON, st.integers(1, 200))
def test_brief_texts_are_about_as_long_as_wanted(value: Any, room: int) -> None:
    assert len(brief(value, room)) <= room + 40


def test_deep_values_end() -> None:
    value: Any = 1
    for _ in range(5_000):
        value = [value]
    assert len(brief(value, 4_000)) < 4_100


def test_sizes() -> None:
    assert size_text({"a": 1}) == "{1 key}"
    assert size_text([1, 2]) == "[2 items]"
    assert size_text("text") == ""
    assert shortened("abcdef", 3) == "ab…"
