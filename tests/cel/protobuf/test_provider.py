"""Protobuf messages in expressions. The public suite has many more (`tests/conformance`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("google.protobuf", reason="the extra celadon[protobuf] is not installed")

from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    struct_pb2,
    wrappers_pb2,
)

from celadon import cel
from celadon.cel.library import optionals
from celadon.cel.protobuf import EnumValue, Message, ProtobufTypes
from celadon.cel.types import object_type
from celadon.cel.values.equality import equal
from tests.conformance import messages

PROTO2, PROTO3 = f"{messages.PACKAGE}.proto2", f"{messages.PACKAGE}.proto3"
SWITCHES = cel.Switches(optional_syntax=True, escaped_identifiers=True)


def environment(container: str = PROTO3, *, strong_enums: bool = False) -> cel.Environment:
    name = object_type(f"{container}.TestAllTypes")
    return cel.Environment(
        {"m": name, "x": cel.types.DYN},
        libraries=(optionals.library(),),
        container=container,
        switches=SWITCHES,
        types=messages.types(strong_enums=strong_enums),
    )


ENVIRONMENT = environment()


def outcomes(expression: str, env: cel.Environment = ENVIRONMENT, **variables: Any) -> list[Any]:
    """Values, or texts of errors, of the plain, metered and partial evaluation."""
    program = env.program(env.compile(expression).checked())
    ways: tuple[Callable[[], object], ...] = (
        lambda: program.evaluate(variables),
        lambda: program.evaluate_metered(variables)[0],
        lambda: program.evaluate_partial(variables, ())[0],
    )
    found = []
    for way in ways:
        try:
            found.append(way())
        except cel.EvaluationError as error:
            found.append(error.message)
    return found


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("TestAllTypes{single_string: 'a'}.single_string + 'b'", "ab"),
        ("TestAllTypes{}.standalone_message.bb", 0),
        ("TestAllTypes{repeated_int64: [1, 2]}.repeated_int64.map(n, n * 2)", [2, 4]),
        ("TestAllTypes{map_string_int64: {'a': 1}}.map_string_int64.a", 1),
        ("TestAllTypes{map_bool_string: {true: 't'}}.map_bool_string[true]", "t"),
        ("TestAllTypes{map_uint64_string: {1u: 'u'}}.map_uint64_string[1u]", "u"),
        ("has(TestAllTypes{single_double: -0.0}.single_double)", True),
        ("has(TestAllTypes{optional_bool: false}.optional_bool)", True),
        ("TestAllTypes{}.?optional_bool.hasValue()", False),
        ("TestAllTypes{optional_bool: false}.?optional_bool.value()", False),
        ("TestAllTypes{?single_int64: optional.none()} == TestAllTypes{}", True),
        ("TestAllTypes{oneof_bool: true}.oneof_bool", True),
        ("has(TestAllTypes{oneof_bool: true}.oneof_msg)", False),
        ("type(TestAllTypes{}) == TestAllTypes", True),
        ("dyn(TestAllTypes{}) == 1", False),
        ("[TestAllTypes{single_int64: 1}].exists(t, t.single_int64 == 1)", True),
        ("TestAllTypes{} in [TestAllTypes{single_int64: 1}, TestAllTypes{}]", True),
        ("optional.ofNonZeroValue(TestAllTypes{}).hasValue()", False),
        ("TestAllTypes{single_any: 5u}.single_any", 5),
        ("TestAllTypes{single_any: [1, 'a']}.single_any", [1.0, "a"]),
        ("TestAllTypes{single_any: NestedTestAllTypes{}}.single_any == NestedTestAllTypes{}", True),
        ("TestAllTypes{single_value: {'a': [1, b'x', null]}}.single_value",
         {"a": [1.0, "eA==", None]}),
        ("TestAllTypes{single_value: 9007199254740993}.single_value", "9007199254740993"),
        ("TestAllTypes{single_duration: duration('-1.5s')}.single_duration == duration('-1500ms')",
         True),
        ("TestAllTypes{standalone_enum: 7}.standalone_enum", 7),
        ("google.protobuf.FieldMask{paths: ['a', 'b']}.paths.size()", 2),
        ("google.protobuf.Empty{} == google.protobuf.Empty{}", True),
        ("google.protobuf.Any{type_url: 'x/google.protobuf.Empty'} == google.protobuf.Empty{}",
         True),
    ],
)  # fmt: skip
def test_values(expression: str, value: object) -> None:
    for found in outcomes(expression):
        assert equal(found, value), found


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("TestAllTypes{single_int32: 2147483648}",
         f"field type conversion error for {PROTO3}.TestAllTypes.single_int32 value type: "
         "integer overflow"),
        ("TestAllTypes{single_uint32: x}",
         f"field type conversion error for {PROTO3}.TestAllTypes.single_uint32 value type: "
         "type conversion error from 'int' to 'uint32'"),
        ("TestAllTypes{repeated_string: x}",
         f"unsupported field type for {PROTO3}.TestAllTypes.repeated_string: int"),
        ("TestAllTypes{map_string_string: x}",
         f"unsupported field type for {PROTO3}.TestAllTypes.map_string_string: int"),
        ("TestAllTypes{standalone_message: x}",
         f"field type conversion error for {PROTO3}.TestAllTypes.standalone_message value type: "
         f"type conversion error from 'int' to '{PROTO3}.TestAllTypes.NestedMessage'"),
        ("dyn(TestAllTypes{}).nope", "no such field 'nope'"),
        ("has(dyn(TestAllTypes{}).nope)", "no such field 'nope'"),
        ("dyn(TestAllTypes{})[0]", "no such overload"),
        ("dyn(TestAllTypes{}).map(f, f)", "got '*types.protoObj', expected iterable type"),
        ("dyn(TestAllTypes{}) + 1", "no such overload: _+_"),
        ("TestAllTypes{}.single_any",
         'anypb.UnmarshalNew() failed for type "": proto: invalid empty type URL'),
        ("google.protobuf.Any{type_url: 'a/b.C'}",
         'anypb.UnmarshalNew() failed for type "a/b.C": proto: not found'),
        ("TestAllTypes{single_struct: x}",
         f"field type conversion error for {PROTO3}.TestAllTypes.single_struct value type: "
         "type conversion error from 'int' to 'google.protobuf.Struct'"),
    ],
)  # fmt: skip
def test_errors(expression: str, message: str) -> None:
    assert outcomes(expression, x=5) == [message] * 3


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("TestAllTypes{nope: 1}", "undefined field 'nope'"),
        ("TestAllTypes{}.nope", "undefined field 'nope'"),
        ("TestAllTypes{single_int64: 'a'}",
         "expected type of field 'single_int64' is 'int' but provided type is 'string'"),
        ("Nope{}", f"undeclared reference to 'Nope' (in container '{PROTO3}')"),
        ("GlobalEnum.NOPE", f"undeclared reference to 'GlobalEnum' (in container '{PROTO3}')"),
    ],
)  # fmt: skip
def test_the_checker_knows_the_types(expression: str, text: str) -> None:
    assert text in ENVIRONMENT.compile(expression).issues.display()


def test_deep_values_are_refused_as_json() -> None:
    deep: list[Any] = []
    for _ in range(60):
        deep = [deep]
    message = outcomes("TestAllTypes{single_value: x}", x=deep)[0]
    assert message.endswith("nested too deeply")


def test_messages_come_in_and_go_out() -> None:
    types = messages.types()
    assert types.value(wrappers_pb2.UInt64Value(value=3)) == 3
    struct = struct_pb2.Struct()
    struct.update({"a": [1, None]})
    assert types.value(struct) == {"a": [1.0, None]}
    packed = any_pb2.Any()
    packed.Pack(wrappers_pb2.StringValue(value="s"))
    assert types.value(packed) == "s"
    built = outcomes("TestAllTypes{single_int64: 1}")[0]
    assert isinstance(built, Message)
    assert built.message.DESCRIPTOR.full_name == f"{PROTO3}.TestAllTypes"
    assert outcomes("m.single_int64 + 1", m=types.value(built.message)) == [2] * 3
    assert built.display() == f"{PROTO3}.TestAllTypes{{single_int64: 1}}"


def test_a_message_of_another_pool_fits_by_name() -> None:
    other = ProtobufTypes(messages.pool.__wrapped__())
    env = cel.Environment(container=PROTO3, types=other)
    nested = env.program(env.compile("TestAllTypes{single_int64: 3}").checked()).evaluate({})
    for found in outcomes("NestedTestAllTypes{payload: x}.payload.single_int64", x=nested):
        assert found == 3


def test_extensions() -> None:
    env = environment(PROTO2)
    name = f"`{PROTO2}.int32_ext`"
    assert outcomes(f"TestAllTypes{{{name}: 4}}.{name}", env) == [4] * 3
    nested = f"`{PROTO2}.nested_ext`"
    assert outcomes(f"has(TestAllTypes{{{nested}: TestAllTypes{{}}}}.{nested})", env) == [True] * 3
    repeated = f"`{PROTO2}.repeated_test_all_types`"
    text = f"TestAllTypes{{{repeated}: [TestAllTypes{{}}]}}.{repeated}.size()"
    assert outcomes(text, env) == [1] * 3


def test_a_closed_enum_has_no_other_numbers() -> None:
    message = outcomes("TestAllTypes{standalone_enum: 99}", environment(PROTO2))[0]
    assert str(message).startswith(f"{PROTO2}.TestAllTypes: ")


def test_strong_enums() -> None:
    env = environment(strong_enums=True)
    shown = {
        one.id: one.doc for one in env.declarations.functions[f"{PROTO3}.GlobalEnum"].overloads
    }
    assert shown == {
        f"{kind}_to_{PROTO3}.GlobalEnum": "The value of an enum with that number or name."
        for kind in ("int", "string")
    }
    red = outcomes("GlobalEnum.GAR", env)[0]
    assert isinstance(red, EnumValue)
    for expression, value in (
        ("int(GlobalEnum('GAZ'))", 2),
        ("GlobalEnum(1) == GlobalEnum.GAR", True),
        ("dyn(GlobalEnum.GAR) == dyn(1)", False),
        ("dyn(GlobalEnum.GAR) == dyn(TestAllTypes.NestedEnum.BAR)", False),
        ("GlobalEnum.GAR in [GlobalEnum.GOO]", False),
        ("type(GlobalEnum.GOO) == GlobalEnum", True),
        ("optional.ofNonZeroValue(GlobalEnum.GOO).hasValue()", False),
        ("GlobalEnum(3000000000)", "range error: integer overflow"),
        ("GlobalEnum('NO')", f"invalid enum value name 'NO' of '{PROTO3}.GlobalEnum'"),
        ("TestAllTypes{single_value: GlobalEnum.GAZ}.single_value", 2.0),
    ):
        assert outcomes(expression, env) == [value] * 3, expression
    with pytest.raises(KeyError):
        ProtobufTypes(strong_enums=["no.Such"])
    with pytest.raises(KeyError):
        messages.types().enum_value(f"{PROTO3}.GlobalEnum", 1)


def test_types_of_different_messages_are_told_apart() -> None:
    """Which overload runs is remembered by class, so each message type needs one of its own."""
    kinds = outcomes("[TestAllTypes{}, NestedTestAllTypes{}, TestAllTypes.NestedMessage{}]")[0]
    assert len({kind.__class__ for kind in kinds}) == 3


def test_the_default_pool_serves_generated_modules() -> None:
    env = cel.Environment(container="google.protobuf", types=ProtobufTypes())
    text = "DescriptorProto{name: 'M', field: [FieldDescriptorProto{number: 3}]}"
    value = env.program(env.compile(text).checked()).evaluate({})
    expected = descriptor_pb2.DescriptorProto(
        name="M", field=[descriptor_pb2.FieldDescriptorProto(number=3)]
    )
    assert value.message == expected


def test_unknown_fields_count_for_equality() -> None:
    pool = descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name="t.proto", package="t")
    file.message_type.add(name="M")
    pool.AddSerializedFile(file.SerializeToString())
    types = ProtobufTypes(pool)
    cls = message_factory.GetMessageClass(pool.FindMessageTypeByName("t.M"))
    one, same, other = (
        types.value(cls.FromString(data))
        for data in (b"\x08\x01\x13\x08\x05\x14", b"\x08\x01\x13\x08\x05\x14", b"\x08\x02")
    )
    assert equal(one, same)
    assert not equal(one, other)
    assert not equal(one, types.value(cls()))
