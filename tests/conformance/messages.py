"""The message types that the public suite uses, described in Python, and values of them.

Both `TestAllTypes` (of syntax proto2 and proto3) have the same fields with the same numbers, but
for a few. `AVAILABLE` says whether the extra `celadon[protobuf]` is installed.
"""

from __future__ import annotations

import base64
import importlib.util
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

    from celadon.cel.protobuf import ProtobufTypes

AVAILABLE = bool(importlib.util.find_spec("google") and importlib.util.find_spec("google.protobuf"))

PACKAGE = "cel.expr.conformance"
#: The enums that are types of their own in the sections `strong_proto2` and `strong_proto3`.
ENUMS = tuple(
    f"{PACKAGE}.{syntax}.{name}"
    for syntax in ("proto2", "proto3")
    for name in ("GlobalEnum", "TestAllTypes.NestedEnum")
)

_SCALARS = (
    *("int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64"),
    *("sfixed32", "sfixed64", "float", "double", "bool", "string", "bytes"),
)
#: Name in fields, and the message.
_JSON = (("any", "Any"), ("struct", "Struct"), ("value", "Value"), ("list_value", "ListValue"))
_TIMES = (("duration", "Duration"), ("timestamp", "Timestamp"))
_WRAPPERS = tuple(
    (f"{kind.lower()}_wrapper", f"{kind}Value")
    for kind in ("Int64", "Int32", "Double", "Float", "UInt64", "UInt32", "String", "Bool", "Bytes")
)
_NULL = ("null_value", "NullValue")
_OTHERS = (("field_mask", "FieldMask"), ("empty", "Empty"))
_KEYS = ("bool", "int32", "int64", "uint32", "uint64", "string")
_MAP_SCALARS = (
    *("bool", "string", "bytes", "int32", "int64", "uint32", "uint64", "float", "double"),
    *("enum", "message"),
)
#: Fields whose names are or were keywords, from number 500.
_KEYWORDS = (
    *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let"),
    *("loop", "package", "namespace", "return", "var", "void", "while"),
)
_DEFAULTS = {
    "single_int32": "-32",
    "single_int64": "-64",
    "single_uint32": "32",
    "single_uint64": "64",
    "single_float": "3",
    "single_double": "6.4",
    "single_bool": "true",
    "single_string": "empty",
    "single_bytes": "none",
    "single_nested_enum": "BAR",
}
_IMPORTS = ("any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers")


def _map_numbers(key: str) -> list[int]:
    """The numbers of the maps with that kind of key: scalars, then times and null, then JSON and
    wrappers."""
    position = _KEYS.index(key)
    scalars = {
        "uint32": [*range(96, 100), *range(200, 207)],
        "uint64": list(range(207, 218)),
        "string": [218, 61, *range(219, 228)],
    }.get(key) or [63 + 11 * position + n for n in range(11)]
    return [
        *scalars,
        *(228 + 3 * position + n for n in range(3)),
        *(246 + 13 * position + n for n in range(13)),
    ]


class _Builder:
    """Adds fields to a message. Types are names: of a scalar, of a well-known message or enum
    (`Any`, `NullValue`), or of a type of the package (`.TestAllTypes.NestedEnum`)."""

    def __init__(self, message: DescriptorProto, package: str, proto3: bool) -> None:
        self.message = message
        self.package = package
        self.proto3 = proto3

    def add(self, name: str, number: int, kind: str, *, repeated: bool = False) -> Any:
        field = self.message.field.add(name=name, number=number)
        field.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
        if kind in _SCALARS:
            field.type = getattr(field, f"TYPE_{kind.upper()}")
        elif kind.startswith("."):
            field.type_name = f".{self.package}{kind}"
        else:
            field.type_name = f".google.protobuf.{kind}"
        if not kind.endswith(("Enum", "NullValue")) and kind not in _SCALARS:
            field.type = field.TYPE_MESSAGE
        elif kind not in _SCALARS:
            field.type = field.TYPE_ENUM
        if not self.proto3 and name in _DEFAULTS:
            field.default_value = _DEFAULTS[name]
        return field

    def add_map(self, name: str, number: int, key: str, value: str) -> None:
        entry = self.message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        builder = _Builder(entry, self.package, self.proto3)
        builder.add("key", 1, key)
        builder.add("value", 2, value)
        self.add(name, number, f".{self.message.name}.{entry.name}", repeated=True)

    def add_optional(self, name: str, number: int, kind: str) -> None:
        """In proto3, a field that knows whether it is set."""
        field = self.add(name, number, kind)
        if self.proto3:
            field.proto3_optional = True
            field.oneof_index = len(self.message.oneof_decl)
            self.message.oneof_decl.add(name=f"_{name}")


