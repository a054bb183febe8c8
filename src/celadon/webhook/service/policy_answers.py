"""Reviews that policies answer: the queue, the handler behind it, and how they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import Final

from celadon.apiserver import HttpAnswer, HttpRequest, Workers, plain_text
from celadon.apiserver.operation import Family
from celadon.webhook.deciding import PolicySource, described
from celadon.webhook.service.decision_log import DecisionLog
from celadon.webhook.service.readiness import PAGES
from celadon.webhook.service.review_handler import (
    REVIEW_PATHS,
    HeavyReviews,
    ReviewHandler,
    ReviewQueue,
)
from celadon.webhook.service.webhook_metrics import WebhookMetrics
from celadon.webhook.service.webhook_settings import WebhookSettings

ONE_CALLER: Final = 1.0
"""Of a processor: an API server asks for all of its users."""


class PolicyAnswers:
    """An `Answering`. With `forks`, reviews that take long have processes of their own."""

    def __init__(
        self,
        settings: WebhookSettings,
        source: PolicySource,
        log: DecisionLog | None = None,
        *,
        forks: bool = False,
    ) -> None:
        self._source = source
        self._log = log
        self._metrics = WebhookMetrics(source, lambda: self.prompt.in_flight, settings.expires)
        handler = ReviewHandler(
            source.rulebook,
            self._metrics,
            log,
            most_bytes=settings.body_bytes,
            audit_only=settings.audit_only,
            known_callers=settings.known_callers,
            denied=settings.denied,
            missing=lambda: source.state().missing,
        )
        workers = Workers(share=ONE_CALLER)
        if forks:
            workers.allow_forks(nullcontext)
        self._heavy = HeavyReviews(handler, workers, source.stamp)
        self.prompt = ReviewQueue(handler, settings.in_flight, settings.seconds, self._heavy)

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """Never a review: those are offered to the queue first."""
        if request.path in REVIEW_PATHS:
            text = "method not allowed: POST an AdmissionReview\n"
            return plain_text(405, text, ("Allow", "POST"))
        listed = ", ".join((*REVIEW_PATHS, *PAGES))
        return plain_text(404, f"not found; there are {listed}\n")

    def checks(self) -> Iterator[tuple[bool, str]]:
        """Yield whether there are policies, and whether they are the newest."""
        state = self._source.state()
        rules = self._source.rulebook()
        for remark in state.remarks:
            yield True, f"policies: {remark}"
        if rules is None or state.missing:
            yield False, f"policies waiting for {described(state.missing)}"
        elif state.problems:
            yield True, f"policies ok, of an earlier version: {described(state.problems)}"
        else:
            yield True, f"policies ok ({rules.policies})"

    def families(self) -> Iterable[Family]:
        """Those of policies among them."""
        return self._metrics.families()

    async def run(self) -> None:
        """Keep the policies current."""
        try:
            await self._source.run()
        finally:
            self._heavy.stop()

    def look(self) -> None:
        """Open the decision log anew if somebody has moved it, and have heavy reviews decided by
        the newest policies."""
        self._heavy.look()
        if self._log is not None:
            self._log.reopen_if_moved()
