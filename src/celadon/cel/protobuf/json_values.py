"""CEL values as JSON in protobuf's clothes: `Value`, `Struct` and `ListValue` messages.

What JSON has no form for becomes text, as in protobuf's own JSON: integers that a double cannot
hold, bytes (base64), timestamps, durations. Messages take the form they have in JSON.
"""

from __future__ import annotations

import base64
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.message_factory import GetMessageClass

from celadon.cel.protobuf.messages import EnumValue, Message, Refused, refuse
from celadon.cel.values.conversions import duration_to_string
from celadon.cel.values.maps import is_map
from celadon.cel.values.runtime_types import is_list
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp, format_timestamp

#: Integers up to this size survive as JSON numbers.
MAX_SAFE: Final = (1 << 53) - 1
#: Deeper values could not be read back: protobuf's parsers stop at 100 messages in each other.
MAX_DEPTH: Final = 45


def value_message(cls: Any, value: Any, depth: int = 0) -> Any:
    """A message of the class, which is that of `google.protobuf.Value`."""
    kind = value.__class__
    if value is None:
        return cls(null_value=0)
    if kind is bool:
        return cls(bool_value=value)
    if kind is float:
        return cls(number_value=value)
    if kind is int or kind is Uint:
        return _number(cls, value)
    if is_list(value) or is_map(value):
        if depth > MAX_DEPTH:
            raise Refused("nested too deeply")
        return _container(cls, value, depth)
    if isinstance(value, EnumValue):
        return cls(number_value=value.number)
    if isinstance(value, Message):
        return json_format.ParseDict(json_format.MessageToDict(value.message), cls())
    return cls(string_value=_text(value))


def _number(cls: Any, value: int) -> Any:
    if abs(value) <= MAX_SAFE:
        return cls(number_value=value)
    return cls(string_value=str(int(value)))


def _container(cls: Any, value: Any, depth: int) -> Any:
    if is_list(value):
        elements = [value_message(cls, element, depth + 1) for element in value]
        return cls(list_value=_class_of(cls, "list_value")(values=elements))
    return cls(struct_value=_class_of(cls, "struct_value")(fields=_entries(cls, value, depth)))


def _class_of(cls: Any, field: str) -> Any:
    """The class of the messages in a field. (Protobuf's Python has short forms for `Struct` and
    `ListValue` which cannot tell `{}` from `{"fields": {}}`.)"""
    return GetMessageClass(cls.DESCRIPTOR.fields_by_name[field].message_type)


def _entries(value_class: object, value: Any, depth: int) -> dict[str, Any]:
    entries = {}
    for key, content in value.items():
        if key.__class__ is not str:
            raise Refused("bad key type")
        entries[key] = value_message(value_class, content, depth + 1)
    return entries


def _text(value: Any) -> str:
    kind = value.__class__
    if kind is str:
        return str(value)
    if kind is bytes:
        return base64.b64encode(value).decode()
    if kind is Timestamp:
        return format_timestamp(Timestamp(value.seconds, value.nanos))
    if kind is Duration:
        return duration_to_string(value)
    return refuse(value, "google.protobuf.Value")


def struct_message(cls: Any, value_class: Any, value: Any) -> Any:
    """A map as a `google.protobuf.Struct`. Raises `Refused` for other values and for keys that are
    no strings."""
    if not is_map(value):
        refuse(value, "google.protobuf.Struct")
    return cls(fields=_entries(value_class, value, 0))


def list_message(cls: Any, value_class: Any, value: Any) -> Any:
    """A list as a `google.protobuf.ListValue`. Raises `Refused` for other values."""
    if not is_list(value):
        refuse(value, "google.protobuf.ListValue")
    return cls(values=[value_message(value_class, element) for element in value])
