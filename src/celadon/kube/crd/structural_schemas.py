"""Structural schemas, and pruning by them. In a structural schema every node says its type, and
what branches say (`allOf`, `anyOf`, `oneOf`, `not`) only restricts values of nodes that stand
outside of them, too. Fields that such a schema does not know are pruned.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/{convert,validation,complete}.go`; errors
are sorted by their texts, as there. That branches are about known nodes is asked of the branches
of the root only, as there: what they say further down is not looked at.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Final, NamedTuple

from celadon.cel import Environment
from celadon.cel.extend import re2
from celadon.kube import fieldpath
from celadon.kube.crd.cel_values import Unknown
from celadon.kube.crd.embedded_resources import (
    drop_unknown_metadata,
    embedded_resource_errors,
    unreadable_resource,
)
from celadon.kube.crd.openapi_validation import value_errors
from celadon.kube.crd.rule_validation import rule_validator
from celadon.kube.fieldpath import FieldError, FieldPath, SpelledStep
from celadon.kube.go.go_text import json_value
from celadon.kube.json_types import Json, JsonDict, JsonObject, fresh
from celadon.kube.library.environments import environment
from celadon.kube.releases import current_release, is_since
from celadon.kube.schemas.definition_schemas import decode_schema
from celadon.kube.schemas.schema_packs import Absent, Schema
from celadon.kube.schemas.struct_decoding import Steps, StrayField
from celadon.kube.status import StatusError, plain_error
from celadon.kube.well_known_values import OBJECT_FIELDS
from celadon.records import dataclass

# --- Schema tree -------------------------------------------------------------
#
# What stands in a schema of a CRD: the schemas within it, as they are written.
#
# Walks use a stack of their own where the depth is the writer's, so that a schema that is
# nested hundreds deep is walked like any other.

_LISTS: Final = ("allOf", "anyOf", "oneOf")


def every_schema(value: JsonObject) -> Iterator[JsonObject]:
    """Yield a schema and all that are below it, each before those below, in upstream's order
    (`SchemaHas`); members in the order of their names (upstream: that of a Go map)."""
    stack: list[Any] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack += reversed(list(_schema_tree_below(node)))


def _schema_tree_below(node: JsonObject) -> Iterator[Any]:
    items = node.get("items")
    yield from items if isinstance(items, list) else (items,)
    for name in _LISTS:
        yield from node.get(name) or ()
    yield node.get("not")
    yield from members(node, "properties").values()
    yield node.get("additionalProperties")
    yield from members(node, "patternProperties").values()
    yield node.get("additionalItems")
    yield from members(node, "definitions").values()
    yield from members(node, "dependencies").values()


def members(value: JsonObject, name: str) -> Mapping[str, JsonObject]:
    """Schemas by name, sorted; empty where there are none."""
    result = value.get(name)
    schemas = result if isinstance(result, dict) else {}
    return {key: schemas[key] for key in sorted(schemas) if isinstance(schemas[key], dict)}


def branches(value: JsonObject) -> Iterator[tuple[FieldPath, JsonObject]]:
    """Yield what stands in `not`, `allOf`, `oneOf` and `anyOf`, with the place below the node."""
    if isinstance(value.get("not"), dict):
        yield FieldPath("not"), value["not"]
    for name in ("allOf", "oneOf", "anyOf"):
        for i, item in enumerate(value.get(name) or ()):
            yield FieldPath(name).index(i), item


AT_ROOT: Final = "at the root"
IN_ITEMS: Final = "for specified array items"
IN_FIELDS: Final = "for specified object fields"

PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
"""Set where fields are kept that the schema does not know."""
EMBEDDED: Final = "x-kubernetes-embedded-resource"
"""Set where a value is an object with kind and metadata."""
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
"""Set where a value is an integer or a string."""
_NOT_WITH_INT_OR_STRING: Final = f"must be false if {INT_OR_STRING} is true"
_ONLY_NAMES: Final = (
    "must not specify anything other than name and generateName, but metadata is implicitly "
    "specified"
)
EITHER: Final = [{"type": "integer"}, {"type": "string"}]
"""How `anyOf` says the same."""
_EMPTY_IN_BRANCHES: Final = {
    **dict.fromkeys(
        ("type", "title", "description", "x-kubernetes-list-map-keys", "x-kubernetes-validations"),
        "empty",
    ),
    **dict.fromkeys(("nullable", PRESERVE, EMBEDDED, INT_OR_STRING), "false"),
}
"""Members that must have their zero value in a branch, and what that is called."""
_ABSENT_IN_BRANCHES: Final = ("default", "x-kubernetes-list-type", "x-kubernetes-map-type")
_UNREADABLE: Final = (
    ("id", "id"),
    ("schema", "$schema"),
    ("$ref", "$ref"),
    ("patternProperties", "patternProperties"),
    ("dependencies", "dependencies"),
    ("additionalItems", "additionalItems"),
    ("definitions", "definitions"),
)
"""What has no place in a structural schema: upstream's name, and that in JSON."""


