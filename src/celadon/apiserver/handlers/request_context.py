"""One request on its way through the server: who asks, for what, and what is noted beside the
answer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from celadon.apiserver.handlers.resource_endpoints import Endpoint
from celadon.apiserver.http_messages import JSON, Header, HttpRequest
from celadon.apiserver.loop_offloading import RequestWork
from celadon.apiserver.negotiation import BUILT_IN_TYPES, PROTOBUF, YAML
from celadon.apiserver.request_info import RequestInfo, is_true
from celadon.cel.value_functions import parse_duration
from celadon.kube import GroupVersionKind, StatusError, User, status
from celadon.kube.crd import CustomKind
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.go import Document, go_json, parse_media_type
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.protobuf import (
    ProtobufError,
    decode,
    has_message,
    in_message_order,
    open_envelope,
    read_message,
)
from celadon.kube.registry import Incoming, Target, WriteOptions, delete, patch, request_bodies
from celadon.kube.schemas import json_kind
from celadon.memoization import remembered
from celadon.records import dataclass as record

if TYPE_CHECKING:
    from celadon.goyaml import YamlDocument

HANDLER_SECONDS: Final = 34.0
"""What a write has at most (k8s.io/apiserver `pkg/endpoints/handlers/create.go`)."""

OPTIONS = {
    "create": request_bodies.CREATE,
    "update": request_bodies.UPDATE,
    "patch": request_bodies.PATCH,
}


class LostRace(Exception):
    """Somebody else has written in between: the write has to begin again."""


@dataclass(slots=True)
class Notes:
    """Texts of Warning headers, in order, and audit annotations: the first value of a key stays.
    `request_audit` are those for levels that have the request. `sent` is what was read from the
    body of a write: its metadata alone where nobody records more, and nothing of a patch. `user` is
    who asks, `impersonated_user` as whom and `constraint` by which constrained right, `endpoint`
    and `info` for what, once that is known; `flow_headers` say which FlowSchema it matched."""

    warnings: list[str] = field(default_factory=list)
    audit: dict[str, str] = field(default_factory=dict)
    request_audit: dict[str, str] = field(default_factory=dict)
    sent: JsonObject | None = None
    user: User | None = None
    impersonated_user: User | None = None
    constraint: str = ""
    endpoint: Endpoint | None = None
    info: RequestInfo | None = None
    flow_headers: tuple[Header, ...] = ()
    audit_id: str = ""

    def annotate(self, annotations: Mapping[str, str]) -> None:
        for key, value in annotations.items():
            self.audit.setdefault(key, value)

    @contextlib.contextmanager
    def rollback_on_retry(self) -> Iterator[None]:
        """Around one attempt of a write: takes back its warnings when a race was lost, since the
        next attempt begins with what is there then. After all other errors they stay."""
        count = len(self.warnings)
        try:
            yield
        except LostRace:
            del self.warnings[count:]
            raise


def wanted_seconds(request: HttpRequest) -> float:
    """Return what a request may take."""
    text = request.first("timeout")
    duration = parse_duration(text) if text else None
    return HANDLER_SECONDS if duration is None else min(duration.nanoseconds / 1e9, HANDLER_SECONDS)


def time_left(seconds: float) -> Callable[[], float]:
    """Return a clock that says how many seconds are left of so many, from now on."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    return lambda: end - loop.time()


def raise_refusal(error: StatusError | None) -> None:
    """Raise the refusal that a step of the write path gives as a value. It is raised anew: an error
    that is raised keeps its callers' frames, and these would keep it."""
    if error is not None:
        raise StatusError(error.status)


