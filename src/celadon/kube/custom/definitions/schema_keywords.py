"""Which keywords a schema of a CRD may use, and which belong together.

As `ValidateCustomResourceDefinitionOpenAPISchema` in k8s.io/apiextensions-apiserver
`pkg/apis/apiextensions/validation/validation.go`. Members are visited in the order of their names
(upstream: that of a Go map).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.custom.definitions.structural_schemas import PRESERVE, branches, members
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.json_types import JsonObject

Errors = Iterator[FieldError]

_LIST_TYPE: Final = "x-kubernetes-list-type"
_LIST_KEYS: Final = "x-kubernetes-list-map-keys"
_MAP_TYPE: Final = "x-kubernetes-map-type"
_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED: Final = (
    *("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"),
)
_QUADRATIC: Final = (
    "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
)


def keyword_errors(given: JsonObject, at: FieldPath) -> Errors:
    """Of a schema and of all that is below it."""
    if given.get("uniqueItems"):
        yield fieldpath.forbidden(at.child("uniqueItems"), _QUADRATIC)
    values = given.get("additionalProperties")
    if values is not None and values is not True and given.get("properties"):
        detail = "additionalProperties and properties are mutual exclusive"
        yield fieldpath.forbidden(at.child("additionalProperties"), detail)
    if isinstance(values, dict):
        yield from keyword_errors(values, at.child("additionalProperties"))
    for name, member in members(given, "properties").items():
        yield from keyword_errors(member, at.child("properties").key(name))
    for below, branch in branches(given):
        yield from keyword_errors(branch, at.join(below))
    if isinstance(given.get("items"), dict):
        yield from keyword_errors(given["items"], at.child("items"))
    yield from _extensions(given, at)
    yield from _unsupported(given, at)


def is_readable(given: JsonObject) -> bool:
    """Whether there is a structural schema to be judged at all: some keywords have no place in
    one."""
    if any(given.get(name) for name in (*_UNSUPPORTED, "uniqueItems")):
        return False
    if isinstance(given.get("items"), list):
        return False
    below = [*members(given, "properties").values(), *(one for _, one in branches(given))]
    below += [given[name] for name in ("items", "additionalProperties") if given.get(name)]
    return all(is_readable(one) for one in below if isinstance(one, dict))


def _unsupported(given: JsonObject, at: FieldPath) -> Errors:
    for name in _UNSUPPORTED:
        if given.get(name):
            yield fieldpath.forbidden(at.child(name), f"{name} is not supported")
    type_ = given.get("type") or ""
    if type_ == "null":
        detail = "type cannot be set to null, use nullable as an alternative"
        yield fieldpath.forbidden(at.child("type"), detail)
    elif type_ and type_ not in _TYPES:
        yield fieldpath.not_supported(at.child("type"), type_, _TYPES)
    if isinstance(given.get("items"), list):
        detail = "items must be a schema object and not an array"
        yield fieldpath.forbidden(at.child("items"), detail)


def _extensions(given: JsonObject, at: FieldPath) -> Errors:
    if given.get(PRESERVE) is False:
        yield fieldpath.invalid(at.child(PRESERVE), False, "must be true or undefined")
    map_type, list_type = given.get(_MAP_TYPE), given.get(_LIST_TYPE)
    if map_type is not None:
        yield from _typed(given, at, "object", _MAP_TYPE)
        if map_type not in ("atomic", "granular"):
            choices = ("atomic", "granular")
            yield fieldpath.not_supported(at.child(_MAP_TYPE), map_type, choices)
    if list_type is not None and given.get("type") != "array":
        yield from _typed(given, at, "array", _LIST_TYPE)
    elif list_type is not None and list_type not in ("atomic", "set", "map"):
        yield fieldpath.not_supported(at.child(_LIST_TYPE), list_type, ("atomic", "set", "map"))
    if given.get(_LIST_KEYS) and list_type != "map":
        detail = f"must be map if {_LIST_KEYS} is non-empty"
        place = at.child(_LIST_TYPE)
        yield (
            fieldpath.required(place, detail)
            if list_type is None
            else fieldpath.invalid(place, list_type, detail)
        )
    if list_type == "map":
        yield from _map_list(given, at)
    items = given.get("items")
    if list_type in ("map", "set") and isinstance(items, dict) and items.get("nullable"):
        detail = f"cannot be nullable when {_LIST_TYPE} is {list_type}"
        yield fieldpath.forbidden(at.child("items").child("nullable"), detail)
    if list_type == "set" and isinstance(items, dict):
        yield from _set_items(items, at.child("items"))


def _typed(given: JsonObject, at: FieldPath, wanted: str, because: str) -> Errors:
    type_, place = given.get("type") or "", at.child("type")
    detail = f"must be {wanted} if {because} is specified"
    if not type_:
        yield fieldpath.required(place, detail)
    elif type_ != wanted:
        yield fieldpath.invalid(place, type_, detail)


def _map_list(given: JsonObject, at: FieldPath) -> Errors:
    keys, items = given.get(_LIST_KEYS) or [], given.get("items")
    if not keys:
        detail = f"must not be empty if {_LIST_TYPE} is map"
        yield fieldpath.required(at.child(_LIST_KEYS), detail)
    if not isinstance(items, dict):
        detail = f"must have a schema if {_LIST_TYPE} is map"
        yield fieldpath.required(at.child("items"), detail)
        return
    type_ = items.get("type") or ""
    if type_ != "object":
        detail = f"must be object if parent array's {_LIST_TYPE} is map"
        yield fieldpath.invalid(at.child("items").child("type"), type_, detail)
        return
    yield from _keys(keys, items, at)
    known = members(items, "properties")
    for key in keys:
        place = at.child("items").child("properties").key(key)
        member = known.get(key)
        if member is None:
            continue
        if member.get("default") is None and key not in (items.get("required") or ()):
            detail = (
                f"this property is in {_LIST_KEYS}, so it must have a default or be a required "
                "property"
            )
            yield fieldpath.required(place.child("default"), detail)
        if member.get("nullable"):
            detail = f"this property is in {_LIST_KEYS}, so it cannot be nullable"
            yield fieldpath.forbidden(place.child("nullable"), detail)


def _keys(keys: list[str], items: JsonObject, at: FieldPath) -> Errors:
    known = members(items, "properties")
    for i, key in enumerate(keys):
        if key not in known:
            detail = "entries must all be names of item properties"
            yield fieldpath.invalid(at.child(_LIST_KEYS), keys, detail)
        elif known[key].get("type") in ("array", "object"):
            place = at.child("items").child("properties").key(key).child("type")
            detail = f"must be a scalar type if parent array's {_LIST_TYPE} is map"
            yield fieldpath.invalid(place, items.get("type"), detail)
        if key in keys[:i]:
            detail = "must not contain duplicate entries"
            yield fieldpath.invalid(at.child(_LIST_KEYS), keys, detail)


def _set_items(items: JsonObject, at: FieldPath) -> Errors:
    """Members of a set are compared as wholes, so they have to be written as wholes, too. Lists are
    unless they say otherwise."""
    detail = f"must be atomic as item of a list with {_LIST_TYPE}=set"
    if items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        yield fieldpath.invalid(at.child(_MAP_TYPE), items.get(_MAP_TYPE), detail)
    if items.get("type") == "array" and items.get(_LIST_TYPE) not in (None, "atomic"):
        yield fieldpath.invalid(at.child(_LIST_TYPE), items.get(_LIST_TYPE), detail)
