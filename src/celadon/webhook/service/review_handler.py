"""The hot path: the bytes of a review in, the bytes of its answer out.

Which answers are reviews and which are HTTP errors is a choice: where an HTTP error comes, the API
server asks the failure policy of the webhook's configuration; a review that denies denies. So what
policies decide, their own errors included, is a review; what is wrong with the question or with
this server is an HTTP error (docs/decisions/0019-webhook-answers.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from time import perf_counter
from typing import Any, Final, NoReturn, Protocol, TypeAlias

import msgspec

from celadon import apiserver
from celadon.admission import Operation, Request, Verdict
from celadon.apiserver.operation import Family, add_counts, counted_since, counts_of
from celadon.cel.value_functions import parse_duration
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, StatusError
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass
from celadon.webhook import review_decisions
from celadon.webhook.reviews import Review, ReviewError, answer_review, decode_review
from celadon.webhook.service.decision_log import DecisionLog, redacted, secret_texts
from celadon.webhook.service.webhook_metrics import WebhookMetrics

# --- Review bytes ------------------------------------------------------------
#
# JSON of reviews: bytes to a document, an answer to bytes.
#
# msgspec reads what Go writes in a third of the time of `json.loads`, and refuses what only
# Python would take (`NaN`); lone surrogates, which it refuses as well, are left to
# `json.loads`.

_DECODER: Final = msgspec.json.Decoder()
_ENCODER: Final = msgspec.json.Encoder()
_INFINITY: Final = float("inf")


class UnreadableJson(Exception):
    """A text is not JSON, or not in UTF-8; `str()` says why."""


def read_document(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Read a document. Raises UnreadableJson; RecursionError for what is nested too deeply."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_slowly(body)


def _read_slowly(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    try:
        text = body.decode()
        return json.loads(text, parse_constant=_refuse, parse_float=_float, parse_int=_int)
    except UnicodeDecodeError:
        raise UnreadableJson("not in UTF-8") from None
    except ValueError as error:
        raise UnreadableJson(str(error)) from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"`{name}` is no JSON")


def _float(text: str) -> float:
    number = float(text)
    if number in (_INFINITY, -_INFINITY):
        raise ValueError(f"`{text[:20]}` is out of range")
    return number


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # more digits than Python takes
        raise ValueError(f"`{text[:20]}...` is out of range") from None


def answer_bytes_of(document: JsonDict) -> bytes:
    """Return the bytes that are sent as an answer."""
    try:
        return _ENCODER.encode(document)
    except UnicodeEncodeError:  # a lone surrogate: repeated from the review
        return json.dumps(document, separators=(",", ":")).encode()


VALIDATE: Final = "/validate"
MUTATE: Final = "/mutate"
REVIEW_PATHS: Final = (VALIDATE, MUTATE)
_MALFORMED: Final = "malformed"

Later: TypeAlias = Coroutine[None, None, apiserver.HttpAnswer]


@dataclass(slots=True, eq=False)
class ReviewHandler:
    """Answers reviews over HTTP. `rulebook` gives what is in force, None if nothing was loaded yet,
    or is not known any more; `missing` says what is waited for then; `most_bytes` is how large a
    body may be; with `known_callers`, whoever shows no certificate is refused; `denied` is told of
    requests that were denied."""

    rulebook: Callable[[], review_decisions.Rulebook | None]
    metrics: WebhookMetrics
    log: DecisionLog | None
    most_bytes: int
    audit_only: bool = False
    known_callers: bool = False
    denied: Callable[[Request, Verdict], None] | None = None
    missing: Callable[[], Sequence[str]] = tuple

    def begin(
        self, request: apiserver.HttpRequest, path: str, arrived: float
    ) -> apiserver.HttpAnswer | Later:
        """Return the answer, or what gives it after others have been asked. `arrived` is when the
        request came, by `perf_counter`."""
        refused = self.refused(request, path)
        return self.reviewed(request.body, path, arrived) if refused is None else refused

    def refused(self, request: apiserver.HttpRequest, path: str) -> apiserver.HttpAnswer | None:
        """Return the answer to what is no review at first sight."""
        if self.known_callers and request.client_certificate is None:
            return self.refuse(path, 401, "a client certificate is required", "unknown caller")
        if len(request.body) > self.most_bytes:
            text = f"request entity is too large; limit is {self.most_bytes} bytes"
            return self.refuse(path, 413, text)
        if not _is_json(request):
            return self.refuse(path, 415, f"the content type must be {apiserver.JSON}")
        if not request.body:
            return self.refuse(path, 400, "the body is empty")
        return None

    def reviewed(self, body: bytes, path: str, arrived: float) -> apiserver.HttpAnswer | Later:
        """Answer the body of a request that was not refused, as `begin` does."""
        try:
            review = decode_review(read_document(body), len(body))
        except (UnreadableJson, ReviewError) as error:
            return self.refuse(path, 400, f"not an AdmissionReview: {error}")
        except RecursionError:
            return self._too_deep(path)
        rules = self.rulebook()
        if rules is None:
            text = f"no policies, waiting for {review_decisions.described(self.missing())}"
            return self.refuse(path, 503, text, "not ready")
        decider = self._decider(path, review, rules)
        if decider is None:
            return self._answer(path, review, Verdict(), None, arrived)
        try:
            verdict = decider.verdict()
        except review_decisions.Unanswered as question:
            return self._later(path, review, decider, question, arrived)
        except review_decisions.Unanswerable as failure:
            return self._unanswerable(path, failure)
        except RecursionError:
            return self._too_deep(path)
        return self._answer(path, review, verdict, decider, arrived)

    def _decider(
        self, path: str, review: Review, rules: review_decisions.Rulebook
    ) -> review_decisions.Decider | review_decisions.Mutator | None:
        """Return what decides a review; None where there is nothing to decide by."""
        if path != MUTATE:
            return review_decisions.Decider(review.request, rules, timed=self.metrics.is_timed())
        if rules.mutation is None:
            return None
        return review_decisions.Mutator(review.request, rules.mutation, rules.world())

    async def _later(
        self,
        path: str,
        review: Review,
        decider: review_decisions.Decider | review_decisions.Mutator,
        question: review_decisions.Unanswered,
        arrived: float,
    ) -> apiserver.HttpAnswer:
        try:
            verdict = await decider.settled(question)
        except review_decisions.Unanswerable as failure:
            return self._unanswerable(path, failure)
        return self._answer(path, review, verdict, decider, arrived)

    def _answer(
        self,
        path: str,
        review: Review,
        verdict: Verdict,
        decider: review_decisions.Decider | review_decisions.Mutator | None,
        arrived: float,
    ) -> apiserver.HttpAnswer:
        metrics = self.metrics
        if self.denied is not None and not verdict.allowed:
            self.denied(review.request, verdict)
        if self.audit_only and not verdict.allowed:
            verdict = review_decisions.without_denial(verdict)
            metrics.would_deny.add()
        findings = [] if decider is None else decider.findings
        if findings:
            metrics.found(findings)
        if decider is not None and decider.times:
            metrics.timed(decider.times)
        patch: Sequence[JsonObject] = ()
        mutations = None
        if isinstance(decider, review_decisions.Mutator):
            patch, mutations = decider.patch, decider.notes
            metrics.mutated(mutations)
        answer = apiserver.HttpAnswer(
            200, apiserver.JSON, answer_bytes_of(answer_review(review, verdict, patch))
        )
        seconds = perf_counter() - arrived
        operation = review.request.operation.value
        metrics.reviews.reviewed(path, operation, allowed=verdict.allowed, seconds=seconds)
        if self.log is not None:
            self.log.decided(path, review, verdict, int(seconds * 1e6), findings, mutations)
        return answer

    def families(self) -> Iterable[Family]:
        """Return what `/metrics` shows."""
        return self.metrics.families()

    def collect(self) -> Beside:
        """Collect, in a fork, what comes from now on beside answers, for `take_in` of another
        process."""
        denied = list[tuple[Request, Verdict]]()
        if self.denied is not None:
            self.denied = lambda *denial: denied.append(denial)
        return Beside([] if self.log is None else self.log.collect(), denied)

    def take_in(self, head: JsonObject) -> None:
        """Write the log lines, and tell of the denials, that a fork has sent beside its answer."""
        if self.log is not None:
            for line in head["lines"]:
                self.log.write(line.encode())
        if self.denied is not None:
            for item in head["denied"]:
                self.denied(*_heard_denial(item))

    def _unanswerable(
        self, path: str, failure: review_decisions.Unanswerable
    ) -> apiserver.HttpAnswer:
        """Answer with 503: what could not be found out may have been decisive."""
        return self.refuse(path, 503, f"the review cannot be decided: {failure}", "unanswerable")

    def _too_deep(self, path: str) -> apiserver.HttpAnswer:
        return self.refuse(path, 422, "the review is nested too deeply")

    def refuse(
        self, path: str, code: int, text: str, reason: str = _MALFORMED
    ) -> apiserver.HttpAnswer:
        """Send an HTTP error in place of a review."""
        self.metrics.reviews.not_answered(path, reason, code)
        return apiserver.plain_text(code, f"{text}\n".encode("utf-8", "replace").decode())


def _is_json(request: apiserver.HttpRequest) -> bool:
    for name, value in request.headers:
        if name == "content-type":
            return (
                value == apiserver.JSON or value.partition(";")[0].strip().lower() == apiserver.JSON
            )
    return False


# --- Answering ---------------------------------------------------------------
#
# What a webhook process puts on the network: policies, or an application.


class Answering(Protocol):
    """Answers whatever is none of the webhook's own pages. Belongs to the running loop."""

    @property
    def prompt(self) -> apiserver.PromptHandler | None:
        """Is offered each request before all others; None where nothing is answered promptly."""
        ...

    async def handle(self, request: apiserver.HttpRequest) -> apiserver.HttpAnswer:
        """Return what nobody has taken."""
        ...

    def checks(self) -> Iterable[tuple[bool, str]]:
        """Return what `/readyz` shows: whether it is well, and a line about it."""
        ...

    def families(self) -> Iterable[Family]:
        """Return what `/metrics` shows."""
        ...

    async def run(self) -> None:
        """Go on as long as the webhook does, until it is cancelled."""
        ...

    def look(self) -> None:
        """Look for files that others move; this is called every few seconds."""
        ...


