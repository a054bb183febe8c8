"""Optional values."""

from __future__ import annotations

import pytest

from celadon.cel import types
from celadon.cel.errors import EvaluationError
from celadon.cel.library import optionals
from celadon.cel.values.maps import MixedMap, make_map
from celadon.cel.values.runtime_types import NONE, Optional
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import MIN_SECONDS, Duration, Timestamp
from celadon.kube.library import environment


@pytest.mark.parametrize(
    ("value", "is_zero"),
    [
        (None, True),
        (False, True),
        (0, True),
        (Uint(0), True),
        (-0.0, True),
        ("", True),
        (b"", True),
        ([], True),
        ({}, True),
        (MixedMap(), True),
        (Duration(0), True),
        (Timestamp(MIN_SECONDS), True),
        (Timestamp(0), False),
        (Timestamp(MIN_SECONDS, 1), False),
        (NONE, False),
        (types.INT, False),
        ([0], False),
        (make_map([(True, 1)]), False),
        ("0", False),
    ],
)
def test_zero_values(value: object, is_zero: bool) -> None:
    assert (optionals.of_non_zero(value) is NONE) is is_zero


def test_values() -> None:
    assert optionals.value_of(Optional(1)) == 1
    assert optionals.has_value(Optional(None))
    assert not optionals.has_value(NONE)
    with pytest.raises(EvaluationError, match=r"^optional.none\(\) dereference$"):
        optionals.value_of(NONE)


def test_alternatives() -> None:
    one, two = Optional(1), Optional(2)
    assert optionals.or_optional(one, two) is one
    assert optionals.or_optional(NONE, two) is two
    assert optionals.or_optional("plain", two) == "plain"
    assert optionals.or_value(one, 2) == 1
    assert optionals.or_value(NONE, 2) == 2
    assert optionals.or_value("plain", 2) == "plain"


def test_ends_of_lists() -> None:
    assert optionals.first([1, 2]).value == 1
    assert optionals.last([1, 2]).value == 2
    assert optionals.first([]) is NONE
    assert optionals.last([]) is NONE


def test_unwrapping() -> None:
    assert optionals.unwrap([Optional(1), NONE, Optional(None)]) == [1, None]
    with pytest.raises(EvaluationError) as raised:
        optionals.unwrap([Optional(1), "x"])
    assert raised.value.message == "value x is not optional"


def test_versions() -> None:
    names = [{f.name for f in optionals.library(version).functions} for version in range(3)]
    assert names[1] == names[0]
    assert names[2] - names[1] == {"first", "last", "optional.unwrap", "unwrapOpt"}
    assert [len(optionals.library(version).macros) for version in range(3)] == [1, 2, 2]


@pytest.mark.parametrize(
    ("member", "call"),
    [
        ("optional.of(1).value()", "value(optional.of(1))"),
        ("optional.of(1).hasValue()", "hasValue(optional.of(1))"),
        ("optional.of(1).or(optional.of(2))", "or(optional.of(1), optional.of(2))"),
        ("optional.of(1).orValue(2)", "orValue(optional.of(1), 2)"),
    ],
)
def test_what_is_called_on_an_optional(member: str, call: str) -> None:
    known = environment()
    assert known.compile(member).ast is not None
    assert known.compile(call).ast is None
