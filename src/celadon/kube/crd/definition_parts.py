"""What a CRD says besides its schemas (deprecations, conversion, printed columns, scale,
selectable fields, whether it may be in its group), and its internal form.

As k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`. Paths are those
of upstream's internal type: what all versions share stands at the definition, and the webhook of a
conversion has another name there.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.cel import Environment
from celadon.kube import fieldpath, name_rules
from celadon.kube.crd import structural_schemas
from celadon.kube.crd.rule_validation import FieldPathError, find_field
from celadon.kube.fieldpath import ROOT, FieldError, FieldPath
from celadon.kube.go import go_url
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.library.environments import environment
from celadon.kube.releases import current_release, is_since, previous_minor
from celadon.kube.schemas.definition_schemas import decode_schema
from celadon.kube.validation.format_checks import webhook_service_errors, webhook_url_errors
from celadon.kube.x509 import bundle_fault
from celadon.records import dataclass

# --- The internal type -------------------------------------------------------
#
# A definition as upstream's internal type has it: what all versions share stands at the
# definition, and the versions keep the rest.
#
# As the conversions of k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/v1/conversion.go`.
# Errors name the places of the internal type, and print its values with Go's field names and all
# of its fields (`version_value`, `schema_value`).

SPEC: Final = FieldPath("spec")
VERSIONS: Final = SPEC.child("versions")
_SHARED_PARTS: Final[Mapping[str, str]] = {
    "subresources": "Subresources",
    "schema": "Schema",
    "additionalPrinterColumns": "AdditionalPrinterColumns",
    "selectableFields": "SelectableFields",
}
"""What versions may share, with the internal names."""


@dataclass(frozen=True, slots=True)
class InternalDefinition:
    """The shared parts by their names in v1, absent where versions differ; and the versions,
    without what is shared."""

    shared: JsonObject
    versions: tuple[JsonObject, ...]

    @property
    def first_name(self) -> str:
        """Upstream keeps the name of the first version in a field of its own."""
        return (self.versions[0].get("name") or "") if self.versions else ""

    def schema_of(self, i: int) -> JsonObject | None:
        """Return the schema of a version, its own or the shared one."""
        return schema_in(self.versions[i]) or schema_in(self.shared)

    def schemas(self) -> Iterator[tuple[FieldPath, JsonObject]]:
        """Yield all schemas with their places, in upstream's order: those of the versions, or the
        shared one."""
        place = ("schema", "openAPIV3Schema")
        for i, version in enumerate(self.versions):
            result = schema_in(version)
            if result is not None:
                yield VERSIONS.index(i).child(*place), result
        result = schema_in(self.shared)
        if result is not None:
            yield SPEC.child("validation", "openAPIV3Schema"), result


def internal_definition(spec: JsonObject) -> InternalDefinition:
    """Take what is the same in all versions out of them."""
    versions = [version for version in spec.get("versions") or () if isinstance(version, dict)]
    shared: JsonDict = {}
    for name, internal_name in _SHARED_PARTS.items():
        values = [_part(version, name) for version in versions]
        if values and (
            all(value == values[0] for value in values) or _is_alike(versions, internal_name)
        ):
            shared[name] = values[0]
    left = tuple(
        {key: value for key, value in version.items() if key not in shared} for version in versions
    )
    return InternalDefinition(
        {name: value for name, value in shared.items() if value is not None}, left
    )


def _part(version: JsonObject, name: str) -> Any:
    """Return a part of a version. An empty list is as good as none; an empty object is not."""
    result = version.get(name)
    return None if result == [] else result


def _is_alike(versions: Sequence[JsonObject], internal_name: str) -> bool:
    """Return whether upstream sees no difference: what is empty in one may be absent in another."""
    first, *others = (_without_empty(version_value(version)[internal_name]) for version in versions)
    return all(other == first for other in others)


_ANY_JSON: Final = frozenset({"Default", "Example"})


def _without_empty(value: Any) -> Any:
    """Return a value that is printed with nothing in place of empty lists and maps."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value] or None
    if isinstance(value, dict):
        result = {
            key: item if key in _ANY_JSON else _without_empty(item) for key, item in value.items()
        }
        return result or None
    return value


