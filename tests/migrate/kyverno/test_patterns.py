"""Kyverno's pattern language, read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import Json
from celadon.migrate.kyverno.patterns import (
    Anchor,
    AnchorKind,
    Comparison,
    Operator,
    anchor_of,
    equals,
    nanoseconds,
    order,
    ordinary_keys,
    read_string,
    wildcard_match,
)

EQUAL, NOT = Operator.EQUAL, Operator.NOT_EQUAL
MORE_EQUAL, LESS_EQUAL = Operator.MORE_EQUAL, Operator.LESS_EQUAL


@pytest.mark.parametrize(
    ("key", "anchor"),
    [
        ("name", None),
        ("(name)", Anchor(AnchorKind.CONDITION, "name")),
        ("<(name)", Anchor(AnchorKind.GLOBAL, "name")),
        ("=(name)", Anchor(AnchorKind.EQUALITY, "name")),
        ("^(name)", Anchor(AnchorKind.EXISTENCE, "name")),
        ("X(name)", Anchor(AnchorKind.NEGATION, "name")),
        ("+(name)", Anchor(AnchorKind.ADDITION, "name")),
        ("=(a.b/c)", Anchor(AnchorKind.EQUALITY, "a.b/c")),
        ("()", None),
        ("?(name)", None),
    ],
)
def test_anchors(key: str, anchor: Anchor | None) -> None:
    assert anchor_of(key) == anchor


def test_fields_with_anchors_below_come_first_the_last_of_them_first() -> None:
    pattern: dict[str, Json] = {
        "a": 1,
        "b": {"(x)": 1},
        "=(z)": 1,
        "c": {"y": {"=(x)": 1}},
        "d": "*",
    }
    assert ordinary_keys(pattern) == ["c", "b", "a", "d"]


@pytest.mark.parametrize(
    ("pattern", "alternatives"),
    [
        ("a", [[[(EQUAL, "a")]]]),
        ("a | b", [[[(EQUAL, "a")]], [[(EQUAL, "b")]]]),
        ("!a & !b", [[[(NOT, "a")], [(NOT, "b")]]]),
        (">= 5", [[[(MORE_EQUAL, "5")]]]),
        ("!", [[[(EQUAL, "!")]]]),
        ("10-20", [[[(MORE_EQUAL, "10")], [(LESS_EQUAL, "20")]]]),
        ("10Mi-2Gi", [[[(MORE_EQUAL, "10Mi")], [(LESS_EQUAL, "2Gi")]]]),
        ("10!-20", [[[(Operator.LESS, "10"), (Operator.MORE, "20")]]]),
        ("a-b", [[[(EQUAL, "a-b")]]]),
    ],
)
def test_strings(pattern: str, alternatives: list[list[list[tuple[Operator, str]]]]) -> None:
    read = tuple(
        tuple(tuple(Comparison(*one) for one in group) for group in condition)
        for condition in alternatives
    )
    assert read_string(pattern) == read


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("*", "", True),
        ("?*", "", False),
        ("?*", "a", True),
        ("a.c", "abc", False),
        ("a?c", "abc", True),
        ("*:latest", "nginx:latest", True),
        ("a*b*c", "axxbyyc", True),
        ("[a]", "a", False),
        ("a**", "a", True),
        ("*\n*", "a\nb", True),
    ],
)
def test_wildcards(pattern: str, text: str, *, matches: bool) -> None:
    assert wildcard_match(pattern, text) is matches


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("10s", 10 * 10**9),
        ("1h30m", 5400 * 10**9),
        ("1.5h", 5400 * 10**9),
        ("-2ms", -2_000_000),
        ("10", None),
        ("", None),
        ("1d", None),
        ("s", None),
        ("9" * 400 + "h", None),
        ("9" * 5000 + "ns", None),
    ],
)
def test_durations(text: str, value: int | None) -> None:
    assert nanoseconds(text) == value


@given(st.text("ab*?\n", max_size=12), st.text("ab\n", max_size=12))
def test_wildcards_are_those_of_an_expression(pattern: str, text: str) -> None:
    parts = {"*": ".*", "?": "."}
    regex = "".join(parts.get(one) or re.escape(one) for one in re.sub(r"\*+", "*", pattern))
    assert wildcard_match(pattern, text) is bool(re.fullmatch(regex, text, re.DOTALL))


@pytest.mark.parametrize("part", ["*a", "*?a", "*ab?"])
def test_many_wildcards_take_no_longer(part: str) -> None:
    assert not wildcard_match(part * 300 + "c", "a" * 3000)
    assert not wildcard_match(part * 300 + "c*", "a" * 3000)


@pytest.mark.parametrize(
    ("key", "value", "same"),
    [
        (1, 1, True),
        (1, "1", True),
        (1, "1.0", False),
        (1.5, "1.5", True),
        (1.5, "15e-1", True),
        (1, "a", False),
        (1, True, False),
        (True, True, True),
        (True, 1, False),
        ("1", 1, False),
        ("60s", "1m", True),
        ("60s", 60, True),
        ("60s", "61s", False),
        ("60s", "a", False),
        ("1Gi", "1024Mi", True),
        ("ab", "a*", True),
        ("a*", "ab", False),
        (["a"], ["a"], True),
        (["a"], "a", False),
    ],
)
def test_which_values_equal_a_key(key: Json, value: Json, *, same: bool) -> None:
    assert equals(key, value) is same


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        (1, 2, -1),
        (2, "1", 1),
        ("1m", "60s", 0),
        ("1m", 59, 1),
        (30, "1m", -1),
        ("1m", "a", None),
        ("1Gi", "1025Mi", -1),
        ("a", "b", None),
    ],
)
def test_the_order_of_a_key_and_a_value(key: Json, value: Json, wanted: int | None) -> None:
    assert order(key, value) == wanted
