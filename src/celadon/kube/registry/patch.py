"""A patch, from its body to a draft of the new object, which then takes the way of an update.

A patch acts on the JSON of the object in the version of the endpoint. `patched` applies one of the
three plain types, `three_way_patched` the patch of a client-side apply; `read_patched` reads the
result as `decode` reads a body, with the refusals of patches (422 about a field `patch`).
Server-side apply is another way from the old object to the new one (`kube.fieldmanager`). As
k8s.io/apiserver `pkg/endpoints/handlers/patch.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from celadon.kube import fieldpath, metadata, status
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_json import (
    Document,
    JsonSyntaxError,
    RawJson,
    keep_raw,
    read_json,
    shown_raw,
    with_raw,
    without_double,
)
from celadon.kube.go.go_text import EACH_BYTE, json_text, plain_text, sorted_members
from celadon.kube.json_types import Json, JsonDict, JsonObject, have_same_bytes
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.protobuf.message_table import in_message_order
from celadon.kube.registry import request_bodies
from celadon.kube.registry.decoded_object import Draft, Target, drafted, undeterminable
from celadon.kube.registry.patches import (
    JsonPatchError,
    apply_json_patch,
    apply_merge_patch,
    read_patch,
    source_text,
    with_sources,
)
from celadon.kube.registry.request_bodies import (
    IGNORE,
    STRICT,
    WARN,
    Incoming,
    NotConverted,
    draft_of,
    stray_fields,
    structure_of,
)
from celadon.kube.registry.strategic_merge import MergeError, merge_into
from celadon.kube.registry.three_way_merge import ThreeWays
from celadon.kube.releases import is_since, wording
from celadon.kube.resources.api_resources import SCALE
from celadon.kube.schemas.schema_packs import OBJECT_META, raw_ways, schema_for
from celadon.kube.schemas.struct_decoding import (
    codec_for,
    decode,
    repeated_fields,
    round_trip,
    struct_codec,
)
from celadon.kube.schemas.unstructured_conversion import converted, restore_error
from celadon.kube.schemas.value_decoding import DecodeError, json_kind
from celadon.kube.status import Status, StatusDetails, StatusError
from celadon.kube.well_known_values import JSON_PATCH, MERGE_PATCH, TYPE_FIELDS
from celadon.records import dataclass

STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
"""The media type of server-side apply."""

BUILT_IN_TYPES: Final = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)
CUSTOM_TYPES: Final = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)

MAX_OPERATIONS: Final = 10_000
OPERATION_MEMBERS: Final = frozenset({"op", "path", "from", "value"})
NO_COUNT: Final = -(2**31)
"""Stands in a scale that is patched for the count that a custom resource does not have."""
BAD_MERGE_PATCH: Final = "Invalid JSON Patch"
SCHEME_OF_SCALES: Final = "k8s.io/client-go/scale/util.go:146"
"""Where upstream looks for the kinds of scales of custom resources."""
_SCHEME_OF_CLIENTS: Final = wording(
    "k8s.io/client-go/kubernetes/scheme/register.go:82",
    v1_31="k8s.io/client-go/kubernetes/scheme/register.go:81",
    v1_32="k8s.io/client-go/kubernetes/scheme/register.go:82",
    v1_33="k8s.io/client-go/kubernetes/scheme/register.go:83",
    v1_36="k8s.io/client-go/kubernetes/scheme/register.go:84",
)
"""Where it looks for them behind mutating admission."""
_DECODING: Final = "error decoding patch: "
_GO_MAP: Final = "map[string]interface {}"


@dataclass(frozen=True, slots=True)
class Patched:
    """Holds an object that was patched. `show` makes what a refusal of the result prints;
    `complaints` are about the patch itself."""

    document: Any
    show: Callable[[], str]
    complaints: tuple[str, ...] = ()
    is_strategic: bool = False

    def refusal(self, reason: str) -> StatusError:
        """422 for a result that is not taken."""
        error = fieldpath.invalid(FieldPath("patch"), self.show(), reason)
        return status.invalid(GroupKind("", ""), "", [error])


def patch_type(content_type: str, target: Target, *, has_body: bool = True) -> str:
    """Return the media type of a patch, from the header as it was sent: to the letter. 415 for a
    type that the kind does not have, in the words of the router or, behind it, of the handler.
    Before 1.34 the router looked for an answer's type first where no body came: 406."""
    media_type = content_type.partition(";")[0]
    types = CUSTOM_TYPES if target.resource.custom else BUILT_IN_TYPES
    if media_type in types:
        return media_type
    media_types = (part.partition(";")[0].strip() for part in content_type.split(","))
    if target.resource.custom or any(media_type in types for media_type in media_types):
        raise status.unsupported_media_type(types)
    if has_body or is_since("1.34"):
        raise status.no_route_reads()
    raise status.no_route_answers(())


