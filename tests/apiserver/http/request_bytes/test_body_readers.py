"""Where bodies end, and what of chunks is refused, in Go's words."""

from __future__ import annotations

import pytest

from celadon.apiserver.http.request_bytes import (
    CHUNKS_AT_ONCE,
    MOST_CHUNKS,
    BodyReader,
    ChunkedBody,
    RequestRefused,
    SizedBody,
)


def taken(reader: BodyReader, data: bytes, step: int) -> tuple[bytes, bytes]:
    """The content, and what is left, when so many bytes come at a time."""
    unread, found = bytearray(), bytearray()
    for at in range(0, len(data), step):
        unread += data[at : at + step]
        if not reader.is_whole:
            found += reader.take(unread)
    return bytes(found), bytes(unread)


STEPS = [1, 2, 3, 1000]


@pytest.mark.parametrize("step", STEPS)
def test_a_body_of_a_length(step: int) -> None:
    reader = SizedBody(3)
    assert taken(reader, b"abcGET", step) == (b"abc", b"GET")
    assert reader.is_whole
    assert SizedBody(0).is_whole


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "data",
    [
        b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        b"003 \t\r\nabc\r\n2;x=\xff\r\nde\r\n0;y\r\n\r\n",
        b"5\r\nabcde\r\n0\r\nX: y\r\nZ: a\r\n\r\n",
    ],
)
def test_a_body_in_chunks(data: bytes, step: int) -> None:
    reader = ChunkedBody()
    assert taken(reader, data + b"GET", step) == (b"abcde", b"GET")
    assert reader.is_whole


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"zz\r\n", "invalid byte in chunk length"),
        (b"\r\n", "invalid byte in chunk length"),
        (b" 1\r\n", "invalid byte in chunk length"),
        (b"0x1\r\n", "invalid byte in chunk length"),
        (b"-1\r\n", "invalid byte in chunk length"),
        (b"00000000000000001\r\n", "invalid byte in chunk length"),
        (b"1\n", "chunked line ends with bare LF"),
        (b"1\r;\r\n", "invalid CR in chunked line"),
        (b"1\r\nabc", "malformed chunked encoding"),
        (b"1;" + b"x" * 5000, "header line too long"),
        (b"0\r\nX: " + b"y" * 5000, "http: suspiciously long trailer after chunked body"),
        ((b"1;" + b"x" * 4000 + b"\r\na\r\n") * 5, "chunked encoding contains too much non-data"),
    ],
)
def test_refused(data: bytes, why: str, step: int) -> None:
    with pytest.raises(RequestRefused, match=f"^400 Bad Request: {why}$"):
        taken(ChunkedBody(), data, step)


def test_a_trailer_is_made_of_headers() -> None:
    with pytest.raises(RequestRefused, match=r"^400 Bad Request$"):
        taken(ChunkedBody(), b"0\r\nno header\r\n\r\n", 1000)


def test_there_may_not_be_any_number_of_chunks() -> None:
    few = b"1\r\nx\r\n" * 10
    assert taken(ChunkedBody(), few, 1000)[0] == b"x" * 10
    reader, unread = ChunkedBody(), bytearray(b"1\r\nx\r\n" * (MOST_CHUNKS + 1))
    for _ in range(MOST_CHUNKS // CHUNKS_AT_ONCE):
        reader.take(unread)
    with pytest.raises(RequestRefused, match="too much non-data"):
        reader.take(unread)


def test_few_of_many_chunks_are_taken_at_once() -> None:
    reader = ChunkedBody()
    unread = bytearray(b"1\r\nx\r\n" * (CHUNKS_AT_ONCE + 1) + b"0\r\n\r\nGET")
    assert len(reader.take(unread)) == CHUNKS_AT_ONCE
    assert (reader.is_behind, reader.is_whole) == (True, False)
    assert reader.take(unread) == b"x"
    assert (reader.is_behind, reader.is_whole, bytes(unread)) == (False, True, b"GET")
