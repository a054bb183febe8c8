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
from typing import Final

from celadon.apiserver import http_messages
from celadon.kube import JsonObject, StatusError, status
from celadon.kube.go import client_json, go_json, parse_bool
from celadon.kube.protobuf import MEDIA_TYPE
from celadon.kube.protobuf import encode as protobuf_bytes
from celadon.kube.schemas import may_have_raw
from celadon.memoization import LONGEST
from celadon.records import dataclass, field, replace

YAML: Final = "application/yaml"
PROTOBUF: Final = MEDIA_TYPE
BUILT_IN_TYPES: Final = (http_messages.JSON, YAML, PROTOBUF)
CUSTOM_TYPES: Final = (http_messages.JSON, YAML)
STREAM_TYPES: Final = (http_messages.JSON, PROTOBUF)
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
    """Holds the form in which a client accepts the answer. `version` is that of the form: `v1` or
    `v1beta1`."""

    media_type: str = http_messages.JSON
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
        if self.type == "*":
            return self.subtype == "*"
        return self.type == kind and self.subtype in (subtype, "*")

    @property
    def converts(self) -> bool:
        """Return whether something else than the object is wanted, whatever that may be."""
        return not _CONVERTING.isdisjoint(self.parameters)

    @property
    def is_pretty(self) -> bool:
        return self.parameters.get("pretty") == "1"

    @property
    def version(self) -> str:
        """Return the version of the server's own group, in which something is wanted; empty for
        any."""
        return self.parameters.get("sv", "")

    def is_streamable_in(self, media_type: str) -> bool:
        """Return whether there is the stream that is wanted, if one is."""
        stream = self.parameters.get("stream", "")
        return not stream or (stream == "watch" and media_type in STREAM_TYPES)

    def is_plain_in(self, media_type: str) -> bool:
        """Return whether the object itself is wanted, and may be written so."""
        return not self.converts and self.is_streamable_in(media_type)


_CONVERTING: Final = frozenset({"as", "g", "v"})
ANY_TYPE: Final = "*/*"
ANYTHING: Final = MediaClause("*", "*")
RAW: Final = Accepted(pretty=True)
"""Of refusals whose client accepts nothing that they can be written in."""


def accept_header(request: http_messages.HttpRequest) -> str:
    """Return the header; of several the first counts."""
    return request.header("accept")


def media_clauses(header: str) -> list[MediaClause]:
    """Return the best first, each once, in the order that Go's parser (goautoneg) gives them.
    Unreadable ones are left out."""
    if not header:
        return [ANYTHING]
    clauses = [clause for part in dict.fromkeys(header.split(",")) for clause in _clause(part)]
    if len(clauses) > FEW:
        return sorted(clauses, key=lambda clause: -clause.quality)
    for end in range(1, len(clauses)):
        index = end
        while index and _is_better(clauses[index], clauses[index - 1]):
            clauses[index - 1], clauses[index] = clauses[index], clauses[index - 1]
            index -= 1
    return clauses


FEW: Final = 12
"""So many clauses Go sorts by insertion. That shows, since its order is none: a wildcard of the
best quality is behind a type that stands behind it."""


def _is_better(clause: MediaClause, other: MediaClause) -> bool:
    return (
        clause.quality > other.quality
        or (clause.type != "*" and other.type == "*")
        or (clause.subtype != "*" and other.subtype == "*")
    )


def _clause(text: str) -> Iterator[MediaClause]:
    media_type, *rest = text.strip(" ").split(";")
    kind, _, subtype = (part.strip(" ") for part in media_type.partition("/"))
    if kind == "*" and not subtype:
        subtype = "*"
    if not subtype or "/" in subtype:
        return
    parameters, quality = {}, 1.0
    for part in rest:
        name, value, *more = *part.split("=", 2), ""
        if not value or any(more[:-1]):
            continue
        if name.strip(" ") == "q":
            quality = _quality(value)
        else:
            parameters[name.strip(" ")] = value.strip(" ")
    yield MediaClause(kind, subtype, quality, parameters)


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def accepted(
    request: http_messages.HttpRequest,
    types: Sequence[str],
    *,
    routed: bool = True,
    collection: bool = False,
    tables: bool = True,
    whole: Sequence[str] = (),
) -> Accepted:
    """Return how to write the answer of a resource path. Raises StatusError 406.

    `types` are in the order in which texts name them. `routed` says whether a router stands before
    the path, as for built-in resources; `collection` whether the path offers watches, too, which
    shows in a text of the router; `tables` whether there are tables of what the path has; `whole`
    are the types that objects are shown in as they are, if not all.
    """
    header = accept_header(request)
    negotiated = _remembered if len(header) <= LONGEST else _negotiated
    accepted, pretty = negotiated(
        header,
        tuple(types),
        routed=routed,
        collection=collection,
        tables=tables,
        whole=tuple(whole or types),
    )
    return replace(accepted, pretty=True) if pretty or is_pretty(request) else accepted


