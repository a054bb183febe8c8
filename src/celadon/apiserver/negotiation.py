"""The form of an answer: which media type a client accepts, what the object is shown as, and the
object or error written so.

As k8s.io/apiserver `pkg/endpoints/handlers/negotiation`, and the router in front of it, which
refuses what no type of a path could fit.
"""

from __future__ import annotations

import enum
import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Final

from celadon.apiserver.http_messages import (
    JSON,
    Header,
    HttpAnswer,
    HttpRequest,
    json_bytes,
    plain_text,
    sorted_json_bytes,
)
from celadon.kube import JsonObject, StatusDetails, StatusError, status
from celadon.kube.go import escaped_html, parse_bool
from celadon.kube.protobuf import MEDIA_TYPE
from celadon.kube.protobuf import encode as protobuf_bytes
from celadon.records import dataclass
from celadon.remembering import LONGEST

YAML: Final = "application/yaml"
PROTOBUF: Final = MEDIA_TYPE
BUILT_IN_TYPES: Final = (JSON, YAML, PROTOBUF)
CUSTOM_TYPES: Final = (JSON, YAML)
STREAM_TYPES: Final = (JSON, PROTOBUF)
"""Of the built-in types, those a watch can be written in."""

_HEADERS_KEPT: Final = 256
"""Accept headers whose meaning is remembered, if they are short."""

META_GROUP: Final = "meta.k8s.io"
PRETTY_AGENTS: Final = ("curl", "Wget", "Mozilla/5.0")


class Form(enum.Enum):
    """Says what an object is shown as."""

    OBJECT = ""
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"
    METADATA_LIST = "PartialObjectMetadataList"


@dataclass(frozen=True, slots=True)
class Accepted:
    """`version` is that of the form: `v1` or `v1beta1`."""

    media_type: str = JSON
    form: Form = Form.OBJECT
    version: str = "v1"
    pretty: bool = False


@dataclass(frozen=True, slots=True)
class MediaClause:
    """One alternative of an Accept header."""

    type: str
    subtype: str
    quality: float = 1.0
    parameters: dict[str, str] = field(default_factory=dict)

    def fits(self, media_type: str) -> bool:
        kind, _, subtype = media_type.partition("/")
        return self.type in (kind, "*") and self.subtype in (subtype, "*")


def media_clauses(header: str) -> list[MediaClause]:
    """The best first, each once; of equal quality, in the order given. Unreadable ones are left
    out."""
    found = [clause for part in dict.fromkeys(header.split(",")) for clause in _clause(part)]
    return sorted(found, key=lambda clause: -clause.quality)


def _clause(text: str) -> Iterator[MediaClause]:
    media_type, *rest = (part.strip() for part in text.split(";"))
    kind, slash, subtype = media_type.partition("/")
    if media_type == "*":
        kind, slash, subtype = "*", "/", "*"
    if not slash or not kind or not subtype or (kind == "*" and subtype != "*"):
        return
    parameters = dict(part.partition("=")[::2] for part in rest if part)
    try:
        quality = float(parameters.pop("q", "1"))
    except ValueError:
        quality = 1.0
    yield MediaClause(kind, subtype, quality, {k.strip(): v.strip() for k, v in parameters.items()})


def accepted(
    request: HttpRequest,
    types: Sequence[str],
    *,
    routed: bool = True,
    collection: bool = False,
    tables: bool = True,
) -> Accepted:
    """Return how to write the answer of a resource path. Raises StatusError 406.

    `types` are in the order in which texts name them. `routed` says whether a router stands before
    the path, as for built-in resources; `collection` whether the path offers watches, too, which
    shows in a text of the router; `tables` whether there are tables of what the path has.
    """
    header = ", ".join(request.header_values("accept"))
    negotiated = _remembered if len(header) <= LONGEST else _negotiated
    wanted, pretty = negotiated(
        header, tuple(types), routed=routed, collection=collection, tables=tables
    )
    return replace(wanted, pretty=True) if is_pretty(request, pretty) else wanted


def _negotiated(
    header: str, types: tuple[str, ...], *, routed: bool, collection: bool, tables: bool
) -> tuple[Accepted, str]:
    """Return what was found, and its parameter `pretty`."""
    clauses = media_clauses(header) if header else [MediaClause("*", "*")]
    if routed:
        shown = (*types, *map(_streamed, STREAM_TYPES)) if collection else types
        _require_route(clauses, types, shown)
    for clause in clauses:
        for media_type in types:
            found = _accepted(clause, media_type) if clause.fits(media_type) else None
            if found is not None and (tables or found.form is not Form.TABLE):
                return found, clause.parameters.get("pretty", "")
    raise status.not_acceptable(types)


