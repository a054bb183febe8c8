"""The hot path: the bytes of a review in, the bytes of its answer out.

Which answers are reviews and which are HTTP errors is a choice: where an HTTP error comes, the API
server asks the failure policy of the webhook's configuration; a review that denies denies. So what
policies decide, their own errors included, is a review; what is wrong with the question or with
this server is an HTTP error (docs/decisions/0019-webhook-answers.md).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from time import perf_counter
from typing import Final, TypeAlias

from celadon.admission import Request, Verdict
from celadon.kube import JsonObject
from celadon.serve import JSON, HttpAnswer, HttpRequest, plain_text
from celadon.webhook.deciding.audit_only import without_denial
from celadon.webhook.deciding.decider import Decider
from celadon.webhook.deciding.mutator import Mutator
from celadon.webhook.deciding.rulebook import Rulebook, described
from celadon.webhook.deciding.unanswered import Unanswerable, Unanswered
from celadon.webhook.reviews.incoming_reviews import Review, ReviewError, decode_review
from celadon.webhook.reviews.review_answers import answer_review
from celadon.webhook.service.decision_log import DecisionLog
from celadon.webhook.service.review_bytes import UnreadableJson, answer_bytes_of, read_document
from celadon.webhook.service.webhook_metrics import WebhookMetrics

VALIDATE: Final = "/validate"
MUTATE: Final = "/mutate"
REVIEW_PATHS: Final = (VALIDATE, MUTATE)
_MALFORMED: Final = "malformed"

Later: TypeAlias = Coroutine[None, None, HttpAnswer]


class ReviewHandler:
    """`rulebook` gives what is in force, None if nothing was loaded yet, or is not known any more;
    `missing` says what is waited for then; `most_bytes` is how large
    a body may be; with `known_callers`, whoever shows no certificate is refused; `denied` is told
    of requests that were denied."""

    def __init__(
        self,
        rulebook: Callable[[], Rulebook | None],
        metrics: WebhookMetrics,
        log: DecisionLog | None,
        *,
        most_bytes: int,
        audit_only: bool = False,
        known_callers: bool = False,
        denied: Callable[[Request, Verdict], None] | None = None,
        missing: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._rulebook = rulebook
        self._missing = missing
        self._metrics = metrics
        self._log = log
        self._most_bytes = most_bytes
        self._audit_only = audit_only
        self._known_callers = known_callers
        self._denied = denied

    def begin(self, request: HttpRequest, path: str, arrived: float) -> HttpAnswer | Later:
        """The answer, or what gives it after others have been asked. `arrived` is when the request
        came, by `perf_counter`."""
        if self._known_callers and request.client_certificate is None:
            return self.refuse(path, 401, "a client certificate is required", "unknown caller")
        body = request.body
        if len(body) > self._most_bytes:
            text = f"request entity is too large; limit is {self._most_bytes} bytes"
            return self.refuse(path, 413, text)
        if not _is_json(request):
            return self.refuse(path, 415, f"the content type must be {JSON}")
        if not body:
            return self.refuse(path, 400, "the body is empty")
        try:
            review = decode_review(read_document(body), len(body))
        except (UnreadableJson, ReviewError) as error:
            return self.refuse(path, 400, f"not an AdmissionReview: {error}")
        except RecursionError:
            return self._too_deep(path)
        rules = self._rulebook()
        if rules is None:
            text = f"no policies, waiting for {described(self._missing())}"
            return self.refuse(path, 503, text, "not ready")
        decider = self._decider(path, review, rules)
        if decider is None:
            return self._answer(path, review, Verdict(), None, arrived)
        try:
            verdict = decider.verdict()
        except Unanswered as question:
            return self._later(path, review, decider, question, arrived)
        except Unanswerable as failure:
            return self._unanswerable(path, failure)
        except RecursionError:
            return self._too_deep(path)
        return self._answer(path, review, verdict, decider, arrived)

    def _decider(self, path: str, review: Review, rules: Rulebook) -> Decider | Mutator | None:
        """None where there is nothing to decide by."""
        if path != MUTATE:
            return Decider(review.request, rules, timed=self._metrics.is_timed())
        if rules.mutation is None:
            return None
        return Mutator(review.request, rules.mutation, rules.world())

    async def _later(
        self,
        path: str,
        review: Review,
        decider: Decider | Mutator,
        question: Unanswered,
        arrived: float,
    ) -> HttpAnswer:
        try:
            verdict = await decider.settled(question)
        except Unanswerable as failure:
            return self._unanswerable(path, failure)
        return self._answer(path, review, verdict, decider, arrived)

    def _answer(
        self,
        path: str,
        review: Review,
        verdict: Verdict,
        decider: Decider | Mutator | None,
        arrived: float,
    ) -> HttpAnswer:
        metrics = self._metrics
        if self._denied is not None and not verdict.allowed:
            self._denied(review.request, verdict)
        if self._audit_only and not verdict.allowed:
            verdict = without_denial(verdict)
            metrics.would_deny.add()
        findings = [] if decider is None else decider.findings
        if findings:
            metrics.found(findings)
        if decider is not None and decider.times:
            metrics.timed(decider.times)
        patch: Sequence[JsonObject] = ()
        mutations = None
        if isinstance(decider, Mutator):
            patch, mutations = decider.patch, decider.notes
            metrics.mutated(mutations)
        answer = HttpAnswer(200, JSON, answer_bytes_of(answer_review(review, verdict, patch)))
        seconds = perf_counter() - arrived
        operation = review.request.operation.value
        metrics.reviews.reviewed(path, operation, allowed=verdict.allowed, seconds=seconds)
        if self._log is not None:
            self._log.decided(path, review, verdict, int(seconds * 1e6), findings, mutations)
        return answer

    def _unanswerable(self, path: str, failure: Unanswerable) -> HttpAnswer:
        """What could not be found out may have been decisive."""
        return self.refuse(path, 503, f"the review cannot be decided: {failure}", "unanswerable")

    def _too_deep(self, path: str) -> HttpAnswer:
        return self.refuse(path, 422, "the review is nested too deeply")

    def refuse(self, path: str, code: int, text: str, reason: str = _MALFORMED) -> HttpAnswer:
        """An HTTP error in place of a review."""
        self._metrics.reviews.not_answered(path, reason, code)
        return plain_text(code, f"{text}\n".encode("utf-8", "replace").decode())


def _is_json(request: HttpRequest) -> bool:
    for name, value in request.headers:
        if name == "content-type":
            return value == JSON or value.partition(";")[0].strip().lower() == JSON
    return False
