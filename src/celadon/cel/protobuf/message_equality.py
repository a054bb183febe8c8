"""When two messages are equal: field by field, `Any` by what it holds (cel-go `pb/equal.go`).

NaN equals nothing. An `Any` that cannot be unpacked is compared by its bytes; so are fields that
the descriptor does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.unknown_fields import UnknownFieldSet

Unpack = Callable[[str, bytes], "ProtoMessage | None"]
"""The message that an `Any` with this type URL and these bytes holds; None if it cannot be told."""

_Pairs = list[tuple[Any, Any]]

ANY = "google.protobuf.Any"


def messages_equal(x: ProtoMessage, y: ProtoMessage, unpack: Unpack) -> bool:
    """One loop for all levels, since messages may be nested deeply."""
    pending: _Pairs = [(x, y)]
    while pending:
        x, y = pending.pop()
        if x.DESCRIPTOR.full_name != y.DESCRIPTOR.full_name:
            return False
        if x.DESCRIPTOR.full_name == ANY:
            if not _anys_equal(x, y, unpack, pending):
                return False
        elif not _fields_equal(x, y, pending):
            return False
    return True


def _anys_equal(x: Any, y: Any, unpack: Unpack, pending: _Pairs) -> bool:
    if x.type_url != y.type_url:
        return False
    if x.value != y.value:
        one, other = unpack(x.type_url, x.value), unpack(y.type_url, y.value)
        if one is None or other is None:
            return False
        pending.append((one, other))
    return True


def _fields_equal(x: ProtoMessage, y: ProtoMessage, pending: _Pairs) -> bool:
    """Messages inside are left in `pending`."""
    ours = {field.number: (field, value) for field, value in x.ListFields()}
    theirs = {field.number: value for field, value in y.ListFields()}
    if ours.keys() != theirs.keys() or _unknown(x) != _unknown(y):
        return False
    return all(
        _values_equal(field, value, theirs[number], pending)
        for number, (field, value) in ours.items()
    )


def _values_equal(field: FieldDescriptor, a: Any, b: Any, pending: _Pairs) -> bool:
    pairs: Iterable[tuple[Any, Any]] = ((a, b),)
    if hasattr(a, "items"):  # the container of a map field
        if len(a) != len(b) or any(key not in b for key in a):
            return False
        pairs = ((a[key], b[key]) for key in a)
    elif hasattr(a, "extend"):  # the container of a repeated field
        if len(a) != len(b):
            return False
        pairs = zip(a, b, strict=True)
    for one, other in pairs:
        if isinstance(one, ProtoMessage):
            pending.append((one, other))
        elif one != other:
            return False
    return True


def _unknown(message: ProtoMessage) -> dict[int, list[object]]:
    """The fields that are not known, by number."""
    found: dict[int, list[object]] = {}
    for field in _fields(UnknownFieldSet(message)):
        found.setdefault(field.field_number, []).append(_comparable(field.data))
    return found


def _fields(unknown: UnknownFieldSet) -> list[Any]:
    return [unknown[position] for position in range(len(unknown))]


def _comparable(data: object) -> object:
    """The content of an unknown field; a group has fields again."""
    if isinstance(data, UnknownFieldSet):
        return [(f.field_number, f.wire_type, _comparable(f.data)) for f in _fields(data)]
    return data
