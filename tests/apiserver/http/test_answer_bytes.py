"""Answers as bytes."""

from __future__ import annotations

from celadon.apiserver.http.http_connection import LatestChunk, chunk, head
from celadon.apiserver.http_messages import HttpAnswer


def lines(answer: HttpAnswer, *, chunked: bool = False, close: bool = False) -> list[str]:
    """Of the head, without the date."""
    first, date, *rest = head(answer, chunked=chunked, close=close).decode().split("\r\n")
    assert date.startswith("Date: ")
    assert date.endswith(" GMT")
    return [first, *rest]


def test_an_answer_goes_with_its_length_and_its_headers_on_one_line() -> None:
    answer = HttpAnswer(200, "text/x", b"four", (("Warning", "one\r\ntwo Grüße"),))
    assert lines(answer) == [
        "HTTP/1.1 200 OK",
        "Warning: one  two Grüße",
        "Content-Type: text/x",
        "Content-Length: 4",
        "",
        "",
    ]


def test_what_has_no_body_has_no_length() -> None:
    assert lines(HttpAnswer(304)) == ["HTTP/1.1 304 Not Modified", "", ""]


def test_a_connection_that_ends_says_so_and_a_stream_has_chunks() -> None:
    found = lines(HttpAnswer(299, "text/x"), chunked=True, close=True)
    assert found[0] == "HTTP/1.1 299 "
    assert found[2:4] == ["Transfer-Encoding: chunked", "Connection: close"]


def test_a_chunk_has_its_length_before_it() -> None:
    assert chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"


def test_of_what_many_are_sent_there_is_one_chunk() -> None:
    chunks, line = LatestChunk(), b"x" * 26
    first = chunks.of(line)
    assert first == chunk(line)
    assert chunks.of(line) is first
    assert chunks.of(b"y") == chunk(b"y")
