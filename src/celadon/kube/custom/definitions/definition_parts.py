"""What a CRD says besides its schemas: deprecations, conversion, printed columns, scale, selectable
fields, and whether it may be in its group.

As k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`. Paths are those
of upstream's internal type: what all versions share stands at the definition, and the webhook of a
conversion has another name there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go import go_url
from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import OBJECT_FIELDS

Errors = Iterator[FieldError]

MAX_SELECTABLE_FIELDS: Final = 8
MAX_WARNING_BYTES: Final = 256
APPROVAL: Final = "api-approved.kubernetes.io"
"""Annotation that says where a definition was approved."""
APPROVAL_PLACE: Final = "https://github.com/kubernetes/enhancements/pull/1111"
"""Where people read what that is about."""

_SPEC: Final = FieldPath("spec")
_STRATEGIES: Final = ("None", "Webhook")
_REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_COLUMN_TYPES: Final = "boolean,date,integer,number,string"
_COLUMN_FORMATS: Final = "byte,date,date-time,double,float,int32,int64,password"
_SELECTABLE: Final = frozenset({"string", "boolean", "integer"})
_NOT_SELECTABLE: Final = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with "
    "formats are allowed."
)
_ONLY_WEBHOOK: Final = "should not be set when strategy is not set to Webhook"
_SCALE_PATHS: Final = (
    ("specReplicasPath", (".spec.",), "should be a json path under .spec"),
    ("statusReplicasPath", (".status.",), "should be a json path under .status"),
    (
        "labelSelectorPath",
        (".spec.", ".status."),
        "should be a json path under either .spec or .status",
    ),
)


def part_errors(spec: JsonObject) -> Errors:
    """Of a whole definition but for its metadata."""
    for i, one in enumerate(spec.get("versions") or ()):
        yield from _deprecation(one, _version(i).child("deprecationWarning"))
    yield from _of_versions(spec, "additionalPrinterColumns", _columns)
    yield from _of_versions(spec, "subresources", _subresources)
    schemas = [_schema(one) for one in spec.get("versions") or ()]
    for i, one in enumerate(spec.get("versions") or ()):
        fields = one.get("selectableFields") or []
        at = _SPEC if _is_shared(spec, "selectableFields") else _version(i)
        if fields and (i == 0 or at is not _SPEC):
            yield from _selectable(fields, schemas[i], at.child("selectableFields"))
    yield from _preserved(spec)
    yield from _conversion(spec.get("conversion") or {}, _SPEC.child("conversion"))


def approval_errors(group: str, annotations: Mapping[str, str]) -> Errors:
    """The groups of Kubernetes' community are for what it has approved (`pkg/apihelpers`)."""
    if not f".{group}".endswith((".k8s.io", ".kubernetes.io")):
        return
    said = annotations.get(APPROVAL, "")
    at = FieldPath("metadata").child("annotations").key(APPROVAL)
    needs = f'protected groups must have approval annotation "{APPROVAL}"'
    if not said:
        yield fieldpath.required(at, f"{needs}, see {APPROVAL_PLACE}")
    elif not said.startswith("unapproved") and not _is_link(said):
        either = 'with either a URL or a reason starting with "unapproved"'
        yield fieldpath.invalid(at, said, f"{needs} {either}, see {APPROVAL_PLACE}")


def _is_link(text: str) -> bool:
    try:
        found = go_url.parse(text)
    except go_url.URLError:
        return False
    return bool(found.host and found.scheme)


def _deprecation(version: JsonObject, at: FieldPath) -> Errors:
    text = version.get("deprecationWarning")
    if text is None:
        return
    if not version.get("deprecated"):
        yield fieldpath.invalid(at, text, "can only be set for deprecated versions")
        return
    if len(text.encode()) > MAX_WARNING_BYTES:
        detail = f"must be <= {MAX_WARNING_BYTES} characters long"
        yield fieldpath.invalid(at, text, detail)
    if not text:
        yield fieldpath.invalid(at, text, "must not be an empty string")


def _version(i: int) -> FieldPath:
    return _SPEC.child("versions").index(i)


def _is_shared(spec: JsonObject, name: str) -> bool:
    versions = spec.get("versions") or []
    return all(one.get(name) == versions[0].get(name) for one in versions)


def _of_versions(spec: JsonObject, name: str, check: Callable[[Any, FieldPath], Errors]) -> Errors:
    versions = spec.get("versions") or []
    if versions and _is_shared(spec, name):
        if versions[0].get(name):
            yield from check(versions[0][name], _SPEC.child(name))
        return
    for i, one in enumerate(versions):
        if one.get(name):
            yield from check(one[name], _version(i).child(name))


def _schema(version: JsonObject) -> JsonObject:
    return (version.get("schema") or {}).get("openAPIV3Schema") or {}


