"""Heads of requests, and what is said of those that are none: as Go's net/http says it."""

from __future__ import annotations

import pytest

from celadon.apiserver.http import request_bytes
from celadon.apiserver.http.request_bytes import (
    MOST_HEADERS,
    RequestRefused,
    check_first_line,
    head_end,
    read_head,
)

LINE = b"GET / HTTP/1.1\r\n"
HOST = b"Host: x\r\n"
GENERIC = "400 Bad Request"
NO_HOST = "400 Bad Request: missing required Host header"
VERSION = "505 HTTP Version Not Supported: unsupported protocol version"
CODING = "501 Not Implemented"

REFUSED = [
    ("no Host", LINE, NO_HOST),
    ("no Host in 1.2", b"GET / HTTP/1.2\r\n", NO_HOST),
    ("two Hosts", LINE + HOST + HOST, GENERIC),
    ("a Host that is none", LINE + b"Host: a b\r\n", "400 Bad Request: malformed Host header"),
    ("a Host in UTF-8", LINE + b"Host: \xc3\xbc\r\n", "400 Bad Request: malformed Host header"),
    ("version 2", b"GET / HTTP/2.0\r\n" + HOST, VERSION),
    ("version 0.9", b"GET / HTTP/0.9\r\n" + HOST, VERSION),
    ("a version before the Host", b"GET / HTTP/3.0\r\n", VERSION),
    ("no version", b"GET /\r\n" + HOST, GENERIC),
    ("half a version", b"GET / HTTP/1\r\n" + HOST, GENERIC),
    ("a version of letters", b"GET / HTTP/1.x\r\n" + HOST, GENERIC),
    ("two spaces", b"GET  / HTTP/1.1\r\n" + HOST, GENERIC),
    ("no method", b" / HTTP/1.1\r\n" + HOST, GENERIC),
    ("a method that is no token", b"G@T / HTTP/1.1\r\n" + HOST, GENERIC),
    ("no target", b"GET  HTTP/1.1\r\n" + HOST, GENERIC),
    ("a relative target", b"GET a HTTP/1.1\r\n" + HOST, GENERIC),
    ("a broken escape", b"GET /%zz HTTP/1.1\r\n" + HOST, GENERIC),
    ("NUL in the target", b"GET /\0 HTTP/1.1\r\n" + HOST, GENERIC),
    ("a first header that goes on", LINE + b" X: y\r\n" + HOST, GENERIC),
    ("no colon", LINE + HOST + b"X\r\n", GENERIC),
    ("no name", LINE + HOST + b": y\r\n", GENERIC),
    ("a name that is no token", LINE + HOST + b"X(: y\r\n", GENERIC),
    ("a space before the colon", LINE + HOST + b"X : y\r\n", GENERIC + ": invalid header name"),
    ("NUL in a value", LINE + HOST + b"X: \0\r\n", GENERIC),
    ("a carriage return in a value", LINE + HOST + b"X: a\rb\r\n", GENERIC),
    ("another coding", LINE + HOST + b"Transfer-Encoding: x, chunked\r\n", CODING),
    ("two codings", LINE + HOST + b"Transfer-Encoding: chunked\r\n" * 2, CODING),
    ("identity", LINE + HOST + b"Transfer-Encoding: identity\r\n", CODING),
    ("no coding", LINE + HOST + b"Transfer-Encoding:\r\n", CODING),
    ("a coding before the Host", LINE + b"Transfer-Encoding: gzip\r\n", CODING),
    ("different lengths", LINE + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n", GENERIC),
    ("an empty length", LINE + HOST + b"Content-Length:\r\n", GENERIC),
    ("a length with a sign", LINE + HOST + b"Content-Length: +1\r\n", GENERIC),
    ("a length in hexadecimal", LINE + HOST + b"Content-Length: 0x1\r\n", GENERIC),
    ("two lengths in one", LINE + HOST + b"Content-Length: 1, 1\r\n", GENERIC),
    ("a length without end", LINE + HOST + b"Content-Length: 9223372036854775808\r\n", GENERIC),
    (
        "a length and chunks, which Go takes",
        LINE + HOST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        GENERIC,
    ),
    (
        "a trailer that may not be one",
        LINE + HOST + b"Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n",
        GENERIC,
    ),
]


@pytest.mark.parametrize(("head", "why"), [row[1:] for row in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(head: bytes, why: str) -> None:
    with pytest.raises(RequestRefused) as error:
        read_head(head + b"\r\n")
    body = "Unsupported transfer encoding" if why == CODING else why
    plain = "Content-Type: text/plain; charset=utf-8\r\nConnection: close"
    assert error.value.answer.decode() == f"HTTP/1.1 {why}\r\n{plain}\r\n\r\n{body}"


@pytest.mark.parametrize(
    ("head", "method", "target", "headers"),
    [
        (LINE + HOST, "GET", "/", [("host", "x")]),
        (LINE + b"Host:\r\n", "GET", "/", [("host", "")]),
        (b"frob * HTTP/1.0\r\n", "frob", "*", []),
        (b"GET / HTTP/1.1\nHost: x\n", "GET", "/", [("host", "x")]),
        (LINE + HOST + b"A: b\r\n\t c\r\n", "GET", "/", [("host", "x"), ("a", "b c")]),
        (LINE + HOST + b"A:\t b \r\n", "GET", "/", [("host", "x"), ("a", "b")]),
        (LINE + HOST + b"A: \xc3\xbc\r\n", "GET", "/", [("host", "x"), ("a", "ü")]),
        (LINE + HOST + b"A: b\xe9\r\n", "GET", "/", [("host", "x"), ("a", "b\ufffd")]),
        (b"GET http://u@h:1/a?b HTTP/1.1\r\n" + HOST, "GET", "/a?b", [("host", "x")]),
        (b"CONNECT a:1 HTTP/1.1\r\n", "CONNECT", "/", []),
        (b"PRI * HTTP/2.0\r\n", "PRI", "*", []),
    ],
)
def test_taken(head: bytes, method: str, target: str, headers: list[tuple[str, str]]) -> None:
    found = read_head(head + b"\r\n")
    assert (found.method, found.target, list(found.headers)) == (method, target, headers)


@pytest.mark.parametrize(
    ("version", "headers", "keep_alive"),
    [
        (b"1.1", b"", True),
        (b"1.1", b"Connection: keep-alive, Close\r\n", False),
        (b"1.0", b"", False),
        (b"1.0", b"Connection: x\r\nConnection: keep-alive\r\n", True),
        (b"1.0", b"Connection: keep-alive, close\r\n", False),
    ],
)
def test_whether_the_connection_stays(version: bytes, headers: bytes, *, keep_alive: bool) -> None:
    found = read_head(b"GET / HTTP/" + version + b"\r\n" + HOST + headers + b"\r\n")
    assert found.keep_alive == keep_alive


def test_no_connection_stays_behind_a_wish_for_a_tunnel() -> None:
    assert not read_head(b"CONNECT /a HTTP/1.1\r\n" + HOST + b"\r\n").keep_alive


@pytest.mark.parametrize(
    ("headers", "length", "chunked"),
    [
        (b"", 0, False),
        (b"Content-Length: 007\r\nContent-Length: 007\r\n", 7, False),
        (b"Content-Length: 9223372036854775807\r\n", (1 << 63) - 1, False),
        (b"Content-Length: " + b"0" * 5_000 + b"7\r\n", 7, False),
        (b"Transfer-Encoding: CHUNKED\r\n", 0, True),
    ],
)
def test_how_the_body_ends(headers: bytes, length: int, *, chunked: bool) -> None:
    found = read_head(LINE + HOST + headers + b"\r\n")
    assert (found.length, found.chunked) == (length, chunked)


def test_an_old_client_has_no_chunks() -> None:
    assert not read_head(b"GET / HTTP/1.0\r\nTransfer-Encoding: gzip\r\n\r\n").chunked


@pytest.mark.parametrize(
    ("expected", "continues", "is_expected"),
    [(b"100-continue", True, True), (b"a, 100-Continue", True, True), (b"x", False, False)],
)
def test_what_is_expected_of_us(expected: bytes, *, continues: bool, is_expected: bool) -> None:
    head = LINE + HOST + b"Content-Length: 1\r\nExpect: " + expected + b"\r\n\r\n"
    found = read_head(head)
    assert (found.continues, found.is_expected) == (continues, is_expected)


@pytest.mark.parametrize(
    ("unread", "end"),
    [
        (b"GET", -1),
        (b"a\r\nb\r\n", -1),
        (b"a\r\n\r\nb", 5),
        (b"a\n\nb\r\n\r\n", 3),
        (b"a\n\n\r\n", 3),
        (b"\n\nb", 2),
        (b"\n\r\nb", 3),
    ],
)
def test_where_a_head_ends(unread: bytes, end: int) -> None:
    for scanned in range(len(unread)):
        if end < 0 or scanned < end:
            assert head_end(bytearray(unread), scanned) == end


def test_the_first_line_is_enough_to_refuse() -> None:
    check_first_line(bytearray(b"GET / HTTP/1.1\r\nHo"))
    check_first_line(bytearray(b"\x16\x03\x01"))
    with pytest.raises(RequestRefused):
        check_first_line(bytearray(b"\x16\x03\n"))


AGAIN = HOST + b"Content-Length: 3\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"POST /other HTTP/1.1\r\n" + AGAIN,
        b"POST /other HTTP/1.0\r\n" + AGAIN,
        b"CONNECT x:1 HTTP/1.1\r\n" + AGAIN,
        b"GET / HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / HTTP/1.0\r\n" + HOST + b"\r\n",
    ],
)
def test_headers_that_are_known_are_read_as_those_that_are_not(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_head(b"PUT /first HTTP/1.1\r\n" + AGAIN)
    known = read_head(head)
    monkeypatch.setattr(request_bytes, "KNOWN_BYTES", 0)
    assert read_head(head) == known


def test_headers_that_came_before_are_shared_whatever_came_between() -> None:
    first = read_head(b"PUT /first HTTP/1.1\r\n" + AGAIN)
    other = read_head(b"PUT /other HTTP/1.1\r\n" + HOST + b"Content-Length: 7\r\n\r\n")
    assert other.length == 7
    assert read_head(b"PUT /first HTTP/1.1\r\n" + AGAIN).headers is first.headers


def test_what_is_refused_is_refused_again() -> None:
    read_head(b"CONNECT x:1 HTTP/1.1\r\n\r\n")
    for _ in range(2):
        with pytest.raises(RequestRefused, match="missing required Host"):
            read_head(b"GET / HTTP/1.1\r\n\r\n")


def test_more_headers_than_anybody_sends_are_refused() -> None:
    most = LINE + HOST + b"a: b\r\n" * (MOST_HEADERS - 1)
    assert len(read_head(most + b"\r\n").headers) == MOST_HEADERS
    with pytest.raises(RequestRefused, match="431"):
        read_head(most + b"a: b\r\n\r\n")


def test_of_a_long_list_the_first_parts_count() -> None:
    known = LINE + HOST + b"Connection: a, Close ,b\r\n\r\n"
    assert not read_head(known).keep_alive
    part = LINE + HOST + b"Connection: closed,enclose\r\n\r\n"
    assert read_head(part).keep_alive
    long = LINE + HOST + b"Connection: " + b"a," * 300_000 + b"close\r\n\r\n"
    assert read_head(long).keep_alive
