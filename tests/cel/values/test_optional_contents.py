"""Optionals that pass through attributes: what comes out, per kind of content."""

from __future__ import annotations

import pytest

from celadon.cel import EvaluationError, types
from celadon.cel.library.network import parse_ip
from celadon.cel.values.runtime_types import NONE, Optional
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp
from celadon.cel.values.typed_lists import go_integer, go_text, reopened, settled, settled_optional

KEPT = ["a", 1, Uint(1), 1.5, True, None, [1], {"a": 1}, b"a", Timestamp(0), Duration(1)]


@pytest.mark.parametrize("content", KEPT)
def test_most_contents_stay(content: object) -> None:
    assert reopened(content) is content
    result = reopened(Optional(content))
    assert result.value is content
    assert settled(content) is content
    assert settled_optional(Optional(content)).value is content


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (types.INT, "int"),
        (types.TIMESTAMP, "google.protobuf.Timestamp"),
        (Optional(1), 1),
        (Optional(Optional(types.INT)), "int"),
        (NONE, None),
        (Optional(NONE), None),
    ],
)
def test_some_contents_change(content: object, expected: object) -> None:
    assert reopened(Optional(content)).value == expected
    with pytest.raises(EvaluationError):
        settled(content)
    with pytest.raises(EvaluationError):
        settled_optional(Optional(content))


def test_abstract_contents_are_errors() -> None:
    error = reopened(Optional(Optional(parse_ip("10.0.0.1")))).value
    assert isinstance(error, EvaluationError)
    assert error.message == "unsupported conversion to ref.Val: (netip.Addr)10.0.0.1"


def test_an_error_inside_is_no_value_either() -> None:
    twice = reopened(Optional(EvaluationError("of (netip.Addr)10.0.0.1"))).value
    text = "unsupported conversion to ref.Val: (*errors.errorString)of (netip.Addr)10.0.0.1"
    assert isinstance(twice, EvaluationError)
    assert twice.message == text


def test_absence_stays() -> None:
    assert reopened(NONE) is NONE
    assert settled_optional(NONE) is NONE


@pytest.mark.parametrize("value", ["a", Optional("a"), Optional(Optional("a"))])
def test_texts_inside(value: object) -> None:
    assert go_text(value) == "a"


def test_integers_inside() -> None:
    assert go_text(types.INT) == "int"
    assert go_integer(Optional(3)) == 3


@pytest.mark.parametrize("value", [1, None, NONE, Optional(1), ["a"], {}, b"a"])
def test_no_text_inside(value: object) -> None:
    with pytest.raises(EvaluationError, match=r"^no such overload$"):
        go_text(value)


@pytest.mark.parametrize("value", ["1", None, NONE, True, Uint(1), 1.0])
def test_no_integer_inside(value: object) -> None:
    with pytest.raises(EvaluationError, match=r"^no such overload$"):
        go_integer(value)
