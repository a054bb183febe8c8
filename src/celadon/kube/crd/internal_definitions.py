"""A definition as upstream's internal type has it: what all versions share stands at the
definition, and the versions keep the rest.

As the conversions of k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/v1/conversion.go`.
Errors name the places of the internal type, and print its values with Go's field names and all of
its fields (`version_value`, `schema_value`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.records import dataclass

SPEC: Final = FieldPath("spec")
VERSIONS: Final = SPEC.child("versions")
_SHARED_PARTS: Final = ("subresources", "schema", "additionalPrinterColumns", "selectableFields")


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
        """The schema of a version, its own or the shared one."""
        return schema_in(self.versions[i]) or schema_in(self.shared)

    def schemas(self) -> Iterator[tuple[FieldPath, JsonObject]]:
        """All schemas with their places, in upstream's order: those of the versions, or the shared
        one."""
        at = ("schema", "openAPIV3Schema")
        for i, version in enumerate(self.versions):
            found = schema_in(version)
            if found is not None:
                yield VERSIONS.index(i).child(*at), found
        found = schema_in(self.shared)
        if found is not None:
            yield SPEC.child("validation", "openAPIV3Schema"), found


def internal_definition(spec: JsonObject) -> InternalDefinition:
    """Takes what is the same in all versions out of them."""
    versions = [one for one in spec.get("versions") or () if isinstance(one, dict)]
    shared: dict[str, Any] = {}
    for name in _SHARED_PARTS:
        values = [_part(one, name) for one in versions]
        if values and all(one == values[0] for one in values):
            shared[name] = values[0]
    left = tuple(
        {key: value for key, value in one.items() if key not in shared} for one in versions
    )
    return InternalDefinition(
        {name: value for name, value in shared.items() if value is not None}, left
    )


def _part(version: JsonObject, name: str) -> Any:
    """An empty list is as good as none; an empty object is not."""
    found = version.get(name)
    return None if found == [] else found


def schema_in(holder: JsonObject) -> JsonObject | None:
    """The schema in a version, or in the shared parts."""
    schema = holder.get("schema")
    found = schema.get("openAPIV3Schema") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else None


def has_status(holder: JsonObject) -> bool:
    """Whether a version, or all of them, have the status subresource."""
    parts = holder.get("subresources")
    return isinstance(parts, dict) and parts.get("status") is not None


# --- values as errors print them ----------------------------------------------------------------


def version_value(version: JsonObject) -> JsonObject:
    """A version as errors show it."""
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
        "AdditionalPrinterColumns": [_column_value(one) for one in columns] if columns else None,
        "SelectableFields": (
            [{"JSONPath": one.get("jsonPath") or ""} for one in fields] if fields else None
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


def rule_value(given: Any) -> JsonObject:
    """A validation rule as errors show it."""
    return {
        "Rule": given.get("rule") or "",
        "Message": given.get("message") or "",
        "MessageExpression": given.get("messageExpression") or "",
        "Reason": given.get("reason"),
        "FieldPath": given.get("fieldPath") or "",
        "OptionalOldSelf": given.get("optionalOldSelf"),
    }


def _optional(schema: JsonObject | None) -> JsonObject | None:
    return None if schema is None else schema_value(schema)


def _schemas(given: Any) -> list[JsonObject] | None:
    return [schema_value(one) for one in given] if given else None


def _members(given: Any) -> JsonObject | None:
    return {key: schema_value(given[key]) for key in sorted(given)} if given else None


def _or_bool(given: Any) -> JsonObject | None:
    if given is None:
        return None
    if isinstance(given, dict):
        return {"Allows": True, "Schema": schema_value(given)}
    return {"Allows": bool(given), "Schema": None}


def _or_list(given: Any) -> JsonObject | None:
    if isinstance(given, list):
        return {"Schema": None, "JSONSchemas": [schema_value(one) for one in given]}
    return None if given is None else {"Schema": schema_value(given), "JSONSchemas": None}


def _dependencies(given: Any) -> JsonObject | None:
    if given is None:
        return None
    return {
        key: {"Schema": None, "Property": given[key]}
        if isinstance(given[key], list)
        else {"Schema": _optional(given[key]), "Property": None}
        for key in sorted(given)
    }


def _documentation(given: Any) -> JsonObject | None:
    if given is None:
        return None
    return {"Description": given.get("description") or "", "URL": given.get("url") or ""}


def _text(given: Any) -> str:
    return given or ""


def _switch(given: Any) -> bool:
    return bool(given)


def _itself(given: Any) -> Any:
    return given


def _rules(given: Any) -> list[JsonObject] | None:
    return [rule_value(one) for one in given] if given else None


def _filled(given: Any) -> Any:
    return given or None


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
    ("Enum", "enum", _filled),
    ("MaxProperties", "maxProperties", _itself),
    ("MinProperties", "minProperties", _itself),
    ("Required", "required", _filled),
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
    ("XListMapKeys", "x-kubernetes-list-map-keys", _filled),
    ("XListType", "x-kubernetes-list-type", _itself),
    ("XMapType", "x-kubernetes-map-type", _itself),
    ("XValidations", "x-kubernetes-validations", _rules),
)
"""The fields of a schema in Go's order: the name in Go, the name in JSON, and how one is read."""


def schema_value(given: JsonObject) -> JsonObject:
    """A schema as errors show it."""
    return {name: read(given.get(key)) for name, key, read in _FIELDS}


def set_fields(given: JsonObject) -> Iterator[str]:
    """Go's names of the fields of a schema that do not have their zero value, in Go's order."""
    for name, key, read in _FIELDS:
        value = given.get(key)
        if read in (_text, _switch, _filled, _schemas, _members, _rules):
            if value:
                yield name
        elif value is not None:
            yield name
