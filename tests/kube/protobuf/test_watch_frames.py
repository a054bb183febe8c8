"""The frames of watch streams."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.protobuf import STREAM_MEDIA_TYPE, NoMessageError, encode, encode_event

BOOKMARK: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"resourceVersion": "12"},
}


def test_a_frame_to_the_byte() -> None:
    """The event has no envelope, the object in it has one."""
    body = encode(BOOKMARK)
    size = len(body)
    assert size < 120
    event = b"\x0a\x08BOOKMARK\x12" + bytes([size + 2, 0x0A, size]) + body
    assert encode_event("BOOKMARK", BOOKMARK) == b"\0\0\0" + bytes([len(event)]) + event
    assert STREAM_MEDIA_TYPE == "application/vnd.kubernetes.protobuf;stream=watch"


def test_tables_have_no_frames() -> None:
    with pytest.raises(NoMessageError):
        encode_event("ADDED", {"apiVersion": "meta.k8s.io/v1", "kind": "Table"})
