"""Between ASGI and the handler, without a network."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from celadon.serve.http_messages import HttpAnswer, HttpRequest, plain_text
from celadon.serve.transport.asgi_app import CERTIFICATE, AsgiApp

SCOPE = {
    "type": "http",
    "method": "GET",
    "raw_path": b"/a%2Fb",
    "query_string": b"c=d",
    "headers": [(b"x-name", "Grüße".encode()), (b"x-bytes", b"\xff")],
    "client": ("10.0.0.1", 4711),
    CERTIFICATE: b"der",
}


def asked(app: AsgiApp, **changed: Any) -> list[Any]:
    """All messages that an application sends for a request whose body is empty."""
    sent = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    asyncio.run(app({**SCOPE, **changed}, receive, send))
    return sent


def test_a_request_comes_as_it_was_sent() -> None:
    seen: list[HttpRequest] = []

    async def handle(request: HttpRequest) -> HttpAnswer:
        seen.append(request)
        return plain_text(200, "")

    asked(AsgiApp(handle))
    (request,) = seen
    assert request.target == "/a%2Fb?c=d"
    assert request.headers == [("x-name", "Grüße"), ("x-bytes", "ÿ")]
    assert request.client_certificate == b"der"
    assert request.remote_address == "10.0.0.1"


def test_an_answer_goes_with_its_length_and_its_headers_on_one_line() -> None:
    async def handle(_: HttpRequest) -> HttpAnswer:
        return HttpAnswer(299, "text/x", b"four", (("Warning", "one\r\ntwo"),))

    start, body = asked(AsgiApp(handle))
    assert start["status"] == 299
    assert start["headers"] == [
        (b"Warning", b"one  two"),
        (b"content-type", b"text/x"),
        (b"content-length", b"4"),
    ]
    assert body == {"type": "http.response.body", "body": b"four", "more_body": False}


def test_a_bug_is_an_answer_and_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def handle(_: HttpRequest) -> HttpAnswer:
        raise KeyError("oops")

    with caplog.at_level(logging.ERROR):
        start, body = asked(AsgiApp(handle))
    assert start["status"] == 500
    assert body["body"] == b"Internal Server Error\n"
    assert "this is a bug in celadon" in caplog.text


def test_a_stream_ends_with_the_server() -> None:
    async def endless() -> Any:
        yield b"one"
        await asyncio.Event().wait()

    async def handle(_: HttpRequest) -> HttpAnswer:
        return HttpAnswer(200, "text/plain", stream=endless())

    async def run() -> list[Any]:
        app, sent = AsgiApp(handle), []

        async def send(message: Any) -> None:
            sent.append(message)
            if message.get("body"):
                app.end_streams()

        async def receive() -> Any:
            await asyncio.Event().wait()

        await app(dict(SCOPE), receive, send)
        return sent

    sent = asyncio.run(run())
    assert [one.get("body") for one in sent] == [None, b"one", b""]
    assert sent[-1]["more_body"] is False