def unreadable(node: Any) -> str | None:
    """Return why there is no structural schema to be judged at all: some keywords have no place in
    one. None if there is."""
    if not isinstance(node, dict):
        return None
    if reason := _unknown_keyword(node):
        return reason
    # upstream reads branches before what stands beside them.
    for name in ("not", "allOf", "anyOf", "oneOf"):
        nested = node.get(name) or ()
        for item in [nested] if isinstance(nested, dict) else nested:
            if reason := unreadable(item):
                return reason
    if reason := _unreadable_part(node):
        return reason
    items = node.get("items")
    for item in (items, *members(node, "properties").values(), node.get("additionalProperties")):
        if reason := unreadable(item):
            return reason
    return None


def is_readable(node: JsonObject) -> bool:
    """Return whether nothing that a schema itself says keeps it from being a structural one; what
    is below it may."""
    return _unknown_keyword(node) is None and _unreadable_part(node) is None


def _unknown_keyword(node: JsonObject) -> str | None:
    """Return which keyword of a schema has no place in a structural one."""
    for name, key in _UNREADABLE:
        if node.get(key) or (key == "additionalItems" and node.get(key) is not None):
            return f"OpenAPIV3Schema '{name}' is not supported"
    return None


def _unreadable_part(node: JsonObject) -> str | None:
    if node.get(PRESERVE) is False:
        return f"internal error: '{PRESERVE}' must be true or undefined"
    items = node.get("items")
    if isinstance(items, list) and items:
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return None


def structural_errors(value: JsonObject, path: FieldPath) -> list[FieldError]:
    """Return in which places a whole schema, which is not `unreadable`, is not structural."""
    errors: list[FieldError] = []
    _node(value, path, AT_ROOT, errors)
    _complete_branches(value, value, path, path, errors)
    return sorted(errors, key=str)


def _node(value: JsonObject, path: FieldPath, where: str, errors: list[FieldError]) -> None:
    items, values = value.get("items"), value.get("additionalProperties")
    if value.get("type") == "array" and not isinstance(items, dict):
        errors.append(fieldpath.required(path.child("items"), "must be specified"))
    if isinstance(items, dict):
        _node(items, path.child("items"), IN_ITEMS, errors)
    for name, member in members(value, "properties").items():
        _node(member, path.child("properties").key(name), IN_FIELDS, errors)
    if isinstance(values, dict):
        _node(values, path.child("additionalProperties"), IN_FIELDS, errors)
    if values is not None and where == AT_ROOT:
        place = path.child("additionalProperties")
        errors.append(fieldpath.forbidden(place, "must not be used at the root"))
    errors += _type(value, path, where)
    errors += _extensions(value, path)
    if where == AT_ROOT or value.get(EMBEDDED):
        errors += _object_fields(value, path)
    if where == AT_ROOT and "metadata" in members(value, "properties"):
        errors += _root_metadata(value["properties"]["metadata"], path)
    _values(value, path, errors, is_either=True)


