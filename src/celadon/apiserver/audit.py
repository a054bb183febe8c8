"""The audit log: who asked for what, and what became of it, one JSON line for each stage.

In the order of this module: the policy says what is recorded of which request, events are made and
written to the log, and a handler around all others makes them. As k8s.io/apiserver `pkg/audit`.
"""

from __future__ import annotations

import contextlib
import enum
import gzip
import ipaddress
import json
import os
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from celadon import private_files
from celadon.apiserver.http_messages import Handler, HttpAnswer, HttpRequest
from celadon.apiserver.loop_offloading import LARGE_BYTES, RequestWork, is_large
from celadon.apiserver.negotiation import PROTOBUF, YAML
from celadon.apiserver.operation import log_lines
from celadon.apiserver.operation.metric_table import Counter
from celadon.apiserver.operation.request_limits import is_long_running
from celadon.apiserver.request_info import RequestInfo, UnreadablePath, request_info
from celadon.apiserver.workers import TooMuchWork, Workers
from celadon.kube import StatusError, User
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.protobuf import ProtobufError, decode, in_message_order
from celadon.kube.status import is_status
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field, replace

# --- Audit policy ------------------------------------------------------------
#
# What is recorded of which request: the policy file of audit.k8s.io/v1.
#
# The first rule that matches a request decides. As k8s.io/apiserver `pkg/audit/policy`.

REQUEST_RECEIVED: Final = "RequestReceived"
RESPONSE_STARTED: Final = "ResponseStarted"
RESPONSE_COMPLETE: Final = "ResponseComplete"
PANIC: Final = "Panic"
STAGES: Final = (REQUEST_RECEIVED, RESPONSE_STARTED, RESPONSE_COMPLETE, PANIC)
GROUP_VERSION: Final = "audit.k8s.io/v1"
ANY: Final = "*"


class AuditPolicyError(ValueError):
    """Says why a server does not start with this policy."""


class Level(enum.IntEnum):
    """Says how much of a request is recorded; each level has what those before have."""

    NONE = 0
    METADATA = 1
    REQUEST = 2
    REQUEST_RESPONSE = 3


LEVELS: Final = {
    "None": Level.NONE,
    "Metadata": Level.METADATA,
    "Request": Level.REQUEST,
    "RequestResponse": Level.REQUEST_RESPONSE,
}


@dataclass(frozen=True, slots=True)
class GroupResources:
    """Resources (`pods`, `pods/log`, `*/scale`, `*`) of one group; empty means all. `pods/*` stands
    for pods, too."""

    group: str = ""
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def matches(self, info: RequestInfo) -> bool:
        if self.group not in (info.group, ANY):
            return False
        if not self.resources:
            return True
        if self.names and info.name not in self.names:
            return False
        full = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        names = {full, ANY, f"{info.resource}/*"}
        if info.subresource:
            names.add(f"*/{info.subresource}")
        return not names.isdisjoint(self.resources)


@dataclass(frozen=True, slots=True)
class Recording:
    """Says what is recorded of a request."""

    level: Level
    omitted_stages: frozenset[str] = frozenset()
    omit_managed_fields: bool = False


@dataclass(frozen=True, slots=True)
class AuditRule:
    """Says what is recorded of some requests. Empty fields match everything, but `resources` and
    `urls` each exclude the other kind of request when only they are given."""

    recording: Recording
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    resources: tuple[GroupResources, ...] = ()
    namespaces: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    def matches(self, user: User, info: RequestInfo) -> bool:
        if self.users and user.name not in self.users:
            return False
        if self.groups and set(self.groups).isdisjoint(user.groups):
            return False
        if self.verbs and info.verb not in self.verbs:
            return False
        if not (self.resources or self.namespaces or self.urls):
            return True
        if info.is_resource:
            return bool(self.resources or self.namespaces) and self._matches_resource(info)
        return any(_is_path(url, info.path) for url in self.urls)

    def _matches_resource(self, info: RequestInfo) -> bool:
        if self.namespaces and info.namespace not in self.namespaces:
            return False
        return not self.resources or any(resource.matches(info) for resource in self.resources)


