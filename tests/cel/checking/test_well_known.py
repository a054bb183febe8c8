"""Literals of the messages that every environment knows: types, and fields they may set."""

from __future__ import annotations

import pytest

from celadon.cel import CompileError, Environment
from celadon.cel.checking.scope import OBJECTS, TYPES, message_name

ENVIRONMENT = Environment()

ROWS = [
    ("BoolValue{value: true}", "bool"),
    ("BytesValue{value: b'a'}", "bytes"),
    ("DoubleValue{value: 1.5}", "double"),
    ("FloatValue{value: 1.5}", "double"),
    ("Int32Value{value: 1}", "int"),
    ("Int64Value{value: 1}", "int"),
    ("StringValue{value: 'a'}", "string"),
    ("UInt32Value{value: 1u}", "uint"),
    ("UInt64Value{value: 1u}", "uint"),
    ("Any{type_url: 'a', value: b'a'}", "google.protobuf.Any"),
    ("Duration{seconds: 1, nanos: 1}", "google.protobuf.Duration"),
    ("Empty{}", "google.protobuf.Empty"),
    ("ListValue{values: [1, 'a']}", "list(dyn)"),
    ("Struct{fields: {'a': 1}}", "map(string, dyn)"),
    ("Timestamp{seconds: 1, nanos: 1}", "google.protobuf.Timestamp"),
    ("Value{null_value: 0}", "dyn"),
    ("Value{number_value: 1.5}", "dyn"),
    ("Value{string_value: 'a'}", "dyn"),
    ("Value{bool_value: true}", "dyn"),
    ("Value{struct_value: {'a': 1}}", "dyn"),
    ("Value{list_value: [1]}", "dyn"),
]


@pytest.mark.parametrize(("literal", "type_"), ROWS)
def test_literals(literal: str, type_: str) -> None:
    checked = ENVIRONMENT.compile(f"google.protobuf.{literal}").checked()
    assert str(checked.types[checked.root.id]) == type_


@pytest.mark.parametrize(
    "literal",
    ["BoolValue{value: 1}", "Int32Value{value: 1u}", "Duration{seconds: 'a'}", "Empty{value: 1}"],
)
def test_other_fields_are_refused(literal: str) -> None:
    with pytest.raises(CompileError):
        ENVIRONMENT.compile(f"google.protobuf.{literal}").checked()


def test_the_one_enumeration() -> None:
    checked = ENVIRONMENT.compile("google.protobuf.NullValue.NULL_VALUE").checked()
    assert str(checked.types[checked.root.id]) == "int"


@pytest.mark.parametrize("name", sorted(set(TYPES) - {"google.protobuf.FloatValue"}))
def test_types_name_their_message(name: str) -> None:
    """Narrow wrappers are those of the wide ones: they have one type."""
    wide = name.replace("Int32", "Int64")
    assert message_name(TYPES[name]) == wide
    assert set(OBJECTS) == set(TYPES)
