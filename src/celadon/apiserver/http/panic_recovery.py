"""The outer edge of a handler: no request ends the server, and each may be a line in the log."""

from __future__ import annotations

import time
from typing import Final

from celadon.apiserver.http_messages import Handler, HttpAnswer, HttpRequest, plain_text
from celadon.apiserver.operation import log_lines

BROKEN: Final = plain_text(500, "Internal Server Error\n")


class GuardedHandler:
    """A handler that always answers."""

    __slots__ = ("_handler",)

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def answer(self, request: HttpRequest) -> HttpAnswer:
        """500 for what only a mistake of ours can be."""
        began = time.perf_counter()
        try:
            answer = await self._handler(request)
        except Exception as error:  # noqa: BLE001  the outer edge: one request must not end the server
            log_lines.FAILURES.tell(f"{request.method} {request.path}: the handler failed", error)
            answer = BROKEN
        if log_lines.is_said(log_lines.REQUESTS):
            _log(request, answer, time.perf_counter() - began)
        return answer


def log_broken_stream(error: Exception) -> None:
    """Log a stream that has ended with an exception."""
    log_lines.FAILURES.tell("a stream failed", error)


def _log(request: HttpRequest, answer: HttpAnswer, seconds: float) -> None:
    """Log a request as k8s.io/apiserver `pkg/server/httplog` does, and who made it."""
    fields = {
        "verb": request.method,
        "URI": request.target,
        "latency": f"{1000 * seconds:.3f}ms",
        "userAgent": request.header("user-agent"),
        "audit-ID": dict(answer.headers).get("Audit-Id", ""),
        "srcIP": request.remote_address,
        "user": "" if answer.user is None else answer.user.name,
        "resp": answer.code,
    }
    log_lines.say(log_lines.REQUESTS, "HTTP", fields)
