"""Fields that may stand at a place: of an object, or behind a dot in an expression about one.

The page finds the place (which kind, which fields lead there); here is what the kind's schema has
there, built in or of a definition in one of the panes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from celadon.cli.playing.pane_reading import PaneReader, is_definition
from celadon.cli.playing.playground_states import Pane, State
from celadon.kube import ApiVersionError, GroupVersionKind, Json, parse_api_version
from celadon.kube.schemas import Schema, custom_schemas, resolved, schema_for


def completions(
    state: State, api_version: str, kind: str, path: Sequence[str]
) -> list[dict[str, Json]]:
    """`label` and `detail`, the type, of each field below a path; items of lists are those of the
    list."""
    schema = _item(_schema(state, api_version, kind))
    for step in path:
        below = schema.properties.get(step) or schema.additional_properties
        schema = _item(below)
    return [{"label": name, "detail": _type(one)} for name, one in schema.properties.items()]


def _item(schema: Schema | None) -> Schema:
    """What is in a list, and in lists within it; else the schema itself, or one without fields."""
    found = resolved(schema or Schema())
    while found.items is not None:
        found = resolved(found.items)
    return found


def _schema(state: State, api_version: str, kind: str) -> Schema | None:
    try:
        gvk = GroupVersionKind(*parse_api_version(api_version), kind)
    except ApiVersionError:
        return None
    return _custom(state).get(gvk) or schema_for(gvk)


def _custom(state: State) -> Mapping[GroupVersionKind, Schema]:
    found: dict[GroupVersionKind, Schema] = {}
    for document in PaneReader().documents(state, (Pane.POLICY, Pane.CLUSTER)):
        if is_definition(document):
            found.update(custom_schemas(document.value))
    return found


def _type(one: Schema) -> str:
    if one.items is not None:
        return f"list of {_type(one.items)}"
    if one.additional_properties is not None:
        return f"map of {_type(one.additional_properties)}"
    return resolved(one).type
