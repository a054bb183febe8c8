"""Bodies of writes, whatever they were sent as.

As k8s.io/apimachinery `pkg/runtime/serializer`: what is not JSON is read as if it were. Server-side
apply reads its YAML in a way of its own (k8s.io/apiserver `pkg/endpoints/handlers/patch.go`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from celadon.kube import status
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.go import Document
from celadon.kube.protobuf import ProtobufError, decode
from celadon.kube.registry import Incoming, read_object, request_bodies, request_options
from celadon.kube.schemas import json_kind
from celadon.records import dataclass
from celadon.serve.http_messages import JSON
from celadon.serve.requests.negotiation import BUILT_IN_TYPES, YAML
from celadon.serve.rest.calls import Call

if TYPE_CHECKING:
    from celadon.goyaml import YamlDocument

LIMIT: Final = 3 << 20
"""Bytes of a body (k8s.io/apiserver `pkg/server/config.go`)."""


MAX_DEPTH: Final = 10_000
"""Levels of a JSON document (Go's `encoding/json`)."""
_DEEP_TEXT: Final = b"[" * (MAX_DEPTH + 1)


@dataclass(frozen=True, slots=True)
class SentBody:
    """`content` is what it means: JSON text, or what another format was read to. `sent` are the
    bytes that came, `noticed` is what strict reading of YAML complains about, in the words for the
    field validation that was asked for."""

    content: bytes | Document
    sent: bytes
    noticed: tuple[str, ...] = ()


def checked_body(call: Call) -> bytes:
    """The bytes that came. Raises StatusError 413 if there are too many."""
    body = call.request.body
    if len(body) > LIMIT:
        raise status.request_entity_too_large(f"limit is {LIMIT}")
    return body


def require_body_type(call: Call) -> None:
    """Raises StatusError 415 for a type in which no object is sent."""
    if call.content_type not in call.endpoint.body_types:
        raise status.unsupported_media_type(BUILT_IN_TYPES)


def read_sent(call: Call, context: DefaultingContext) -> Incoming:
    """The object in the body. Raises StatusError: as `read_body`, or 400 for another kind."""
    body = read_body(call, call.field_validation)
    return read_object(
        body.content, call.target, context, call.field_validation, body.noticed, body.sent
    )


def read_body(call: Call, field_validation: str) -> SentBody:
    """`field_validation` is `Warn`, `Strict` or `Ignore`. Raises StatusError: 413 for a body that
    is too large, 415 for one of an unknown type, 400 for one that cannot be read."""
    body = checked_body(call)
    require_body_type(call)
    media_type = call.content_type
    if media_type == JSON:
        return SentBody(body, body)
    try:
        return _from_yaml(body, field_validation) if media_type == YAML else _from_protobuf(body)
    except _Unreadable as error:
        raise request_bodies.unrecognized(call.target.kind.kind, str(error), body) from None


class _Unreadable(Exception):
    """Why a body cannot be read."""


def _document(body: bytes) -> YamlDocument:
    from celadon.goyaml import UnreadableError, first_document  # late: it takes long to load

    try:
        return first_document(body)
    except UnreadableError as error:
        raise _Unreadable(error.upstream) from None


def _from_yaml(body: bytes, field_validation: str) -> SentBody:
    document = _document(body)
    noticed = document.repeated
    if noticed and field_validation == request_options.STRICT:
        noticed = (document.strict_error(),)
    # upstream makes JSON of YAML by way of Go's maps, which are written with sorted members
    return SentBody(_content(document.value, is_sorted=True), body, noticed)


def _from_protobuf(body: bytes) -> SentBody:
    try:
        value = decode(body)
    except ProtobufError as error:
        raise _Unreadable(str(error)) from None
    return SentBody(_content(value, is_sorted=False), body)


class _TooDeep(Exception):
    """A value nests deeper than any JSON that is read."""


def _content(value: object, *, is_sorted: bool) -> bytes | Document:
    """The value for the readers of bodies; text that they refuse, where it nests too deep."""
    try:
        return Document(_json_value(value, is_sorted=is_sorted))
    except _TooDeep:
        return _DEEP_TEXT


def _json_value(value: Any, *, is_sorted: bool, level: int = 0) -> Any:  # noqa: ANN401 - any JSON
    """The value as reading its JSON text would give it: containers of its own (YAML shares those
    behind aliases), plain numbers, and texts without halves of surrogate pairs."""
    match value:
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


@dataclass(frozen=True, slots=True)
class Configuration:
    """What is applied. `strict_error` is what strict reading says about it, `warnings` the same
    as warnings; both empty if nothing is wrong."""

    value: dict[str, Any]
    strict_error: str = ""
    warnings: tuple[str, ...] = ()


def read_configuration(call: Call) -> Configuration:
    """The body of an apply. Raises StatusError: 413, 400."""
    try:
        document = _document(checked_body(call))
    except _Unreadable as error:
        why = f"error converting YAML to JSON: {error}"
        raise status.bad_request(f"error decoding YAML: {why}") from None
    value = document.value
    if value is None:
        return Configuration({})
    if not isinstance(value, dict):
        go_type = f"{json_kind(value)} into Go value of type map[string]interface {{}}"
        why = f"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {go_type}"
        raise status.bad_request(f"error decoding YAML: {why}")
    said = document.strict_error()
    strict_error = f"error converting YAML to JSON: {said}" if said else ""
    return Configuration(value, strict_error, document.repeated)
