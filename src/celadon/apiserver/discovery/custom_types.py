"""What servers publish of custom resources: the types of a CustomResourceDefinition in OpenAPI.

As k8s.io/apiextensions-apiserver `pkg/controller/openapi/builder` and `pkg/controller/openapi/v2`.
The schema of a definition is published with the members that every object has; so is each embedded
resource in it. Version 3 shows all of it. Version 2 leaves out what clients of that version take
for a mistake in an object: alternatives, nullable fields, and fields beside those that are kept
unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from celadon.apiserver.discovery.openapi import reference
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.crd import EITHER, EMBEDDED, INT_OR_STRING, PRESERVE
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.resources import Resource
from celadon.kube.schemas import META_PREFIX

KINDS: Final = "x-kubernetes-group-version-kind"
"""The member of a schema that lists the kinds it describes."""

_TEXT: Final = {"type": "string"}
_METADATA: Final = {"allOf": [reference(f"{META_PREFIX}ObjectMeta")]}
_LIST_METADATA: Final = {"allOf": [reference(f"{META_PREFIX}ListMeta")]}
_ALTERNATIVES: Final = ("allOf", "anyOf", "oneOf", "not")
_SELECTABLE_SINCE: Final = "1.31"
"""The release since which selectable fields are there by default."""
_EXAMPLES: Final = ("example", "externalDocs")
"""What was lost of a schema before 1.36."""

Types = dict[str, JsonObject]
"""Schemas by their OpenAPI names."""


def custom_type_name(kind: GroupVersionKind) -> str:
    """`io.example.v1.Widget` of `Widget` in `example.io/v1`."""
    return ".".join((*reversed(kind.group.split(".")), kind.version, kind.kind))


def version_3_types(resource: Resource, definition: JsonObject) -> Types:
    """Returns the types of a custom resource and of its lists, as version 3 has them."""
    version = _version_of(resource, definition)
    schema = _schema_of(version)
    shown: JsonObject = {"type": "object"}
    if schema is not None:
        shown = _with_resource_members(_with_embedded(_unfolded(schema), _is_embedded))
    return _types(resource, version, shown)


def version_2_types(resource: Resource, definition: JsonObject) -> Types:
    """Returns the same as version 2 has them."""
    version = _version_of(resource, definition)
    schema = _schema_of(version)
    is_open = bool(definition["spec"].get("preserveUnknownFields"))
    shown: JsonObject = {"type": "object"}
    if schema is not None and not is_open and not schema.get(PRESERVE):
        shown = _with_resource_members(_with_embedded(_version_2_form(schema), _is_closed_embedded))
    return _types(resource, version, shown)


def _version_of(resource: Resource, definition: JsonObject) -> JsonObject:
    versions = definition["spec"].get("versions") or ()
    name = resource.gvr.version
    return next((one for one in versions if one["name"] == name), {})


def _schema_of(version: JsonObject) -> JsonObject | None:
    found: JsonObject | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return found if found is None or is_since("1.36") else _without_examples(found)


def _types(resource: Resource, version: JsonObject, shown: JsonObject) -> Types:
    kind, list_kind = resource.gvk, resource.gvk._replace(kind=resource.list_kind)
    name = custom_type_name(kind)
    more = _selectable_fields(version)
    listed = {
        "description": f"{resource.list_kind} is a list of {kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": _TEXT,
            "items": {"type": "array", "items": reference(name)},
            "kind": _TEXT,
            "metadata": _LIST_METADATA,
        },
    }
    return {
        name: {**shown, KINDS: listed_kinds(kind), **more},
        custom_type_name(list_kind): {**listed, KINDS: listed_kinds(list_kind), **more},
    }


def listed_kinds(kind: GroupVersionKind) -> list[JsonObject]:
    """Returns the kind as the only one in the list that a schema has of its kinds."""
    return [{"group": kind.group, "kind": kind.kind, "version": kind.version}]


def _selectable_fields(version: JsonObject) -> JsonObject:
    """Returns them where there are any; 1.32 said so where there are none, too."""
    fields = version.get("selectableFields") if is_since(_SELECTABLE_SINCE) else None
    paths = [{"fieldPath": one["jsonPath"].removeprefix(".")} for one in fields or ()]
    shows_none = is_since("1.32") and not is_since("1.33")
    return {"x-kubernetes-selectable-fields": paths} if paths or shows_none else {}


def _with_resource_members(schema: JsonObject) -> JsonObject:
    members = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _METADATA}
    return {**schema, "properties": {**schema.get("properties", {}), **members}}


# --- Schemas inside of schemas -----------------------------------------------


def _below(schema: JsonObject, changed: Callable[[JsonObject], JsonObject]) -> JsonDict:
    """Returns the schema with those directly below it changed."""
    made = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), Mapping):
            made[key] = changed(made[key])
    if "properties" in made:
        made["properties"] = {name: changed(one) for name, one in made["properties"].items()}
    return made


def _without_examples(schema: JsonObject) -> JsonObject:
    """Returns the schema as it was published before 1.36."""
    made = _below(schema, _without_examples)
    for key in _ALTERNATIVES:
        given = schema.get(key)
        if isinstance(given, Mapping):
            made[key] = _without_examples(given)
        elif given:
            made[key] = list(map(_without_examples, given))
    _drop(made, *_EXAMPLES)
    return made


def _unfolded(schema: JsonObject) -> JsonObject:
    """Return the schema in words that all clients know: an integer or a string says that it is."""
    made = _below(schema, _unfolded)
    if not schema.get(INT_OR_STRING):
        return made
    alternatives = schema.get("anyOf")
    parts = schema.get("allOf") or ()
    if alternatives == EITHER or (parts and parts[0].get("anyOf") == EITHER):
        return made
    if not alternatives:
        return {**made, "anyOf": EITHER}
    return {**made, "allOf": [{"anyOf": EITHER}, *parts]}


def _with_embedded(schema: JsonObject, is_shown: Callable[[JsonObject], bool]) -> JsonObject:
    """Embedded resources have the members of one."""

    def visit(node: JsonObject) -> JsonObject:
        made = _below(node, visit)
        if not is_shown(node):
            return made
        required = list(made.get("required", ()))
        required += [name for name in ("kind", "apiVersion") if name not in required]
        return {**_with_resource_members(made), "required": required}

    return visit(schema)


def _is_embedded(schema: JsonObject) -> bool:
    return bool(schema.get(EMBEDDED))


def _is_closed_embedded(schema: JsonObject) -> bool:
    return bool(schema.get(EMBEDDED)) and not schema.get(PRESERVE)


def _version_2_form(schema: JsonObject) -> JsonObject:
    """Returns a schema without what clients of version 2 would refuse objects for."""
    made: JsonDict = {key: one for key, one in schema.items() if key not in _ALTERNATIVES}
    required = _required_in_version_2(schema)
    made.pop("required", None)
    if required:
        made["required"] = required
    is_open = bool(made.get(PRESERVE))
    if made.pop("nullable", False):
        _drop(made, "type", "items", "properties")
    if is_open:
        _drop(made, "items", "properties")
    if "items" not in made and made.get("type") == "array":
        _drop(made, "type")
    if is_open and made.get("type") == "object":
        _drop(made, "type")
    return _below(made, _version_2_form)


def _required_in_version_2(schema: JsonObject) -> list[str]:
    """Returns the required members without those that may be null."""
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping) and values.get("nullable"):
        return []
    if schema.get("nullable") or schema.get(PRESERVE):
        return list(schema.get("required", ()))
    properties = schema.get("properties", {})
    nullable = {name for name, one in properties.items() if one.get("nullable")}
    return [name for name in schema.get("required", ()) if name not in nullable]


def _drop(schema: JsonDict, *keys: str) -> None:
    for key in keys:
        schema.pop(key, None)
