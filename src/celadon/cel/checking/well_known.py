"""The protobuf messages that every environment knows, though CEL has no protobuf here.

`google.protobuf.Duration{seconds: 5}` is an expression even in Kubernetes. Such a message *is* one
of CEL's own types (cel-go `common/types`, well-known types): a `Struct` is a map, an `Int64Value`
an int that may be null, a `Value` anything. This module says which names exist, with which fields
to write, and what type the literal then has.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from celadon.cel.declarations import ObjectType
from celadon.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    LIST,
    STRING,
    TIMESTAMP,
    UINT,
    Kind,
    Type,
    map_of,
    object_type,
    wrapper_of,
)

_STRUCT = map_of(STRING, DYN)
_PREFIX = "google.protobuf."

#: Message name to the primitive that it wraps.
_WRAPPED: Final = {
    "BoolValue": BOOL,
    "BytesValue": BYTES,
    "DoubleValue": DOUBLE,
    "FloatValue": DOUBLE,
    "Int32Value": INT,
    "Int64Value": INT,
    "StringValue": STRING,
    "UInt32Value": UINT,
    "UInt64Value": UINT,
}

#: Full message name to the type that such a literal has.
TYPES: Final[Mapping[str, Type]] = MappingProxyType(
    {
        "google.protobuf.Any": ANY,
        "google.protobuf.Duration": DURATION,
        "google.protobuf.Empty": object_type("google.protobuf.Empty"),
        "google.protobuf.ListValue": LIST,
        "google.protobuf.Struct": _STRUCT,
        "google.protobuf.Timestamp": TIMESTAMP,
        "google.protobuf.Value": DYN,
    }
    | {_PREFIX + name: wrapper_of(primitive) for name, primitive in _WRAPPED.items()}
)

_FIELDS: Final[Mapping[str, Mapping[str, Type]]] = {
    "google.protobuf.Any": {"type_url": STRING, "value": BYTES},
    "google.protobuf.Duration": {"seconds": INT, "nanos": INT},
    "google.protobuf.Empty": {},
    "google.protobuf.ListValue": {"values": LIST},
    "google.protobuf.Struct": {"fields": _STRUCT},
    "google.protobuf.Timestamp": {"seconds": INT, "nanos": INT},
    "google.protobuf.Value": {
        "null_value": INT,
        "number_value": DOUBLE,
        "string_value": STRING,
        "bool_value": BOOL,
        "struct_value": _STRUCT,
        "list_value": LIST,
    },
} | {_PREFIX + name: {"value": primitive} for name, primitive in _WRAPPED.items()}

OBJECTS: Final[Mapping[str, ObjectType]] = MappingProxyType(
    {name: ObjectType(name, fields) for name, fields in _FIELDS.items()}
)

ENUMS: Final[Mapping[str, int]] = MappingProxyType({"google.protobuf.NullValue.NULL_VALUE": 0})

_NAME_BY_KIND: Final = {
    Kind.ANY: "google.protobuf.Any",
    Kind.DURATION: "google.protobuf.Duration",
    Kind.DYN: "google.protobuf.Value",
    Kind.NULL: "google.protobuf.NullValue",
    Kind.TIMESTAMP: "google.protobuf.Timestamp",
}
_NAME_BY_WRAPPED: Final = {
    BOOL.name: "google.protobuf.BoolValue",
    BYTES.name: "google.protobuf.BytesValue",
    DOUBLE.name: "google.protobuf.DoubleValue",
    INT.name: "google.protobuf.Int64Value",
    STRING.name: "google.protobuf.StringValue",
    UINT.name: "google.protobuf.UInt64Value",
}


def message_name(t: Type) -> str | None:
    """The message whose fields a literal of that type may set; None if it is no such type."""
    if t.kind is Kind.OBJECT:
        return t.name
    if t.kind is Kind.WRAPPER:
        return _NAME_BY_WRAPPED[t.name]
    if t == LIST:
        return "google.protobuf.ListValue"
    if t == _STRUCT:
        return "google.protobuf.Struct"
    return _NAME_BY_KIND.get(t.kind)