def _test_all_types(file: FileDescriptorProto, proto3: bool) -> None:
    message = file.message_type.add(name="TestAllTypes")
    nested = message.nested_type.add(name="NestedMessage")
    _Builder(nested, file.package, proto3).add("bb", 1, "int32")
    _add_enum(message, "NestedEnum", ("FOO", "BAR", "BAZ"))
    for oneof in ("nested_type", "kind"):
        message.oneof_decl.add(name=oneof)
    fields = _Builder(message, file.package, proto3)
    for number, kind in enumerate(_SCALARS, 1):
        fields.add(f"single_{kind}", number, kind)
        fields.add(f"repeated_{kind}", number + 30, kind, repeated=True)
    fields.add("in", 18, "bool")
    _add_well_known(fields)
    _add_nested(fields)
    for key in _KEYS:
        _add_maps(fields, key)
    fields.add_map("map_int64_nested_type", 62, "int64", ".NestedTestAllTypes")
    for number, name in enumerate(_KEYWORDS, 500):
        fields.add(name, number, "bool")
    if proto3:
        fields.add_optional("optional_bool", 16, "bool")
        fields.add_optional("optional_string", 17, "string")
    fields.add_optional("optional_null_value", 116, "NullValue")
    if not proto3:
        group = message.nested_type.add(name="NestedGroup")
        inside = _Builder(group, file.package, proto3)
        inside.add("single_id", 404, "int32")
        inside.add("single_name", 405, "string")
        field = fields.add("nestedgroup", 403, ".TestAllTypes.NestedGroup")
        field.type = field.TYPE_GROUP
        message.extension_range.add(start=1000, end=536870912)


def _add_well_known(fields: _Builder) -> None:
    kinds = (_JSON[0], *_TIMES, *_JSON[1:3], *_WRAPPERS)
    for number, (name, kind) in enumerate(kinds, 100):
        fields.add(f"single_{name}", number, kind)
    for number, (name, kind) in zip((114, 115, 117, 118), (_JSON[3], _NULL, *_OTHERS), strict=True):
        fields.add(name, number, kind)
    for number, (name, kind) in enumerate((*kinds, _JSON[3], _NULL), 120):
        fields.add(f"repeated_{name}", number, kind, repeated=True)


def _add_nested(fields: _Builder) -> None:
    nested, enum = ".TestAllTypes.NestedMessage", ".TestAllTypes.NestedEnum"
    for oneof, name, number, kind in (
        (0, "single_nested_message", 21, nested),
        (0, "single_nested_enum", 22, enum),
        (1, "oneof_type", 400, ".NestedTestAllTypes"),
        (1, "oneof_msg", 401, nested),
        (1, "oneof_bool", 402, "bool"),
    ):
        fields.add(name, number, kind).oneof_index = oneof
    fields.add("standalone_message", 23, nested)
    fields.add("standalone_enum", 24, enum)
    for number, name, kind in (
        (51, "nested_message", nested),
        (52, "nested_enum", enum),
        (53, "string_piece", "string"),
        (54, "cord", "string"),
        (55, "lazy_message", nested),
    ):
        fields.add(f"repeated_{name}", number, kind, repeated=True)


def _add_maps(fields: _Builder, key: str) -> None:
    own = {"enum": ".TestAllTypes.NestedEnum", "message": ".TestAllTypes.NestedMessage"}
    kinds = [(kind, own.get(kind, kind)) for kind in _MAP_SCALARS]
    kinds += [*_TIMES, _NULL, *_JSON, *_WRAPPERS]
    for number, (name, kind) in zip(_map_numbers(key), kinds, strict=True):
        fields.add_map(f"map_{key}_{name}", number, key, kind)


def _add_enum(parent: Any, name: str, values: tuple[str, ...]) -> None:
    enum = parent.enum_type.add(name=name)
    for number, value in enumerate(values):
        enum.value.add(name=value, number=number)


