"""A handler whose requests are recorded.

All events of a request are written when its answer is known, before it is sent; that of a stream's
end when it ends. `RequestReceived` therefore carries the time of its stage, but stands in the file
beside the events that follow it. Of a request whose sender could not be authenticated there is one
event, as upstream: its answer.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from celadon.kube import User
from celadon.records import dataclass
from celadon.serve.audit.audit_events import Exchange
from celadon.serve.audit.audit_log import AuditLog
from celadon.serve.audit.audit_policy import (
    PANIC,
    REQUEST_RECEIVED,
    RESPONSE_COMPLETE,
    RESPONSE_STARTED,
    Level,
    Recording,
)
from celadon.serve.http_messages import Handler, HttpAnswer, HttpRequest
from celadon.serve.operation import log_lines
from celadon.serve.operation.metric_families import Counter
from celadon.serve.requests.request_info import RequestInfo, UnreadablePath, request_info

NOBODY: Final = User("")
PLUGIN: Final = "log"
"""What upstream calls the file in its metrics."""


@dataclass(frozen=True, slots=True)
class AuditedHandler:
    """`now` is the clock of the timestamps; `events` and `errors` count what was written, and what
    could not be."""

    inner: Handler
    log: AuditLog
    now: Callable[[], datetime]
    events: Counter
    errors: Counter

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """The inner handler's answer."""
        received = self.now()
        answer = await self.inner(request)
        info = _info(request)
        recording = self.log.policy.recording(answer.user or NOBODY, info)
        if recording.level is Level.NONE:
            return answer
        exchange = Exchange(request, info, answer, received)
        if exchange.is_unauthenticated:
            self._write(exchange, RESPONSE_STARTED, self.now(), recording)
            return answer
        self._write(exchange, REQUEST_RECEIVED, received, recording)
        if answer.panic:
            self._write(exchange, PANIC, self.now(), recording)
            return answer
        if answer.stream is None:
            self._write(exchange, RESPONSE_COMPLETE, self.now(), recording)
            return answer
        self._write(exchange, RESPONSE_STARTED, self.now(), recording)
        return replace(answer, stream=self._recorded(answer.stream, exchange, recording))

    async def _recorded(
        self, stream: AsyncGenerator[bytes, None], exchange: Exchange, recording: Recording
    ) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in stream:
                yield chunk
        finally:
            await stream.aclose()
            self._write(exchange, RESPONSE_COMPLETE, self.now(), recording)

    def _write(self, exchange: Exchange, stage: str, at: datetime, recording: Recording) -> None:
        """A log that cannot be written is no reason to refuse requests."""
        if stage in recording.omitted_stages:
            return
        try:
            self.log.write(exchange.event(stage, at, recording))
            self.events.add()
        except OSError as error:
            self.errors.add((PLUGIN,))
            log_lines.warn("the audit log cannot be written", {"err": str(error)})


def _info(request: HttpRequest) -> RequestInfo:
    try:
        return request_info(request)
    except UnreadablePath:
        return RequestInfo(request.method.lower(), request.path)