def schema_in(holder: JsonObject) -> JsonObject | None:
    """Return the schema in a version, or in the shared parts."""
    schema = holder.get("schema")
    openapi_schema = schema.get("openAPIV3Schema") if isinstance(schema, dict) else None
    return openapi_schema if isinstance(openapi_schema, dict) else None


def has_status(holder: JsonObject) -> bool:
    """Return whether a version, or all of them, have the status subresource."""
    parts = holder.get("subresources")
    return isinstance(parts, dict) and parts.get("status") is not None


# --- values as errors print them ----------------------------------------------------------------


def version_value(version: JsonObject) -> JsonObject:
    """Return a version as errors show it."""
    schema, parts = version.get("schema"), version.get("subresources")
    columns, fields = version.get("additionalPrinterColumns"), version.get("selectableFields")
    return {
        "Name": version.get("name") or "",
        "Served": bool(version.get("served")),
        "Storage": bool(version.get("storage")),
        "Deprecated": bool(version.get("deprecated")),
        "DeprecationWarning": version.get("deprecationWarning"),
        "Schema": None if schema is None else {"OpenAPIV3Schema": _optional(schema_in(version))},
        "Subresources": None if parts is None else _subresources_value(parts),
        "AdditionalPrinterColumns": [_column_value(column) for column in columns]
        if columns
        else None,
        "SelectableFields": (
            [{"JSONPath": field.get("jsonPath") or ""} for field in fields] if fields else None
        ),
    }


def _subresources_value(parts: JsonObject) -> JsonObject:
    scale = parts.get("scale")
    return {
        "Status": parts.get("status"),
        "Scale": None
        if scale is None
        else {
            "SpecReplicasPath": scale.get("specReplicasPath") or "",
            "StatusReplicasPath": scale.get("statusReplicasPath") or "",
            "LabelSelectorPath": scale.get("labelSelectorPath"),
        },
    }


def _column_value(column: JsonObject) -> JsonObject:
    return {
        "Name": column.get("name") or "",
        "Type": column.get("type") or "",
        "Format": column.get("format") or "",
        "Description": column.get("description") or "",
        "Priority": column.get("priority") or 0,
        "JSONPath": column.get("jsonPath") or "",
    }


def rule_value(value: Any) -> JsonObject:
    """Return the members of a validation rule as errors show them."""
    return {
        "Rule": value.get("rule") or "",
        "Message": value.get("message") or "",
        "MessageExpression": value.get("messageExpression") or "",
        "Reason": value.get("reason"),
        "FieldPath": value.get("fieldPath") or "",
        "OptionalOldSelf": value.get("optionalOldSelf"),
    }


def _optional(schema: JsonObject | None) -> JsonObject | None:
    return None if schema is None else schema_value(schema)


def _schemas(value: Any) -> list[JsonObject] | None:
    return None if value is None else [schema_value(item) for item in value]


def _members(value: Any) -> JsonObject | None:
    return None if value is None else {key: schema_value(value[key]) for key in sorted(value)}


def _or_bool(value: Any) -> JsonObject | None:
    if value is None:
        return None
    if isinstance(value, dict):
        return {"Allows": True, "Schema": schema_value(value)}
    return {"Allows": bool(value), "Schema": None}


def _or_list(value: Any) -> JsonObject | None:
    if isinstance(value, list):
        return {"Schema": None, "JSONSchemas": [schema_value(item) for item in value]}
    return None if value is None else {"Schema": schema_value(value), "JSONSchemas": None}


def _dependencies(value: Any) -> JsonObject | None:
    if value is None:
        return None
    return {
        key: {"Schema": None, "Property": value[key]}
        if isinstance(value[key], list)
        else {"Schema": _optional(value[key]), "Property": None}
        for key in sorted(value)
    }


def _documentation(value: Any) -> JsonObject | None:
    if value is None:
        return None
    return {"Description": value.get("description") or "", "URL": value.get("url") or ""}


def _text(value: Any) -> str:
    return value or ""


def _switch(value: Any) -> bool:
    return bool(value)


def _itself(value: Any) -> Any:
    return value


def _rules(value: Any) -> list[JsonObject] | None:
    return None if value is None else [rule_value(item) for item in value]


