"""Which keywords a schema of a CRD may use, and which belong together.

As `ValidateCustomResourceDefinitionOpenAPISchema` in k8s.io/apiextensions-apiserver
`pkg/apis/apiextensions/validation/validation.go`. The errors of one node come in two parts:
upstream has the first before what is below the node, and the second behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.custom.definitions.definition_demands import (
    LIST_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    TYPES,
    Demands,
    has_divided_items,
    loose_keys,
)
from celadon.kube.custom.definitions.schema_tree import members
from celadon.kube.custom.definitions.structural_schemas import EMBEDDED, PRESERVE
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.json_types import JsonObject

Errors = Iterator[FieldError]

_UNSUPPORTED: Final = (
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
)
_PRESENT: Final = frozenset({"additionalItems", "dependencies", "$ref"})
"""Of these an empty value counts as one."""
_QUADRATIC: Final = (
    "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
)
_WHOLE: Final = f"must be atomic as item of a list with {LIST_TYPE}=set"


def errors_before(
    given: JsonObject, at: FieldPath, demands: Demands, no_default: str, *, in_metadata: bool
) -> Errors:
    """What is said of a node before the nodes below it. With `no_default`, which says where the
    node stands, it may have no default."""
    type_ = given.get("type") or ""
    if demands.valid_types and type_ and type_ not in TYPES:
        yield fieldpath.not_supported(at.child("type"), type_, TYPES)
    if no_default and given.get("default") is not None:
        yield fieldpath.forbidden(at.child("default"), f"must not be set {no_default}")
    for name in _UNSUPPORTED:
        if given.get(name) or (name in _PRESENT and given.get(name) is not None):
            yield fieldpath.forbidden(at.child(name), f"{name} is not supported")
    if type_ == "null":
        detail = "type cannot be set to null, use nullable as an alternative"
        yield fieldpath.forbidden(at.child("type"), detail)
    if isinstance(given.get("items"), list) and given["items"]:
        detail = "items must be a schema object and not an array"
        yield fieldpath.forbidden(at.child("items"), detail)
    if in_metadata and given.get(EMBEDDED):
        detail = "must not be used inside of resource meta"
        yield fieldpath.forbidden(at.child(EMBEDDED), detail)
    if given.get("uniqueItems"):
        yield fieldpath.forbidden(at.child("uniqueItems"), _QUADRATIC)
    values = given.get("additionalProperties")
    if values is not None and values is not True and given.get("properties"):
        detail = "additionalProperties and properties are mutual exclusive"
        yield fieldpath.forbidden(at.child("additionalProperties"), detail)


def errors_after(given: JsonObject, at: FieldPath, demands: Demands) -> Errors:
    """What is said of a node behind the nodes below it, its rules left out."""
    if given.get(PRESERVE) is False:
        yield fieldpath.invalid(at.child(PRESERVE), False, "must be true or undefined")
    map_type, list_type = given.get(MAP_TYPE), given.get(LIST_TYPE)
    if map_type is not None:
        yield from _typed(given, at, "object", MAP_TYPE)
        if map_type not in ("atomic", "granular"):
            choices = ("atomic", "granular")
            yield fieldpath.not_supported(at.child(MAP_TYPE), map_type, choices)
    if list_type is not None:
        yield from _typed(given, at, "array", LIST_TYPE)
        if demands.atomic_sets and given.get("type") == "array" and has_divided_items(given):
            # upstream shows the list type of either.
            items = given["items"]
            name = LIST_TYPE if items.get("type") == "array" else MAP_TYPE
            yield fieldpath.invalid(at.child("items", name), items.get(LIST_TYPE), _WHOLE)
        if list_type not in ("atomic", "set", "map"):
            yield fieldpath.not_supported(at.child(LIST_TYPE), list_type, ("atomic", "set", "map"))
    if given.get(LIST_KEYS) and list_type != "map":
        detail, place = f"must be map if {LIST_KEYS} is non-empty", at.child(LIST_TYPE)
        yield (
            fieldpath.required(place, detail)
            if list_type is None
            else fieldpath.invalid(place, list_type, detail)
        )
    if list_type == "map":
        yield from _map_list(given, at)
    if demands.keyed_items:
        yield from _loose_keys(given, at)


def _typed(given: JsonObject, at: FieldPath, wanted: str, because: str) -> Errors:
    type_, place = given.get("type") or "", at.child("type")
    detail = f"must be {wanted} if {because} is specified"
    if not type_:
        yield fieldpath.required(place, detail)
    elif type_ != wanted:
        yield fieldpath.invalid(place, type_, detail)


def _map_list(given: JsonObject, at: FieldPath) -> Errors:
    keys, items = given.get(LIST_KEYS) or [], given.get("items")
    if not keys:
        yield fieldpath.required(at.child(LIST_KEYS), f"must not be empty if {LIST_TYPE} is map")
    if items is None:
        detail = f"must have a schema if {LIST_TYPE} is map"
        yield fieldpath.required(at.child("items"), detail)
    if not isinstance(items, dict):
        return
    type_ = items.get("type") or ""
    if type_ != "object":
        detail = f"must be object if parent array's {LIST_TYPE} is map"
        yield fieldpath.invalid(at.child("items").child("type"), type_, detail)
        return
    known = members(items, "properties")
    seen: set[str] = set()
    for key in keys:
        if key not in known:
            detail = "entries must all be names of item properties"
            yield fieldpath.invalid(at.child(LIST_KEYS), keys, detail)
        elif known[key].get("type") in ("array", "object"):
            place = at.child("items").child("properties").key(key).child("type")
            detail = f"must be a scalar type if parent array's {LIST_TYPE} is map"
            yield fieldpath.invalid(place, type_, detail)
        if key in seen:
            detail = "must not contain duplicate entries"
            yield fieldpath.invalid(at.child(LIST_KEYS), keys, detail)
        seen.add(key)


def _loose_keys(given: JsonObject, at: FieldPath) -> Errors:
    items = at.child("items")
    for key, name in loose_keys(given):
        if not key:
            detail = f"cannot be nullable when {LIST_TYPE} is {given[LIST_TYPE]}"
            yield fieldpath.forbidden(items.child(name), detail)
            continue
        place, this = items.child("properties").key(key).child(name), "this property is in"
        if name == "default":
            detail = f"{this} {LIST_KEYS}, so it must have a default or be a required property"
            yield fieldpath.required(place, detail)
        else:
            yield fieldpath.forbidden(place, f"{this} {LIST_KEYS}, so it cannot be nullable")
