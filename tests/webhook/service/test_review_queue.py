"""Waiting, being sent away, being too late."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest

from celadon.admission import ObjectWorld
from celadon.apiserver import HttpAnswer, HttpRequest
from celadon.kube import Answer, Attributes, Ruling
from celadon.webhook.review_decisions import Rulebook, Unanswerable, Unanswered
from celadon.webhook.service.review_handler import ReviewHandler, ReviewQueue, seconds_to_answer
from celadon.webhook.service.webhook_metrics import WebhookMetrics
from tests.webhook.documents import review_document
from tests.webhook.service.running import SETTINGS, FixedSource, rulebook, running

BODY = json.dumps(review_document(namespace="ns")).encode()
ASKING = {"expression": "authorizer.group('').resource('pods').check('get').allowed()"}


class SlowWorld(ObjectWorld):
    """Its authorizer takes some seconds, or fails."""

    def __init__(self, seconds: float, error: Exception | None = None) -> None:
        super().__init__(implicit_namespaces=True)
        self._seconds = seconds
        self._error = error
        self._known = False
        self.waiting, self.most_waiting = 0, 0

    def authorize(self, attributes: Attributes) -> Answer:
        if self._known:
            return Ruling.ALLOW, "", None
        raise Unanswered(self._find)

    async def _find(self) -> None:
        self.waiting += 1
        self.most_waiting = max(self.waiting, self.most_waiting)
        await asyncio.sleep(self._seconds)
        self.waiting -= 1
        if self._error is not None:
            raise self._error
        self._known = True


def post(target: str = "/validate", method: str = "POST") -> HttpRequest:
    return HttpRequest(method, target, [("content-type", "application/json")], BODY)


def asked(
    rules: Rulebook,
    targets: list[str],
    limit: int = 0,
    before: Callable[[], None] = lambda: None,
) -> tuple[list[HttpAnswer], WebhookMetrics]:
    """The answers to requests that come at once, in the order in which they are given."""
    found: list[HttpAnswer] = []

    async def run() -> WebhookMetrics:
        metrics = WebhookMetrics(FixedSource(rules), lambda: 0, None)
        handler = ReviewHandler(lambda: rules, metrics, None, most_bytes=1 << 20)
        queue = ReviewQueue(handler, limit, 600.0)
        for target in targets:
            assert queue.offer(post(target), found.append)
        before()
        while queue.in_flight:
            await asyncio.sleep(0.001)
        return metrics

    metrics = asyncio.run(run())
    return found, metrics


def test_only_reviews_are_taken() -> None:
    async def run() -> None:
        rules = rulebook()
        metrics = WebhookMetrics(FixedSource(rules), lambda: 0, None)
        queue = ReviewQueue(ReviewHandler(lambda: rules, metrics, None, most_bytes=100), 0, 10.0)
        for other in (post("/else"), post("/validate/x"), post(method="GET"), post("/readyz")):
            assert not queue.offer(other, lambda _: None)
        assert queue.in_flight == 0
        for number in range(300):  # no more of them are remembered
            assert queue.offer(post(f"/validate?n={number}"), lambda _: None)
        assert len(queue._targets) == 100

    asyncio.run(run())


def test_who_comes_when_the_queue_is_full_is_sent_away() -> None:
    found, metrics = asked(rulebook(), ["/validate"] * 30, limit=20)
    assert [one.code for one in found] == [429] * 10 + [200] * 20
    assert found[0].body == b"too many reviews at once, please try again later\n"
    assert found[0].headers == ()
    assert metrics.reviews.refused.values == {("/validate", "busy"): 10}


def test_who_has_waited_too_long_is_not_decided_any_more() -> None:
    targets = ["/validate?timeout=10ms", "/validate?timeout=500s", "/validate?timeout=nonsense"]
    found, metrics = asked(rulebook(), targets, before=lambda: time.sleep(0.05))
    assert [one.code for one in found] == [504, 200, 200]
    assert found[0].body == b"the review was not decided within 0.01s\n"
    assert metrics.reviews.refused.values == {("/validate", "deadline"): 1}


def test_reviews_that_ask_others_hold_nobody_up() -> None:
    world = SlowWorld(0.1)
    slow = rulebook(world, validations=[ASKING])
    found, _ = asked(slow, ["/validate"] * 20 + ["/mutate"])
    assert [one.code for one in found] == [200] * 21
    assert world.most_waiting == 20
    assert b'"allowed":true' in found[-1].body


def test_others_may_take_too_long() -> None:
    slow = rulebook(SlowWorld(5.0), validations=[ASKING])
    found, _ = asked(slow, ["/validate?timeout=100ms"])
    assert [one.code for one in found] == [504]


def test_others_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    broken = rulebook(SlowWorld(0.0, OSError("unreachable")), validations=[ASKING])
    with caplog.at_level(logging.ERROR):
        found, _ = asked(broken, ["/validate"])
    assert [one.code for one in found] == [500]
    assert caplog.messages == ["/validate: this is a bug in celadon"]


def test_what_cannot_be_found_out_is_up_to_the_failure_policy(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Lost(ObjectWorld):
        """Knows at once that it does not know."""

        def authorize(self, attributes: Attributes) -> Answer:
            raise Unanswerable("gone")

    for world in (SlowWorld(0.0, Unanswerable("gone")), Lost(implicit_namespaces=True)):
        found, metrics = asked(rulebook(world, validations=[ASKING]), ["/validate"])
        assert [(one.code, one.body) for one in found] == [
            (503, b"the review cannot be decided: gone\n")
        ]
        assert metrics.reviews.refused.values == {("/validate", "unanswerable"): 1}
    assert caplog.text == ""


def test_policies_that_never_stop_asking(caplog: pytest.LogCaptureFixture) -> None:
    class Forgetful(SlowWorld):
        async def _find(self) -> None:
            """Nothing is known afterwards."""

    found, _ = asked(rulebook(Forgetful(0.0), validations=[ASKING]), ["/validate"])
    (answer,) = found
    assert answer.code == 503
    assert answer.body.endswith(b": its policies ask more than 100 questions of the cluster\n")
    assert caplog.text == ""


def test_a_mistake_of_ours_ends_one_review(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rules = rulebook()
    calls: list[Any] = []

    def world() -> ObjectWorld:
        calls.append(1)
        if len(calls) == 1:
            raise LookupError("a mistake")
        return ObjectWorld(implicit_namespaces=True)

    with caplog.at_level(logging.CRITICAL):
        found, metrics = asked(dataclasses.replace(rules, world=world), ["/validate"] * 2)
    assert [one.code for one in found] == [500, 200]
    assert metrics.reviews.refused.values == {("/validate", "broken"): 1}


def test_a_reply_that_fails_does_not_stop_the_queue() -> None:
    async def run() -> list[HttpAnswer]:
        rules = rulebook()
        found: list[HttpAnswer] = []
        metrics = WebhookMetrics(FixedSource(rules), lambda: 0, None)
        handler = ReviewHandler(lambda: rules, metrics, None, most_bytes=1 << 20)
        queue = ReviewQueue(handler, 0, 10.0)
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)

        def fail(_: HttpAnswer) -> None:
            raise LookupError

        queue.offer(post(), fail)
        queue.offer(post(), found.append)
        while queue.in_flight:
            await asyncio.sleep(0.001)
        return found

    assert len(asyncio.run(run())) == 1


@pytest.mark.thorough
def test_many_connections_at_once() -> None:
    """Everybody gets an answer: some a review, the others are told to come again."""
    settings = dataclasses.replace(SETTINGS, in_flight=10)
    with running(FixedSource(rulebook()), settings) as client:
        connections = [client.connection() for _ in range(100)]
        for one in connections:
            one.connect()
        for one in connections:
            one.request("POST", "/validate", BODY, {"Content-Type": "application/json"})
        codes = [one.getresponse().status for one in connections]
        for one in connections:
            one.close()
    assert set(codes) <= {200, 429}
    assert codes.count(200) >= 10


@pytest.mark.parametrize(
    ("target", "seconds"),
    [
        ("/validate", 10.0),
        ("/validate?timeout=", 10.0),
        ("/validate?timeout=0s", 10.0),
        ("/validate?timeout=-1ns", 10.0),
        ("/validate?timeout=1ns", 1e-9),
        ("/validate?timeout=9999ms", 9.999),
        ("/validate?timeout=30s", 10.0),
        ("/validate?timeout=5s&timeout=6s", 5.0),
        (f"/validate?timeout=5s&x={'x' * 100_000}", 10.0),
    ],
)
def test_how_long_the_caller_waits(target: str, seconds: float) -> None:
    assert seconds_to_answer(post(target), 10.0) == seconds
