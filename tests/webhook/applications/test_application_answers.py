"""An application behind limits, on the network."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from typing import Any

import pytest

from celadon.apiserver import HttpAnswer, HttpRequest
from celadon.apiserver.operation import exposition
from celadon.webhook.applications import Application, ApplicationAnswers, run_application
from celadon.webhook.webhook_app import Receive, Scope, Send, Webhook
from tests.webhook.applications.applications import broken, ended, silent, started
from tests.webhook.service.running import SETTINGS, ended_by_a_signal

ALLOWED = b'{"response": {"uid": "1", "allowed": true}}'
BODY = b'{"request": {"uid": "1", "operation": "CREATE"}}'
POSTED = HttpRequest("POST", "/validate/x?timeout=30s", [], BODY)


async def allowing(_scope: Scope, _receive: Receive, send: Send) -> None:
    await started(send)
    await ended(send, ALLOWED)


async def waiting(_scope: Scope, _receive: Receive, send: Send) -> None:
    await asyncio.sleep(600)


def asked(
    application: Application, *requests: HttpRequest, **changed: Any
) -> tuple[list[HttpAnswer], list[str]]:
    """Answers to requests at once, and the metrics afterwards."""

    async def ask() -> tuple[list[HttpAnswer], list[str]]:
        answers = ApplicationAnswers(dataclasses.replace(SETTINGS, **changed), application, {})
        found = await asyncio.gather(*(answers.handle(one) for one in requests))
        await answers.finish()
        return found, exposition(answers.families()).splitlines()

    return asyncio.run(asyncio.wait_for(ask(), 120))


LATE = "the review was not decided within 0.05s\n"
BROKEN = "Internal Server Error\n"
REFUSED: list[tuple[str, Application, HttpRequest, dict[str, Any], int, str, str]] = [
    (
        *("unknown caller", allowing, POSTED, {"known_callers": True}),
        *(401, "malformed", "a client certificate is required\n"),
    ),
    (
        *("too large", allowing, POSTED, {"body_bytes": len(BODY) - 1}),
        *(413, "malformed", f"request entity is too large; limit is {len(BODY) - 1} bytes\n"),
    ),
    ("too slow", waiting, POSTED, {"seconds": 0.05}, 504, "deadline", LATE),
    (
        *("the caller is gone", waiting, HttpRequest("POST", "/x?timeout=50ms"), {}),
        *(504, "deadline", LATE),
    ),
    ("broken", broken, POSTED, {}, 500, "broken", BROKEN),
    ("silent", silent, POSTED, {}, 500, "broken", BROKEN),
    (
        *("elsewhere", Webhook("a.example.com"), POSTED, {}),
        *(404, "malformed", "there is no handler at /validate/x"),
    ),
]


@pytest.mark.parametrize(
    ("application", "request_", "changed", "code", "reason", "text"),
    [row[1:] for row in REFUSED],
    ids=[row[0] for row in REFUSED],
)
def test_what_is_not_answered_is_an_error_and_counted(
    application: Application,
    request_: HttpRequest,
    changed: dict[str, Any],
    code: int,
    reason: str,
    text: str,
) -> None:
    (answer,), lines = asked(application, request_, **changed)
    said = answer.body.decode()
    assert (answer.code, json.loads(said)["message"] if code == 404 else said) == (code, text)
    path = request_.path
    counted = f'celadon_webhook_unanswered_reviews_total{{path="{path}",reason="{reason}"}} 1'
    assert counted in lines
    assert f'celadon_webhook_http_requests_total{{code="{code}",path="{path}"}} 1' in lines


def test_reviews_are_counted_and_the_rest_is_told_apart() -> None:
    (answer, read), lines = asked(allowing, POSTED, HttpRequest("GET", "/else"))
    assert (answer.code, answer.body, read.code) == (200, ALLOWED, 200)
    labels = '{allowed="true",operation="CREATE",path="/validate/x"}'
    assert f"celadon_webhook_review_duration_seconds_count{labels} 1" in lines
    assert 'celadon_webhook_http_requests_total{code="200",path="/else"} 1' in lines
    assert not [one for one in lines if one.startswith("celadon_webhook_unanswered")]


def test_who_is_too_many_is_sent_away() -> None:
    slow: Application = later(allowing)
    answers, lines = asked(slow, *[POSTED] * 5, in_flight=3)
    assert [one.code for one in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].body == b"too many reviews at once, please try again later\n"
    path = "/validate/x"
    assert f'celadon_webhook_unanswered_reviews_total{{path="{path}",reason="busy"}} 2' in lines


def test_a_body_of_the_largest_size_is_taken() -> None:
    (answer,), _ = asked(allowing, POSTED, body_bytes=len(BODY))
    assert answer.code == 200


def test_an_application_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        asked(broken, POSTED)
    assert caplog.messages == ["/validate/x: the application failed"]


def later(application: Application) -> Application:
    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.01)
        await application(scope, receive, send)

    return called


def test_paths_that_are_told_apart_have_an_end() -> None:
    requests = [HttpRequest("GET", f"/{number}") for number in range(150)]
    _, lines = asked(silent, *requests)
    paths = [one for one in lines if one.startswith("celadon_webhook_http_requests_total{")]
    assert len(paths) == 101
    assert 'celadon_webhook_http_requests_total{code="500",path="other"} 50' in paths


def test_an_application_may_go_on_after_its_answer(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await allowing(scope, receive, send)
        await asyncio.sleep(0.02)
        done.append("done")
        raise RuntimeError

    with caplog.at_level(logging.ERROR):
        (answer,), _ = asked(application, POSTED)
    assert answer.code == 200
    assert done == ["done"]
    assert "the application failed after an answer" in caplog.text


def test_a_deadline_ends_the_call() -> None:
    ended: list[BaseException] = []

    async def application(_scope: Scope, _receive: Receive, _send: Send) -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError as error:
            ended.append(error)
            raise

    (answer,), _ = asked(application, POSTED, seconds=0.05)
    assert answer.code == 504
    assert ended


def test_an_application_serves_until_it_is_told_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ended_by_a_signal(
        monkeypatch,
        lambda ready: run_application(SETTINGS, allowing, ready),
        [("POST", "/validate/x", BODY), ("GET", "/readyz?verbose", None)],
    )
    assert answers == [
        (200, ALLOWED.decode()),
        (200, "[+]application ok\n[+]shutdown ok\nreadyz check passed\n"),
    ]
