"""Request bodies: the text of a document to its kind and its members, or the 400 that says why not.

A body is JSON text, or a `Document` that was read from another format. `interpret` finds out what
it claims to be, `undecodable` and `unrecognized` are the
two forms of the answer when it cannot be read as the kind an endpoint expects. As k8s.io/apiserver
`pkg/endpoints/handlers` and k8s.io/apimachinery `pkg/runtime/serializer/json`.
"""

from __future__ import annotations

import codecs
from typing import Final

from celadon.kube import status
from celadon.kube.errors import MalformedText
from celadon.kube.go.go_json import Document, JsonSyntaxError, read_json
from celadon.kube.json_types import Json
from celadon.kube.names import ApiVersionError, GroupVersionKind, parse_api_version
from celadon.kube.schemas.typed_values import json_kind
from celadon.kube.status import StatusError

SUMMARY_BYTES: Final = 30
"""Of a body that cannot be read, an answer shows this much."""

SCHEME: Final = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"
_PIECE: Final = 1 << 16
_UNREADABLE: Final = "couldn't get version/kind; json parse error: "
_TYPE_META: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


class Uninterpretable(MalformedText):
    """A body that does not say what it is; the message is the decoder's."""


def interpret(
    body: bytes | Document, expected: GroupVersionKind, sent: bytes = b""
) -> tuple[GroupVersionKind, Document]:
    """Return what the document is, with the parts that it does not say taken from `expected`.
    `sent` are the bytes that came, of another format than JSON.

    StatusError when it is no JSON object with a readable kind and version.
    """
    try:
        return interpreted(body, expected)
    except Uninterpretable as error:
        shown = sent if sent or isinstance(body, Document) else body
        raise unrecognized(expected.kind, str(error), shown) from None


def interpreted(
    body: bytes | Document, expected: GroupVersionKind
) -> tuple[GroupVersionKind, Document]:
    """The same. Raises Uninterpretable."""
    document = body if isinstance(body, Document) else _document(body)
    value = document.value
    if value is None:
        return expected, Document({})
    if not isinstance(value, dict):
        raise Uninterpretable(not_an_object(value))
    api_version, kind = _text(value, "apiVersion"), _text(value, "kind")
    try:
        group, version = parse_api_version(api_version)
    except ApiVersionError as error:
        raise Uninterpretable(str(error)) from None
    if not api_version:
        group, version = expected.group, expected.version
    return GroupVersionKind(group, version, kind or expected.kind), document


def _document(body: bytes) -> Document:
    try:
        return read_json(_decoded(body), merge=True)
    except JsonSyntaxError as error:
        raise Uninterpretable(f"{_UNREADABLE}{error}") from None


def _decoded(body: bytes) -> str:
    """Return what is no UTF-8 is replaced, in pieces: no other thread has its turn within one of
    them."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        starts = range(0, len(body), _PIECE)
        pieces = [decoder.decode(body[at : at + _PIECE]) for at in starts]
        return "".join((*pieces, decoder.decode(b"", final=True)))


def not_an_object(value: object) -> str:
    """The decoder's words for a list or a scalar."""
    why = f"json: cannot unmarshal {json_kind(value)} into Go value of type {_TYPE_META}"
    return _UNREADABLE + why


def _text(value: dict[str, Json], key: str) -> str:
    found = value.get(key)
    if found is None:
        return ""
    if not isinstance(found, str):
        kind = json_kind(found)
        why = f"json: cannot unmarshal {kind} into Go struct field .{key} of type string"
        raise Uninterpretable(_UNREADABLE + why)
    return found


def unrecognized(kind: str, why: str, body: bytes) -> StatusError:
    """Return the error about bodies that do not even say what they are."""
    message = f"the object provided is unrecognized (must be of type {kind}): {why}"
    return status.bad_request(f"{message} ({_summary(body)})")


def _summary(body: bytes) -> str:
    if not body:
        return "<empty>"
    readable = body.startswith(b"{")
    shown = body[:SUMMARY_BYTES]
    text = shown.decode("utf-8", "replace") if readable else shown.hex()
    return f"{text} ..." if len(body) > SUMMARY_BYTES else text


def undecodable(found: GroupVersionKind, kind: str, why: str) -> StatusError:
    """Return the error about bodies that are of a kind, which cannot be read as `kind`."""
    message = f'{found.kind} in version "{found.version}" cannot be handled as a {kind}: {why}'
    return status.bad_request(message)


def not_registered(found: GroupVersionKind, kind: str) -> StatusError:
    """No such kind in the version that the body names."""
    why = (
        f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme '
        f'"{SCHEME}"'
    )
    return undecodable(found, kind, why)


def other_kind(found: GroupVersionKind, expected: GroupVersionKind) -> StatusError:
    """A registered kind, but another than the endpoint's."""
    package = expected.group.partition(".")[0] or "core"
    why = (
        f"converting ({found.version}.{found.kind}) to ({package}.{expected.kind}): "
        "unknown conversion"
    )
    return undecodable(found, expected.kind, why)


def other_version(found: GroupVersionKind, expected: GroupVersionKind) -> StatusError:
    """The body is of another version than the endpoint."""
    message = (
        f"the API version in the data ({found.api_version}) does not match the expected API "
        f"version ({expected.api_version})"
    )
    return status.bad_request(message)


def strict_decoding_error(errors: list[str]) -> str:
    """The text of 400 for unknown and repeated fields."""
    return f"strict decoding error: {', '.join(errors)}"