def patched(
    current: JsonObject, body: bytes, media_type: str, target: Target, field_validation: str = WARN
) -> Patched:
    """Apply a patch. `current` is the object as the endpoint shows it, `media_type` as `patch_type`
    found it. StatusError when the patch cannot be read or does not apply."""
    is_strict = field_validation != IGNORE
    if media_type == STRATEGIC_PATCH:
        read = _read(body, "")
        _require_doubles(body)
        return _strategic(current, read, target, is_strict=is_strict)
    try:
        if media_type == JSON_PATCH:
            return _operated(current, body, is_strict=is_strict)
        return _merged(current, body, is_strict=is_strict)
    except JsonPatchError:
        raise _rejected() from None


def _rejected() -> StatusError:
    """422 without a word about why."""
    message = "the server rejected our request due to an error in our request"
    failed = Status(message=message, reason="Invalid", details=StatusDetails(), code=422)
    return StatusError(failed)


def _read(body: bytes, prefix: str, read: Callable[[str], Document] = read_json) -> Document:
    try:
        return read(body.decode("utf-8", EACH_BYTE))
    except JsonSyntaxError as error:
        raise status.bad_request(f"{prefix}{error}") from None


def _require(value: object, expected: type, go_name: str, prefix: str = _DECODING) -> None:
    if value is not None and not isinstance(value, expected):
        reason = f"json: cannot unmarshal {json_kind(value)} into Go value of type {go_name}"
        raise status.bad_request(f"{prefix}{reason}")


def _require_doubles(body: bytes, prefix: str = "", subject: str = "Go value") -> None:
    """StatusError (400) for a number that no double is large enough for."""
    number = without_double(body.decode("utf-8", EACH_BYTE))
    if number:
        raise status.bad_request(f"{prefix}{request_bodies.too_large(number, subject)}")


def _merged(current: JsonObject, body: bytes, *, is_strict: bool) -> Patched:
    """Without field validation only the library reads the patch, and says less about it."""
    try:
        patch = _read(body, _DECODING)
    except StatusError:
        if is_strict:
            raise
        raise status.bad_request(BAD_MERGE_PATCH) from None
    if is_strict:
        _require(patch.value, dict, _GO_MAP)
        _require_doubles(body, _DECODING)
    if not isinstance(patch.value, dict | list):
        raise status.bad_request(BAD_MERGE_PATCH)
    result = apply_merge_patch(dict(current), patch.value, as_written=True)
    complaints = (
        tuple(repeated_field.text for repeated_field in repeated_fields(patch)) if is_strict else ()
    )

    def show() -> str:
        again = with_sources(body.decode("utf-8", EACH_BYTE))
        return source_text(apply_merge_patch(_with_raw_sources(current), again, as_written=True))

    return Patched(result, show, complaints)


def _operated(current: JsonObject, body: bytes, *, is_strict: bool) -> Patched:
    patch = _read(body, _DECODING if is_strict else "", read_patch)
    complaints = _complaints_of(patch) if is_strict else []
    if is_strict:
        _require_double_values(body)
    _require(patch.value, list, "jsonpatch.Patch", "")
    operations = patch.value or []
    for operation in operations:
        _require(operation, dict, "jsonpatch.Operation", "")
    if len(operations) > MAX_OPERATIONS:
        raise status.request_entity_too_large(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got "
            f"{len(operations)}"
        )
    named = [operation or {} for operation in operations]
    result = apply_json_patch(dict(current), named, as_written=True)

    def show() -> str:
        again = sourced_operations(named, body.decode("utf-8", EACH_BYTE))
        before = _with_raw_sources(current)
        return source_text(apply_json_patch(before, again, as_written=True, is_tested=True))

    return Patched(result, show, tuple(complaints))


def _with_raw_sources(current: JsonObject) -> JsonDict:
    """Return an object whose raw JSON has the texts of its scalars in it, too: it is written with
    its own text unless a patch looks into it."""

    def sourced(raw: RawJson) -> RawJson:
        return RawJson(with_sources(raw.text), shown_raw(raw))

    result: JsonDict = with_raw(dict(current), raw_ways(metadata.gvk(current)), sourced)
    return result


