"""What a webhook says about itself at `/healthz`, `/readyz` and `/metrics`, and 404 and 405."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from celadon.serve import HttpAnswer, HttpRequest, plain_text
from celadon.serve.operation import CONTENT_TYPE, exposition
from celadon.webhook.deciding.rulebook import PolicySource, described
from celadon.webhook.service.review_handler import REVIEW_PATHS
from celadon.webhook.service.webhook_metrics import WebhookMetrics

_READING = ("GET", "HEAD")


class OwnPages:
    """The handler of everything that is no review. `is_ending` says whether the end was asked
    for; each of `waits_for` what the webhook cannot be ready without, empty when it is there."""

    def __init__(
        self,
        source: PolicySource,
        metrics: WebhookMetrics,
        is_ending: Callable[[], bool],
        waits_for: Iterable[Callable[[], str]] = (),
    ) -> None:
        self._source = source
        self._metrics = metrics
        self._is_ending = is_ending
        self._waits_for = tuple(waits_for)
        self._pages: dict[str, Callable[[HttpRequest], HttpAnswer]] = {
            "/healthz": lambda _: _text(200, "ok"),
            "/livez": lambda _: _text(200, "ok"),
            "/readyz": self._readyz,
            "/metrics": self._metrics_page,
        }

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """Never a review: those are offered to the queue first."""
        path = request.path
        if path in REVIEW_PATHS:
            return _text(405, "method not allowed: POST an AdmissionReview", ("Allow", "POST"))
        page = self._pages.get(path)
        if page is None:
            listed = ", ".join((*REVIEW_PATHS, *self._pages))
            return _text(404, f"not found; there are {listed}")
        if request.method not in _READING:
            return _text(405, "method not allowed", ("Allow", "GET"))
        return page(request)

    def _readyz(self, request: HttpRequest) -> HttpAnswer:
        failing = [text for is_good, text in self._checks() if not is_good]
        if not failing and "verbose" not in request.query:
            return _text(200, "ok")
        marks = "\n".join(f"[{'+' if good else '-'}]{text}" for good, text in self._checks())
        verdict = "readyz check failed" if failing else "readyz check passed"
        return _text(503 if failing else 200, f"{marks}\n{verdict}")

    def _checks(self) -> Iterator[tuple[bool, str]]:
        state = self._source.state()
        rules = self._source.rulebook()
        if rules is None or state.missing:
            yield False, f"policies waiting for {described(state.missing)}"
        elif state.problems:
            yield True, f"policies ok, of an earlier version: {described(state.problems)}"
        else:
            yield True, f"policies ok ({rules.policies})"
        for missing in filter(None, (one() for one in self._waits_for)):
            yield False, f"waiting for {missing}"
        if self._is_ending():
            yield False, "shutdown in progress"
        else:
            yield True, "shutdown ok"

    def _metrics_page(self, _: HttpRequest) -> HttpAnswer:
        return HttpAnswer(200, CONTENT_TYPE, exposition(self._metrics.families()).encode())


def _text(code: int, text: str, *headers: tuple[str, str]) -> HttpAnswer:
    return plain_text(code, f"{text}\n", *headers)
