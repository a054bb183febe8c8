"""Bodies in protobuf: the envelope that names a kind, and bytes of messages to JSON objects, as Go
reads them and its JSON shows them.

Fields may come in any order and more than once: lists and maps grow, messages merge, of anything
else the last one counts. Unknown fields are passed over. What equals the value that Go would write
for nothing is left out (empty texts, zeros, false, empty structs), unless it is held by pointer, so
that presence says something. `struct_decoding` adds what JSON always shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from celadon.kube.go.go_json import TOO_DEEP
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.metadata import gvk_of_texts
from celadon.kube.names import GroupVersionKind
from celadon.kube.protobuf.message_table import (
    JSON_SHAPES,
    MessageField,
    message_fields,
    message_of,
)
from celadon.kube.protobuf.wire import (
    EMPTY_BODY,
    EMPTY_DATA,
    GROUP_END,
    LENGTH,
    NO_PREFIX,
    PAYLOADS,
    SCALARS,
    NoMessageError,
    ProtobufError,
    misfit,
    missing_type,
    pass_over,
    read_length,
    read_payloads,
    read_text,
    read_varint,
    signed,
    sized,
    tag,
    text_bytes,
    wrong_wire_type,
)
from celadon.kube.releases import per_release
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Go field names ----------------------------------------------------------
#
# What Go calls the fields of its structs, for the complaints about wrong wire types.
#
# A JSON name in Go's spelling: capitalized, with its leading word in capitals when Go has it
# so. Fields that upstream names in no such way keep the name made by these rules.

_INITIALISMS: Final = frozenset(
    {
        *("api", "ca", "cidr", "cidrs", "csi", "dns", "fc", "fs", "gce", "gmsa", "grpc", "http"),
        *("id", "ip", "iqn", "iscsi", "json", "nfs", "os", "qos", "rbd", "tcp", "tls", "ttl"),
        *("tty", "uid", "url"),
    }
)
"""Words that Go writes in capitals (the plural of one keeps its small s)."""

_LEADING: Final = late_pattern("[a-z]+")


def go_field_name(name: str, type_: str) -> str:
    """`type_` is the full name of the message, or a scalar."""
    short = type_.rpartition(".")[2]
    if name.startswith("("):
        return short
    if name == "metadata":
        return short
    match = _LEADING.match(name)
    word = match.group() if match is not None else ""
    singular = word.removesuffix("s")
    if word in _INITIALISMS:
        return word.upper() + name[len(word) :]
    if singular in _INITIALISMS:
        return f"{singular.upper()}s{name[len(word) :]}"
    return name[:1].upper() + name[1:]


ReadField = Callable[[bytes, int, int, JsonDict], int]
"""Reads what follows a tag into the object; gives where it ends."""
ReadValue = Callable[[bytes, int, int], Any]
"""Reads all bytes between two places."""

_KEY_NUMBER: Final = 1
_VALUE_NUMBER: Final = 2


class MessageReader:
    """Reads one kind of message. Compiled when first used."""

    __slots__ = ("_fields", "_name", "_names")

    def __init__(self, name: str) -> None:
        self._name = name
        self._fields: dict[int, ReadField] | None = None
        self._names: dict[int, str] = {}

    def read(self, data: bytes, position: int, end: int, obj: JsonDict) -> JsonDict:
        """Add the fields to `obj` and return it. Raises ProtobufError."""
        fields = self._fields
        if fields is None:
            fields = self._compile()
        while position < end:
            start = position
            head = data[position]
            if head < 128:
                position += 1
            elif position + 1 < end and data[position + 1] < 128:
                head = head & 127 | data[position + 1] << 7
                position += 2
            else:
                head, position = read_varint(data, position, end)
            read_field = fields.get(head)
            if read_field is not None:
                position = read_field(data, position, end, obj)
            else:
                position = self._pass_over(head, data, start, position, end, obj)
        return obj

    def _pass_over(
        self, head: int, data: bytes, start: int, position: int, end: int, obj: dict[str, object]
    ) -> int:
        """Pass over a field that is not ours, or one that only a longer look shows to be."""
        number, wire_type = signed(head >> 3, 32), head & 7
        if number not in self._names or wire_type == GROUP_END:
            return pass_over(head, data, start, end, self._name.rpartition(".")[2])
        read_field = (self._fields or {}).get(number << 3 | wire_type)
        if read_field is None:
            raise wrong_wire_type(wire_type, self._names[number])
        return read_field(data, position, end, obj)

    def _compile(self) -> dict[int, ReadField]:
        self._fields = {}
        for field in message_fields(self._name):
            self._names[field.number] = go_field_name(field.name, field.type)
            for wire_type, read_field in _field_readers(field):
                self._fields[field.number << 3 | wire_type] = read_field
        return self._fields


@per_release()
def message_reader(name: str) -> MessageReader:
    return MessageReader(name)


def _field_readers(field: MessageField) -> list[tuple[int, ReadField]]:
    """Return the readers of a field, with the wire type for which each is good."""
    scalar = SCALARS.get(field.type)
    if scalar is not None:
        if field.repeated:
            return [
                (scalar.wire_type, _scalar_item_reader(field)),
                (LENGTH, _packed_reader(field)),
            ]
        return [(scalar.wire_type, _scalar_reader(field))]
    if field.mapped:
        return [(LENGTH, _map_reader(field))]
    if field.repeated:
        return [(LENGTH, _item_reader(field))]
    if field.type in PAYLOADS or field.type in JSON_SHAPES:
        return [(LENGTH, _value_reader(field))]
    return [(LENGTH, _inline_reader(field) if field.inline else _message_reader(field))]


def _scalar_reader(field: MessageField) -> ReadField:
    name, optional, read = field.name, field.optional, SCALARS[field.type].read

    def read_scalar(data: bytes, position: int, end: int, obj: dict[str, object]) -> int:
        value, position = read(data, position, end)
        if value or optional:
            obj[name] = value
        else:
            obj.pop(name, None)
        return position

    return read_scalar


def _scalar_item_reader(field: MessageField) -> ReadField:
    name, read = field.name, SCALARS[field.type].read

    def read_item(data: bytes, position: int, end: int, obj: JsonDict) -> int:
        value, position = read(data, position, end)
        obj.setdefault(name, []).append(value)
        return position

    return read_item


def _packed_reader(field: MessageField) -> ReadField:
    read_item = _scalar_item_reader(field)

    def read_packed(data: bytes, position: int, end: int, obj: dict[str, Json]) -> int:
        position, stop = read_length(data, position, end)
        while position < stop:
            position = read_item(data, position, stop, obj)
        return stop

    return read_packed


def _value(type_: str) -> tuple[ReadValue, Any]:
    """Return how to read a value from all bytes of its payload, and what no bytes at all stand
    for."""
    payload = PAYLOADS.get(type_)
    if payload is not None:
        return payload.read, payload.zero
    read, shape = message_reader(type_).read, JSON_SHAPES.get(type_)
    if shape is None:
        return lambda data, start, stop: read(data, start, stop, {}), {}
    value_of = shape.value_of
    return lambda data, start, stop: value_of(read(data, start, stop, {})), value_of({})


def _value_reader(field: MessageField) -> ReadField:
    name, optional = field.name, field.optional
    read, zero = _value(field.type)

    def read_value(data: bytes, position: int, end: int, obj: dict[str, Json]) -> int:
        if not optional and position < end and data[position] == 0:  # a third of all fields
            obj.pop(name, None)
            return position + 1
        start, stop = read_length(data, position, end)
        value = read(data, start, stop)
        if value is None or (value == zero and not optional):
            obj.pop(name, None)
        else:
            obj[name] = value
        return stop

    return read_value


def _item_reader(field: MessageField) -> ReadField:
    name, (read, _) = field.name, _value(field.type)

    def read_item(data: bytes, position: int, end: int, obj: JsonDict) -> int:
        start, stop = read_length(data, position, end)
        obj.setdefault(name, []).append(read(data, start, stop))
        return stop

    return read_item


def _message_reader(field: MessageField) -> ReadField:
    name, optional, read = field.name, field.optional, message_reader(field.type).read

    def read_message(data: bytes, position: int, end: int, obj: JsonDict) -> int:
        start, stop = read_length(data, position, end)
        value = read(data, start, stop, obj.get(name) or {})
        if value or optional:
            obj[name] = value
        return stop

    return read_message


def _inline_reader(field: MessageField) -> ReadField:
    read = message_reader(field.type).read

    def read_inline(data: bytes, position: int, end: int, obj: dict[str, object]) -> int:
        start, stop = read_length(data, position, end)
        read(data, start, stop, obj)
        return stop

    return read_inline


def _map_reader(field: MessageField) -> ReadField:
    name, (read, zero) = field.name, _value(field.type)

    def read_entry(data: bytes, position: int, end: int, obj: JsonDict) -> int:
        position, stop = read_length(data, position, end)
        key, value = "", zero
        while position < stop:
            head, after = read_varint(data, position, stop)
            number = signed(head >> 3, 32)
            if number not in (_KEY_NUMBER, _VALUE_NUMBER):
                position = pass_over(head, data, position, stop, name)
                continue
            start, position = read_length(data, after, stop)
            if number == _KEY_NUMBER:
                key = read_text(data, start, position)
            else:
                value = read(data, start, position)
        obj.setdefault(name, {})[key] = value
        return stop

    return read_entry


# --- Writing messages --------------------------------------------------------
#
# JSON objects to the bytes of their messages, as the code generated for Go writes them.
#
# Fields stand in the order of their numbers, map entries in that of their keys. What Go holds by
# value is written even when nobody set it; what it holds by pointer, lists and maps only when
# there is something. JSON null is the same as nothing. Members that the message does not have are
# not written.

Write = Callable[[Any], bytes]
"""A JSON value that is not null to the bytes of a field, its tag included."""

_KEY: Final = tag(1, LENGTH)
_WRITTEN_VALUE_NUMBER: Final = 2


class MessageWriter:
    """Writes one kind of message. Compiled when first used."""

    __slots__ = ("_fields", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._fields: tuple[tuple[str, bytes, Write], ...] | None = None

    def write(self, obj: object) -> bytes:
        """Write an object. Raises ProtobufError for a value that does not fit."""
        if obj.__class__ is not dict and not isinstance(obj, dict):
            raise misfit(self._name, "object")
        fields = self._fields
        if fields is None:
            by_number = sorted(message_fields(self._name), key=lambda field: field.number)
            fields = self._fields = tuple(map(self._compiled, by_number))
        parts = []
        for key, unset, write in fields:
            value = obj.get(key) if key else obj
            parts.append(unset if value is None else write(value))
        return b"".join(parts)

    def _compiled(self, field: MessageField) -> tuple[str, bytes, Write]:
        """Return the key in JSON (none for inline fields), the bytes without a value, and those of
        one."""
        field_name = f"{self._name}.{field.name}"
        if field.mapped:
            return field.name, b"", _map_writer(field, field_name)
        write = _single(field.type, field.number, field_name)
        if field.repeated:
            return field.name, b"", _list_writer(write, field, field_name)
        unset = (
            b"" if field.optional or field.inline else _unset(field.type, field.number, field_name)
        )
        return "" if field.inline else field.name, unset, write


@per_release()
def message_writer(name: str) -> MessageWriter:
    return MessageWriter(name)


def _single(type_: str, number: int, where: str) -> Write:
    scalar = SCALARS.get(type_)
    if scalar is not None:
        write_scalar, head = scalar.write, tag(number, scalar.wire_type)
        return lambda value: head + write_scalar(value, where)
    head = tag(number, LENGTH)
    payload = PAYLOADS.get(type_)
    if payload is not None:
        write_payload = payload.write
        return lambda value: head + sized(write_payload(value, where))
    write, shape = message_writer(type_).write, JSON_SHAPES.get(type_)
    if shape is not None:
        fields_of = shape.fields_of
        return lambda value: head + sized(write(fields_of(value, where)))
    return lambda value: head + sized(write(value))


def _unset(type_: str, number: int, where: str) -> bytes:
    """Return what Go writes for a value that nobody set."""
    scalar = SCALARS.get(type_)
    if scalar is not None:
        return tag(number, scalar.wire_type) + scalar.write(scalar.zero, where)
    payload = PAYLOADS.get(type_)
    unset = message_writer(type_).write({}) if payload is None else payload.unset
    return tag(number, LENGTH) + sized(unset)


def _list_writer(write: Write, field: MessageField, where: str) -> Write:
    def write_list(values: object) -> bytes:
        if not isinstance(values, list):
            raise misfit(where, "list")
        if None in values:
            unset = _unset(field.type, field.number, where)
            return b"".join(unset if value is None else write(value) for value in values)
        return b"".join(map(write, values))

    return write_list


def _map_writer(field: MessageField, where: str) -> Write:
    head, write = tag(field.number, LENGTH), _single(field.type, _WRITTEN_VALUE_NUMBER, where)

    def write_entry(key: object, value: object) -> bytes:
        written = (
            _unset(field.type, _WRITTEN_VALUE_NUMBER, where) if value is None else write(value)
        )
        return head + sized(_KEY + sized(text_bytes(key, where)) + written)

    def write_map(values: object) -> bytes:
        if not isinstance(values, dict):
            raise misfit(where, "object")
        return b"".join(write_entry(key, values[key]) for key in sorted(values))

    return write_map


# --- The envelope ------------------------------------------------------------
#
# Bodies of type `application/vnd.kubernetes.protobuf`: an object in the envelope that names it.
#
# A body is four magic bytes and the message `Unknown` of k8s.io/apimachinery `pkg/runtime`: the
# apiVersion and kind of the object, and the bytes of its message. Custom resources have no
# message, nor have tables; a server offers other media types for them.

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
"""What a client sends and accepts for one object."""

MAGIC: Final = b"k8s\0"
"""How every body begins; what does not is no protobuf of Kubernetes."""

_UNKNOWN: Final = {1: "TypeMeta", 2: "Raw", 3: "ContentEncoding", 4: "ContentType"}
_TYPE_META: Final = {1: "APIVersion", 2: "Kind"}
_NOWHERE: Final = (0, 0)
_FIRST, _SECOND = tag(1, LENGTH), tag(2, LENGTH)
_NO_CONTENT_TYPE: Final = tag(3, LENGTH) + b"\0" + tag(4, LENGTH) + b"\0"
"""The empty contentEncoding and contentType that end every envelope."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Holds what a body says it holds, and the message itself, not yet read."""

    gvk: GroupVersionKind
    raw: bytes