def _type(value: JsonObject, path: FieldPath, where: str) -> list[FieldError]:
    type_ = value.get("type") or ""
    place = path.child("type")
    result = []
    if value.get(EMBEDDED) and type_ != "object":
        detail = f"must be object if {EMBEDDED} is true"
        result.append(
            fieldpath.invalid(place, type_, detail) if type_ else fieldpath.required(place, detail)
        )
    elif not (type_ or value.get(INT_OR_STRING) or value.get(PRESERVE)):
        result.append(fieldpath.required(place, f"must not be empty {where}"))
    if where == AT_ROOT and type_ and type_ != "object":
        result.append(fieldpath.invalid(place, type_, "must be object at the root"))
    return result


def _extensions(value: JsonObject, path: FieldPath) -> list[FieldError]:
    result = []
    if value.get(INT_OR_STRING):
        result += [
            fieldpath.invalid(path.child(name), True, _NOT_WITH_INT_OR_STRING)
            for name in (PRESERVE, EMBEDDED)
            if value.get(name)
        ]
    if not value.get(EMBEDDED):
        return result
    if value.get("additionalProperties") is not None:
        detail = f"must not be used if {EMBEDDED} is set"
        result.append(fieldpath.forbidden(path.child("additionalProperties"), detail))
    if not value.get(PRESERVE) and not value.get("properties"):
        detail = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        result.append(fieldpath.required(path.child("properties"), detail))
    return result


def _object_fields(value: JsonObject, path: FieldPath) -> list[FieldError]:
    """Return what is wrong with the schema of an object of the API: the fields that all of them
    have must be of their types."""
    properties = members(value, "properties")
    result = []
    for name, text in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        type_ = properties[name].get("type") or "" if name in properties else text
        if type_ != text:
            place = path.child("properties").key(name).child("type")
            result.append(fieldpath.invalid(place, type_, f"must be {text}"))
    return result


def _root_metadata(meta: JsonObject, path: FieldPath) -> list[FieldError]:
    """Check the metadata of a root: it may restrict names, and say nothing else; defaults are
    complained of elsewhere."""
    fields = {key for key in meta if _is_said(key, meta[key])} - {"type", "default"}
    if meta.get("properties", {}).keys() <= {"name", "generateName"}:
        fields.discard("properties")
    if not fields:
        return []
    return [fieldpath.forbidden(path.child("properties").key("metadata"), _ONLY_NAMES)]


_NONE_IF_EMPTY: Final = frozenset(
    {"allOf", "anyOf", "definitions", "dependencies", "enum", "oneOf", "patternProperties"}
    | {"properties"}
)
_SAID_IF_ZERO: Final = frozenset({"additionalProperties", *_ABSENT_IN_BRANCHES})


def _is_said(key: str, value: Json) -> bool:
    """Return whether a keyword says something to upstream, which may hold a zero, an empty schema
    or an empty list for another thing than none."""
    if value is None or key in _NONE_IF_EMPTY:
        return bool(value)
    if key in {"example", "externalDocs"}:
        return is_since("1.36")
    if isinstance(value, bool | str):
        return bool(value) or key in _SAID_IF_ZERO
    return key != "items" or isinstance(value, dict)


def _values(
    value: JsonObject,
    path: FieldPath,
    errors: list[FieldError],
    *,
    is_either: bool = False,
    skips_any: bool = False,
) -> None:
    """Check the branches and the pattern of a node or of a branch. With `is_either` the two ways to
    say that a value is an integer or a string are let pass."""
    skips_any |= is_either and value.get("anyOf") == EITHER
    for below, branch in branches(value):
        if skips_any and below.steps[0] == "anyOf":
            continue
        is_first = below.steps == ("allOf", 0)
        skips = is_either and is_first and branch.get("anyOf") == EITHER
        _branch(branch, path.join(below), errors, skips_any=skips)
    pattern = value.get("pattern")
    if not pattern:
        return
    try:
        re2.compile(pattern)
    except re2.RegexError as error:
        detail = f"must be a valid regular expression, but isn't: {error}"
        errors.append(fieldpath.invalid(path.child("pattern"), pattern, detail))


