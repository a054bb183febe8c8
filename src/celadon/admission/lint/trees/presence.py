"""Which fields an object surely has when a policy sees it.

A schema says what a client must send; a policy sees what defaulting made of it, and structs that Go
always writes. So the least object of a kind is built that still has the parents of the field in
question, and goes through the same stages as a created one.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.admission.lint.subjects import ITEM, Path
from celadon.kube import GroupVersionKind
from celadon.kube.registry import create
from celadon.kube.releases import per_release
from celadon.kube.schemas import (
    ABSENT,
    DecodeError,
    Schema,
    component_name,
    escape,
    resolved,
    schema_for,
)
from celadon.kube.well_known_values import OBJECT_FIELDS

_MAX_DEPTH: Final = 24
"""Levels of required fields that are filled in; no built-in kind needs as many."""
_NOW: Final = "2024-01-01T00:00:00Z"
_SCALARS: Final = {"integer": 1, "number": 1, "boolean": True}
_FORMATS: Final = {"date-time": _NOW, "byte": "eA==", "quantity": "1"}
_METADATA: Final = frozenset(
    {"creationTimestamp", "generation", "managedFields", "name", "namespace", "uid"}
)
"""What validating admission finds in the metadata of every object (`namespace` in namespaces)."""

_VALIDATED: Final[tuple[Path, ...]] = (
    ("containers", ITEM, "image"),
    ("initContainers", ITEM, "image"),
    ("spec", "selector", "matchLabels"),
    ("spec", "template"),
    ("spec", "template", "metadata", "labels"),
)
"""Ends of paths that API validation, which comes before validating admission, insists on."""


def field_schema(schema: Schema, path: Path) -> Schema | None:
    """The schema below a root's, `path` being the steps; None where it is not declared."""
    here = resolved(schema)
    for step in path:
        if step == ITEM and here.items is not None:
            inner: Schema | None = here.items
        elif here.additional_properties is not None:
            inner = here.additional_properties
        else:
            inner = here.properties.get(step)
        if inner is None:
            return None
        here = resolved(inner)
    return here


def is_present(schema: Schema, kind: GroupVersionKind, path: Path) -> bool:
    """Return whether an object that has the parent of this field also has the field."""
    if path == () or path[-1] == ITEM or (len(path) == 1 and path[0] in OBJECT_FIELDS):
        return True
    if path[0] == "metadata":
        return len(path) == 2 and path[1] in _METADATA
    parent = field_schema(schema, path[:-1])
    if parent is not None and parent.additional_properties is not None:
        return False
    if component_name(kind) is None:
        return _is_demanded(parent, path[-1])
    if any(path[-len(one) :] == one for one in _VALIDATED):
        return True
    return _built_in(kind, path)


def node_of_rule(schema: Schema, path: Path) -> Schema | None:
    """The schema that a rule at `schema` reads by this path, in which names are escaped."""
    found = _nodes_of_rule(schema, path)
    return found[0] if found else None


def is_demanded_of_rule(schema: Schema, path: Path, *, is_root: bool) -> bool:
    """Return whether a rule at `schema` finds this field where it finds the one above. What only
    some branches demand counts as demanded: which branch it is, is often said by another field."""
    if path[-1] == ITEM:
        return True
    parents = _nodes_of_rule(schema, path[:-1])
    if not parents or (path[-1] in OBJECT_FIELDS and parents[0].embedded_resource):
        return True
    if is_root and ((path[:-1] == () and path[0] in OBJECT_FIELDS) or path == ("metadata", "name")):
        return True
    if parents[0].additional_properties is not None:
        return False
    return any(_is_demanded(one, _raw_name(parents[0], path[-1])) for one in parents)


def _nodes_of_rule(schema: Schema, path: Path) -> list[Schema]:
    """The node at the end of a path, then what branches say of it; empty if it is not declared."""
    nodes = _with_branches([schema])
    for step in path:
        name = _raw_name(nodes[0], step)
        below = [inner for one in nodes if (inner := _inner(one, name)) is not None]
        if _inner(nodes[0], name) is None:
            return []
        nodes = _with_branches(below)
    return nodes


def _inner(schema: Schema, step: str) -> Schema | None:
    if step == ITEM and schema.items is not None:
        return schema.items
    return schema.additional_properties or schema.properties.get(step)


def _with_branches(nodes: list[Schema]) -> list[Schema]:
    found = list(nodes)
    for one in found:
        found += (*one.all_of, *one.any_of, *one.one_of)
    return found


def _raw_name(schema: Schema, name: str) -> str:
    if name in schema.properties or "__" not in name:
        return name
    return next((raw for raw in schema.properties if escape(raw) == name), name)


def _is_demanded(parent: Schema | None, field: str) -> bool:
    """Return whether a custom resource must have the field: it is required, or has a default."""
    if parent is None or field in parent.required:
        return True
    member = parent.properties.get(field)
    return member is not None and member.default is not ABSENT


@per_release(maxsize=4096)
def _built_in(kind: GroupVersionKind, path: Path) -> bool:
    schema = schema_for(kind)
    assert schema is not None
    obj = _least(schema, path[:-1], 0)
    obj["metadata"] = {"name": "x", "namespace": "default"}
    try:
        made: Any = create.admit_form(obj, kind)
    except DecodeError:
        return True  # the least object is not good enough to tell
    for step in path[:-1]:
        if step == ITEM:
            made = next(iter(made.values() if isinstance(made, dict) else made or ()), None)
        else:
            made = made.get(step) if isinstance(made, dict) else None
    return not isinstance(made, dict) or path[-1] in made


def _least(schema: Schema, path: Path, depth: int) -> Any:  # noqa: ANN401 - any JSON
    """The least value with the steps of `path` in it."""
    here = resolved(schema)
    step, rest = (path[0], path[1:]) if path else ("", ())
    if here.items is not None or here.type == "array":
        return [] if here.items is None else [_least(here.items, rest, depth + 1)]
    if here.additional_properties is not None:
        return {step: _least(here.additional_properties, rest, depth + 1)} if step else {}
    if here.type == "object":
        made = {}
        members = here.properties
        for name in {*here.required, step} & members.keys():
            if depth < _MAX_DEPTH:
                made[name] = _least(members[name], rest if name == step else (), depth + 1)
        return made
    if here.type == "string":
        return here.enum[0] if here.enum else _FORMATS.get(here.format, "x")
    return _SCALARS.get(here.type, 1 if here.int_or_string else {})