_remembered: Final = functools.lru_cache(_HEADERS_KEPT)(_negotiated)
"""Clients send few different headers."""


def require_stream(found: Accepted, types: Sequence[str]) -> None:
    """Refuse a stream of the type that was chosen among all types, if that cannot be streamed:
    there is no second choice. Raises StatusError 406."""
    if found.media_type not in STREAM_TYPES:
        raise status.not_acceptable([_streamed(one) for one in types if one in STREAM_TYPES])


def require_route(request: HttpRequest, types: Sequence[str]) -> None:
    """Refuse what the router in front of a path refuses. Raises StatusError 406."""
    header = ", ".join(request.header_values("accept"))
    if header:
        _require_route(media_clauses(header), types, types)


def _require_route(
    clauses: Sequence[MediaClause], types: Sequence[str], shown: Sequence[str]
) -> None:
    if not any(_routed(clause, types) for clause in clauses):
        raise _unroutable(shown)


def _routed(clause: MediaClause, types: Sequence[str]) -> bool:
    """Return whether the router lets the clause through: it knows `*/*`, but no half wildcards."""
    if clause.type == "*":
        return True
    return clause.subtype != "*" and any(clause.fits(one) for one in types)


def _streamed(media_type: str) -> str:
    return f"{media_type};stream=watch"


def _unroutable(types: Sequence[str]) -> StatusError:
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(types)}"
    details = StatusDetails()
    return StatusError(
        status.Status(message=message, reason="NotAcceptable", details=details, code=406)
    )


def _accepted(clause: MediaClause, media_type: str) -> Accepted | None:
    """Return what a clause accepts of a media type; None where its parameters ask for what there is
    not."""
    parameters = clause.parameters
    if parameters.get("stream", "watch") != "watch":
        return None
    wanted = parameters.get("as", "")
    if not wanted:
        return Accepted(media_type)
    version = parameters.get("v", "")
    if parameters.get("g") != META_GROUP or version not in ("v1", "v1beta1"):
        return None
    if wanted not in {form.value for form in Form if form is not Form.OBJECT}:
        return None
    form = Form(wanted)
    if form is Form.TABLE and media_type == PROTOBUF:
        return None
    return Accepted(media_type, form, version)


def is_pretty(request: HttpRequest, parameter: str = "") -> bool:
    """Tell whether JSON is indented: by the query, else by a parameter of the media type, else by
    who asks."""
    if "pretty" in request.query:
        return parse_bool(request.first("pretty")) is True
    if parameter == "1":
        return True
    return request.header("user-agent").startswith(PRETTY_AGENTS)


# --- Answers -----------------------------------------------------------------
#
# Objects and errors as answers, in the form that was accepted.
#
# JSON is written as Go writes it: members in the order given (custom resources: sorted), `<>&`
# escaped, a line feed at the end of what is not pretty. As k8s.io/apimachinery
# `pkg/runtime/serializer/json`.

NO_SNIFF: Final = ("X-Content-Type-Options", "nosniff")
NOT_KEPT: Final = ("Cache-Control", "no-cache, private")
"""Of answers that nobody keeps, which are most."""
NOT_FOUND: Final = plain_text(404, "404 page not found\n", NO_SNIFF)
"""For paths that nobody answers: not a Status."""


def object_answer(
    code: int, obj: JsonObject, accepted: Accepted, *headers: Header, sort: bool = False
) -> HttpAnswer:
    """`sort` is for custom resources, whose members have no order of their own."""
    return HttpAnswer(code, accepted.media_type, written(obj, accepted, sort=sort), headers)


def status_answer(error: StatusError, accepted: Accepted, *headers: Header) -> HttpAnswer:
    """A refusal. It keeps the media type, and is never shown as a table or as metadata."""
    details = error.status.details
    if details is not None and details.retry_after_seconds:
        headers = (*headers, ("Retry-After", str(details.retry_after_seconds)))
    return object_answer(error.code, error.status.to_json(), accepted, *headers)


def written(obj: JsonObject, accepted: Accepted, *, sort: bool = False) -> bytes:
    """The body of an answer."""
    if accepted.media_type == PROTOBUF:
        return protobuf_bytes(obj)
    if accepted.media_type == YAML:
        from celadon.goyaml import yaml_text  # late: few ask for YAML, and it takes long to load

        return yaml_text(obj).encode("utf-8", "replace")
    if accepted.pretty:
        pretty = json.dumps(obj, ensure_ascii=False, indent=2, sort_keys=sort)
        return escaped_html(pretty).encode("utf-8", "replace")
    return (sorted_json_bytes(obj) if sort else json_bytes(obj)) + b"\n"
