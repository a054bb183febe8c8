"""Run-time types, Go's names, guards."""

from __future__ import annotations

import pytest

from celadon.cel import types
from celadon.cel.types import Type
from celadon.cel.values.maps import make_map
from celadon.cel.values.runtime_types import (
    NONE,
    Opaque,
    Optional,
    conversion_error,
    go_name,
    guard,
    overload_error,
    type_of,
)
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp


class Weight(Opaque):
    cel_type = types.opaque("test.Weight")
    go_name = "test.Weight"
    __slots__ = ()


MIXED = make_map([(True, 1)])
VALUES: tuple[tuple[object, str, str], ...] = (
    (None, "null_type", "types.Null"),
    (True, "bool", "types.Bool"),
    (1, "int", "types.Int"),
    (Uint(1), "uint", "types.Uint"),
    (1.0, "double", "types.Double"),
    ("a", "string", "types.String"),
    (b"a", "bytes", "types.Bytes"),
    ([], "list", "*types.baseList"),
    ({}, "map", "*types.baseMap"),
    (MIXED, "map", "*types.baseMap"),
    (Timestamp(0), "google.protobuf.Timestamp", "types.Timestamp"),
    (Duration(0), "google.protobuf.Duration", "types.Duration"),
    (types.INT, "type", "*types.Type"),
    (NONE, "optional_type", "*types.Optional"),
    (Weight(), "test.Weight", "test.Weight"),
)


@pytest.mark.parametrize(("value", "name", "go"), VALUES)
def test_names(value: object, name: str, go: str) -> None:
    assert type_of(value).runtime_name == name
    assert go_name(value) == go


def test_the_error_lists_all_types() -> None:
    error = overload_error("f", [1, "a", None])
    assert error.message == "no such overload: f(int, string, null_type)"
    assert conversion_error(types.STRING, types.TIMESTAMP).message == (
        "type conversion error from 'string' to 'google.protobuf.Timestamp'"
    )


@pytest.mark.parametrize(
    ("declared", "value", "fits"),
    [
        (types.INT, 1, True),
        (types.INT, True, False),
        (types.INT, Uint(1), False),
        (types.BOOL, True, True),
        (types.NULL, None, True),
        (types.DYN, None, True),
        (types.type_param("A"), 1, True),
        (types.TYPE, types.INT, True),
        (types.type_of(types.INT), types.BOOL, True),
        (types.wrapper_of(types.INT), None, True),
        (types.wrapper_of(types.INT), 1, True),
        (types.wrapper_of(types.INT), "a", False),
        (types.list_of(types.INT), [], True),
        (types.list_of(types.INT), [1, "a"], True),
        (types.list_of(types.INT), ["a", 1], False),
        (types.list_of(types.INT), {}, False),
        (types.list_of(types.list_of(types.INT)), [["a"]], False),
        (types.LIST, ["a"], True),
        (types.LIST, "a", False),
        (types.map_of(types.STRING, types.INT), {}, True),
        (types.map_of(types.STRING, types.INT), {"a": 1, "b": "c"}, True),
        (types.map_of(types.STRING, types.INT), {"a": "b"}, False),
        (types.map_of(types.STRING, types.INT), {1: 1}, False),
        (types.map_of(types.BOOL, types.INT), MIXED, True),
        (types.map_of(types.BOOL, types.INT), [], False),
        (types.MAP, MIXED, True),
        (types.optional_of(types.INT), Optional("a"), True),
        (types.optional_of(types.INT), 1, False),
        (types.opaque("test.Weight"), Weight(), True),
        (types.opaque("test.Height"), Weight(), False),
    ],
)
def test_guard(declared: Type, value: object, fits: bool) -> None:
    assert guard(declared)(value) is fits