def _branch(
    value: JsonObject, path: FieldPath, errors: list[FieldError], *, skips_any: bool = False
) -> None:
    _values(value, path, errors, skips_any=skips_any)
    if isinstance(value.get("items"), dict):
        _branch(value["items"], path.child("items"), errors)
    for name, member in members(value, "properties").items():
        _branch(member, path.child("properties").key(name), errors)
    for name, empty_in_branch in _EMPTY_IN_BRANCHES.items():
        if value.get(name):
            detail = f"must be {empty_in_branch} to be structural"
            errors.append(fieldpath.forbidden(path.child(name), detail))
    absent = [name for name in _ABSENT_IN_BRANCHES if value.get(name) is not None]
    allowed = (None, False) if is_since("1.31") else (None,)
    if value.get("additionalProperties") not in allowed:
        absent.append("additionalProperties")
    for name in absent:
        detail = "must be undefined to be structural"
        errors.append(fieldpath.forbidden(path.child(name), detail))
    if "metadata" in members(value, "properties"):
        place = path.child("properties").key("metadata")
        errors.append(fieldpath.forbidden(place, "must not be specified in a nested context"))


def _complete_branches(
    node: JsonObject, outer: JsonObject, path: FieldPath, place: FieldPath, errors: list[FieldError]
) -> None:
    """Complain about what branches know of and the node outside of them does not. `outer` is a
    branch about `node`, or the node itself; `place` is where it stands."""
    for below, branch in branches(outer):
        _complete_branch(node, branch, path, place.join(below), errors)


def _complete_branch(
    node: JsonObject,
    branch: JsonObject,
    path: FieldPath,
    place: FieldPath,
    errors: list[FieldError],
) -> None:
    _complete_branches(node, branch, path, place, errors)
    properties = members(node, "properties")
    parts: list[tuple[tuple[str, ...], Any, Any]] = [
        (("items",), node.get("items"), branch.get("items"))
    ]
    parts += [
        (("properties", name), properties.get(name), member)
        for name, member in members(branch, "properties").items()
    ]
    for steps, part, item in parts:
        if not isinstance(item, dict):
            continue
        below, below_place = _below(path, steps), _below(place, steps)
        if isinstance(part, dict):
            _complete_branch(part, item, below, below_place, errors)
        else:
            errors.append(fieldpath.required(below, f"because it is defined in {below_place.text}"))


def _below(path: FieldPath, steps: tuple[str, ...]) -> FieldPath:
    below = path.child(steps[0])
    return below if len(steps) == 1 else below.key(steps[1])


# --- Given schemas -----------------------------------------------------------
#
# The schemas of a CRD that is being written, decoded once for all checks.
#
# Errors name the place where a schema stands; one that all versions share stands in another
# place, since upstream keeps it as that of the whole definition.


@dataclass(frozen=True, slots=True)
class GivenSchema:
    """A schema, the JSON it was read from, and where errors say that it stands."""

    path: FieldPath
    schema: Schema
    source: JsonObject


# --- Schema defaults ---------------------------------------------------------
#
# Defaults in the schemas of a CRD: they have no unknown fields, are valid themselves, keep to the
# rules beside them and below, and give resources inside no metadata that is wrong.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/defaulting/validation.go`. A default
# is judged twice by its rules: as an object that stays what it is, and as a new one. Rules of
# what is around a default know nothing of it.

_UNKNOWN_FIELDS: Final = "must not have unknown fields"


def default_errors(schema: GivenSchema, *, pruned: bool = True) -> list[FieldError]:
    """Return what is wrong with the defaults of a whole schema. Without `pruned` unknown fields are
    let pass."""
    check = _Check(environment(current_release()), pruned)
    check.visit(replace(schema.schema, embedded_resource=True), schema.path)
    return check.errors


def has_unpruned_defaults(value: JsonObject) -> bool:
    """Return whether a default in a schema has unknown fields."""
    if not any(node.get("default") is not None for node in every_schema(value)):
        return False
    check = _Check(None, pruned=True)
    check.visit(replace(decode_schema(value), embedded_resource=True), FieldPath())
    return any(error.detail == _UNKNOWN_FIELDS for error in check.errors)


