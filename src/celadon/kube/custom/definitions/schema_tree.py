"""What stands in a schema of a CRD: the schemas within it, as they are written.

Walks use a stack of their own where the depth is the writer's, so that a schema that is nested
hundreds deep is walked like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject

_LISTS: Final = ("allOf", "anyOf", "oneOf")


def every_schema(given: JsonObject) -> Iterator[JsonObject]:
    """A schema and all that are below it, each before those below, in upstream's order
    (`SchemaHas`); members in the order of their names (upstream: that of a Go map)."""
    stack: list[Any] = [given]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack += reversed(list(_below(node)))


def _below(node: JsonObject) -> Iterator[Any]:
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


def members(given: JsonObject, name: str) -> Mapping[str, JsonObject]:
    """Schemas by name, sorted; empty where there are none."""
    found = given.get(name)
    schemas = found if isinstance(found, dict) else {}
    return {key: schemas[key] for key in sorted(schemas) if isinstance(schemas[key], dict)}


def branches(given: JsonObject) -> Iterator[tuple[FieldPath, JsonObject]]:
    """What stands in `not`, `allOf`, `oneOf` and `anyOf`, with the place below the node."""
    if isinstance(given.get("not"), dict):
        yield FieldPath("not"), given["not"]
    for name in ("allOf", "oneOf", "anyOf"):
        for i, one in enumerate(given.get(name) or ()):
            yield FieldPath(name).index(i), one
