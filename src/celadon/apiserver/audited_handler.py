"""A handler whose requests are recorded.

All events of a request are written when its answer is known, before it is sent; that of a stream's
end when it ends. `RequestReceived` therefore carries the time of its stage, but stands in the file
beside the events that follow it. Of a request whose sender could not be authenticated there is one
event, as upstream: its answer.
"""

from __future__ import annotations

import gzip
import ipaddress
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Final

from celadon.apiserver.audit import (
    GROUP_VERSION,
    PANIC,
    REQUEST_RECEIVED,
    RESPONSE_COMPLETE,
    RESPONSE_STARTED,
    AuditLog,
    Level,
    Recording,
    line_of,
)
from celadon.apiserver.http_messages import Handler, HttpAnswer, HttpRequest
from celadon.apiserver.negotiation import PROTOBUF, YAML
from celadon.apiserver.operation import log_lines
from celadon.apiserver.operation.metric_table import Counter
from celadon.apiserver.request_info import RequestInfo, UnreadablePath, request_info
from celadon.apiserver.request_work import LARGE_BYTES, RequestWork, is_large
from celadon.apiserver.workers import TooMuchWork, Workers
from celadon.goyaml import UnreadableError, first_document
from celadon.kube import JsonObject, StatusError, User
from celadon.kube.json_types import JsonDict
from celadon.kube.protobuf import ProtobufError, decode
from celadon.records import dataclass

# --- Audit events ------------------------------------------------------------
#
# One event of audit.k8s.io/v1 as JSON, its members in upstream's order.
#
# As k8s.io/apiserver `pkg/audit/request.go` and `pkg/apis/audit/v1/types.go`.


UNAUTHORIZED: Final = 401
MAX_AGENT: Final = 1024
TRUNCATED: Final = "...TRUNCATED"
_SHORT_HEADERS: Final = frozenset({"user-agent", "authorization", "content-type"})
LEVEL_NAMES: Final = {
    Level.METADATA: "Metadata",
    Level.REQUEST: "Request",
    Level.REQUEST_RESPONSE: "RequestResponse",
}
STATUS_MEMBERS: Final = ("status", "message", "reason", "details", "code")
_STATUS_MARK: Final = b'"kind":"Status"'
_MARK_WITHIN: Final = 64


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, what it is about, and its answer. `received` is when it came."""

    request: HttpRequest
    info: RequestInfo
    answer: HttpAnswer
    received: datetime

    def shortened(self) -> Exchange:
        """Without what is long of the request, for whom nobody has time."""
        request = self.request
        short = [(name, value) for name, value in request.headers if name in _SHORT_HEADERS]
        short = [(name, value[:MAX_AGENT]) for name, value in short]
        target = request.target
        if len(target) > MAX_AGENT:
            target = target[:MAX_AGENT] + TRUNCATED
        return replace(self, request=replace(request, body=b"", headers=short, target=target))

    @property
    def is_unauthenticated(self) -> bool:
        """Return whether the sender's credentials were no good."""
        return self.answer.user is None and self.answer.code == UNAUTHORIZED

    def event(self, stage: str, at: datetime, recording: Recording) -> JsonObject:
        """The event of a stage; `recording` says how much of it."""
        answer, answered = self.answer, stage != REQUEST_RECEIVED
        is_create = self.info.is_resource and self.info.verb in ("create", "update")
        wants_request = recording.level >= Level.REQUEST
        sent = self._sent() if answered and (is_create or wants_request) else None
        found = self._answered(everything=recording.level >= Level.REQUEST_RESPONSE)
        event: JsonDict = {
            "kind": "Event",
            "apiVersion": GROUP_VERSION,
            "level": LEVEL_NAMES[recording.level],
            "auditID": next(value for name, value in answer.headers if name == "Audit-Id"),
            "stage": stage,
            "requestURI": self.request.target,
            "verb": self.info.verb,
            "user": _user(answer.user),
        }
        if answer.impersonated_user is not None:
            event["impersonatedUser"] = _user(answer.impersonated_user)
        if answer.constraint:
            event["authenticationMetadata"] = {"impersonationConstraint": answer.constraint}
        event["sourceIPs"] = list(_source_addresses(self.request))
        event.update(_agent(self.request))
        if self.info.is_resource:
            event["objectRef"] = _reference(self.info, sent if is_create else None)
        if answered:
            if self.is_unauthenticated:
                found = {"kind": "Status", "message": _attempted(self.request)}
            elif answer.panic:
                found = {
                    "kind": "Status",
                    "status": "Failure",
                    "message": answer.panic,
                    "reason": "InternalError",
                }
            event["responseStatus"] = _status(answer.code, found)
            if wants_request and sent is not None:
                event["requestObject"] = _shown(sent, recording)
            if recording.level >= Level.REQUEST_RESPONSE and found is not None:
                event["responseObject"] = _shown(found, recording)
        event["requestReceivedTimestamp"] = _time(self.received)
        event["stageTimestamp"] = _time(at)
        annotations = {**answer.audit, **(answer.request_audit if wants_request else {})}
        if answered and annotations:
            event["annotations"] = dict(sorted(annotations.items()))
        return event

    def _sent(self) -> Any:  # noqa: ANN401 - any JSON
        return _parsed(self.request.body, self.request.header("content-type"))

    def _answered(self, *, everything: bool) -> Any:  # noqa: ANN401 - any JSON
        """The answer's object; without `everything` only if it may be a Status."""
        answer = self.answer
        body = answer.body
        if not everything and answer.code < 400 and _STATUS_MARK not in body[:_MARK_WITHIN]:
            return None
        if ("Content-Encoding", "gzip") in answer.headers:
            body = gzip.decompress(body)
        return _parsed(body, answer.content_type)


