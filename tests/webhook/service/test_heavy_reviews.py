"""Reviews that are decided in a fork: what comes of them is what comes of others."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from celadon import apiserver
from celadon.admission import ObjectWorld, Operation, Request, Verdict
from celadon.apiserver import (
    Elsewhere,
    ForkFailed,
    ForkMessage,
    HttpAnswer,
    HttpRequest,
    TooMuchWork,
    Workers,
)
from celadon.apiserver.forks import can_fork
from celadon.apiserver.workers import out_of_time
from celadon.webhook.review_decisions import Rulebook, Unanswered
from celadon.webhook.service import DecisionLogSettings, review_handler
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


# --- what forks do, in this process ---


class Asking:
    """What a fork has of its parent: the question."""

    def __init__(self, question: ForkMessage) -> None:
        self.question = question

    def hear(self) -> ForkMessage:
        return self.question


class InlineTemplate:
    """A template whose forks are no processes."""

    is_over = False

    def __init__(self, live: Any, held: object, stamp: object) -> None:
        self.live, self.stamp = live, stamp

    def retire(self) -> None:
        self.is_over = True

    close = retire


class Inline:
    """Workers that do their work at once, or fail."""

    forks = True
    held = None

    def __init__(self, failure: Exception | None = None, seconds: float = 1.0) -> None:
        self.failure, self.seconds = failure, seconds

    async def run_templated(
        self, owner: str, template: Callable[[], Any], question: ForkMessage
    ) -> tuple[ForkMessage, float]:
        if self.failure is not None:
            raise self.failure
        try:
            return template().live(Asking(question)), self.seconds
        except Elsewhere:
            return ForkMessage({"elsewhere": ""}), self.seconds

    def stop(self) -> None:
        """There is nothing to stop."""


@pytest.fixture
def no_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apiserver, "Template", InlineTemplate)


def handling(
    rules: Rulebook | None, log: DecisionLog | None = None, denied: Any = None
) -> ReviewHandler:
    metrics = WebhookMetrics(FixedSource(rules), lambda: 0, None)
    return ReviewHandler(lambda: rules, metrics, log, most_bytes=1 << 22, denied=denied)


@pytest.mark.usefixtures("no_forks")
def test_what_a_fork_sends_beside_its_answer(tmp_path: Path) -> None:
    path, denied = tmp_path / "log", list[tuple[Request, Verdict]]()
    log = DecisionLog(DecisionLogSettings(path), lambda: 0.0, lambda: 0.0)
    # The fork has a handler of its own; what it tells of is taken in by that of the server.
    forked = handling(rulebook(validations=[DENIES]), log, lambda *one: denied.append(one))
    question = ForkMessage({"path": "/validate", "arrived": 0.0}, post(1).body)
    told = InlineTemplate(HeavyReviews(forked, Workers())._live, None, None).live(Asking(question))
    assert denied == []
    assert path.read_text() == ""
    answer = json.loads(told.body)
    assert (told.head["code"], told.head["content_type"]) == (200, "application/json")
    assert answer["response"]["allowed"] is False
    (line,) = told.head["lines"]
    assert json.loads(line)["decisions"][0]["message"] == "no secrets"
    (denial,) = told.head["denied"]
    assert denial == {
        "operation": "CREATE",
        "kind": ("", "v1", "ConfigMap"),
        "resource": ("", "v1", "configmaps"),
        "subresource": "",
        "name": "",
        "namespace": "ns",
        "metadata": {"name": "c"},
        "dry_run": False,
        "message": answer["response"]["status"]["message"],
    }
    server = handling(None, DecisionLog(DecisionLogSettings(path), lambda: 0.0, lambda: 0.0))
    server.take_in(told.head)  # nobody wants to know of denials
    assert path.read_text() == line
    server = handling(None, None, lambda *one: denied.append(one))
    server.take_in(told.head)
    ((about, verdict),) = denied
    assert about.operation is Operation.CREATE
    assert (about.kind.kind, about.resource.resource) == ("ConfigMap", "configmaps")
    assert (about.name, about.namespace, about.dry_run) == ("", "ns", False)
    assert about.object == {"metadata": {"name": "c"}}
    assert (verdict.allowed, verdict.message) == (False, denial["message"])


HAD = "too many large reviews at once, please try again later\n"
FAILURES: list[tuple[Exception | None, int, str, dict[tuple[str, str], int]]] = [
    (None, 200, "", {("/validate", "200"): 2}),  # also where it is decided: here, in this process
    (ForkFailed(), 200, "", {("/validate", "200"): 1}),
    (TooMuchWork(), 429, HAD, {("/validate", "429"): 1}),
    (out_of_time(), 504, "the review takes too long\n", {("/validate", "504"): 1}),
]
REASONS = {429: "busy", 504: "deadline"}


@pytest.mark.usefixtures("no_forks")
@pytest.mark.parametrize(("failure", "code", "text", "counted"), FAILURES)
def test_what_becomes_of_a_review_that_has_no_fork(
    failure: Exception | None, code: int, text: str, counted: dict[tuple[str, str], int]
) -> None:
    handler = handling(rulebook())
    heavy = HeavyReviews(handler, Inline(failure))  # type: ignore[arg-type]
    answer = asyncio.run(heavy.decided(post(1), "/validate", 0.0))
    heavy.stop()
    assert answer.code == code
    if code == 200:
        assert json.loads(answer.body)["response"]["allowed"] is False
    else:
        assert answer.body.decode() == text
        assert handler.metrics.reviews.refused.values == {("/validate", REASONS[code]): 1}
    assert handler.metrics.reviews.http_requests.values == counted


class Asked(ObjectWorld):
    """Somebody has to be asked about namespaces."""

    known = False

    def namespace(self, name: str) -> Any:
        if self.known:
            return {"metadata": {"name": name}}

        async def find() -> None:
            self.known = True

        raise Unanswered(find)


@pytest.mark.usefixtures("no_forks")
def test_others_are_asked_by_the_server_itself() -> None:
    rules = rulebook(Asked(), validations=[{"expression": "namespaceObject.metadata.name == 'ns'"}])
    heavy = HeavyReviews(handling(rules), Inline())  # type: ignore[arg-type]
    answer = asyncio.run(heavy.decided(post(1), "/validate", 0.0))
    assert json.loads(answer.body)["response"] == {"uid": "u", "allowed": True}


@pytest.mark.usefixtures("no_forks")
def test_a_caller_whose_reviews_are_cheap_again() -> None:
    """Half the time of a dear review is cheap, for those that are not large."""
    for seconds, filling, is_dear in ((0.024, 20_000, False), (0.026, 20_000, True)):
        heavy = HeavyReviews(handling(rulebook()), Inline(seconds=seconds))  # type: ignore[arg-type]
        request = post(filling)
        heavy.took(request, 0.051)
        assert heavy.takes(request)
        asyncio.run(heavy.decided(request, "/validate", 0.0))
        assert heavy.takes(request) is is_dear


def test_which_reviews_are_dear() -> None:
    def is_dear(filling: int, seconds: float) -> bool:
        heavy = HeavyReviews(handling(None), Inline())  # type: ignore[arg-type]
        heavy.took(post(filling), seconds)
        return heavy.takes(post(filling))

    head = len(post(0).body)
    assert not is_dear(20_000, 0.05)
    assert is_dear(20_000, 0.051)
    assert not is_dear((4 << 10) - 1 - head, 1.0)
    assert is_dear((4 << 10) - head, 1.0)


def test_callers_that_are_remembered_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_handler, "_MOST_CALLERS", 2)
    heavy = HeavyReviews(handling(None), Inline())  # type: ignore[arg-type]
    requests = [dataclasses.replace(post(20_000), remote_address=f"10.0.0.{n}") for n in range(3)]
    for request in requests:
        heavy.took(request, 1.0)
    assert [heavy.takes(request) for request in requests] == [False, False, True]