# House rule 9: without slots, because `remembered` needs the instance dictionary. Nobody assigns to
# its fields, but it is not frozen: each request makes one, and a frozen one takes four times as
# long.
@dataclass
class Call:
    """Holds one request on its way through the handlers. `custom` is the kind of a custom resource,
    `remaining` says how many seconds are left for the answer, `work` takes the steps that may take
    long."""

    request: HttpRequest
    info: RequestInfo
    user: User
    endpoint: Endpoint
    custom: CustomKind | None
    notes: Notes = field(default_factory=Notes)
    remaining: Callable[[], float] = lambda: HANDLER_SECONDS
    work: RequestWork = field(default_factory=RequestWork)

    @remembered
    def target(self) -> Target:
        """Return where a write goes."""
        endpoint = self.endpoint
        subresource = "" if endpoint.subresource is None else endpoint.subresource.name
        return Target(
            endpoint.resource, endpoint.namespace, endpoint.name, subresource, self.custom
        )

    @remembered
    def content_type(self) -> str:
        """Return the media type without parameters; JSON if none was sent, empty if it is
        unreadable."""
        header = self.request.header("content-type")
        if not header:
            return JSON
        return parse_media_type(header) or ""

    @remembered
    def patch_type(self) -> str:
        """Return the type of a patch. Raises StatusError 415 or 406 for what is none."""
        request = self.request
        content_type = request.header("content-type")
        return patch.patch_type(content_type, self.target, has_body=bool(request.body))

    @remembered
    def options(self) -> WriteOptions:
        """Return the options of a create, update or patch. Raises StatusError: 422, or 415 as
        `patch_type`."""
        request = self.request
        kind = OPTIONS[self.endpoint.verb]
        options = WriteOptions(
            dry_run=tuple(request.query.get("dryRun", ())),
            field_manager=request.first("fieldManager"),
            field_validation=request.first("fieldValidation"),
            force=is_true(request, "force") if "force" in request.query else None,
            apply=kind == request_bodies.PATCH and self.patch_type == patch.APPLY_PATCH,
        )
        errors = request_bodies.write_option_errors(options, kind)
        if errors:
            raise request_bodies.invalid_options(kind, errors)
        return options

    @remembered
    def dry_run(self) -> bool:
        return bool(self.options.dry_run)

    @remembered
    def field_validation(self) -> str:
        """`Warn` where nothing was said."""
        return self.options.field_validation or "Warn"


# --- Bodies ------------------------------------------------------------------
#
# Bodies of writes, whatever they were sent as.
#
# As k8s.io/apimachinery `pkg/runtime/serializer`: what is not JSON is read as if it were.
# Server-side apply reads its YAML in a way of its own (k8s.io/apiserver
# `pkg/endpoints/handlers/patch.go`).

LIMIT: Final = 3 << 20
"""Bytes of a body (k8s.io/apiserver `pkg/server/config.go`)."""

MAX_DEPTH: Final = 10_000
"""Levels of a JSON document (Go's `encoding/json`)."""
_DEEP_TEXT: Final = b"[" * (MAX_DEPTH + 1)


@record(frozen=True, slots=True)
class SentBody:
    """Holds the body of a request. `content` is what it means: JSON text, or what another format
    was read to. `raw` are the bytes that came, `noticed` is what strict reading of YAML complains
    about, in the words for the field validation that was asked for."""

    content: bytes | Document
    raw: bytes
    noticed: tuple[str, ...] = ()


def checked_body(call: Call) -> bytes:
    """Return the bytes that came. Raises StatusError 413 if there are too many."""
    body = call.request.body
    if len(body) > LIMIT:
        raise status.request_entity_too_large(f"limit is {LIMIT}")
    return body


def require_body_type(call: Call, types: Sequence[str] = ()) -> None:
    """Require a type in which an object is sent, and one of these. Raises StatusError 415."""
    if call.content_type not in (types or call.endpoint.body_types):
        raise status.unsupported_media_type(BUILT_IN_TYPES)


def read_sent(call: Call, context: DefaultingContext) -> Incoming:
    """Return the object in the body. Raises StatusError: as `read_body`, or 400 for another
    kind."""
    target = call.target
    try:
        body = read_body(call, call.field_validation)
        return request_bodies.read_object(
            body.content, target, context, call.field_validation, body.noticed, body.raw
        )
    except StatusError as error:
        if error.code == 400 and target.is_scale_of_custom:
            raise request_bodies.unknown_scale() from error
        raise


def note_sent(call: Call, incoming: Incoming) -> None:
    """Note for the audit event what a body was read to: decoded and defaulted, as yet by nobody
    changed (k8s.io/apiserver `pkg/audit/request.go`, `LogRequestObject`)."""
    if call.request.is_recorded:
        call.notes.sent = in_message_order(incoming.draft.form())
    else:
        call.notes.sent = {"metadata": {**(incoming.draft.meta or {})}}


def read_body(call: Call, field_validation: str) -> SentBody:
    """`field_validation` is `Warn`, `Strict` or `Ignore`. Raises StatusError: 413 for a body that
    is too large, 415 for one of an unknown type, 400 for one that cannot be read."""
    body = checked_body(call)
    require_body_type(call)
    try:
        if call.content_type == PROTOBUF:
            return _of_message(body, call.target.kind)
        return _read(body, call.content_type, field_validation)
    except _Unreadable as error:
        raise request_bodies.unrecognized(call.target.kind.kind, str(error), body) from None