# Upstream judges the defaults themselves, not copies of them.
def coerce_defaults(definition: JsonDict) -> None:
    """Give the resources in defaults of a valid definition the metadata that their type makes of
    it, which is what is stored. The definition is changed."""
    for version in definition["spec"].get("versions") or ():
        value = (version.get("schema") or {}).get("openAPIV3Schema")
        if value and any(node.get(EMBEDDED) for node in every_schema(value)):
            _coerce(value, replace(decode_schema(value), embedded_resource=True))


def _coerce(value: JsonDict, schema: Schema) -> None:
    if isinstance(value.get("default"), dict | list):
        drop_unknown_metadata(value["default"], schema)
    if schema.items is not None:
        _coerce(value["items"], schema.items)
    for name, member in schema.properties.items():
        if not (schema.embedded_resource and name in OBJECT_FIELDS):
            _coerce(value["properties"][name], member)


class _Around(NamedTuple):
    """The resource that a default belongs to, and the way from there: names, and 0 for an item."""

    schema: Schema
    steps: tuple[str | int, ...] = ()

    def below(self, step: str | int) -> _Around:
        return self._replace(steps=(*self.steps, step))

    def object(self, value: Json) -> JsonObject:
        """Return a resource that has nothing but the value."""
        for step in reversed(self.steps):
            value = [value] if step == 0 else {str(step): value}
        assert isinstance(value, dict), "what is inside of metadata is below a resource"
        return {"apiVersion": "validation/v1", "kind": "Validation", **value}


@dataclass(slots=True)
class _Check:
    """One walk through a schema. `rules_of` None is for those who ask about unknown fields only.
    `spent` is what the rules have cost, for all defaults together."""

    rules_of: Environment | None
    pruned: bool
    errors: list[FieldError] = field(default_factory=list)
    spent: int = 0
    untyped: dict[int, Schema] = field(default_factory=dict)

    def visit(
        self,
        schema: Schema,
        path: FieldPath,
        around: _Around | None = None,
        *,
        in_metadata: bool = False,
    ) -> None:
        """Look at the defaults of a schema and below; `in_metadata`: it stands in the types or the
        metadata of the resource `around`."""
        if schema.embedded_resource or around is None:
            around, in_metadata = _Around(schema), False
        if not isinstance(schema.default, Absent):
            self._default(schema, path.child("default"), around if in_metadata else None)
        if schema.items is not None:
            below = around.below(0)
            self.visit(schema.items, path.child("items"), below, in_metadata=in_metadata)
        for name, member in sorted(schema.properties.items()):
            place = path.child("properties").key(name)
            is_meta = in_metadata or (schema.embedded_resource and name in OBJECT_FIELDS)
            self.visit(member, place, around.below(name), in_metadata=is_meta)

    def _default(self, schema: Schema, path: FieldPath, around: _Around | None) -> None:
        """`around` is what the default is a part of the types or the metadata of."""
        value: Any = fresh(schema.default)
        if self.pruned and around is None and pruned_part(value, schema) != value:
            drop_unknown_metadata(value, schema)
            self.errors.append(fieldpath.invalid(path, json_value(value), _UNKNOWN_FIELDS))
        if self.rules_of is None:
            return
        if around is not None:
            faults = _metadata_errors(around.object(value), around.schema)
            if faults:
                detail = f"must result in valid metadata: {fieldpath.aggregate(faults)}"
                self.errors.append(fieldpath.invalid(path, json_value(value), detail))
                return
        errors = (
            (_metadata_errors(value, schema) if around is None else [])
            or list(map(_named, value_errors(value, self._judging(schema), Unknown())))
            or self._rules(schema, value)
        )
        self.errors += [_placed(path, error) for error in errors]

    def _judging(self, schema: Schema) -> Schema:
        """Return a schema as upstream judges defaults by it: that of an integer or string has no
        type there, so a default may be anything, and formats count that are not for the type."""
        known = self.untyped.get(id(schema))
        if known is None:
            items, values = schema.items, schema.additional_properties
            known = self.untyped[id(schema)] = replace(
                schema,
                int_or_string=False,
                keeps_format=True,
                properties={name: self._judging(one) for name, one in schema.properties.items()},
                items=None if items is None else self._judging(items),
                additional_properties=None if values is None else self._judging(values),
            )
        return known

    def _rules(self, schema: Schema, value: Any) -> list[FieldError]:
        assert self.rules_of is not None, "the caller has looked"
        rules = rule_validator(schema, self.rules_of, is_root=schema.embedded_resource)
        if rules is None:
            return []
        outcome = rules.errors(value, value, spent=self.spent, ratchets=False)
        if not outcome.errors:
            outcome = rules.errors(value, Unknown(), spent=self.spent, ratchets=False)
        self.spent = outcome.cost
        return outcome.errors


