"""A handler that fails, and what is logged."""

from __future__ import annotations

import asyncio
import logging

import pytest

from celadon.apiserver.http.guarded_handler import GuardedHandler
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest


def test_a_failure_is_an_answer_and_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def handle(_: HttpRequest) -> HttpAnswer:
        raise KeyError("oops")

    with caplog.at_level(logging.ERROR):
        answer = asyncio.run(GuardedHandler(handle).answer(HttpRequest("GET", "/")))
    assert (answer.code, answer.body) == (500, b"Internal Server Error\n")
    assert "GET /: the handler failed" in caplog.text