def _columns(columns: Sequence[JsonObject], at: FieldPath) -> Errors:
    for i, column in enumerate(columns):
        place = at.index(i)
        type_, format_ = column.get("type") or "", column.get("format") or ""
        if not column.get("name"):
            yield fieldpath.required(place.child("name"))
        if not type_:
            yield fieldpath.required(place.child("type"), f"must be one of {_COLUMN_TYPES}")
        elif type_ not in _COLUMN_TYPES.split(","):
            detail = f"must be one of {_COLUMN_TYPES}"
            yield fieldpath.invalid(place.child("type"), type_, detail)
        if format_ and format_ not in _COLUMN_FORMATS.split(","):
            detail = f"must be one of {_COLUMN_FORMATS}"
            yield fieldpath.invalid(place.child("format"), format_, detail)
        path = column.get("jsonPath") or ""
        if not path:
            yield fieldpath.required(place.child("JSONPath"))
        else:
            yield from _simple_path(path, place.child("JSONPath"))


def _simple_path(path: str, at: FieldPath) -> Errors:
    if not path.startswith("."):
        yield fieldpath.invalid(at, path, "must be a simple json path starting with .")


def _subresources(given: JsonObject, at: FieldPath) -> Errors:
    scale = given.get("scale")
    if scale is None:
        return
    for name, roots, detail in _SCALE_PATHS:
        path, place = scale.get(name) or "", at.child("scale").child(name)
        if not path:
            if name != "labelSelectorPath":
                yield fieldpath.required(place)
        elif not path.startswith("."):
            yield from _simple_path(path, place)
        elif not path.startswith(roots):
            yield fieldpath.invalid(place, path, detail)


def _selectable(fields: Sequence[JsonObject], schema: JsonObject, at: FieldPath) -> Errors:
    seen: set[str] = set()
    for i, one in enumerate(fields):
        place, path = at.index(i), one.get("jsonPath") or ""
        if not path:
            yield fieldpath.required(place.child("jsonPath"))
            continue
        if path in seen:
            yield fieldpath.duplicate(place.child("jsonPath"), path)
        seen.add(path)
        found = _found(path, schema)
        if isinstance(found, str):
            detail = f"is an invalid path: {found}"
            yield fieldpath.invalid(place.child("jsonPath"), path, detail)
            continue
        if path.removeprefix(".").partition(".")[0] == "metadata":
            detail = "must not point to fields in metadata"
            yield fieldpath.invalid(place, path, detail)
        if found.get("type") not in _SELECTABLE:
            yield fieldpath.invalid(place.child("jsonPath"), path, _NOT_SELECTABLE)
    if len(fields) > MAX_SELECTABLE_FIELDS:
        yield fieldpath.too_many(at, len(fields), MAX_SELECTABLE_FIELDS)


def _found(path: str, schema: JsonObject) -> JsonObject | str:
    """The schema of a field, or why there is none."""
    found = schema
    for name in path.removeprefix(".").split("."):
        properties = found.get("properties") or {}
        if name not in properties and not (found is schema and name in OBJECT_FIELDS):
            return f"does not refer to a valid field: {path}"
        found = properties.get(name) or {"type": "object"}
    return found


def _preserved(spec: JsonObject) -> Errors:
    if spec.get("preserveUnknownFields"):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
            "spec.versions[*].schema instead"
        )
        yield fieldpath.invalid(_SPEC.child("preserveUnknownFields"), True, detail)


def _conversion(given: JsonObject, at: FieldPath) -> Errors:
    strategy = given.get("strategy") or ""
    webhook = given.get("webhook") or {}
    config, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy not in _STRATEGIES:
        yield fieldpath.not_supported(at.child("strategy"), strategy, _STRATEGIES)
    if strategy == "Webhook":
        place = at.child("webhookClientConfig")
        if config is None:
            yield fieldpath.required(place, "required when strategy is set to Webhook")
        elif (config.get("url") is None) == (config.get("service") is None):
            yield fieldpath.required(place, "exactly one of url or service is required")
        yield from _review_versions(versions, at.child("conversionReviewVersions"))
        return
    if config is not None:
        yield fieldpath.forbidden(at.child("webhookClientConfig"), _ONLY_WEBHOOK)
    if versions:
        yield fieldpath.forbidden(at.child("conversionReviewVersions"), _ONLY_WEBHOOK)


def _review_versions(versions: Sequence[str], at: FieldPath) -> Errors:
    if not versions:
        yield fieldpath.required(at)
        return
    for i, one in enumerate(versions):
        if one in versions[:i]:
            yield fieldpath.invalid(at.index(i), one, "duplicate version")
            continue
        for wrong in name_rules.dns1035_label(one):
            yield fieldpath.invalid(at.index(i), one, wrong)
    if not set(versions) & set(_REVIEW_VERSIONS):
        detail = f"must include at least one of {', '.join(_REVIEW_VERSIONS)}"
        yield fieldpath.invalid(at, versions, detail)