_FIELDS: Final = (
    ("ID", "id", _text),
    ("Schema", "$schema", _text),
    ("Ref", "$ref", _itself),
    ("Description", "description", _text),
    ("Type", "type", _text),
    ("Nullable", "nullable", _switch),
    ("Format", "format", _text),
    ("Title", "title", _text),
    ("Default", "default", _itself),
    ("Maximum", "maximum", _itself),
    ("ExclusiveMaximum", "exclusiveMaximum", _switch),
    ("Minimum", "minimum", _itself),
    ("ExclusiveMinimum", "exclusiveMinimum", _switch),
    ("MaxLength", "maxLength", _itself),
    ("MinLength", "minLength", _itself),
    ("Pattern", "pattern", _text),
    ("MaxItems", "maxItems", _itself),
    ("MinItems", "minItems", _itself),
    ("UniqueItems", "uniqueItems", _switch),
    ("MultipleOf", "multipleOf", _itself),
    ("Enum", "enum", _itself),
    ("MaxProperties", "maxProperties", _itself),
    ("MinProperties", "minProperties", _itself),
    ("Required", "required", _itself),
    ("Items", "items", _or_list),
    ("AllOf", "allOf", _schemas),
    ("OneOf", "oneOf", _schemas),
    ("AnyOf", "anyOf", _schemas),
    ("Not", "not", _optional),
    ("Properties", "properties", _members),
    ("AdditionalProperties", "additionalProperties", _or_bool),
    ("PatternProperties", "patternProperties", _members),
    ("Dependencies", "dependencies", _dependencies),
    ("AdditionalItems", "additionalItems", _or_bool),
    ("Definitions", "definitions", _members),
    ("ExternalDocs", "externalDocs", _documentation),
    ("Example", "example", _itself),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", _itself),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", _switch),
    ("XIntOrString", "x-kubernetes-int-or-string", _switch),
    ("XListMapKeys", "x-kubernetes-list-map-keys", _itself),
    ("XListType", "x-kubernetes-list-type", _itself),
    ("XMapType", "x-kubernetes-map-type", _itself),
    ("XValidations", "x-kubernetes-validations", _rules),
)
"""The fields of a schema in Go's order: the name in Go, the name in JSON, and how one is read."""


def schema_value(value: JsonObject) -> JsonObject:
    """Return the members of a schema as errors show them."""
    return {name: read(value.get(key)) for name, key, read in _FIELDS}


def shown_rule(rule: Any) -> GoValue:
    """Return a validation rule as errors show it."""
    return GoValue(rule_value(rule), "apiextensions.ValidationRule")


def shown_schema(schema: JsonObject) -> GoValue:
    """Return a schema as errors show it."""
    return GoValue(schema_value(schema), "apiextensions.JSONSchemaProps")


def shown_items(items: Any) -> GoValue:
    """Return `items` as errors show them: one schema, or one for each place."""
    return GoValue(_or_list(items), "apiextensions.JSONSchemaPropsOrArray")


def set_fields(data: JsonObject) -> Iterator[str]:
    """Go's names of the fields of a schema that do not have their zero value, in Go's order. What
    is empty has another one, unless it is a text."""
    for name, key, read in _FIELDS:
        value = data.get(key)
        if value if read in (_text, _switch) else value is not None:
            yield name


# --- Definition demands ------------------------------------------------------
#
# What is demanded of a definition that is written. Of an update less is: where the stored
# definition does not meet a demand, the new one need not, so that nobody is kept from repairing
# something else.
#
# As `validationOptions` in k8s.io/apiextensions-apiserver
# `pkg/apis/apiextensions/validation/validation.go`.

MAX_SELECTABLE_FIELDS: Final = 8
REVIEW_VERSIONS: Final = ("v1", "v1beta1")
TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
LIST_TYPE: Final = "x-kubernetes-list-type"
LIST_KEYS: Final = "x-kubernetes-list-map-keys"
MAP_TYPE: Final = "x-kubernetes-map-type"