def _metadata_errors(value: Any, schema: Schema) -> list[FieldError]:
    """Return what is wrong with the types and the metadata of the resources in a value."""
    trouble = unreadable_resource(value, schema)
    return list(embedded_resource_errors(value, schema)) if trouble is None else [trouble]


def _named(error: FieldError) -> FieldError:
    """Return an error about a value with a path that upstream takes for a name, an index too."""
    if not error.path.steps or not isinstance(error.path.steps[0], int):
        return error
    index, *below = error.path.steps
    first = SpelledStep(f"[{index}]", f".[{index}]")
    return FieldError(error.type, FieldPath(first, *below), error.value, error.detail)


def _placed(path: FieldPath, error: FieldError) -> FieldError:
    return FieldError(error.type, path.join(error.path), error.value, error.detail)


# --- Pruning -----------------------------------------------------------------
#
# Pruning: the fields that a structural schema does not know are dropped.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/pruning/algorithm.go`. Beneath
# `additionalProperties: true` every object is emptied. Under
# `x-kubernetes-preserve-unknown-fields` only what the schema does describe is looked into.


class Pruned(NamedTuple):
    """The value that is left, and what is not, sorted by its path."""

    value: Any
    dropped: tuple[StrayField, ...]


def pruned(value: Json, schema: Schema) -> Pruned:
    """Return what is left of the root of a resource, whose metadata stays, and the fields that were
    dropped. The value itself is not changed."""
    dropped: list[StrayField] = []
    left = _prune(value, replace(schema, embedded_resource=True), (), dropped)
    return Pruned(left, tuple(sorted(dropped, key=lambda stray: stray.path)))


def pruned_part(value: Json, schema: Schema) -> Json:
    """Return what is left of a value that is a resource only if its schema says so."""
    return _prune(value, schema, (), [])


def _prune(value: Json, schema: Schema | None, place: Steps, dropped: list[StrayField]) -> Json:
    if isinstance(value, dict):
        return _members(value, schema, place, dropped)
    if not isinstance(value, list):
        return value
    items = None if schema is None else schema.items
    if schema is not None and schema.preserve_unknown:
        if items is None:
            return value
        items = replace(items, preserve_unknown=True)
    return [_prune(item, items, (*place, i), dropped) for i, item in enumerate(value)]


def _members(
    value: dict[str, Json], schema: Schema | None, place: Steps, dropped: list[StrayField]
) -> dict[str, Json]:
    result: dict[str, Json] = {}
    values = None if schema is None else schema.additional_properties
    for key, member in value.items():
        below = (*place, key)
        if schema is not None and schema.embedded_resource and key in OBJECT_FIELDS:
            result[key] = member
        elif schema is not None and key in schema.properties:
            result[key] = _prune(member, schema.properties[key], below, dropped)
        elif schema is not None and (values is not None or schema.open_values):
            result[key] = _prune(member, values, below, dropped)
        elif schema is not None and schema.preserve_unknown:
            result[key] = member
        else:
            dropped.append(
                StrayField(below, known_fields=() if schema is None else schema.properties)
            )
    return result


# --- Custom defaults ---------------------------------------------------------
#
# Defaults of custom resources, and the nulls that are taken away before.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/defaulting`: a null where the schema
# does not allow null counts as absent if it is a member of an object; the items of a list stay
# where they are. A default goes to members that are absent, and its own members get defaults in
# turn.


