"""What Go says of answers that it cannot read."""

from __future__ import annotations

import pytest

from celadon.apiserver.go_network import head_complaint

HEADS = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", None),
    (b"HTTP/1.1 200\r\nA: b\r\n continued\r\n\r\n: body\r\n", None),
    (b"HTTP/9.1 200 OK\r\n\r\n", None),
    (b"HTTP/1.1 200 O", None),
    (b"HTT", None),
    (b"HTTP/1.1 200 OK\r\nhalf a li", None),
    (b"", None),
    (b"hello\r\n", 'malformed HTTP response "hello"'),
    (b"hello", 'malformed HTTP response "hello"'),
    (b"\r\n", 'malformed HTTP response ""'),
    (b"hello world\r\n", 'malformed HTTP status code "world"'),
    (b"HTTP/1.1 99 \r\n", 'malformed HTTP status code "99"'),
    (b"HTTP/1.1 abc\r\n", 'malformed HTTP status code "abc"'),
    (b"HTTP/1.1\r\n", 'malformed HTTP response "HTTP/1.1"'),
    (b"HTTP/1 200 OK\r\n", 'malformed HTTP version "HTTP/1"'),
    (b"ICY 200 OK\r\n", 'malformed HTTP version "ICY"'),
    (b"HTTP/1.1 200 OK\n A: b\n\n", "malformed MIME header initial line:  A: b"),
    (b"HTTP/1.1 200 OK\r\nbad header\r\n", "malformed MIME header line: bad header"),
    (b"HTTP/1.1 200 OK\r\nA b: c\r\n", "malformed MIME header line: A b: c"),
    (b"HTTP/1.1 200 OK\r\nA: \x01\r\n", "malformed MIME header line: A: \x01"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n", 'bad Content-Length "-1"'),
    (b"HTTP/1.1 200 OK\r\nContent-Length:\r\n", 'invalid empty Content-Length ""'),
]


@pytest.mark.parametrize(("data", "complaint"), HEADS)
def test_heads(data: bytes, complaint: str | None) -> None:
    assert head_complaint(data) == complaint