@dataclass(frozen=True, slots=True)
class Demands:
    """All of them hold for a new definition; `stored_rules` and the sets that follow are of what
    an update found."""

    schemas: bool = True
    valid_types: bool = True
    structural: bool = True
    pruned_defaults: bool = True
    atomic_sets: bool = True
    keyed_items: bool = True
    known_reviews: bool = True
    stored_rules: frozenset[str] = frozenset()
    """Expressions that may use what a newer release brings: they are there already."""
    stored_messages: frozenset[str] = frozenset()
    unchanged_schemas: frozenset[str] = frozenset()
    """Versions whose rules may cost what they like."""
    usable_bundle: bool = False
    """Whether what a webhook is trusted by has to be certificates."""
    many_fields: frozenset[str] = frozenset()
    """Versions that may have too many selectable fields; empty is the whole definition."""

    def rule_environment(self, text: str) -> Environment:
        """Return what a rule may use."""
        return self._environment(is_stored=text in self.stored_rules)

    def message_environment(self, text: str) -> Environment:
        """Return what a message expression may use."""
        return self._environment(is_stored=text in self.stored_messages)

    def _environment(self, *, is_stored: bool) -> Environment:
        release = current_release()
        return environment(release if is_stored else previous_minor(release))


def demands_of_update(spec: JsonObject, old: JsonObject, *, established: bool) -> Demands:
    """Return what is demanded of a spec in place of the old one, whose objects may be
    `established`: what was wrong already is let pass."""
    before, now = internal_definition(old), internal_definition(spec)
    schemas = [schema for _, schema in before.schemas()]
    nodes = [node for schema in schemas for node in structural_schemas.every_schema(schema)]
    rules = [rule for node in nodes for rule in node.get("x-kubernetes-validations") or ()]
    webhook = (old.get("conversion") or {}).get("webhook") or {}
    reviews = webhook.get("conversionReviewVersions")
    had_usable = not _bundle_fault(webhook.get("clientConfig") or {})
    return Demands(
        schemas=all(before.schema_of(i) is not None for i in range(len(before.versions))),
        valid_types=not any((node.get("type") or "string") not in TYPES for node in nodes),
        structural=not any(map(_is_not_structural, schemas)),
        pruned_defaults=not any(map(structural_schemas.has_unpruned_defaults, schemas)),
        atomic_sets=not any(map(has_divided_items, nodes)),
        keyed_items=not any(map(has_loose_keys, nodes)),
        known_reviews=not reviews or any(review in REVIEW_VERSIONS for review in reviews),
        stored_rules=frozenset(rule.get("rule") or "" for rule in rules),
        stored_messages=_stored_messages(rules),
        unchanged_schemas=_unchanged_schemas(now, before),
        usable_bundle=established and had_usable and is_since("1.31"),
        many_fields=_many_fields(now, before) if is_since("1.35") else frozenset(),
    )


def _stored_messages(rules: Iterable[JsonObject]) -> frozenset[str]:
    """Return the message expressions that were there; upstream took the rules for them until
    1.31."""
    member = "messageExpression" if is_since("1.31") else "rule"
    return frozenset(rule[member] for rule in rules if rule.get("messageExpression"))


def _is_not_structural(value: JsonObject) -> bool:
    return structural_schemas.unreadable(value) is not None or bool(
        structural_schemas.structural_errors(value, ROOT)
    )


def _unchanged_schemas(now: InternalDefinition, before: InternalDefinition) -> frozenset[str]:
    old = {
        item.get("name") or "": before.schema_of(i)
        for i, item in reversed([*enumerate(before.versions)])
    }
    return frozenset(
        name
        for i, version in enumerate(now.versions)
        if (name := version.get("name") or "") in old and now.schema_of(i) == old[name]
    )


def _many_fields(now: InternalDefinition, before: InternalDefinition) -> frozenset[str]:
    old = {version.get("name") or "": version for version in before.versions}
    places = [("", now.shared, before.shared)]
    places += [
        (name, version, old[name])
        for version in now.versions
        if (name := version.get("name") or "") in old
    ]
    return frozenset(
        name
        for name, new, was in places
        if len(was.get("selectableFields") or ()) > MAX_SELECTABLE_FIELDS
        and new.get("selectableFields") == was["selectableFields"]
    )


def has_divided_items(node: JsonObject) -> bool:
    """Return whether items of a set can be written in parts. Lists as items are wholes unless they
    say otherwise."""
    items = node.get("items")
    if node.get(LIST_TYPE) != "set" or not isinstance(items, dict):
        return False
    if items.get("type") == "array":
        return items.get(LIST_TYPE) not in (None, "atomic")
    return items.get("type") == "object" and items.get(MAP_TYPE) != "atomic"


def has_loose_keys(node: JsonObject) -> bool:
    """Return whether items of a set or map list may be null, or their keys may be absent or
    null."""
    return next(loose_keys(node), None) is not None


