"""Reviews that are decided in a fork: what comes of them is what comes of others."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from celadon.admission import Request, Verdict
from celadon.apiserver import HttpAnswer, HttpRequest, Workers
from celadon.apiserver.forks import can_fork
from celadon.webhook.service import DecisionLogSettings
from celadon.webhook.service.decision_log import DecisionLog
from celadon.webhook.service.review_handler import HeavyReviews, ReviewHandler, ReviewQueue
from celadon.webhook.service.webhook_metrics import WebhookMetrics
from tests.webhook.documents import review_document
from tests.webhook.service.running import FixedSource, rulebook

pytestmark = pytest.mark.skipif(not can_fork(), reason="needs what Linux has")
DENIES = {"expression": "!('secret' in object.data)", "message": "no secrets"}


def post(filling: int) -> HttpRequest:
    data = {"filling": "x" * filling, "secret": "s"}
    document = review_document(namespace="ns", object={"metadata": {"name": "c"}, "data": data})
    body = json.dumps(document).encode()
    return HttpRequest("POST", "/validate", [("content-type", "application/json")], body)


def answered(request: HttpRequest, folder: Path, *, forks: bool) -> tuple[HttpAnswer, Any, Any]:
    """The answer, the line of the log without its times, and who was denied."""
    denied = list[tuple[Request, Verdict]]()
    path = folder / f"log-{forks}"
    log = DecisionLog(DecisionLogSettings(path), lambda: 0.0, lambda: 0.0)
    rules = rulebook(validations=[DENIES])

    async def run() -> HttpAnswer:
        metrics = WebhookMetrics(FixedSource(rules), lambda: 0, None)
        handler = ReviewHandler(
            lambda: rules,
            metrics,
            log,
            most_bytes=1 << 22,
            denied=lambda *one: denied.append(one),
        )
        workers = Workers()
        if forks:
            workers.allow_forks(contextlib.nullcontext)
        heavy = HeavyReviews(handler, workers)
        assert heavy.takes(request) == forks
        queue = ReviewQueue(handler, 0, 60.0, heavy)
        reply = asyncio.get_running_loop().create_future()
        assert queue.offer(request, reply.set_result)
        answer: HttpAnswer = await reply
        heavy.stop()
        assert metrics.reviews.http_requests.values == {("/validate", "200"): 1}
        assert sum(metrics.decisions.values.values()) == 1
        return answer

    answer = asyncio.run(run())
    log.close()
    line = json.loads(path.read_text())
    del line["micros"]
    ((about, verdict),) = denied
    return answer, line, (about.name, about.namespace, about.kind, verdict.message)


def test_nothing_is_different_of_a_review_that_is_decided_in_a_fork(tmp_path: Path) -> None:
    request = post(200_000)
    assert answered(request, tmp_path, forks=True) == answered(request, tmp_path, forks=False)


def test_what_was_dear_is_decided_in_forks_from_then_on() -> None:
    workers = Workers()
    workers.allow_forks(contextlib.nullcontext)
    metrics = WebhookMetrics(FixedSource(None), lambda: 0, None)
    heavy = HeavyReviews(ReviewHandler(lambda: None, metrics, None, most_bytes=1), workers)
    assert not heavy.takes(post(20_000))
    heavy.took(post(20_000), 1.0)
    assert heavy.takes(post(20_000))
    assert heavy.takes(post(11_000))
    assert not heavy.takes(post(100))
    heavy.took(post(100), 1.0)
    assert not heavy.takes(post(100))


def test_a_review_is_decided_by_the_policies_of_now(tmp_path: Path) -> None:
    """Not by those of the process that forks for reviews."""
    source = FixedSource(rulebook(validations=[{"expression": "true"}]))

    async def run() -> list[Any]:
        metrics = WebhookMetrics(source, lambda: 0, None)
        handler = ReviewHandler(source.rulebook, metrics, None, most_bytes=1 << 22)
        workers = Workers()
        workers.allow_forks(contextlib.nullcontext)
        heavy = HeavyReviews(handler, workers, source.stamp)
        answers = [await heavy.decided(post(200_000), "/validate", 0.0)]
        source.rules = rulebook(validations=[DENIES])
        answers.append(await heavy.decided(post(200_000), "/validate", 0.0))
        heavy.look()
        answers.append(await heavy.decided(post(200_000), "/validate", 0.0))
        heavy.stop()
        return [json.loads(one.body)["response"]["allowed"] for one in answers]

    assert asyncio.run(run()) == [True, False, False]


def test_what_is_no_review_at_first_sight_has_no_process() -> None:
    workers = Workers()
    workers.allow_forks(contextlib.nullcontext)
    metrics = WebhookMetrics(FixedSource(None), lambda: 0, None)
    handler = ReviewHandler(lambda: None, metrics, None, most_bytes=100)
    heavy = HeavyReviews(handler, workers)
    answer = asyncio.run(heavy.decided(post(200_000), "/validate", 0.0))
    assert answer.code == 413
