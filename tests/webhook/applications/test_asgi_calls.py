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
    (scope,) = seen
    assert scope["path"] == "/a b/c"
    assert scope["raw_path"] == b"/a%20b/c"
    assert scope["query_string"] == b"x=1&y"
    assert scope["headers"] == [(b"x-name", "v\u00e4lue".encode())]
    assert scope["state"] == {"kept": 1}
    expected = {"method": "POST", "scheme": "https", "client": ("10.0.0.1", 0), "type": "http"}
    assert expected.items() <= scope.items()


def test_an_answer_is_put_together() -> None:
    async def application(_scope: Scope, _receive: Receive, send: Send) -> None:
        given = [(b"Content-Type", b"text/x"), (b"content-length", b"9"), (b"x-a", b"1")]
        await started(send, 201, *given)
        for part in (b"one ", b"two "):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await ended(send, b"three")

    assert called(application) == HttpAnswer(201, "text/x", b"one two three", (("x-a", "1"),))


async def headless(_scope: Scope, _receive: Receive, send: Send) -> None:
    await ended(send, b"x")


async def half(_scope: Scope, _receive: Receive, send: Send) -> None:
    await started(send)


@pytest.mark.parametrize(
    ("application", "error"),
    [(silent, NoAnswer), (half, NoAnswer), (broken, RuntimeError), (headless, ValueError)],
)
def test_what_is_no_answer(application: Application, error: type[Exception]) -> None:
    with pytest.raises(error):
        called(application)