def sourced_operations(operations: Sequence[JsonObject], text: str) -> list[JsonObject]:
    """Return the operations that were read from a text with the texts of their values."""
    return [
        {**operation, "value": source["value"]} if "value" in operation else operation
        for operation, source in zip(operations, with_sources(text) or (), strict=True)
    ]


def with_raw_patched(
    before: JsonObject, document: Any, operations: Callable[[], Sequence[JsonObject]]
) -> Any:
    """Return the document that a JSON patch of somebody else has made of an object, with raw JSON
    as Go's library writes it; the `operations` have values as they were written."""
    ways = raw_ways(metadata.gvk(before))
    if not ways or not isinstance(document, dict):
        return document
    sourced = _with_raw_sources(before)
    text = source_text(apply_json_patch(sourced, operations(), as_written=True, is_tested=True))
    result: JsonDict = read_json(text).value
    keep_raw(result, text, ways)
    return result


def _require_double_values(body: bytes) -> None:
    """Require the same of the values of operations: their other members are not looked at."""
    text = body.decode("utf-8", EACH_BYTE)
    if without_double(text):
        operations = filter(None, with_sources(text))
        values = [
            source_text(operation["value"]) for operation in operations if "value" in operation
        ]
        subject = "Go struct field jsonPatchOp.value"
        _require_doubles(" ".join(values).encode(), _DECODING, subject)


def _complaints_of(patch: Document) -> list[str]:
    """Members of operations that there are not, or that come twice. StatusError (400) for what does
    not fit Go's type of operations."""
    _require(patch.value, list, "[]handlers.jsonPatchOp")
    result = []
    repeated = repeated_fields(patch)
    for i, operation in enumerate(patch.value or ()):
        _require(operation, dict, "handlers.jsonPatchOp")
        for key, value in (operation or {}).items():
            if key not in OPERATION_MEMBERS:
                result.append(f'json patch unknown field "[{i}].{key}"')
            elif key != "value":
                _require_text(key, value)
    return result + [f"json patch {item.text}" for item in repeated]


def _require_text(member: str, value: Json) -> None:
    if value is not None and not isinstance(value, str):
        reason = (
            f"json: cannot unmarshal {json_kind(value)} into Go struct field jsonPatchOp.{member}"
        )
        raise status.bad_request(f"{_DECODING}{reason} of type string")


def _strategic(current: JsonObject, read: Document, target: Target, *, is_strict: bool) -> Patched:
    patch = read.value
    if patch is None:
        return Patched(dict(current), lambda: "map[]", is_strategic=True)
    if not isinstance(patch, dict):
        kind = json_kind(patch)
        raise status.bad_request(f"json: cannot unmarshal {kind} into Go value of type {_GO_MAP}")
    complaints = (
        tuple(repeated_field.text for repeated_field in repeated_fields(read)) if is_strict else ()
    )
    try:
        result = merge_into(current, patch, schema_for(target.kind))
    except MergeError as error:
        raise _unmerged(error) from None
    return Patched(result, partial(plain_text, patch), complaints, is_strategic=True)


def _unmerged(error: MergeError) -> StatusError:
    match error.code:
        case 400:
            return status.bad_request(str(error))
        case 422:
            return _rejected()
        case _:
            return status.plain_error(str(error))


def three_way_patched(
    live: JsonObject, last: JsonObject, modified: JsonObject, target: Target
) -> Patched | None:
    """Return what `kubectl apply` makes of an object with the patch that it sends; None where it
    sends none. `last` is the configuration that was applied before, `modified` the one that is
    applied now. StatusError when there is no such patch, or it does not apply."""
    ways = ThreeWays(last, modified, live)
    schema = schema_for(target.kind)
    if schema is None:
        patch, media_type = ways.merge_patch(), MERGE_PATCH
    else:
        try:
            patch, media_type = ways.strategic_patch(schema), STRATEGIC_PATCH
        except MergeError as error:
            raise status.plain_error(str(error)) from None
    return patched(live, json_text(patch).encode(), media_type, target) if patch else None


