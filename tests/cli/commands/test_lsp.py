"""What is read from an editor has an end."""

from __future__ import annotations

import io
import json
import re
import socket
import subprocess
import sys
import time
from typing import Any

import pytest
from pygls.exceptions import JsonRpcInternalError

from celadon.cli.commands.lsp import MAX_HEAD_LINE_BYTES, MAX_MESSAGE_BYTES, BoundedInput
from celadon.cli.exit_codes import Exit
from celadon.cli.language_server.lsp_adapter import language_server
from celadon.cli.main import main

PATIENCE = 60.0


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


@pytest.mark.parametrize(
    "line", [b"POST / HTTP/1.1\r\n", b"Host: localhost\r\n", b"x\r\n", b" Content-Length: 1\r\n"]
)
def test_what_is_no_head_of_a_message_ends_the_session(
    capsys: pytest.CaptureFixture[str], line: bytes
) -> None:
    read = BoundedInput(io.BytesIO(line + b"Content-Length: 2\r\n\r\n{}"))
    assert read.readline() == b""
    assert capsys.readouterr().err == "celadon lsp: what comes is no message of an editor\n"


@pytest.mark.parametrize(
    "address", ["0.0.0.0:7777", "[::]:7777", "192.0.2.1:7777", "example.com:7777"]
)
def test_nobody_but_this_machine_may_connect(
    capsys: pytest.CaptureFixture[str], address: str
) -> None:
    assert main(["lsp", "--tcp", address]) == Exit.USAGE
    assert "is no address of the loopback" in capsys.readouterr().err


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def _connected(port: int) -> socket.socket:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.02)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: 99999999999999999999\r\n\r\n{",
        b"x" * (2 * MAX_HEAD_LINE_BYTES),
    ],
)
def test_an_editor_on_a_port_is_held_to_the_same(sent: bytes) -> None:
    port = _free_port()
    command = [sys.executable, "-m", "celadon", "lsp", "--tcp", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    with _connected(port) as editor:
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "shutdown"}).encode()
        editor.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(message), message))
        assert editor.recv(8) == b"Content-"
        editor.sendall(sent)
        assert process.wait(PATIENCE) == Exit.OK


def _talked(*bodies: bytes) -> tuple[list[dict[str, Any]], str]:
    """What the command answers to messages, and what it says on standard error."""
    sent = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    command = [sys.executable, "-m", "celadon", "lsp"]
    process = subprocess.run(command, input=sent, capture_output=True, timeout=PATIENCE, check=True)
    answers = re.split(rb"Content-[^\r]+\r\n(?:Content-[^\r]+\r\n)?\r\n", process.stdout)
    return [json.loads(answer) for answer in answers if answer], process.stderr.decode()


def test_what_nobody_can_read_is_answered_without_a_traceback() -> None:
    start = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
    unread = (
        b'{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":5}',
        b'{"jsonrpc":"2.0","id":"3","method":"textDocument/hover"}',
        b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":5}',
        b"[" * 100_000,
        b'{"jsonrpc":"2.0","method":"\xff"}',
        b"{}",
        b"null",
    )
    end = b'{"jsonrpc":"2.0","id":4,"method":"shutdown"}'
    answers, complaints = _talked(start, *unread, end)
    errors = {answer["id"]: answer.get("error") for answer in answers if "id" in answer}
    refused = {"code": -32602, "message": "Invalid Params"}
    assert errors == {1: None, 2: refused, "3": refused, 4: None}
    assert complaints.count("celadon lsp: ") == len(complaints.splitlines()) > 0


def test_what_fails_inside_is_told_without_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    server = language_server()
    monkeypatch.setattr(server.protocol, "_send_data", sent.append)
    error = JsonRpcInternalError("broken", data={"traceback": ["line 1"]})
    server.protocol._send_response(1, error=error.to_response_error())
    assert [(answer.error.message, answer.error.data) for answer in sent] == [("broken", None)]
