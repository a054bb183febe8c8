"""What any webhook says about itself at `/healthz`, `/livez`, `/readyz` and `/metrics`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from celadon.apiserver import HttpAnswer, HttpRequest, plain_text
from celadon.apiserver.operation import CONTENT_TYPE, exposition
from celadon.webhook.service.review_handler import Answering
from celadon.webhook.service.webhook_settings import WebhookSettings

PAGES: Final = ("/healthz", "/livez", "/readyz", "/metrics")
_READING: Final = ("GET", "HEAD")


class OwnPages:
    """The handler of all requests that are not answered promptly. `is_ending` says whether the end
    was asked for."""

    def __init__(
        self, answering: Answering, settings: WebhookSettings, is_ending: Callable[[], bool]
    ) -> None:
        self._answering = answering
        self._settings = settings
        self._is_ending = is_ending
        written = (_well, _well, self._readyz, self._metrics_page)
        self._pages = dict(zip(PAGES, written, strict=True))

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """One of the pages, or what the webhook answers with."""
        page = self._pages.get(request.path)
        if page is None:
            return await self._answering.handle(request)
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
        yield from self._answering.checks()
        for missing in filter(None, (one() for one in self._settings.waits_for)):
            yield False, f"waiting for {missing}"
        for remark in (remark for one in self._settings.remarks for remark in one()):
            yield True, f"ready, but {remark}"
        if self._is_ending():
            yield False, "shutdown in progress"
        else:
            yield True, "shutdown ok"

    def _metrics_page(self, _: HttpRequest) -> HttpAnswer:
        families = (*self._answering.families(), *self._settings.families)
        return HttpAnswer(200, CONTENT_TYPE, exposition(families).encode())


def _well(_: HttpRequest) -> HttpAnswer:
    return _text(200, "ok")


def _text(code: int, text: str, *headers: tuple[str, str]) -> HttpAnswer:
    return plain_text(code, f"{text}\n", *headers)