# --- Heavy reviews -----------------------------------------------------------
#
# What takes long to decide is decided in a fork of this process, one for each caller at a time, so
# that small reviews need not wait for it. How long a review takes can be told beforehand from its
# size, and from what those of the same caller have taken.

DEAR_SECONDS: Final = 0.05
"""A review that takes so long is dear, and then those are that are half as large."""

_LEAST_DEAR: Final = 4 << 10
"""Bytes; smaller ones are never taken for dear."""

_MOST_CALLERS: Final = 1_000


class HeavyReviews:
    """Decides large or slow reviews of one webhook in forks. `workers` say whether there may be
    forks; `stamp` is another one when reviews may be decided otherwise than before."""

    def __init__(
        self,
        handler: ReviewHandler,
        workers: apiserver.Workers,
        stamp: Callable[[], object] = tuple,
    ) -> None:
        self._handler = handler
        self._workers = workers
        self._stamp = stamp
        self._template: apiserver.Template | None = None
        self._is_asked = False
        self._dear: dict[str, int] = {}
        """By the address of the caller: from how many bytes on reviews are taken for dear."""

    def takes(self, request: apiserver.HttpRequest) -> bool:
        """Return whether a request is one that a fork reads."""
        if not self._workers.forks:
            return False
        size = len(request.body)
        return size > apiserver.FORKED_BYTES or size >= self._dear.get(
            request.remote_address, apiserver.FORKED_BYTES
        )

    def took(self, request: apiserver.HttpRequest, seconds: float) -> None:
        """Remember the caller of a review that took long although it is no large one: the next of
        its size goes to a fork."""
        size = len(request.body)
        if seconds > DEAR_SECONDS and size >= _LEAST_DEAR and self._workers.forks:
            if len(self._dear) >= _MOST_CALLERS:
                self._dear.clear()
            dear = self._dear.get(request.remote_address, apiserver.FORKED_BYTES)
            self._dear[request.remote_address] = min(dear, size // 2)

    def look(self) -> None:
        """Look whether reviews have come since the last call, every few seconds: then the next one
        should find a process that forks for it."""
        if self._is_asked:
            self._is_asked = False
            with contextlib.suppress(apiserver.ForkFailed):
                self._current_template()

    def _current_template(self) -> apiserver.Template:
        """Return the process that forks are made of, a new one once the policies have changed.
        Raises ForkFailed."""
        stamp, template = self._stamp(), self._template
        if template is not None and not template.is_over:
            if template.stamp == stamp:
                return template
            template.retire()
        self._template = apiserver.Template(self._live, self._workers.held, stamp)
        return self._template

    def _live(self, parent: apiserver.Parent) -> apiserver.ForkMessage:
        """Answer, in a fork, the one review that it is given."""
        message, handler = parent.hear(), self._handler
        beside = handler.collect()
        before = counts_of(handler.families())
        answer = handler.reviewed(message.body, message.head["path"], message.head["arrived"])
        if not isinstance(answer, apiserver.HttpAnswer):
            answer.close()
            raise apiserver.Elsewhere  # others have to be asked
        head = {
            "code": answer.code,
            "content_type": answer.content_type,
            "headers": answer.headers,
            "counts": counted_since(handler.families(), before),
            **beside.told(),
        }
        return apiserver.ForkMessage(head, answer.body)

    def stop(self) -> None:
        """Note that there are no forks any more."""
        self._workers.stop()
        if self._template is not None:
            self._template.close()

    async def decided(
        self, request: apiserver.HttpRequest, path: str, arrived: float
    ) -> apiserver.HttpAnswer:
        """Return the answer to a review."""
        handler = self._handler
        refused = handler.refused(request, path)
        if refused is not None:
            return refused
        self._is_asked = True
        question = apiserver.ForkMessage({"path": path, "arrived": arrived}, request.body)
        try:
            message, seconds = await self._workers.run_templated(
                request.remote_address, self._current_template, question
            )
        except apiserver.ForkFailed:
            return await self._here(request, path, arrived)
        except apiserver.TooMuchWork:
            text = "too many large reviews at once, please try again later"
            return handler.refuse(path, 429, text, "busy")
        except StatusError:
            return handler.refuse(path, 504, "the review takes too long", "deadline")
        if "elsewhere" in message.head:
            return await self._here(request, path, arrived)
        if seconds < DEAR_SECONDS / 2 and len(request.body) <= apiserver.FORKED_BYTES:
            self._dear.pop(request.remote_address, None)
        add_counts(tuple(handler.families()), message.head["counts"])
        handler.take_in(message.head)
        headers = tuple((name, value) for name, value in message.head["headers"])
        return apiserver.HttpAnswer(
            message.head["code"], message.head["content_type"], message.body, headers
        )

    async def _here(
        self, request: apiserver.HttpRequest, path: str, arrived: float
    ) -> apiserver.HttpAnswer:
        answer = self._handler.reviewed(request.body, path, arrived)
        return answer if isinstance(answer, apiserver.HttpAnswer) else await answer


@dataclass(frozen=True, slots=True)
class Beside:
    """Collects what comes of reviews beside answers: lines of the decision log, and who was
    denied."""

    lines: list[bytes]
    denied: list[tuple[Request, Verdict]]

    def told(self) -> JsonDict:
        """Return this as JSON; of a denial, what an Event about it says."""
        return {
            "lines": [line.decode() for line in self.lines],
            "denied": [_told_denial(*item) for item in self.denied],
        }


def _told_denial(request: Request, verdict: Verdict) -> JsonDict:
    obj = request.object or request.old_object or {}
    meta = obj.get("metadata") if isinstance(obj, dict) else None
    metadata = meta if isinstance(meta, dict) else {}
    return {
        "operation": request.operation.value,
        "kind": request.kind,
        "resource": request.resource,
        "subresource": request.subresource,
        "name": request.name,
        "namespace": request.namespace,
        "metadata": {name: metadata[name] for name in _OF_EVENTS if name in metadata},
        "dry_run": request.dry_run,
        "message": redacted(verdict.message, secret_texts(request)),
    }


_OF_EVENTS: Final = ("name", "generateName", "namespace", "uid")


def _heard_denial(denial: JsonObject) -> tuple[Request, Verdict]:
    request = Request(
        Operation(denial["operation"]),
        GroupVersionKind(*denial["kind"]),
        GroupVersionResource(*denial["resource"]),
        denial["subresource"],
        denial["name"],
        denial["namespace"],
        {"metadata": denial["metadata"]},
        dry_run=denial["dry_run"],
    )
    return request, Verdict(allowed=False, status={"message": denial["message"]})


# --- Review queue ------------------------------------------------------------
#
# Reviews wait their turn, and not for ever.
#
# Deciding keeps the processor busy, so reviews are decided one after the other. The queue is
# what makes an overload visible: when it is full, who comes next is sent away at once (HTTP
# 429, without `Retry-After`, which would make an API server ask ten times); who has waited
# until its caller has gone is not decided any more (504). Everybody else is served as usual,
# however many come.
#
# A review that has to ask others (`Unanswered`) goes on in a task of its own, up to its
# deadline.

AT_ONCE: Final = 8
"""Reviews that are decided before the network is looked at again."""

MARGIN_SECONDS: Final = 0.2
"""An answer should come so long before its caller goes away."""

_MOST_TARGETS: Final = 100
"""What is remembered of paths and queries; clients can invent any number."""

_LOG: Final = logging.getLogger("celadon.webhook")

Reply: TypeAlias = Callable[[apiserver.HttpAnswer], None]


@dataclass(frozen=True, slots=True)
class Target:
    """A path of reviews, and how long the caller waits."""

    path: str
    seconds: float


def seconds_to_answer(request: apiserver.HttpRequest, most: float) -> float:
    """Return how long the caller waits, by `?timeout=`; `most` if it waits longer, or does not
    say, or says so much that reading it would take long: no API server does."""
    if request.has_long_head:
        return most
    duration = parse_duration(request.first("timeout"))
    return (
        most
        if duration is None or duration.nanoseconds <= 0
        else min(duration.nanoseconds / 1e9, most)
    )


class ReviewQueue:
    """Lets reviews wait for their turn. `limit` reviews may wait or be decided at once, 0 is any
    number; `seconds` are for those whose caller does not say. Belongs to the running loop."""

    def __init__(
        self, handler: ReviewHandler, limit: int, seconds: float, heavy: HeavyReviews | None = None
    ) -> None:
        self._handler = handler
        self._heavy = HeavyReviews(handler, apiserver.Workers()) if heavy is None else heavy
        self._limit = limit
        self._seconds = seconds
        self._waiting: deque[tuple[apiserver.HttpRequest, Target, Reply, float]] = deque()
        self._asking: set[asyncio.Task[None]] = set()
        self._targets: dict[str, Target | None] = {}
        self._loop = asyncio.get_running_loop()

    @property
    def in_flight(self) -> int:
        """Return how many reviews have no answer yet."""
        return len(self._waiting) + len(self._asking)

    def offer(self, request: apiserver.HttpRequest, reply: Reply) -> bool:
        """Take a review, and nothing else."""
        target = self._target(request)
        if target is None:
            return False
        if self._limit and self.in_flight >= self._limit:
            text = "too many reviews at once, please try again later"
            reply(self._handler.refuse(target.path, 429, text, "busy"))
            return True
        if not self._waiting:
            self._loop.call_soon(self._work)
        self._waiting.append((request, target, reply, perf_counter()))
        return True

    def _target(self, request: apiserver.HttpRequest) -> Target | None:
        if request.method != "POST":
            return None
        try:
            return self._targets[request.target]
        except KeyError:
            target = self._read_target(request)
            if len(self._targets) < _MOST_TARGETS:
                self._targets[request.target] = target
            return target

    def _read_target(self, request: apiserver.HttpRequest) -> Target | None:
        if request.path not in REVIEW_PATHS:
            return None
        return Target(request.path, seconds_to_answer(request, self._seconds))

    def _work(self) -> None:
        """Decide some. INVARIANT (scheduled): a call is scheduled exactly while some wait."""
        waiting = self._waiting
        try:
            for _ in range(min(len(waiting), AT_ONCE)):
                self._decide(*waiting[0])
                waiting.popleft()
        except BaseException:
            waiting.popleft()
            raise
        finally:
            if waiting:
                self._loop.call_soon(self._work)

    def _decide(
        self, request: apiserver.HttpRequest, target: Target, reply: Reply, arrived: float
    ) -> None:
        left = arrived + target.seconds - perf_counter()
        if left <= 0:
            reply(self._late(target))
            return
        answer: apiserver.HttpAnswer | Later
        if self._heavy.takes(request):
            answer = self._heavy.decided(request, target.path, arrived)
        else:
            began = perf_counter()
            try:
                answer = self._handler.begin(request, target.path, arrived)
            except Exception as error:  # noqa: BLE001  the outer edge: one review must not end the server
                answer = self._broken(target, error)
            self._heavy.took(request, perf_counter() - began)
        if isinstance(answer, apiserver.HttpAnswer):
            reply(answer)
            return
        task = self._loop.create_task(self._ask(answer, target, reply, left))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, answer: Later, target: Target, reply: Reply, left: float) -> None:
        margin = min(MARGIN_SECONDS, left / 10)
        try:
            async with asyncio.timeout(left - margin):
                answered = await answer
        except TimeoutError:
            answered = self._late(target)
        except Exception as error:  # noqa: BLE001  the outer edge, as above
            answered = self._broken(target, error)
        reply(answered)

    def _late(self, target: Target) -> apiserver.HttpAnswer:
        text = f"the review was not decided within {target.seconds:g}s"
        return self._handler.refuse(target.path, 504, text, "deadline")

    def _broken(self, target: Target, error: Exception) -> apiserver.HttpAnswer:
        _LOG.error("%s: this is a bug in celadon", target.path, exc_info=error)
        return self._handler.refuse(target.path, 500, "Internal Server Error", "broken")