def accepted_of_error(request: http_messages.HttpRequest) -> Accepted:
    """Return how to write a refusal: whole, or indented where nothing else is accepted."""
    for clause in media_clauses(accept_header(request)):
        for media_type in BUILT_IN_TYPES:
            if clause.fits(media_type) and clause.is_plain_in(media_type) and not clause.version:
                return Accepted(media_type, pretty=clause.is_pretty or is_pretty(request))
    return RAW


def _negotiated(
    header: str,
    types: tuple[str, ...],
    *,
    routed: bool,
    collection: bool,
    tables: bool,
    whole: tuple[str, ...],
) -> tuple[Accepted, bool]:
    """Return what was found, and whether it is to be pretty."""
    if routed:
        _require_route(header, types, collection=collection)
    for clause in media_clauses(header):
        for media_type in types:
            accepted = _accepted(clause, media_type) if clause.fits(media_type) else None
            if accepted is None or (accepted.form is Form.TABLE and not tables):
                continue
            if accepted.form is not Form.OBJECT or media_type in whole:
                return accepted, clause.is_pretty
    raise status.not_acceptable(types)


_remembered: Final = functools.lru_cache(_HEADERS_KEPT)(_negotiated)
"""Clients send few different headers."""


def require_stream(accepted: Accepted, types: Sequence[str]) -> None:
    """Refuse a stream of the type that was chosen among all types, if that cannot be streamed:
    there is no second choice. Raises StatusError 406."""
    if accepted.media_type not in STREAM_TYPES:
        raise status.not_acceptable([_streamed(type_) for type_ in types if type_ in STREAM_TYPES])


def require_route(
    request: http_messages.HttpRequest, types: Sequence[str], *, collection: bool = False
) -> None:
    """Refuse what the router in front of a path refuses. Raises StatusError 406."""
    _require_route(accept_header(request), types, collection=collection)


def _require_route(header: str, types: Sequence[str], *, collection: bool) -> None:
    """Require what a route offers. The router knows whole types and `*/*`, to the letter."""
    media_types = {part.partition(";")[0].strip(" ") for part in header.split(",")}
    if header and media_types.isdisjoint((ANY_TYPE, *types)):
        streamed = map(_streamed, STREAM_TYPES) if collection else ()
        raise status.no_route_answers((*types, *streamed))


def _streamed(media_type: str) -> str:
    return f"{media_type};stream=watch"


def _accepted(clause: MediaClause, media_type: str) -> Accepted | None:
    """Return what a clause accepts of a media type; None where its parameters ask for what there is
    not."""
    parameters = clause.parameters
    if clause.version not in ("", "v1") or not clause.is_streamable_in(media_type):
        return None
    if not clause.converts:
        return Accepted(media_type)
    form_name, version = parameters.get("as", ""), parameters.get("v", "")
    if parameters.get("g") != META_GROUP or version not in ("v1", "v1beta1"):
        return None
    if form_name not in {form.value for form in Form if form is not Form.OBJECT}:
        return None
    form = Form(form_name)
    if form is Form.TABLE and media_type == PROTOBUF:
        return None
    return Accepted(media_type, form, version)


def is_pretty(request: http_messages.HttpRequest) -> bool:
    """Tell whether JSON is indented whatever its media type says: by the query, else by who
    asks."""
    first = request.first("pretty")
    if first:
        return parse_bool(first) is True
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
NOT_FOUND: Final = http_messages.plain_text(404, "404 page not found\n", NO_SNIFF)
"""For paths that nobody answers: not a Status."""


def object_answer(
    code: int,
    obj: JsonObject,
    accepted: Accepted,
    *headers: http_messages.Header,
    sort: bool = False,
) -> http_messages.HttpAnswer:
    """`sort` is for custom resources, whose members have no order of their own."""
    return http_messages.HttpAnswer(
        code, accepted.media_type, written(obj, accepted, sort=sort), headers
    )


def status_answer(
    error: StatusError, accepted: Accepted, *headers: http_messages.Header
) -> http_messages.HttpAnswer:
    """Return a refusal. It keeps the media type, and is never shown as a table or as metadata."""
    details = error.status.details
    if details is not None and details.retry_after_seconds:
        headers = (*headers, ("Retry-After", str(details.retry_after_seconds)))
    return object_answer(error.code, error.status.to_json(), accepted, *headers)


def written(obj: JsonObject, accepted: Accepted, *, sort: bool = False) -> bytes:
    """Write the body of an answer."""
    if accepted.media_type == PROTOBUF:
        return protobuf_bytes(obj)
    if accepted.media_type == YAML:
        from celadon.goyaml import yaml_text  # late: few ask for YAML, and it takes long to load

        return yaml_text(obj).encode("utf-8", "replace")
    if accepted.pretty and not sort and may_have_raw(obj):
        return go_json.indented(go_json.json_with_raw(obj)).encode("utf-8", "replace")
    if accepted.pretty:
        pretty = json.dumps(obj, ensure_ascii=False, indent=2, sort_keys=sort)
        return client_json(pretty).encode("utf-8", "replace")
    return (http_messages.sorted_json_bytes(obj) if sort else http_messages.json_bytes(obj)) + b"\n"