@dataclass(frozen=True, slots=True)
class AuditPolicy:
    """Holds the rules in their order."""

    rules: tuple[AuditRule, ...]

    @property
    def records_bodies(self) -> bool:
        """Return whether some rule has the bodies of requests recorded."""
        return any(rule.recording.level >= Level.REQUEST for rule in self.rules)

    def recording(self, user: User, info: RequestInfo) -> Recording:
        """Return what the first rule that matches records; nothing, if none does."""
        for rule in self.rules:
            if rule.matches(user, info):
                return rule.recording
        return Recording(Level.NONE)


METADATA_FOR_ALL: Final = AuditPolicy((AuditRule(Recording(Level.METADATA)),))
"""What is recorded where no policy is given."""


def _is_path(pattern: str, path: str) -> bool:
    if pattern.endswith(ANY):
        return path.startswith(pattern.removesuffix(ANY))
    return path == pattern


def read_audit_policy(text: str) -> AuditPolicy:
    """YAML or JSON. Raises AuditPolicyError."""
    from celadon.goyaml import UnreadableError, first_document  # late: few servers have a policy

    try:
        value = first_document(text.encode("utf-8", "surrogatepass")).value
    except UnreadableError as error:
        raise AuditPolicyError(f"audit policy: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict) or value.get("kind") != "Policy":
        raise AuditPolicyError("audit policy: its kind must be Policy")
    if value.get("apiVersion") != GROUP_VERSION:
        raise AuditPolicyError(f"audit policy: its apiVersion must be {GROUP_VERSION}")
    rules = value.get("rules") or []
    if not rules:
        raise AuditPolicyError("audit policy: it has no rules")
    shape = list(_shape_errors(value))
    if shape:
        raise AuditPolicyError(f"audit policy: {'; '.join(shape)}")
    errors = [
        f"rules[{index}]: {error}" for index, rule in enumerate(rules) for error in _errors(rule)
    ]
    errors += _stage_errors(value.get("omitStages") or ())
    if errors:
        raise AuditPolicyError(f"audit policy: {'; '.join(errors)}")
    return AuditPolicy(tuple(_rule(rule, value) for rule in rules))


_LISTS: Final = ("users", "userGroups", "verbs", "namespaces", "nonResourceURLs", "omitStages")
_LISTS_OF_RESOURCES: Final = ("resources", "resourceNames")


def _shape_errors(policy: JsonObject) -> Iterator[str]:
    """Yield where something else stands than the type of a policy has there. A rule that was read
    otherwise than it was meant would leave out events and say nothing."""
    yield from _fields(policy, "", lists=("omitStages",))
    if not isinstance(policy["rules"], list):
        yield "rules: it must be a list"
        return
    for index, rule in enumerate(policy["rules"]):
        place = f"rules[{index}]"
        if not isinstance(rule, dict):
            yield f"{place}: it must be an object"
            continue
        yield from _fields(rule, f"{place}.", texts=("level",), lists=_LISTS)
        groups = [] if rule.get("resources") is None else rule["resources"]
        if not isinstance(groups, list):
            yield f"{place}.resources: it must be a list"
            continue
        for number, group in enumerate(groups):
            where = f"{place}.resources[{number}]"
            if isinstance(group, dict):
                yield from _fields(group, f"{where}.", texts=("group",), lists=_LISTS_OF_RESOURCES)
            else:
                yield f"{where}: it must be an object"


def _fields(
    data: JsonObject, place: str, *, texts: Sequence[str] = (), lists: Sequence[str] = ()
) -> Iterator[str]:
    for name in texts:
        if not isinstance(data.get(name), str | None):
            yield f"{place}{name}: it must be a string"
    for name in lists:
        value = data.get(name)
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if value is not None and not is_list:
            yield f"{place}{name}: it must be a list of strings"
    if not isinstance(data.get("omitManagedFields"), bool | None):
        yield f"{place}omitManagedFields: it must be true or false"


def _errors(rule: JsonObject) -> Iterable[str]:
    if rule.get("level") not in LEVELS:
        yield f"level `{rule.get('level')}` is none of {', '.join(LEVELS)}"
    urls = rule.get("nonResourceURLs") or ()
    resources = rule.get("resources") or ()
    if urls and (resources or rule.get("namespaces")):
        yield "rules cannot apply to both regular resources and non-resource URLs"
    for url in urls:
        if url != ANY and not url.startswith("/"):
            yield "non-resource URL rules must begin with a '/' character"
        elif ANY in url[:-1]:
            yield "non-resource URL wildcards '*' must be the final character of the rule"
    if any(
        resource.get("resourceNames") and not resource.get("resources") for resource in resources
    ):
        yield "using resourceNames requires at least one resource"
    yield from _stage_errors(rule.get("omitStages") or ())


def _stage_errors(stages: Sequence[str]) -> list[str]:
    return [
        f"stage `{stage}`: allowed stages are {','.join(STAGES)}"
        for stage in stages
        if stage not in STAGES
    ]


def _rule(rule: JsonObject, policy: JsonObject) -> AuditRule:
    omitted = (*(rule.get("omitStages") or ()), *(policy.get("omitStages") or ()))
    without_fields = rule.get("omitManagedFields", policy.get("omitManagedFields", False))
    resources = (
        GroupResources(
            resource.get("group") or "",
            tuple(resource.get("resources") or ()),
            tuple(resource.get("resourceNames") or ()),
        )
        for resource in rule.get("resources") or ()
    )
    return AuditRule(
        Recording(LEVELS[rule["level"]], frozenset(omitted), bool(without_fields)),
        tuple(rule.get("users") or ()),
        tuple(rule.get("userGroups") or ()),
        tuple(rule.get("verbs") or ()),
        tuple(resources),
        tuple(rule.get("namespaces") or ()),
        tuple(rule.get("nonResourceURLs") or ()),
    )


# --- Audit log ---------------------------------------------------------------
#
# The file that events are appended to, each as one line, in one write.
#
# Before it becomes too large it is put aside under its name and the time, and a new one is
# begun; those put aside go when they are too many or too old. Names and rules are those of the
# library that kube-apiserver rotates with (lumberjack): `audit-2026-01-31T08-15-00.000.log` in
# UTC.

DEFAULT_MEGABYTES: Final = 100
"""What 0 means (lumberjack)."""

MEGABYTE: Final = 1 << 20
_STAMP: Final = "%Y-%m-%dT%H-%M-%S"


@dataclass(frozen=True, slots=True)
class Rotation:
    """Holds when a log is rotated: `--audit-log-maxsize` (megabytes), `--audit-log-maxage` (days),
    `--audit-log-maxbackup`; of the last two, 0 is no limit."""

    megabytes: int = 0
    days: int = 0
    backups: int = 0

    @property
    def bytes(self) -> int:
        return (self.megabytes or DEFAULT_MEGABYTES) * MEGABYTE


def line_of(event: JsonObject) -> bytes:
    """Return an event as it stands in the file."""
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


class AuditLog:
    """A file and the policy that says what goes into it. Raises OSError."""

    def __init__(
        self,
        path: Path,
        policy: AuditPolicy,
        rotation: Rotation | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.policy = policy
        self._path = path
        self._rotation = Rotation() if rotation is None else rotation
        self._now = now
        self._file = self._opened()
        self._size = os.fstat(self._file).st_size

    def __enter__(self) -> AuditLog:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def write(self, event: JsonObject) -> None:
        self.write_line(line_of(event))

    def write_line(self, line: bytes) -> None:
        """Write a line of `line_of`."""
        if self._size and self._size + len(line) > self._rotation.bytes:
            self._rotate()
        self._size += os.write(self._file, line)

    def _opened(self) -> int:
        return private_files.open_to_append(self._path)

    def _rotate(self) -> None:
        now = self._now()
        stamp = f"{now.strftime(_STAMP)}.{now.microsecond // 1000:03}"
        self._path.rename(self._path.with_name(f"{self._path.stem}-{stamp}{self._path.suffix}"))
        fresh = self._opened()
        os.close(self._file)
        self._file, self._size = fresh, 0
        self._remove_old(now)

    def _remove_old(self, now: datetime) -> None:
        """Remove files that are too many or too old. Their names have their times, so that the
        newest come last."""
        name = late_pattern(
            rf"{re.escape(self._path.stem)}-(\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d)\.\d{{3}}"
            rf"{re.escape(self._path.suffix)}"
        )
        paths = sorted(path for path in self._path.parent.iterdir() if name.fullmatch(path.name))
        many = self._rotation.backups or len(paths)
        for path in paths[: len(paths) - many]:
            path.unlink(missing_ok=True)
        if not self._rotation.days:
            return
        oldest = now - timedelta(days=self._rotation.days)
        for path in paths:
            match = name.fullmatch(path.name)
            assert match is not None
            with contextlib.suppress(ValueError):
                if datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC) < oldest:
                    path.unlink(missing_ok=True)


# --- Requests, audited -------------------------------------------------------
#
# A handler whose requests are recorded.
#
# All events of a request are written when its answer is known, before it is sent; that of a
# stream's end when it ends. `RequestReceived` therefore carries the time of its stage, but stands
# in the file beside the events that follow it. Of a request whose sender could not be
# authenticated there is one event, as upstream: its answer.

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
        """Return the exchange without what is long of the request, for when nobody has time to
        write it."""
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

    def event(self, stage: str, moment: datetime, recording: Recording) -> JsonObject:
        """Return the event of a stage; `recording` says how much of it."""
        answer, answered = self.answer, stage != REQUEST_RECEIVED
        wants_request = recording.level >= Level.REQUEST
        sent = answer.sent if answered else None
        if sent is not None and self.info.verb == "patch":
            sent = self._patch() if wants_request else None
        result = self._answered(everything=recording.level >= Level.REQUEST_RESPONSE)
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
        if answered and answer.impersonated_user is not None:
            event["impersonatedUser"] = _user(answer.impersonated_user)
        if answered and answer.constraint:
            event["authenticationMetadata"] = {"impersonationConstraint": answer.constraint}
        event["sourceIPs"] = list(_source_addresses(self.request))
        event.update(_agent(self.request))
        if self.info.is_resource:
            event["objectRef"] = _reference(self.info, sent)
        if answered:
            if answer.panic:
                result = {
                    **_STATUS,
                    "status": "Failure",
                    "message": answer.panic,
                    "reason": "InternalError",
                }
            event["responseStatus"] = _status(answer.code, result)
            if wants_request and sent is not None:
                event["requestObject"] = _shown(sent, recording)
            if recording.level >= Level.REQUEST_RESPONSE and result is not None:
                event["responseObject"] = _shown(result, recording)
        event["requestReceivedTimestamp"] = _time(self.received)
        event["stageTimestamp"] = _time(moment)
        annotations = {**answer.audit, **(answer.request_audit if wants_request else {})}
        if answered and annotations:
            event["annotations"] = dict(sorted(annotations.items()))
        return event

    def _patch(self) -> Any:  # noqa: ANN401 - any JSON
        return _parsed(self.request.body, self.request.header("content-type"))

    def _answered(self, *, everything: bool) -> Any:  # noqa: ANN401 - any JSON
        """Return the answer's object; without `everything` only if it may be a Status."""
        answer = self.answer
        body = answer.body
        if answer.is_passed_on:
            return None
        if not everything and answer.code < 400 and _STATUS_MARK not in body[:_MARK_WITHIN]:
            return None
        if ("Content-Encoding", "gzip") in answer.headers:
            body = gzip.decompress(body)
        result = _parsed(body, answer.content_type)
        is_sorted = answer.content_type.startswith(YAML) and isinstance(result, dict)
        return in_message_order(result) if is_sorted else result


def _parsed(body: bytes, content_type: str) -> Any:  # noqa: ANN401 - any JSON
    """Read a body by its media type; return None for what cannot be read."""
    media_type = content_type.partition(";")[0].strip().lower()
    try:
        if not body:
            return None
        if media_type == PROTOBUF:
            return decode(body)
        if media_type == YAML or media_type.endswith("+yaml"):
            return _parsed_yaml(body)
        return json.loads(body)
    except (ProtobufError, ValueError, RecursionError):
        return None


def _parsed_yaml(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    from celadon.goyaml import UnreadableError, first_document  # late: few bodies are YAML

    try:
        return first_document(body).value
    except UnreadableError:
        return None


def _user(user: User | None) -> JsonObject:
    if user is None:
        return {}
    result = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    return {name: value for name, value in result.items() if value}


def _source_addresses(request: HttpRequest) -> Iterator[str]:
    """Yield the client's own address, and those that proxies claim; each once."""
    claimed = [*request.header("x-forwarded-for").split(","), request.header("x-real-ip")]
    for address in dict.fromkeys(text.strip() for text in (*claimed, request.remote_address)):
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
    metadata: JsonObject = meta if isinstance(meta, dict) else {}
    result = {
        "resource": info.resource,
        "namespace": info.namespace or metadata.get("namespace"),
        "name": info.name or metadata.get("name"),
        "uid": metadata.get("uid"),
        "apiGroup": info.group,
        "apiVersion": info.version,
        "resourceVersion": metadata.get("resourceVersion"),
        "subresource": info.subresource,
    }
    return {name: value for name, value in result.items() if value}


_STATUS: Final = {"apiVersion": "v1", "kind": "Status"}


def _status(code: int, obj: object) -> JsonObject:
    if not is_status(obj):
        return {"metadata": {}, "code": code}
    return (
        {"metadata": {}}
        | {name: obj[name] for name in STATUS_MEMBERS if obj.get(name) or name == "details" in obj}
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


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


NOBODY: Final = User("")
PLUGIN: Final = "log"
"""What upstream calls the file in its metrics."""


@dataclass(frozen=True, slots=True)
class AuditedHandler:
    """Writes audit events about the requests that a handler answers. `now` is the clock of the
    timestamps; `events` and `errors` count what was written, and what could not be; `workers` read
    what is long."""

    inner: Handler
    log: AuditLog
    now: Callable[[], datetime]
    events: Counter
    errors: Counter
    workers: Workers = field(default_factory=Workers)

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """Return the inner handler's answer, and log the request."""
        received = self.now()
        if self.log.policy.records_bodies:
            request = replace(request, is_recorded=True)
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
            if is_long_running(info):
                await self._written(exchange, RESPONSE_STARTED, recording)
            await self._written(exchange, RESPONSE_COMPLETE, recording)
            return answer
        await self._written(exchange, RESPONSE_STARTED, recording)
        return replace(answer, stream=self._recorded(answer.stream, exchange, recording))

    async def _written(self, exchange: Exchange, stage: str, recording: Recording) -> None:
        """Return an event with what was sent and answered, which may be much to read."""
        if stage in recording.omitted_stages:
            return
        request, answer = exchange.request, exchange.answer
        moment = exchange.received if stage == REQUEST_RECEIVED else self.now()
        much = request.has_long_head
        if stage != REQUEST_RECEIVED:
            much = much or is_large(request) or len(answer.body) > LARGE_BYTES
        if not much:
            self._keep(_line(exchange, stage, moment, recording))
            return
        owner = "" if answer.user is None else answer.user.name
        work = RequestWork(self.workers, owner, size=request.size)
        try:
            line = await work.step(_line, exchange, stage, moment, recording, aside=True)
        except (StatusError, TooMuchWork):  # its bodies and long headers cannot be shown
            bare = exchange.shortened()
            line = _line(bare, stage, moment, replace(recording, level=Level.METADATA))
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
        """Write a line. A log that cannot be written is no reason to refuse requests."""
        try:
            self.log.write_line(line)
            self.events.add()
        except OSError as error:
            self.errors.add((PLUGIN,))
            log_lines.warn("the audit log cannot be written", {"err": str(error)})


def _line(exchange: Exchange, stage: str, moment: datetime, recording: Recording) -> bytes:
    return line_of(exchange.event(stage, moment, recording))


def _info(request: HttpRequest) -> RequestInfo:
    try:
        return request_info(request)
    except UnreadablePath:
        return RequestInfo(request.method.lower(), request.path)
