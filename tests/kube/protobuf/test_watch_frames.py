"""The frames of watch streams."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.protobuf import (
    STREAM_MEDIA_TYPE,
    NoMessageError,
    ProtobufError,
    decode_event,
    encode,
    encode_event,
    split_frames,
)

BOOKMARK: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"resourceVersion": "12"},
}
GONE = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 410}


def test_a_frame_to_the_byte() -> None:
    """The event has no envelope, the object in it has one."""
    body = encode(BOOKMARK)
    size = len(body)
    assert size < 120
    event = b"\x0a\x08BOOKMARK\x12" + bytes([size + 2, 0x0A, size]) + body
    assert encode_event("BOOKMARK", BOOKMARK) == b"\0\0\0" + bytes([len(event)]) + event
    assert STREAM_MEDIA_TYPE == "application/vnd.kubernetes.protobuf;stream=watch"


@given(st.integers(0, 400))
def test_frames_in_pieces(cut: int) -> None:
    stream = encode_event("BOOKMARK", BOOKMARK) + encode_event("ERROR", GONE)
    first, rest = split_frames(stream[:cut])
    second, nothing = split_frames(rest + stream[cut:])
    events = [decode_event(frame) for frame in first + second]
    assert events == [("BOOKMARK", BOOKMARK), ("ERROR", GONE)]
    assert nothing == b""


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (b"", "empty data"),
        (b"\x0a\x05ADDED", "empty data"),
        (b"\x08\x01", "proto: wrong wireType = 0 for field Type"),
        (b"\x0a\x05ADD", "unexpected EOF"),
        (b"\x12\x04\x0a\x02{}", "provided data does not appear to be a protobuf message, "
         "expected prefix [107 56 115 0]"),
    ],
)  # fmt: skip
def test_events_that_are_refused(frame: bytes, text: str) -> None:
    with pytest.raises(ProtobufError) as caught:
        decode_event(frame)
    assert str(caught.value) == text


def test_tables_have_no_frames() -> None:
    with pytest.raises(NoMessageError):
        encode_event("ADDED", {"apiVersion": "meta.k8s.io/v1", "kind": "Table"})
