"""Combinations of conditions: what has one table comes to the same, errors included."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel import Environment, EvaluationError, types
from celadon.cli.policytest.mutants.canonical_expressions import is_same

_ATOMS = ("m.a", "m.b", "m.c")
_ENV = Environment({"m": types.map_of(types.STRING, types.BOOL)})
_COMBINATIONS = st.recursive(
    st.sampled_from((*_ATOMS, "true", "false")),
    lambda inner: st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        st.builds("(!{})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
    ),
    max_leaves=6,
)
_CHANGES = ((" && ", " || "), ("!", ""), ("m.b", "m.a"), ("m.c", "true"))
_OUTCOMES = [
    {name: value for name, value in zip("abc", values, strict=True) if value is not None}
    for values in [
        (x, y, z)
        for x in (True, False, None)
        for y in (True, False, None)
        for z in (True, False, None)
    ]
]
"""A condition whose key is missing is an error that names the key."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a || a && b", "a"),
        ("a && (a || b)", "a"),
        ("!(a && b)", "!a || !b"),
        ("a && b && a", "a && b"),
        ("a || true", "true"),
        ("x.exists(i, i || i && j)", "x.exists(i, i)"),
        ("x.size() != 0 && x.size() > 0", "x.size() > 0"),
        ("a.?b.orValue('') == 'yes'", "a.?b.orValue('x') == 'yes'"),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert is_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a && b", "a || b"),
        ("a && b", "b && a"),
        ("a ? b : b", "b"),
        ("has(a.b) && a.b", "a.b"),
        ("a.?b.orValue('') == 'yes'", "a.?b.orValue('yes') == 'yes'"),
        ("a.?b.orValue('') == c", "a.?b.orValue('x') == c"),
        ("a &&", "a &&"),
    ],
)
def test_not_proved(one: str, other: str) -> None:
    assert not is_same(one, other)


@given(_COMBINATIONS, st.sampled_from(_CHANGES))
def test_what_is_proved_is_so(text: str, change: tuple[str, str]) -> None:
    """And the other way around: with so few conditions, nothing that is so goes unproved."""
    other = text.replace(*change, 1)
    assert is_same(text, other) == (_values(text) == _values(other))


def _values(text: str) -> list[object]:
    program = _ENV.program(_ENV.compile(text).checked())
    found: list[object] = []
    for outcome in _OUTCOMES:
        try:
            found.append(program.evaluate({"m": outcome}))
        except EvaluationError as error:
            found.append(str(error))
    return found