def reads_back(obj: JsonObject, gvk: GroupVersionKind, context: DefaultingContext) -> bool:
    """Return whether an object of a built-in kind is what comes of reading it, to the byte."""
    try:
        draft = drafted(obj, gvk, context)
    except DecodeError:
        return False
    draft.complete()
    return draft.is_exact and have_same_bytes(in_message_order(draft.decoded), obj)


def read_patched(
    result: Patched,
    target: Target,
    context: DefaultingContext,
    field_validation: str = WARN,
    stored: JsonObject | None = None,
) -> Incoming:
    """Return the patched object. StatusError (422) when it is not one of the endpoint's kind, which
    of custom resources `require_kind` says. `stored` is the object that was patched, if that reads
    back as it is."""
    document = _typed(result, target, field_validation)
    gvk = metadata.gvk(document)
    if ways := raw_ways(gvk):
        if result.is_strategic:
            document = with_raw(document, ways, dict)
        else:
            text = result.show()
            document = {**document, **read_json(text).value}
            keep_raw(document, text, ways)
    if target.schema is not None:
        if field_validation == IGNORE and (number := without_double(result.show())):
            raise result.refusal(request_bodies.too_large(number))
        document = {**document, "apiVersion": target.kind.api_version, "kind": target.kind.kind}
        if gvk != target.kind:
            target = replace(target, custom=target.schema.reading(gvk))
    elif gvk != target.kind and not result.is_strategic:
        raise result.refusal(_other_kind(document, target))
    try:
        draft = _draft(document, target, context, stored, is_converted=result.is_strategic)
    except DecodeError as error:
        raise result.refusal(restore_error(error) if result.is_strategic else str(error)) from error
    if field_validation == IGNORE:
        return Incoming(gvk, draft, document)
    strays = () if draft.is_exact else _complaints(result, target)
    complaints = (*result.complaints, *strays)
    if complaints and field_validation == STRICT:
        raise result.refusal(request_bodies.strict_decoding_error(list(complaints)))
    return Incoming(gvk, draft, document, complaints)


def require_count(scale: JsonObject, target: Target) -> None:
    """Require a count of a scale. Raises StatusError (400) for one of a custom resource that still
    has none, which upstream asks for behind mutating admission."""
    if (scale.get("spec") or {}).get("replicas") == NO_COUNT:
        count_path = "." + ".".join(target.scale_paths.spec_replicas)
        raise status.bad_request(f'the spec replicas field "{count_path}" cannot be empty')


def read_mutated_scale(document: Any, context: DefaultingContext) -> tuple[JsonObject, Draft]:
    """Return what `read_mutated` does, of the scale of a custom resource, which upstream reads as
    if it were a custom resource and then converts. StatusError (500)."""
    request_bodies.require_object(document, SCALE)
    request_bodies.require_kind_of_scale(document)
    gvk = metadata.gvk(document)
    if codec_for(gvk) is None:
        reason = request_bodies.unregistered(gvk, scheme=_SCHEME_OF_CLIENTS.text)
        raise NotConverted(reason)
    try:
        decoded = round_trip(converted(in_message_order(document), gvk), gvk)
    except DecodeError as error:
        text = f"unable to convert unstructured object to {gvk}: {restore_error(error)}"
        raise NotConverted(text) from None
    if decoded is None or gvk != SCALE:
        text = f"converting ({gvk.version}.{gvk.kind}) to (v1.Scale): unknown conversion"
        raise NotConverted(text)
    return decoded, drafted(decoded, SCALE, context)


def _draft(
    document: dict[str, object],
    target: Target,
    context: DefaultingContext,
    stored: JsonObject | None,
    *,
    is_converted: bool,
) -> Draft:
    """Return the draft of a document. Raises DecodeError; of what was converted without having been
    text the first fault in the order of fields."""
    try:
        return draft_of(document, target, context, stored=stored)
    except DecodeError:
        if not is_converted:
            raise
        return draft_of(converted(in_message_order(document), target.kind), target, context)


def require_kind(read: Incoming, target: Target, name: str) -> None:
    """Raise StatusError (422) for a custom resource of another kind, or version; `name` is that of
    the object. Its status is taken whatever it says it is the status of."""
    sent_kind, kind = read.stated_kind, target.kind
    if target.schema is None or target.subresource or sent_kind == kind:
        return
    errors = [
        fieldpath.invalid(FieldPath(field), value, f"must be {must}")
        for field, value, must in (
            ("kind", sent_kind.kind, kind.kind),
            ("apiVersion", sent_kind.api_version, kind.api_version),
        )
        if value != must
    ]
    raise status.invalid(sent_kind.group_kind, name, errors)