def loose_keys(node: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield what is wrong: the key that it is about, empty for the item, and `default` or
    `nullable`."""
    items = node.get("items")
    if node.get(LIST_TYPE) not in ("set", "map") or not isinstance(items, dict):
        return
    if items.get("nullable"):
        yield "", "nullable"
    if node[LIST_TYPE] == "set":
        return
    properties: Any = items.get("properties") or {}
    for key in node.get(LIST_KEYS) or ():
        if key not in properties:
            continue
        if properties[key].get("default") is None and key not in (items.get("required") or ()):
            yield key, "default"
        if properties[key].get("nullable"):
            yield key, "nullable"


Errors = Iterator[FieldError]

MAX_WARNING_BYTES: Final = 256
APPROVAL: Final = "api-approved.kubernetes.io"
"""Annotation that says where a definition was approved."""
APPROVAL_PLACE: Final = "https://github.com/kubernetes/enhancements/pull/1111"
"""Where people read what that is about."""

_SPEC: Final = FieldPath("spec")
_STRATEGIES: Final = ("None", "Webhook")
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


def approval_errors(group: str, annotations: Mapping[str, str]) -> Errors:
    """Return what is wrong with an approval: the groups of Kubernetes' community are for what it
    has approved (`pkg/apihelpers`)."""
    if not f".{group}".endswith((".k8s.io", ".kubernetes.io")):
        return
    annotation = annotations.get(APPROVAL, "")
    path = FieldPath("metadata").child("annotations").key(APPROVAL)
    needs = f'protected groups must have approval annotation "{APPROVAL}"'
    if not annotation:
        yield fieldpath.required(path, f"{needs}, see {APPROVAL_PLACE}")
    elif not annotation.startswith("unapproved") and not _is_link(annotation):
        either = 'with either a URL or a reason starting with "unapproved"'
        yield fieldpath.invalid(path, annotation, f"{needs} {either}, see {APPROVAL_PLACE}")


def approval_state(annotations: Mapping[str, str]) -> tuple[bool, bool, bool]:
    """Return whether a definition of the community's names an approval, does without one, and
    links to one. An update is asked about its approval if that changes."""
    annotation = annotations.get(APPROVAL, "")
    return bool(annotation), annotation.startswith("unapproved"), _is_link(annotation)


def _is_link(text: str) -> bool:
    try:
        url = go_url.parse_request_uri(text)
    except go_url.URLError:
        return False
    return bool(url.host and url.scheme)


def deprecation_errors(version: JsonObject, path: FieldPath) -> Errors:
    """Return what is wrong with the warning of a deprecated version."""
    text = version.get("deprecationWarning")
    if text is None:
        return
    if not version.get("deprecated"):
        yield fieldpath.invalid(path, text, "can only be set for deprecated versions")
        return
    if len(text.encode()) > MAX_WARNING_BYTES:
        detail = f"must be <= {MAX_WARNING_BYTES} characters long"
        yield fieldpath.invalid(path, text, detail)
    if not text:
        yield fieldpath.invalid(path, text, "must not be an empty string")
    for i, character in enumerate(text):
        if not character.isprintable():
            offset = len(text[:i].encode())
            detail = (
                "must only contain printable UTF-8 characters; non-printable character found at "
                f"index {offset}"
            )
            yield fieldpath.invalid(path, text, detail)
            return


def column_errors(columns: Sequence[JsonObject], field_path: FieldPath) -> Errors:
    """Return what is wrong with the columns that tables show."""
    for i, column in enumerate(columns):
        place = field_path.index(i)
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


def _simple_path(path: str, field_path: FieldPath) -> Errors:
    if not path.startswith("."):
        yield fieldpath.invalid(field_path, path, "must be a simple json path starting with .")


def subresource_errors(value: JsonObject, field_path: FieldPath) -> Errors:
    """Return what is wrong with the paths of the scale subresource."""
    scale = value.get("scale")
    if scale is None:
        return
    for name, roots, detail in _SCALE_PATHS:
        path, place = scale.get(name) or "", field_path.child("scale", name)
        if not path:
            if name != "labelSelectorPath":
                yield fieldpath.required(place)
        elif not path.startswith("."):
            yield from _simple_path(path, place)
        elif not path.startswith(roots):
            yield fieldpath.invalid(place, path, detail)


def selectable_errors(
    fields: Sequence[JsonObject], schema: JsonObject, field_path: FieldPath, *, many: bool = False
) -> Errors:
    """Yield what is wrong with fields that lists can be filtered by. With `many` their number does
    not count."""
    seen: set[FieldPath] = set()
    root = decode_schema(schema)
    for i, field in enumerate(fields):
        place, path = field_path.index(i).child("jsonPath"), field.get("jsonPath") or ""
        if not path:
            yield fieldpath.required(place)
            continue
        try:
            found_path, found_schema = find_field(path, root, arrays=False)
        except FieldPathError as error:
            yield fieldpath.invalid(place, path, f"is an invalid path: {error}")
            continue
        if found_path.steps and str(found_path.steps[0]) == "metadata":
            yield fieldpath.invalid(place, path, "must not point to fields in metadata")
        if found_schema is None or found_schema.type not in _SELECTABLE:
            yield fieldpath.invalid(place, path, _NOT_SELECTABLE)
        if found_path in seen:
            yield fieldpath.duplicate(place, path)
        seen.add(found_path)
    if len(seen) > MAX_SELECTABLE_FIELDS and not many:
        yield fieldpath.too_many(field_path, len(seen), MAX_SELECTABLE_FIELDS)


def preserving_errors(spec: JsonObject) -> Errors:
    """Definitions keep unknown fields by their schemas only."""
    if spec.get("preserveUnknownFields"):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
            "spec.versions[*].schema instead"
        )
        yield fieldpath.invalid(_SPEC.child("preserveUnknownFields"), True, detail)


def conversion_errors(value: JsonObject, path: FieldPath, demands: Demands) -> Errors:
    """Return what is wrong with how objects get from one version to another."""
    strategy = value.get("strategy") or ""
    webhook = value.get("webhook") or {}
    config, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if not strategy:
        yield fieldpath.required(path.child("strategy"))
    elif strategy not in _STRATEGIES:
        yield fieldpath.not_supported(path.child("strategy"), strategy, _STRATEGIES)
    if strategy == "Webhook":
        place = path.child("webhookClientConfig")
        if config is None:
            yield fieldpath.required(place, "required when strategy is set to Webhook")
        elif (config.get("url") is None) == (config.get("service") is None):
            yield fieldpath.required(place, "exactly one of url or service is required")
        elif config.get("url") is not None:
            yield from webhook_url_errors(config["url"], place.child("url"))
        else:
            yield from webhook_service_errors(config["service"], place.child("service"))
        if demands.usable_bundle and (fault := _bundle_fault(config or {})):
            go_value = GoValue((config or {})["caBundle"], "[]byte")
            yield fieldpath.invalid(place.child("caBundle"), go_value, fault)
        place = path.child("conversionReviewVersions")
        yield from _review_versions(versions, place, known=demands.known_reviews)
        return
    if config is not None:
        yield fieldpath.forbidden(path.child("webhookClientConfig"), _ONLY_WEBHOOK)
    if versions:
        yield fieldpath.forbidden(path.child("conversionReviewVersions"), _ONLY_WEBHOOK)


def trusts_nobody(definition: JsonObject) -> bool:
    """Return whether the webhook of a definition is trusted by what is no certificate; before 1.31
    nobody looked."""
    webhook = (definition["spec"].get("conversion") or {}).get("webhook") or {}
    return is_since("1.31") and bool(_bundle_fault(webhook.get("clientConfig") or {}))


def _bundle_fault(config: JsonObject) -> str:
    bundle = config.get("caBundle")
    return bundle_fault(base64.b64decode(bundle)) if bundle else ""


def _review_versions(versions: Sequence[str], path: FieldPath, *, known: bool) -> Errors:
    if not versions:
        yield fieldpath.required(path)
        return
    seen = set[str]()
    for i, version in enumerate(versions):
        if version in seen:
            yield fieldpath.invalid(path.index(i), version, "duplicate version")
            continue
        seen.add(version)
        for wrong in name_rules.dns1035_label(version):
            yield fieldpath.invalid(path.index(i), version, wrong)
    if known and not set(versions) & set(REVIEW_VERSIONS):
        detail = f"must include at least one of {', '.join(REVIEW_VERSIONS)}"
        yield fieldpath.invalid(path, versions, detail)
