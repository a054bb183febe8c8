"""Requests as applications get them, answers as they send them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from celadon.apiserver import HttpAnswer, HttpRequest
from celadon.webhook.applications import Application, AsgiCall, NoAnswer
from celadon.webhook.webhook_app import Receive, Scope, Send
from tests.webhook.applications.applications import broken, ended, silent, started

REQUEST = HttpRequest(
    "POST", "/a%20b/c?x=1&y", [("x-name", "v\u00e4lue")], b"body", remote_address="10.0.0.1"
)


def called(application: Application, **state: Any) -> HttpAnswer:
    async def call() -> HttpAnswer:
        one = AsgiCall(REQUEST, "https", state)
        await one.run(application)
        return await one.answer

    return asyncio.run(asyncio.wait_for(call(), 60))


def test_what_an_application_gets() -> None:
    seen: list[Scope] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        assert await receive() == {"type": "http.request", "body": b"body", "more_body": False}
        await started(send)
        await ended(send)
        assert await receive() == {"type": "http.disconnect"}

    assert called(application, kept=1).code == 200
    assert seen == [
        {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "https",
            "path": "/a b/c",
            "raw_path": b"/a%20b/c",
            "query_string": b"x=1&y",
            "root_path": "",
            "headers": [(b"x-name", "v\u00e4lue".encode())],
            "client": ("10.0.0.1", 0),
            "server": None,
            "state": {"kept": 1},
        }
    ]


def test_an_answer_is_put_together() -> None:
    async def application(_scope: Scope, _receive: Receive, send: Send) -> None:
        given = [
            (b"Content-Type", b"text/x"),
            (b"content-length", b"9"),
            (b"Transfer-Encoding", b"chunked"),
            (b"connection", b"close"),
            (b"x-a", b"\xe4"),
        ]
        await started(send, 201, *given)
        for part in (b"one ", b"two "):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await ended(send, b"three")

    assert called(application) == HttpAnswer(201, "text/x", b"one two three", (("x-a", "\u00e4"),))


async def headless(_scope: Scope, _receive: Receive, send: Send) -> None:
    await ended(send, b"x")


async def half(_scope: Scope, _receive: Receive, send: Send) -> None:
    await started(send)


@pytest.mark.parametrize(
    ("application", "error", "text"),
    [
        (silent, NoAnswer, "there is no answer"),
        (half, NoAnswer, "there is no answer"),
        (broken, RuntimeError, "http"),
        (headless, ValueError, "`http.response.body` is not expected here"),
    ],
)
def test_what_is_no_answer(application: Application, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        called(application)
    assert str(caught.value) == text