def has_message(gvk: GroupVersionKind) -> bool:
    """Return whether objects of this kind can be written and read."""
    return message_of(gvk) is not None


def open_envelope(body: bytes, default: GroupVersionKind | None = None) -> Envelope:
    """Return what the envelope of a body says. `default` fills in for what the envelope does not
    say. Raises ProtobufError."""
    if not body:
        raise ProtobufError(EMPTY_DATA)
    if not body.startswith(MAGIC):
        raise ProtobufError(NO_PREFIX)
    if len(body) == len(MAGIC):
        raise ProtobufError(EMPTY_BODY)
    parts = read_payloads(body, len(MAGIC), len(body), "Unknown", _UNKNOWN)
    meta = read_payloads(body, *parts.get(1, _NOWHERE), "TypeMeta", _TYPE_META)
    api_version, kind = (read_text(body, *meta.get(number, _NOWHERE)) for number in (1, 2))
    gvk = _with_defaults(gvk_of_texts(api_version, kind), default)
    if not gvk.kind:
        raise missing_type("Kind", api_version, kind)
    if not gvk.version:
        raise missing_type("apiVersion", api_version, kind)
    start, stop = parts.get(2, _NOWHERE)
    return Envelope(gvk, body[start:stop])


def _with_defaults(gvk: GroupVersionKind, default: GroupVersionKind | None) -> GroupVersionKind:
    if default is None:
        return gvk
    version = gvk.group_version if gvk.version else default.group_version
    return GroupVersionKind(*version, gvk.kind or default.kind)