def _file(syntax: str) -> FileDescriptorProto:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    proto3 = syntax == "proto3"
    file = FileDescriptorProto(
        name=f"{PACKAGE.replace('.', '/')}/{syntax}/test_all_types.proto",
        package=f"{PACKAGE}.{syntax}",
        syntax=syntax,
        dependency=[f"google/protobuf/{name}.proto" for name in _IMPORTS],
    )
    _test_all_types(file, proto3)
    nested = _Builder(file.message_type.add(name="NestedTestAllTypes"), file.package, proto3)
    nested.add("child", 1, ".NestedTestAllTypes")
    nested.add("payload", 2, ".TestAllTypes")
    if not proto3:
        required = _Builder(file.message_type.add(name="TestRequired"), file.package, proto3)
        field = required.add("required_int32", 1, "int32")
        field.label = field.LABEL_REQUIRED
        _add_extensions(file, file.package, ("int32", "int32_ext"), 1000)
        scoped = file.message_type.add(name="Proto2ExtensionScopedMessage")
        _add_extensions(scoped, file.package, ("int64", "int64_ext"), 1005)
    _add_enum(file, "GlobalEnum", ("GOO", "GAR", "GAZ"))
    return file


def _add_extensions(parent: Any, package: str, number: tuple[str, str], first: int) -> None:
    """Extensions of `TestAllTypes`, in the package or in a message."""
    own, enum = f".{package}.TestAllTypes", f".{package}.TestAllTypes.NestedEnum"
    in_package = first == 1000
    kind, name = number
    rows: list[tuple[str, str, str, bool]] = [(name, kind.upper(), "", False)]
    if in_package:
        rows += [("nested_ext", "MESSAGE", own, False)]
        rows += [("test_all_types_ext", "MESSAGE", own, False)]
    else:
        rows += [("message_scoped_nested_ext", "MESSAGE", own, False)]
    rows += [("nested_enum_ext", "ENUM", enum, False)]
    scope = "" if in_package else "message_scoped_"
    rows += [(f"{scope}repeated_test_all_types", "MESSAGE", own, True)]
    for position, (name, kind, type_name, repeated) in enumerate(rows):
        field = parent.extension.add(name=name, number=first + position, extendee=own)
        field.type = getattr(field, f"TYPE_{kind}")
        field.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
        if type_name:
            field.type_name = type_name


@cache
def types(*, strong_enums: bool = False) -> ProtobufTypes:
    from celadon.cel.protobuf import ProtobufTypes

    return ProtobufTypes(pool(), strong_enums=ENUMS if strong_enums else ())


@cache
def pool() -> Any:
    """All the message types, and those of protobuf that they use."""
    from google.protobuf import (
        any_pb2,
        duration_pb2,
        empty_pb2,
        field_mask_pb2,
        struct_pb2,
        timestamp_pb2,
        wrappers_pb2,
    )
    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    for module in (
        *(any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2),
        wrappers_pb2,
    ):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    for syntax in ("proto2", "proto3"):
        pool.AddSerializedFile(_file(syntax).SerializeToString())
    return pool


def decode(tagged: dict[str, Any], *, strong_enums: bool) -> Any:
    """A value in the notation of the recordings: `{"message": …}` or `{"enum": …}`."""
    if "enum" in tagged:
        enum = tagged["enum"]
        return types(strong_enums=True).enum_value(enum["type"], enum["value"])
    return types(strong_enums=strong_enums).value(_parse(tagged["message"]))


def encode(value: Any) -> dict[str, Any] | None:
    """That notation of a message or enum value; None for any other value."""
    from celadon.cel.protobuf import EnumValue, Message

    name = getattr(value, "cel_type", None)
    if isinstance(value, EnumValue):
        return {"enum": {"type": str(name), "value": value.number}}
    if isinstance(value, Message):
        content = base64.b64encode(value.message.SerializeToString(deterministic=True)).decode()
        return {"message": {"type": str(name), "bytes": content}}
    return None


def same(left: dict[str, str], right: dict[str, str]) -> bool:
    """Whether two messages in that notation are the same, however their bytes are ordered."""
    return left["type"] == right["type"] and bool(_parse(left) == _parse(right))


def _parse(message: dict[str, str]) -> Any:
    from google.protobuf.message_factory import GetMessageClass

    cls = GetMessageClass(pool().FindMessageTypeByName(message["type"]))
    return cls.FromString(base64.b64decode(message["bytes"]))
