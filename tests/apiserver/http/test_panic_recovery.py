"""A handler that fails, and what is logged."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from celadon.apiserver.http.panic_recovery import GuardedHandler
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.operation.log_lines import REQUESTS, LogLines, level_of
from celadon.kube import User


def test_a_failure_is_an_answer_and_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def handle(_: HttpRequest) -> HttpAnswer:
        raise KeyError("oops")

    with caplog.at_level(logging.ERROR):
        answer = asyncio.run(GuardedHandler(handle).answer(HttpRequest("GET", "/")))
    assert (answer.code, answer.body) == (500, b"Internal Server Error\n")
    assert "GET /: the handler failed" in caplog.text


@pytest.mark.parametrize(("user", "name"), [(None, ""), (User("alice"), "alice")])
def test_a_request_is_a_line_in_the_log(
    user: User | None,
    name: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def handle(_: HttpRequest) -> HttpAnswer:
        return HttpAnswer(201, headers=(("Audit-Id", "7"),), user=user)

    monkeypatch.setattr("time.perf_counter", iter([1.0, 1.25]).__next__)
    request = HttpRequest("GET", "/x?y=z", (("user-agent", "curl"),), remote_address="10.0.0.1:7")
    with caplog.at_level(level_of(REQUESTS), "celadon.apiserver"):
        asyncio.run(GuardedHandler(handle).answer(request))
    (record,) = caplog.records
    line = json.loads(LogLines().format(record))
    assert list((line | {"ts": 0}).items()) == [
        ("ts", 0),
        ("v", 3),
        ("logger", "celadon.apiserver"),
        ("msg", "HTTP"),
        ("verb", "GET"),
        ("URI", "/x?y=z"),
        ("latency", "250.000ms"),
        ("userAgent", "curl"),
        ("audit-ID", "7"),
        ("srcIP", "10.0.0.1:7"),
        ("user", name),
        ("resp", 201),
    ]