def _parsed(body: bytes, content_type: str) -> Any:  # noqa: ANN401 - any JSON
    """None for what cannot be read."""
    media_type = content_type.partition(";")[0].strip().lower()
    try:
        if not body:
            return None
        if media_type == PROTOBUF:
            return decode(body)
        if media_type == YAML or media_type.endswith("+yaml"):
            return first_document(body).value
        return json.loads(body)
    except (ProtobufError, UnreadableError, ValueError, RecursionError):
        return None


def _user(user: User | None) -> JsonObject:
    if user is None:
        return {}
    found = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    return {name: value for name, value in found.items() if value}


def _source_addresses(request: HttpRequest) -> Iterator[str]:
    """The client's own, and those that proxies claim; each once."""
    claimed = [*request.header("x-forwarded-for").split(","), request.header("x-real-ip")]
    for address in dict.fromkeys(one.strip() for one in (*claimed, request.remote_address)):
        try:
            ipaddress.ip_address(address)
        except ValueError:
            continue
        yield address


def _agent(request: HttpRequest) -> Iterator[tuple[str, str]]:
    agent = request.header("user-agent")
    if agent:
        short = agent if len(agent) <= MAX_AGENT else agent[:MAX_AGENT] + TRUNCATED
        yield "userAgent", short


def _reference(info: RequestInfo, sent: object) -> JsonObject:
    """Return a reference to an object: what the path does not say of it, the object says."""
    meta = sent.get("metadata") if isinstance(sent, dict) else None
    own: JsonObject = meta if isinstance(meta, dict) else {}
    found = {
        "resource": info.resource,
        "namespace": info.namespace or own.get("namespace"),
        "name": info.name or own.get("name"),
        "uid": own.get("uid"),
        "apiGroup": info.group,
        "apiVersion": info.version,
        "resourceVersion": own.get("resourceVersion"),
        "subresource": info.subresource,
    }
    return {name: value for name, value in found.items() if value}


def _attempted(request: HttpRequest) -> str:
    """As k8s.io/apiserver `pkg/endpoints/filters/authn_audit.go`."""
    scheme, _, rest = request.header("authorization").strip().partition(" ")
    methods = [scheme.lower()] if rest and scheme.lower() in ("basic", "bearer") else []
    if request.first("access_token").strip():
        methods.append("access_token")
    if request.client_certificate is not None:
        methods.append("x509")
    if not methods:
        return "Authentication failed, no credentials provided"
    return f"Authentication failed, attempted: {', '.join(methods)}"


def _status(code: int, found: object) -> JsonObject:
    if not isinstance(found, dict) or found.get("kind") != "Status":
        return {"metadata": {}, "code": code}
    return (
        {"metadata": {}}
        | {name: found[name] for name in STATUS_MEMBERS if found.get(name)}
        | {"code": code}
    )


def _shown(obj: object, recording: Recording) -> Any:  # noqa: ANN401 - any JSON
    if not recording.omit_managed_fields or not isinstance(obj, dict):
        return obj
    if isinstance(obj.get("items"), list):
        return {**obj, "items": [_shown(item, recording) for item in obj["items"]]}
    meta = obj.get("metadata")
    if not isinstance(meta, dict) or "managedFields" not in meta:
        return obj
    left = {name: value for name, value in meta.items() if name != "managedFields"}
    return {**obj, "metadata": left}


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


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
        work = RequestWork(self.workers, owner, size=request.size)
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
        work = RequestWork(self.workers, f"from {request.remote_address}", size=request.size)
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
