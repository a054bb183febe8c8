"""Literals of the messages that every environment knows: types, and fields they may set."""

from __future__ import annotations

from functools import partial

import pytest

from celadon.cel import CompileError, Environment, EvaluationError, ProgramError
from celadon.cel.checking.scope import OBJECTS, TYPES, message_name
from celadon.cel.declarations import ObjectType
from celadon.cel.types import STRING, object_type

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


DECLARED = Environment().extend({"o": object_type("a.B")}, [ObjectType("a.B", {"c": STRING})])
"""As where a schema declares the types (k8s.io/apiserver pkg/cel, `DeclTypeProvider`)."""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "timestamp == 1",
            "found no matching overload for '_==_' applied to '(type(timestamp), int)'",
        ),
        ("duration{a: 1}", "undefined field 'a'"),
        ("int{a: 1}", "undefined field 'a'"),
        ("int{}", "'int' is not a message type"),
        ("list{}", "'list' is not a message type"),
        ("map{a: 1}", "undefined field 'a'"),
        ("a.B{d: 1}", "undefined field 'd'"),
        ("any == 1", "undeclared reference to 'any'"),
    ],
)
def test_simple_types_of_a_schema_are_messages_to_the_checker(text: str, message: str) -> None:
    assert message in DECLARED.compile(text).issues.display()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("timestamp == 1", "undeclared reference to 'timestamp'"),
        ("int{a: 1}", "unexpected failed resolution of 'int'"),
        ("list{a: 1}", "undefined field 'a'"),
    ],
)
def test_where_no_schema_declares_types_they_are_not(text: str, message: str) -> None:
    assert message in ENVIRONMENT.compile(text).issues.display()


@pytest.mark.parametrize(
    "name",
    [
        *("timestamp", "duration", "a.B", "google.protobuf.Any", "google.protobuf.ListValue"),
        *("google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.Int64Value"),
    ],
)
def test_types_that_are_no_values(name: str) -> None:
    checked = DECLARED.compile(f"type(dyn(1)) == {name}").checked()
    with pytest.raises(ProgramError, match=f"^reference to undefined type: {name}$"):
        DECLARED.program(checked)


@pytest.mark.parametrize(
    "name",
    [
        *("int", "list", "google.protobuf.Timestamp", "google.protobuf.Duration"),
        "google.protobuf.Empty",
    ],
)
def test_types_that_are_values(name: str) -> None:
    checked = DECLARED.compile(f"type(dyn('a')) == {name}").checked()
    assert DECLARED.program(checked).evaluate({}) is False


@pytest.mark.parametrize(
    ("literal", "name"),
    [
        ("a.B{c: 'x'}", "a.B"),
        ("timestamp{}", "timestamp"),
        ("duration{seconds: 1}", "duration"),
        ("null_type{}", "null_type"),
    ],
)
def test_programs_make_no_messages_of_a_schema(literal: str, name: str) -> None:
    program = DECLARED.program(DECLARED.compile(f"dyn({literal}) == o").checked())
    for evaluate in (program.evaluate, partial(program.evaluate_metered, limit=100)):
        with pytest.raises(EvaluationError, match=f"^unknown type '{name}'$"):
            evaluate({"o": {"c": "x"}})
