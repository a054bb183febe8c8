"""Google's library reads what we write, finds nothing unknown in it, and writes the same bytes."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import GroupVersionKind, parse_api_version
from celadon.kube.protobuf import decode, encode, kinds, message_fields, message_of, open_envelope
from tests.kube.protobuf.descriptors import message_class
from tests.kube.protobuf.objects import objects


@pytest.mark.thorough
@given(st.sampled_from(sorted(kinds())).flatmap(objects))
def test_the_same_bytes(obj: dict[str, Any]) -> None:
    name = message_of(GroupVersionKind(*parse_api_version(obj["apiVersion"]), obj["kind"]))
    assert name is not None
    raw = open_envelope(encode(obj)).raw
    message = message_class(name).FromString(raw)
    again = message.SerializeToString(deterministic=True)
    if _assert_known(message):
        assert len(again) == len(raw)  # its order of map entries is not Go's
    else:
        assert again == raw


def _assert_known(message: Message) -> bool:
    """Says whether a map with several entries is inside."""
    several = False
    assert len(UnknownFieldSet(message)) == 0
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            several |= len(value) > 1
            if field.message_type.fields_by_name["value"].message_type is not None:
                several = True in {several, *map(_assert_known, value.values())}
        else:
            inner = value if field.is_repeated else (value,)
            several = True in {several, *map(_assert_known, inner)}
    return several


def test_by_value_fields_are_always_there() -> None:
    """Of a pod with nothing set, exactly the fields are written that are not optional."""
    empty = {"apiVersion": "v1", "kind": "Pod"}
    message = message_class("core.v1.Pod").FromString(open_envelope(encode(empty)).raw)
    _assert_complete(message, "core.v1.Pod")


def _assert_complete(message: Message, name: str) -> None:
    written = {field.number for field, _ in message.ListFields()}
    by_value = {
        field.number: field
        for field in message_fields(name)
        if not (field.optional or field.repeated or field.mapped)
    }
    assert written == set(by_value), name
    for descriptor, value in message.ListFields():
        type_ = by_value[descriptor.number].type
        if descriptor.message_type is not None and type_ != "meta.v1.Time":
            _assert_complete(value, type_)


@given(st.text(min_size=1), st.binary(min_size=1))
def test_what_it_writes_is_read(name: str, other: bytes) -> None:
    """Fields that Go would have written may be missing."""
    secret = message_class("core.v1.Secret")()
    secret.f1.f1 = name.encode()
    secret.f2[name] = other
    meta = message_class("core.v1.PodSpec")  # any message with fields that a Secret does not have
    unknown = meta(f20=[])
    body = encode({"apiVersion": "v1", "kind": "Secret"})
    head = body[: body.index(b"\x12\x06Secret") + 8]
    raw = secret.SerializeToString() + unknown.SerializeToString()
    size = len(raw)
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
    obj = decode(head + b"\x12" + length + raw)
    assert obj["metadata"] == {"name": name}
    assert list(obj["data"]) == [name]
