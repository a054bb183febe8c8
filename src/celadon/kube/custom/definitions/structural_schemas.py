"""What makes a schema structural: every node says its type, and what branches say (`allOf`,
`anyOf`, `oneOf`, `not`) only restricts values of nodes that stand outside of them, too.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/validation.go` and `complete.go`; errors are
sorted by their texts, as there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from celadon.cel.extend import re2
from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.json_types import JsonObject

Errors = Iterator[FieldError]

AT_ROOT: Final = "at the root"
IN_ITEMS: Final = "for specified array items"
IN_FIELDS: Final = "for specified object fields"

PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED: Final = "x-kubernetes-embedded-resource"
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_NOT_WITH_INT_OR_STRING: Final = f"must be false if {_INT_OR_STRING} is true"
_ONLY_NAMES: Final = (
    "must not specify anything other than name and generateName, but metadata is implicitly "
    "specified"
)
_EITHER: Final = [{"type": "integer"}, {"type": "string"}]
_NOT_IN_BRANCHES: Final = {
    **dict.fromkeys(("type", "title", "description", "x-kubernetes-list-map-keys"), "empty"),
    **dict.fromkeys(("additionalProperties", "default"), "undefined"),
    **dict.fromkeys(("x-kubernetes-list-type", "x-kubernetes-map-type"), "undefined"),
    **dict.fromkeys(("nullable", PRESERVE, _EMBEDDED, _INT_OR_STRING), "false"),
}
"""Members that a branch must not have, and what they must be instead."""


def structural_errors(given: JsonObject, at: FieldPath) -> list[FieldError]:
    """Of a whole schema."""
    found = [*_node(given, at, AT_ROOT), *_missing(given, given, at, at)]
    return sorted(found, key=str)


def members(given: JsonObject, name: str) -> Mapping[str, JsonObject]:
    """Schemas by name, sorted; empty where there are none."""
    found = given.get(name)
    schemas = found if isinstance(found, dict) else {}
    return {key: schemas[key] for key in sorted(schemas) if isinstance(schemas[key], dict)}


def branches(given: JsonObject) -> Iterator[tuple[FieldPath, JsonObject]]:
    """What stands in `anyOf`, `allOf`, `oneOf` and `not`, with the place below the node."""
    for name in ("anyOf", "allOf", "oneOf"):
        for i, one in enumerate(given.get(name) or ()):
            yield FieldPath(name).index(i), one
    if isinstance(given.get("not"), dict):
        yield FieldPath("not"), given["not"]


def _node(given: JsonObject, at: FieldPath, where: str) -> Errors:
    items, values = given.get("items"), given.get("additionalProperties")
    if given.get("type") == "array" and not isinstance(items, dict):
        yield fieldpath.required(at.child("items"), "must be specified")
    if isinstance(items, dict):
        yield from _node(items, at.child("items"), IN_ITEMS)
    for name, member in members(given, "properties").items():
        yield from _node(member, at.child("properties").key(name), IN_FIELDS)
    if isinstance(values, dict):
        yield from _node(values, at.child("additionalProperties"), IN_FIELDS)
    if values is not None and where == AT_ROOT:
        yield fieldpath.forbidden(at.child("additionalProperties"), "must not be used at the root")
    yield from _type(given, at, where)
    yield from _extensions(given, at)
    if where == AT_ROOT or given.get(_EMBEDDED):
        yield from _object_fields(given, at)
    yield from _pattern(given, at)
    for below, branch in _judged_branches(given):
        yield from _branch(branch, at.join(below))


def _type(given: JsonObject, at: FieldPath, where: str) -> Errors:
    type_ = given.get("type") or ""
    place = at.child("type")
    if given.get(_EMBEDDED) and type_ != "object":
        detail = f"must be object if {_EMBEDDED} is true"
        yield (
            fieldpath.invalid(place, type_, detail) if type_ else fieldpath.required(place, detail)
        )
    elif not (type_ or given.get(_INT_OR_STRING) or given.get(PRESERVE)):
        yield fieldpath.required(place, f"must not be empty {where}")
    if type_ and given.get(_INT_OR_STRING):
        yield fieldpath.invalid(place, type_, f"must be empty if {_INT_OR_STRING} is true")
    if where == AT_ROOT and type_ and type_ != "object":
        yield fieldpath.invalid(place, type_, "must be object at the root")


def _extensions(given: JsonObject, at: FieldPath) -> Errors:
    if given.get(_INT_OR_STRING):
        for name in (PRESERVE, _EMBEDDED):
            if given.get(name):
                yield fieldpath.invalid(at.child(name), True, _NOT_WITH_INT_OR_STRING)
    if not given.get(_EMBEDDED):
        return
    if given.get("additionalProperties") is not None:
        detail = f"must not be used if {_EMBEDDED} is set"
        yield fieldpath.forbidden(at.child("additionalProperties"), detail)
    if not given.get(PRESERVE) and not given.get("properties"):
        detail = f"must not be empty if {_EMBEDDED} is true without {PRESERVE}"
        yield fieldpath.required(at.child("properties"), detail)


def _object_fields(given: JsonObject, at: FieldPath) -> Errors:
    """Of what is an object of the API as a whole: the types of the fields that all of them have."""
    known = members(given, "properties")
    for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        type_ = known[name].get("type") or "" if name in known else wanted
        if type_ != wanted:
            place = at.child("properties").key(name).child("type")
            yield fieldpath.invalid(place, type_, f"must be {wanted}")
    meta = known.get("metadata", {})
    others = meta.keys() - {"type", "properties", "description", "title"}
    if others or members(meta, "properties").keys() - {"name", "generateName"}:
        yield fieldpath.forbidden(at.child("properties").key("metadata"), _ONLY_NAMES)


def _pattern(given: JsonObject, at: FieldPath) -> Errors:
    pattern = given.get("pattern") or ""
    try:
        re2.compile(pattern)
    except re2.RegexError as error:
        detail = f"must be a valid regular expression, but isn't: {error}"
        yield fieldpath.invalid(at.child("pattern"), pattern, detail)


def _judged_branches(given: JsonObject) -> Iterator[tuple[FieldPath, JsonObject]]:
    """Without the two ways to say that a value is an integer or a string."""
    is_either = bool(given.get(_INT_OR_STRING))
    first: JsonObject = next(iter(given.get("allOf") or ()), {})
    for below, branch in branches(given):
        name = str(below.steps[0])
        if is_either and name == "anyOf" and given["anyOf"] == _EITHER:
            continue
        if is_either and branch is first and first.get("anyOf") == _EITHER:
            continue
        yield below, branch


def _branch(given: JsonObject, at: FieldPath) -> Errors:
    for name, wanted in _NOT_IN_BRANCHES.items():
        if given.get(name):
            yield fieldpath.forbidden(at.child(name), f"must be {wanted} to be structural")
    if "metadata" in members(given, "properties"):
        place = at.child("properties").key("metadata")
        yield fieldpath.forbidden(place, "must not be specified in a nested context")
    yield from _pattern(given, at)
    if isinstance(given.get("items"), dict):
        yield from _branch(given["items"], at.child("items"))
    for name, member in members(given, "properties").items():
        yield from _branch(member, at.child("properties").key(name))
    for below, branch in branches(given):
        yield from _branch(branch, at.join(below))


def _missing(node: JsonObject, said: JsonObject, at: FieldPath, place: FieldPath) -> Errors:
    """What branches know of and the node outside of them does not. `said` is a branch about `node`,
    or the node itself; `place` is where it stands."""
    for below, branch in branches(said):
        yield from _missing(node, branch, at, place.join(below))
        yield from _unknown(node, branch, at, place.join(below))
    if said is not node:
        return
    if isinstance(node.get("items"), dict):
        yield from _missing(node["items"], node["items"], at.child("items"), at.child("items"))
    for name, member in members(node, "properties").items():
        below = at.child("properties").key(name)
        yield from _missing(member, member, below, below)
    values = node.get("additionalProperties")
    if isinstance(values, dict):
        below = at.child("additionalProperties")
        yield from _missing(values, values, below, below)


def _unknown(node: JsonObject, branch: JsonObject, at: FieldPath, place: FieldPath) -> Errors:
    known = members(node, "properties")
    for name, member in members(branch, "properties").items():
        here, there = at.child("properties").key(name), place.child("properties").key(name)
        if name not in known:
            yield fieldpath.required(here, f"because it is defined in {there.text}")
        else:
            yield from _unknown(known[name], member, here, there)
            yield from _missing(known[name], member, here, there)
    if isinstance(branch.get("items"), dict):
        here, there = at.child("items"), place.child("items")
        if not isinstance(node.get("items"), dict):
            yield fieldpath.required(here, f"because it is defined in {there.text}")
        else:
            yield from _unknown(node["items"], branch["items"], here, there)
            yield from _missing(node["items"], branch["items"], here, there)
