"""What the client for load reads of answers and events."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from bench.server.connection import Connection, WatchConnection

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"


@pytest.mark.parametrize("answer", [PLAIN, CHUNKED])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_an_answer_ends_where_it_says(answer: bytes, size: int) -> None:
    connection = Connection(iter(()), Mock())
    connection.connection_made(Mock())
    for start in range(0, len(answer), size):
        assert connection.answers == 0
        connection.data_received(answer[start : start + size])
    assert connection.answers == 1
    assert connection.last == answer


@pytest.mark.parametrize("size", [1, 5, 100])
def test_an_event_that_comes_in_parts_is_one(size: int) -> None:
    told = Mock()
    watch = WatchConnection(b"GET", told, Mock(), Mock())
    lines = b'{"type":"ADDED","object":{}}\n' * 2
    for start in range(0, len(lines), size):
        watch.data_received(lines[start : start + size])
    assert told.call_count == 2


@pytest.mark.parametrize("size", [1, 5, 100])
def test_a_watch_that_ends_has_failed(size: int) -> None:
    failed = Mock()
    watch = WatchConnection(b"GET", Mock(), Mock(), failed)
    watch.connection_made(Mock())
    answer = CHUNKED.replace(b"{}", b'{"type":"ERROR","object":{"code":504}}\n')
    for start in range(0, len(answer), size):
        assert failed.call_count == 0
        watch.data_received(answer[start : start + size])
    assert failed.call_count == 1
    watch.close()
    watch.connection_lost(None)
    assert failed.call_count == 1


def test_a_watch_whose_connection_is_closed_has_failed() -> None:
    failed = Mock()
    watch = WatchConnection(b"GET", Mock(), Mock(), failed)
    watch.connection_lost(None)
    assert "was closed" in str(failed.call_args)
