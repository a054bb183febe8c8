"""A handler whose requests are recorded.

All events of a request are written when its answer is known, before it is sent; that of a stream's
end when it ends. `RequestReceived` therefore carries the time of its stage, but stands in the file
beside the events that follow it. Of a request whose sender could not be authenticated there is one
event, as upstream: its answer.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import field, replace
from datetime import datetime
from typing import Final

from celadon.kube import StatusError, User
from celadon.records import dataclass
from celadon.serve.audit.audit_events import TRUNCATED, Exchange
from celadon.serve.audit.audit_log import AuditLog, line_of
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
from celadon.serve.workers.request_work import LARGE_BYTES, RequestWork, is_large
from celadon.serve.workers.worker_threads import TooMuchWork, Workers

NOBODY: Final = User("")
PLUGIN: Final = "log"
"""What upstream calls the file in its metrics."""


@dataclass(frozen=True, slots=True)
class AuditedHandler:
    """`now` is the clock of the timestamps; `events` and `errors` count what was written, and what
    could not be; `workers` read what is long."""

    inner: Handler
    log: AuditLog
    now: Callable[[], datetime]
    events: Counter
    errors: Counter
    workers: Workers = field(default_factory=Workers)

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """The inner handler's answer."""
        received = self.now()
        answer = await self.inner(request)
        info = await self._info(request)
        recording = self.log.policy.recording(answer.user or NOBODY, info)
        if recording.level is Level.NONE:
            return answer
        exchange = Exchange(request, info, answer, received)
        if exchange.is_unauthenticated:
            await self._written(exchange, RESPONSE_STARTED, recording)
            return answer
        await self._written(exchange, REQUEST_RECEIVED, recording)
        if answer.panic:
            await self._written(exchange, PANIC, recording)
            return answer
        if answer.stream is None:
            await self._written(exchange, RESPONSE_COMPLETE, recording)
            return answer
        await self._written(exchange, RESPONSE_STARTED, recording)
        return replace(answer, stream=self._recorded(answer.stream, exchange, recording))

    async def _written(self, exchange: Exchange, stage: str, recording: Recording) -> None:
        """An event with what was sent and answered, which may be much to read."""
        if stage in recording.omitted_stages:
            return
        request, answer = exchange.request, exchange.answer
        at = exchange.received if stage == REQUEST_RECEIVED else self.now()
        much = request.has_long_head
        if stage != REQUEST_RECEIVED:
            much = much or is_large(request) or len(answer.body) > LARGE_BYTES
        if not much:
            self._keep(_line(exchange, stage, at, recording))
            return
        owner = "" if answer.user is None else answer.user.name
        work = RequestWork(self.workers, owner)
        try:
            line = await work.step(_line, exchange, stage, at, recording, aside=True)
        except (StatusError, TooMuchWork):  # its bodies and long headers cannot be shown
            bare = exchange.shortened()
            line = _line(bare, stage, at, replace(recording, level=Level.METADATA))
        self._keep(line)

    async def _recorded(
        self, stream: AsyncGenerator[bytes, None], exchange: Exchange, recording: Recording
    ) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in stream:
                yield chunk
        finally:
            await stream.aclose()
            await self._written(exchange, RESPONSE_COMPLETE, recording)

    async def _info(self, request: HttpRequest) -> RequestInfo:
        if not request.has_long_head:
            return _info(request)
        work = RequestWork(self.workers, f"from {request.remote_address}")
        try:
            return await work.step(_info, request, aside=True)
        except (StatusError, TooMuchWork):  # nobody has time for it
            return RequestInfo(request.method.lower(), TRUNCATED)

    def _keep(self, line: bytes) -> None:
        """A log that cannot be written is no reason to refuse requests."""
        try:
            self.log.write_line(line)
            self.events.add()
        except OSError as error:
            self.errors.add((PLUGIN,))
            log_lines.warn("the audit log cannot be written", {"err": str(error)})


def _line(exchange: Exchange, stage: str, at: datetime, recording: Recording) -> bytes:
    return line_of(exchange.event(stage, at, recording))


def _info(request: HttpRequest) -> RequestInfo:
    try:
        return request_info(request)
    except UnreadablePath:
        return RequestInfo(request.method.lower(), request.path)