def read_delete_body(call: Call) -> bytes | Document:
    """Return the options of a deletion, in any type whatever is deleted. Raises StatusError: as
    `read_body`, in words of its own."""
    body = checked_body(call)
    require_body_type(call, BUILT_IN_TYPES)
    try:
        return _read(body, call.content_type, request_bodies.IGNORE).content
    except _Unreadable as error:
        raise delete.unreadable(str(error)) from None


def _read(body: bytes, media_type: str, field_validation: str) -> SentBody:
    """Read a body. Raises _Unreadable."""
    if media_type == JSON:
        return SentBody(body, body)
    return _from_yaml(body, field_validation) if media_type == YAML else _from_protobuf(body)


class _Unreadable(Exception):
    """Says why a body cannot be read."""


def _document(body: bytes) -> YamlDocument:
    from celadon.goyaml import UnreadableError, first_document  # late: it takes long to load

    try:
        return first_document(body)
    except UnreadableError as error:
        raise _Unreadable(error.upstream) from None


def _from_yaml(body: bytes, field_validation: str) -> SentBody:
    document = _document(body)
    noticed = document.repeated
    if noticed and field_validation == request_bodies.STRICT:
        noticed = (document.strict_error(),)
    # upstream makes JSON of YAML by way of Go's maps, which are written with sorted members
    return SentBody(_content(document.value, is_sorted=True), body, noticed)


def _of_message(body: bytes, kind: GroupVersionKind) -> SentBody:
    """Return an object for an endpoint of a kind, which counts where none is said. Raises
    _Unreadable, and StatusError for a message that cannot be read."""
    try:
        envelope = open_envelope(body, kind)
    except ProtobufError as error:
        raise _Unreadable(str(error)) from None
    if not has_message(envelope.gvk):
        raise request_bodies.not_registered(envelope.gvk, kind)
    try:
        return SentBody(_content(read_message(envelope), is_sorted=False), body)
    except ProtobufError as error:
        raise request_bodies.undecodable(envelope.gvk, kind.kind, str(error)) from None


def _from_protobuf(body: bytes) -> SentBody:
    try:
        value = decode(body)
    except ProtobufError as error:
        raise _Unreadable(str(error)) from None
    return SentBody(_content(value, is_sorted=False), body)


class _TooDeep(Exception):
    """A value nests deeper than any JSON that is read."""


def _content(value: object, *, is_sorted: bool) -> bytes | Document:
    """Return the value for the readers of bodies; text that they refuse, where it nests too
    deep."""
    try:
        return Document(_json_value(value, is_sorted=is_sorted))
    except _TooDeep:
        return _DEEP_TEXT


def _json_value(value: Any, *, is_sorted: bool, level: int = 0) -> Any:  # noqa: ANN401 - any JSON
    """Return the value as reading its JSON text would give it: containers of its own (YAML shares
    those behind aliases), plain numbers, and texts without halves of surrogate pairs."""
    match value:
        case go_json.RawJson():
            return value
        case dict() | list() if level == MAX_DEPTH:
            raise _TooDeep
        case dict():
            keys = sorted(value) if is_sorted else value
            return {
                _json_text(key): _json_value(value[key], is_sorted=is_sorted, level=level + 1)
                for key in keys
            }
        case list():
            return [_json_value(item, is_sorted=is_sorted, level=level + 1) for item in value]
        case str():
            return _json_text(value)
        case float():
            return float(value)
    return value


def _json_text(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@record(frozen=True, slots=True)
class Configuration:
    """Holds what is applied. `strict_error` is what strict reading says about it, `warnings` the
    same as warnings; both are empty if nothing is wrong."""

    value: JsonDict
    strict_error: str = ""
    warnings: tuple[str, ...] = ()


def read_configuration(call: Call) -> Configuration:
    """Return the body of an apply. Raises StatusError: 413, 400."""
    try:
        document = _document(checked_body(call))
    except _Unreadable as error:
        reason = f"error converting YAML to JSON: {error}"
        raise status.bad_request(f"error decoding YAML: {reason}") from None
    value = document.value
    if value is None:
        return Configuration({})
    if not isinstance(value, dict):
        go_type = f"{json_kind(value)} into Go value of type map[string]interface {{}}"
        reason = f"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {go_type}"
        raise status.bad_request(f"error decoding YAML: {reason}")
    text = document.strict_error()
    strict_error = f"error converting YAML to JSON: {text}" if text else ""
    return Configuration(value, strict_error, document.repeated)