def read_message(envelope: Envelope) -> dict[str, object]:
    """Return the object with its apiVersion and kind. Raises ProtobufError."""
    name = message_of(envelope.gvk)
    if name is None:
        raise NoMessageError(envelope.gvk)
    result = {"apiVersion": envelope.gvk.api_version, "kind": envelope.gvk.kind}
    try:
        return message_reader(name).read(envelope.raw, 0, len(envelope.raw), result)
    except RecursionError:
        raise ProtobufError(TOO_DEEP) from None


def decode(body: bytes, default: GroupVersionKind | None = None) -> JsonDict:
    """Return the object in a body, in the shape it has in JSON.

    `default` is the kind that an endpoint expects, for what the envelope does not say. Without its
    zeros: see `message_reader`. Raises ProtobufError, for a kind without message NoMessageError.
    """
    return read_message(open_envelope(body, default))


def encode(obj: JsonObject) -> bytes:
    """Return the body with an object that says its apiVersion and kind; an empty apiVersion, as
    some discovery documents have, is read as `v1`. Raises as `decode` does."""
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    gvk = gvk_of_texts("v1" if api_version == "" else str(api_version or ""), str(kind or ""))
    name = message_of(gvk)
    if name is None:
        raise NoMessageError(gvk)
    try:
        raw = message_writer(name).write(obj)
    except RecursionError:
        raise ProtobufError(TOO_DEEP) from None
    meta = _FIRST + sized(text_bytes(api_version, "apiVersion"))
    meta += _SECOND + sized(text_bytes(kind, "kind"))
    return b"".join((MAGIC, _FIRST, sized(meta), _SECOND, sized(raw), _NO_CONTENT_TYPE))


# --- Watch frames ------------------------------------------------------------
#
# Watch streams: frames with an event each (`application/vnd.kubernetes.protobuf;stream=watch`).
#
# A frame is four bytes of length, most significant first, and a bare `WatchEvent` of meta.v1;
# only the object in it is in an envelope. As k8s.io/apimachinery `pkg/util/framer` and the raw
# serializer of `pkg/runtime/serializer/protobuf`.

STREAM_MEDIA_TYPE: Final = MEDIA_TYPE + ";stream=watch"
"""What a watch is sent as, one frame after the other."""

_HEADER: Final = 4
_WATCH_FRAMES_FIRST, _WATCH_FRAMES_SECOND = tag(1, LENGTH), tag(2, LENGTH)


def encode_event(type_: str, obj: JsonObject) -> bytes:
    """Encode one frame. `type_` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. Raises
    ProtobufError."""
    extension = _WATCH_FRAMES_FIRST + sized(encode(obj))
    event = (
        _WATCH_FRAMES_FIRST
        + sized(text_bytes(type_, "type"))
        + _WATCH_FRAMES_SECOND
        + sized(extension)
    )
    return len(event).to_bytes(_HEADER, "big") + event