class Unversioned(StatusError):
    """The patched object has lost its version; what is warned of beside."""

    def __init__(self, error: StatusError, warnings: tuple[str, ...]) -> None:
        super().__init__(error.status)
        self.warnings = warnings


def _unversioned(
    result: Patched, document: JsonObject, target: Target, field_validation: str
) -> StatusError:
    """Go's decoder knows no field of a built-in object without a version, and so no name; of a
    custom resource it knows the metadata."""
    error = undeterminable(target)
    if target.schema is None:
        strays = [f'unknown field "{key}"' for key in document if key not in TYPE_FIELDS]
    else:
        if (why := _misread_metadata(document)) is not None:
            return result.refusal(why)
        all_strays = stray_fields(Document(document), target.kind, target)
        strays = [stray.text for stray in all_strays if stray.steps[:1] == ("metadata",)]
        if metadata.name(document):
            error = status.internal_error(
                "Object 'apiVersion' is missing in 'object has no apiVersion field'"
            )
    if field_validation == IGNORE:
        return error
    complaints = (*result.complaints, *strays)
    if complaints and field_validation == STRICT:
        return result.refusal(request_bodies.strict_decoding_error(list(complaints)))
    return Unversioned(error, complaints)


def _misread_metadata(document: JsonObject) -> str | None:
    """Return why the metadata of a custom resource cannot be read; None if it can be."""
    meta = document.get("metadata")
    if meta is None:
        return None
    try:
        decode(struct_codec(OBJECT_META), sorted_members(meta))
    except DecodeError as error:
        return str(error)
    return None


def _typed(result: Patched, target: Target, field_validation: str) -> dict[str, object]:
    """Return the patched object with its kind, which it may have lost. StatusError: 422 for what is
    no object, 400 for one without a version, of which Go's decoder reads nothing."""
    if result.is_strategic:
        return _of_kind(result.document, target)
    try:
        sent_kind, read = request_bodies.interpreted(Document(result.document), target.kind)
    except request_bodies.Uninterpretable as error:
        raise result.refusal(str(error)) from None
    if sent_kind.group and not sent_kind.version and target.schema is None:
        raise result.refusal(f"Object 'apiVersion' is missing in '{result.show()}'")
    document: dict[str, object] = read.value
    if not document.get("kind"):
        if target.schema is not None:
            raise result.refusal(f"Object 'Kind' is missing in '{result.show()}'")
        document = {**document, "kind": target.kind.kind}
    if not document.get("apiVersion"):
        if target.is_scale_of_custom:
            return {**document, "apiVersion": target.kind.api_version}
        if target.schema and request_bodies.has_null_version(document):
            raise result.refusal(request_bodies.NULL_VERSION)
        raise _unversioned(result, document, target, field_validation)
    return document


def _of_kind(document: dict[str, object], target: Target) -> dict[str, object]:
    """Return what a strategic merge says about the kind and the version does not matter, if it is
    text: the result is put into the struct of the endpoint's kind."""
    kind = target.kind
    type_meta = {"apiVersion": kind.api_version, "kind": kind.kind}
    return document | {
        key: value
        for key, value in type_meta.items()
        if document.get(key) is None or isinstance(document[key], str)
    }


def _complaints(result: Patched, target: Target) -> list[str]:
    complaints = [
        stray_field.text
        for stray_field in stray_fields(Document(result.document), target.kind, target)
    ]
    return sorted(complaints) if result.is_strategic else complaints


def _other_kind(document: JsonObject, target: Target) -> str:
    gvk, kind = metadata.gvk(document), target.kind
    if target.is_scale_of_custom:
        internal_kind, scheme = request_bodies.kind_among_scales(gvk), SCHEME_OF_SCALES
        kind = kind._replace(group=kind.version)  # which names the package of Scale there
    else:
        internal_kind, scheme = request_bodies.internal_kind(gvk, kind.group), ""
        if internal_kind is None and (structure_of(gvk) != gvk or _is_known(gvk)):
            internal_kind = gvk
    if internal_kind is None:
        return request_bodies.unregistered(gvk, target.kind.group, scheme)
    misfit = request_bodies.misfit_of(document, internal_kind)
    return misfit or request_bodies.unknown_conversion(internal_kind, kind)


def _is_known(kind: Any) -> bool:
    return schema_for(kind) is not None
