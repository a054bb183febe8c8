"""Whatever the bytes, they are an object or a ProtobufError, and soon."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.kube import GroupVersionKind
from celadon.kube.protobuf import ProtobufError, decode, encode, kinds
from celadon.kube.protobuf.wire import sized
from tests.examples import examples
from tests.kube.protobuf.objects import objects

KINDS = sorted(kinds())


def read(body: bytes) -> None:
    with suppress(ProtobufError):
        json.dumps(decode(body), allow_nan=False)


def named(gvk: GroupVersionKind, message: bytes) -> bytes:
    meta = b"\x0a" + sized(gvk.api_version.encode()) + b"\x12" + sized(gvk.kind.encode())
    return b"k8s\0\x0a" + sized(meta) + b"\x12" + sized(message)


@given(st.binary())
def test_any_body(body: bytes) -> None:
    read(body)
    read(b"k8s\0" + body)


_TAGS = st.builds(
    lambda number, wire: bytes([number << 3 | wire]), st.integers(0, 15), st.integers(0, 7)
)
_PIECES = st.one_of(_TAGS, st.binary(max_size=3), st.integers(0, 9).map(lambda n: bytes([n])))


@settings(max_examples=examples(300))
@given(st.sampled_from(KINDS), st.lists(_PIECES, max_size=30).map(b"".join))
def test_any_message(gvk: GroupVersionKind, message: bytes) -> None:
    read(named(gvk, message))


@pytest.mark.thorough
@given(st.sampled_from(KINDS).flatmap(objects), st.data())
def test_damaged_bodies(obj: dict[str, Any], data: st.DataObject) -> None:
    body = bytearray(encode(obj))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(body) - 1))
        if data.draw(st.booleans()):
            body[place] = data.draw(st.integers(0, 255))
        else:
            del body[place:]
            break
    read(bytes(body))
    read(bytes(body[: data.draw(st.integers(0, len(body)))]))


POD = GroupVersionKind("", "v1", "Pod")
LARGE = {
    "many groups": named(POD, b"\xa3\x06" * 500_000),
    "many groups with ends": named(POD, b"\xa3\x06\xa4\x06" * 250_000),
    "many empty containers": named(POD, b"\x12" + sized(b"\x12\x00" * 500_000)),
    "many unknown fields": named(POD, b"\xa0\x06\x01" * 300_000),
    "many finalizers": named(POD, b"\x0a" + sized(b"\x72\x00" * 500_000)),
    "the same struct many times": named(POD, b"\x0a\x00" * 500_000),
}


@pytest.mark.thorough
@pytest.mark.parametrize("body", LARGE.values(), ids=LARGE)
def test_a_megabyte_is_read_in_time(body: bytes) -> None:
    started = time.process_time()
    read(body)
    assert time.process_time() - started < 5
