"""Python objects as CEL values."""

from __future__ import annotations

import types as python_types
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from celadon.cel.values.conversions import to_cel
from celadon.cel.values.maps import MixedMap
from celadon.cel.values.runtime_types import NONE, Optional
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp, format_timestamp


class Text(str):
    __slots__ = ()


class Number(int):
    __slots__ = ()


class Real(float):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (None, None),
        (True, True),
        (5, 5),
        (2**63, Uint(2**63)),
        (1.5, 1.5),
        (Decimal("1.5"), 1.5),
        (Decimal("3.0"), 3),
        (Decimal(10**20), 1e20),
        ((1, 2), [1, 2]),
        (bytearray(b"a"), b"a"),
        (memoryview(b"a"), b"a"),
        (python_types.MappingProxyType({"a": (1,)}), {"a": [1]}),
        (timedelta(seconds=1, microseconds=1), Duration(1_000_001_000)),
        (Text("a"), "a"),
        (Number(3), 3),
        (Real(0.5), 0.5),
        (NONE, NONE),
    ],
)
def test_converted(value: object, result: object) -> None:
    found = to_cel(value)
    assert found == result
    assert found.__class__ is result.__class__


def test_datetimes() -> None:
    naive = datetime(2024, 2, 29, 1, 2, 3, 456789)
    assert format_timestamp(to_cel(naive)) == "2024-02-29T01:02:03.456789Z"
    assert to_cel(naive) == to_cel(naive.replace(tzinfo=UTC))
    aware = naive.replace(tzinfo=timezone(timedelta(hours=-5, minutes=-30)))
    assert format_timestamp(to_cel(aware)) == "2024-02-29T01:02:03.456789-05:30"
    assert to_cel(datetime(1, 1, 1)) == Timestamp(-62135596800)


def test_what_is_cel_already_is_not_copied() -> None:
    value = {"a": [1, {"b": None}]}
    assert to_cel(value) is value


def test_nested_values_are_converted() -> None:
    assert to_cel({"a": [(1,), 2**63]}) == {"a": [[1], Uint(2**63)]}
    assert to_cel(Optional((1,))).value == [1]
    mixed = to_cel({True: "x"})
    assert isinstance(mixed, MixedMap)
    assert to_cel(mixed) is mixed


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (object(), TypeError, "value: a object cannot be a CEL value"),
        ({"a": [{1, 2}]}, TypeError, r"value.a\[0\]: a set cannot be a CEL value"),
        ([2**64], ValueError, r"value\[0\]: 18446744073709551616 is beyond the range"),
        (-(2**63) - 1, ValueError, "beyond the range of int and uint"),
        (timedelta(days=200_000), ValueError, "longer than a duration can be"),
    ],
)
def test_refused(value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        to_cel(value)