_MOST_DEFAULTED: Final = 64 << 20
"""Characters of the defaults of one object: a store takes no more."""
_FEW_DEFAULTED: Final = 64 << 10
_PART: Final = 64
"""Characters that an item or a member counts as, for what it takes of the memory."""


def defaulted(value: object, schema: Schema | None, *, keeps_nulls: bool = False) -> Any:
    """Return the value with defaults; what was given is not changed. With `keeps_nulls` those stay
    that no default takes the place of: an object that was applied is not read again, which would
    take them away. Raises StatusError, as a store that is given more than it takes: each item may
    have a long default, and defaults have defaults in turn."""
    return _Defaulting(_MOST_DEFAULTED).value(value, schema, keeps_nulls=keeps_nulls)


def has_long_defaults(schema: Schema) -> bool:
    """Return whether the defaults of a schema, with the defaults in them, are so long that it takes
    long to fill in a small object."""
    defaulting, pending = _Defaulting(_FEW_DEFAULTED), [schema]
    try:
        while pending:
            node = pending.pop()
            defaulting.default_of(node)
            pending += node.properties.values()
            pending += filter(None, (node.items, node.additional_properties))
    except StatusError:
        return True
    return False


class _Defaulting:
    """Fills in one object, with so many characters."""

    __slots__ = ("_left",)

    def __init__(self, most: int) -> None:
        self._left = most

    def value(self, value: object, schema: Schema | None, *, keeps_nulls: bool) -> Any:
        if schema is None:
            return value
        if isinstance(value, dict):
            return self._members(value, schema, keeps_nulls=keeps_nulls)
        if isinstance(value, list):
            items = schema.items
            return [
                self.default_of(items)
                if _is_refused(item, items)
                else self.value(item, items, keeps_nulls=keeps_nulls)
                for item in value
            ]
        return value

    def _members(
        self, value: dict[str, Json], schema: Schema, *, keeps_nulls: bool
    ) -> dict[str, Json]:
        result: dict[str, Json] = {}
        for key, member in value.items():
            member_schema = schema.properties.get(key, schema.additional_properties)
            if not _is_refused(member, member_schema):
                result[key] = self.value(member, member_schema, keeps_nulls=keeps_nulls)
            elif member_schema is not None and not isinstance(member_schema.default, Absent):
                result[key] = self.default_of(member_schema)
            elif keeps_nulls:
                result[key] = None
        for key, member_schema in schema.properties.items():
            if key not in result and not isinstance(member_schema.default, Absent):
                result[key] = self.default_of(member_schema)
        return result

    def default_of(self, schema: Schema | None) -> Any:
        if schema is None or isinstance(schema.default, Absent):
            return None
        self._left -= _written_size(schema.default)
        if self._left < 0:
            raise plain_error("etcdserver: request is too large")
        return self.value(copy.deepcopy(schema.default), schema, keeps_nulls=False)


def _written_size(value: Json) -> int:
    """Return how many characters a value counts as."""
    size, pending = 0, [value]
    while pending:
        part = pending.pop()
        size += _PART + (len(part) if isinstance(part, str) else 0)
        if isinstance(part, Mapping):
            size += sum(map(len, part))
            pending += part.values()
        elif isinstance(part, list):
            pending += part
    return size


def without_refused_nulls(value: object, schema: Schema | None) -> Any:
    """Return the value without the nulls that `defaulted` takes away and puts nothing in the place
    of."""
    if schema is None:
        return value
    if isinstance(value, list):
        return [without_refused_nulls(item, schema.items) for item in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, Json] = {}
    for key, member in value.items():
        member_schema = schema.properties.get(key, schema.additional_properties)
        if not _is_refused(member, member_schema) or _has_default(member_schema):
            result[key] = without_refused_nulls(member, member_schema)
    return result


def _has_default(schema: Schema | None) -> bool:
    return schema is not None and not isinstance(schema.default, Absent | None)


def _is_refused(value: Json, schema: Schema | None) -> bool:
    return value is None and schema is not None and not schema.nullable
