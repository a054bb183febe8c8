"""What is read from an editor has an end."""

from __future__ import annotations

import io

import pytest

from celadon.cli.commands.lsp import MAX_HEAD_LINE_BYTES, MAX_MESSAGE_BYTES, BoundedInput


def test_what_is_not_too_long_is_read() -> None:
    read = BoundedInput(io.BytesIO(b"Content-Length: 2\r\n\r\n{}"))
    assert [read.readline(), read.readline(), read.read(2), read.readline()] == [
        b"Content-Length: 2\r\n",
        b"\r\n",
        b"{}",
        b"",
    ]


@pytest.mark.parametrize("size", [MAX_MESSAGE_BYTES + 1, 10**30])
def test_a_message_beyond_measure_ends_the_session(
    capsys: pytest.CaptureFixture[str], size: int
) -> None:
    assert BoundedInput(io.BytesIO(b"{}")).read(size) == b""
    assert capsys.readouterr().err == f"celadon lsp: a message of {size} bytes is too long\n"


def test_a_line_without_end_ends_the_session() -> None:
    stream = io.BytesIO(b"x" * (MAX_HEAD_LINE_BYTES * 2))
    assert BoundedInput(stream).readline() == b""
    assert stream.tell() == MAX_HEAD_LINE_BYTES
