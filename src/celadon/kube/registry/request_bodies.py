"""What comes with a request: the text of a document to its kind and its members, or the 400 that
says why not; options of a query or a body.

A body is JSON text, or a `Document` that was read from another format. `interpret` finds out what
it claims to be, `undecodable` and `unrecognized` are the
two forms of the answer when it cannot be read as the kind an endpoint expects. As k8s.io/apiserver
`pkg/endpoints/handlers` and k8s.io/apimachinery `pkg/runtime/serializer/json`.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from typing import Final

from celadon.kube import fieldpath, status
from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_json import Document, JsonSyntaxError, read_json
from celadon.kube.go.go_text import parse_uint
from celadon.kube.json_types import Json
from celadon.kube.names import ApiVersionError, GroupKind, GroupVersionKind, parse_api_version
from celadon.kube.schemas.typed_values import json_kind
from celadon.kube.status import StatusError
from celadon.records import dataclass

# --- Bodies ------------------------------------------------------------------

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


# --- Options -----------------------------------------------------------------
#
# The options of a request, as they come in a query or a body.
#
# Of a write or a deletion: what is wrong with them, as k8s.io/apimachinery
# `pkg/apis/meta/v1/validation`. A server answers with `invalid_options` before it looks at the
# body.
#
# Of a connection (`pods/exec`, `services/proxy`, …): what admission sees of it. They come in the
# query, or are what follows the subresource in the path. Flags that are off are left out. As
# k8s.io/kubernetes `pkg/apis/core/v1/zz_generated.conversion.go` and k8s.io/apimachinery
# `pkg/apis/meta/v1/conversion.go`.

DRY_RUN_VALUES: Final = ("All",)

IGNORE: Final = "Ignore"
WARN: Final = "Warn"
STRICT: Final = "Strict"
FIELD_VALIDATIONS: Final = ("", IGNORE, STRICT, WARN)
"""What becomes of unknown and repeated fields; empty is `WARN`."""

PROPAGATION_POLICIES: Final = ("Foreground", "Background", "Orphan")
FIELD_MANAGER_BYTES: Final = 128

CREATE: Final = "CreateOptions"
UPDATE: Final = "UpdateOptions"
PATCH: Final = "PatchOptions"
DELETE: Final = "DeleteOptions"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """`force` is None when it was not given; `apply` says whether the patch is an apply patch."""

    dry_run: tuple[str, ...] = ()
    field_manager: str = ""
    field_validation: str = ""
    force: bool | None = None
    apply: bool = False


def write_option_errors(options: WriteOptions, kind: str) -> list[FieldError]:
    """`kind` is `CREATE`, `UPDATE` or `PATCH`."""
    errors: list[FieldError] = []
    if kind == PATCH and options.apply and not options.field_manager:
        path = FieldPath("fieldManager")
        errors.append(fieldpath.required(path, "is required for apply patch"))
    if kind == PATCH and not options.apply and options.force is not None:
        path = FieldPath("force")
        errors.append(fieldpath.forbidden(path, "may not be specified for non-apply patch"))
    errors += field_manager_errors(options.field_manager, FieldPath("fieldManager"))
    errors += _dry_run(options.dry_run)
    if options.field_validation not in FIELD_VALIDATIONS:
        path = FieldPath("fieldValidation")
        errors.append(fieldpath.not_supported(path, options.field_validation, FIELD_VALIDATIONS))
    return errors


def delete_option_errors(
    dry_run: Sequence[str], propagation_policy: str | None, *, orphan_dependents: bool | None
) -> list[FieldError]:
    """`dryRun`, and the two ways to say what happens to dependents, of which one may be given."""
    path = FieldPath("propagationPolicy")
    errors: list[FieldError] = []
    if propagation_policy is not None:
        value = fieldpath.NamedText(propagation_policy)
        if orphan_dependents is not None:
            detail = "orphanDependents and deletionPropagation cannot be both set"
            errors.append(fieldpath.invalid(path, value, detail))
        if propagation_policy not in PROPAGATION_POLICIES:
            errors.append(fieldpath.not_supported(path, value, (*PROPAGATION_POLICIES, "nil")))
    return errors + _dry_run(dry_run)


def field_manager_errors(manager: str, path: FieldPath) -> list[FieldError]:
    """Too long, or with characters that cannot be printed; positions count bytes."""
    encoded = manager.encode("utf-8", "surrogatepass")
    errors = []
    if len(encoded) > FIELD_MANAGER_BYTES:
        errors.append(fieldpath.too_long(path, FIELD_MANAGER_BYTES))
    position = 0
    for char in manager:
        if not char.isprintable():
            detail = f"invalid character U+{ord(char):04X} (at position {position})"
            errors.append(fieldpath.invalid(path, manager, detail))
        position += len(char.encode("utf-8", "surrogatepass"))
    return errors


def _dry_run(values: Sequence[str]) -> list[FieldError]:
    if all(value in DRY_RUN_VALUES for value in values):
        return []
    return [fieldpath.not_supported(FieldPath("dryRun"), list(values), DRY_RUN_VALUES)]


def invalid_options(kind: str, errors: Sequence[FieldError]) -> StatusError:
    """422 for options of this kind."""
    return status.invalid(GroupKind("meta.k8s.io", kind), "", errors)


# --- connections ---

_PORT_BITS: Final = 16


@dataclass(frozen=True, slots=True)
class OptionFields:
    """The members of an options kind, by how their values are read."""

    flags: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    has_path: bool = False


_STREAMS: Final = ("stdin", "stdout", "stderr", "tty")
_PROXY: Final = OptionFields(has_path=True)

OPTIONS: Final[Mapping[str, OptionFields]] = {
    "PodAttachOptions": OptionFields(flags=_STREAMS, texts=("container",)),
    "PodExecOptions": OptionFields(flags=_STREAMS, texts=("container",), lists=("command",)),
    "PodPortForwardOptions": OptionFields(ports=("ports",)),
    "NodeProxyOptions": _PROXY,
    "PodProxyOptions": _PROXY,
    "ServiceProxyOptions": _PROXY,
}


def connect_options(
    kind: GroupVersionKind, query: Mapping[str, Sequence[str]], path: str = ""
) -> dict[str, Json]:
    """`path` is what follows the subresource, with the slash before it. Raises ValueError for
    ports that are none, with upstream's text."""
    fields = OPTIONS.get(kind.kind, OptionFields())
    made: dict[str, Json] = {"kind": kind.kind, "apiVersion": kind.api_version}
    for name in fields.flags:
        if query.get(name) and flag(query[name][0]):
            made[name] = True
    for name in fields.texts:
        if query.get(name) and query[name][0]:
            made[name] = query[name][0]
    for name in fields.lists:
        if query.get(name):
            made[name] = list(query[name])
    for name in fields.ports:
        if query.get(name):
            made[name] = [_port(part) for text in query[name] for part in text.split(",")]
    if fields.has_path and path:
        made["path"] = path
    return made


def flag(text: str) -> bool:
    """Go's reading of a boolean parameter that is there: neither `0` nor a form of `false`."""
    return text != "0" and text.lower() != "false"


def _port(text: str) -> int:
    try:
        return parse_uint(text, _PORT_BITS)
    except ValueError as error:
        raise ValueError(f"cannot convert to []int32: {error}") from None
