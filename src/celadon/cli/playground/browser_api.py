"""The functions that the page's worker calls: texts in, texts out, since JSON is what two languages
share.

`answer` never raises: what goes wrong is a sentence under `error`, in the words of a crash report
if it is our own fault.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celadon.admission.lint import Settings, TypedScope, TypedScopes
from celadon.cel import types
from celadon.cli.language_server.completions import Sort
from celadon.cli.language_server.completions import completions as editor_completions
from celadon.cli.language_server.workspace_files import Lines, Position, edited_file, expression_at
from celadon.cli.playground import panes
from celadon.cli.playground.judging import Desk, exported_files, imported
from celadon.cli.reading.documents import Problem, summary
from celadon.kube import ApiVersionError, GroupVersionKind, Json, JsonObject, parse_api_version
from celadon.kube.go import JsonSyntaxError, read_json
from celadon.kube.json_types import JsonDict
from celadon.kube.library import environment
from celadon.kube.releases import answering_as
from celadon.kube.schemas import Schema, custom_schemas, resolved, schema_for
from celadon.records import dataclass

_DESK: Final = Desk()


def answer(question: str, text: str) -> str:
    """`question` is one of `state` (whether it is one), `verdict`, `details`, `files`, `import` and
    `complete`."""
    return _answered(lambda: _QUESTIONS[question](_value(text)))


def proof(question: str, text: str, tell: Callable[[str], object]) -> str:
    """`question` is one of `prove`, `diff` and `claim`; `tell` gets what there is to say before the
    answer. The solver has to be there."""

    def tell_json(news: JsonObject) -> None:
        tell(json.dumps(news, ensure_ascii=False))

    def result() -> JsonObject:
        # late: what proves is loaded when somebody asks for it
        from celadon.cli.playground.proving import QUESTIONS, ProofQuestion

        return QUESTIONS[question](ProofQuestion.of(_value(text)), tell_json)

    return _answered(result)


def _value(text: str) -> Any:  # noqa: ANN401 - JSON
    """Return what the page sends: a link may hold halves of characters, and be nested without end.
    Raises StateError."""
    try:
        return read_json(text).value
    except JsonSyntaxError as error:
        raise panes.StateError(f"this is no question: {error}") from None


def _answered(result_of: Callable[[], JsonObject]) -> str:
    """Return the result as text, or what has gone wrong."""
    try:
        result = result_of()
    except panes.StateError as error:
        result = {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - the page goes on
        result = {"error": f"internal error: {summary(error)}"}
    return json.dumps(result, ensure_ascii=False)


def _files(value: Json) -> dict[str, object]:
    return {"files": exported_files(panes.state_of(value))}


def _imported(value: Any) -> dict[str, object]:  # noqa: ANN401 - JSON
    return dict(imported(value))


def _completions(value: Any) -> JsonObject:  # noqa: ANN401 - JSON
    """Complete an expression, if there is one at the place; else the fields of an object."""
    state, pane = panes.state_of(value["state"]), panes.Pane(value["pane"])
    result = expression_completions(state, pane, int(value["line"]), int(value["character"]))
    if result is not None:
        return result
    place = str(value["apiVersion"]), str(value["kind"]), list(map(str, value["path"]))
    return {"fields": completions(state, *place)}


def _asked(ask: Callable[[panes.State], JsonDict]) -> Callable[[Any], dict[str, Json]]:
    return lambda value: ask(panes.state_of(value))


_QUESTIONS: Final[dict[str, Callable[[Json], JsonObject]]] = {
    "state": _asked(lambda _: {}),
    "verdict": _asked(_DESK.verdict),
    "details": _asked(_DESK.details),
    "files": _files,
    "import": _imported,
    "complete": _completions,
}


# --- Expression completions --------------------------------------------------
#
# What may be written next in an expression: as the language server offers it.
#
# In policies, webhooks and definitions the kinds that they match say which fields `object` has;
# a bare expression has the variables of its panes.

_SORTS: Final = {
    Sort.FIELD: "property",
    Sort.VARIABLE: "variable",
    Sort.FUNCTION: "function",
    Sort.MACRO: "keyword",
    Sort.NAMESPACE: "namespace",
    Sort.KEYWORD: "constant",
    Sort.TYPE: "type",
}
"""What the editor calls them."""


@dataclass(frozen=True, slots=True)
class _CursorContext:
    text: str
    offset: int
    scopes: Sequence[TypedScope]


def expression_completions(
    state: panes.State, pane: panes.Pane, line: int, character: int
) -> JsonObject | None:
    """`typed`, how many characters of it stand there, and `completions`; None where there is no
    expression. Lines and characters, in UTF-16, count from 0."""
    position = Position(line, character)
    spot = (
        _bare(state, position) if pane is panes.Pane.EXPRESSION else _in_yaml(state, pane, position)
    )
    offers = None if spot is None else editor_completions(spot.text, spot.offset, spot.scopes)
    if spot is None:
        return None
    if offers is None:
        return {"typed": 0, "completions": []}
    return {
        "typed": spot.offset - offers.start,
        "completions": [
            {
                "label": offer.label,
                "type": _SORTS[offer.sort],
                "detail": offer.detail,
                "info": offer.doc,
            }
            for offer in offers.offers
        ],
    }


def _bare(state: panes.State, position: Position) -> _CursorContext:
    text = state.text(panes.Pane.EXPRESSION)
    bound = panes.bound_variables(state, panes.PaneReader())
    names = () if isinstance(bound, Problem) else bound
    scope = TypedScope(environment(state.release).extend(dict.fromkeys(names, types.DYN)))
    return _CursorContext(text, Lines(text).offset(position), [scope])


def _in_yaml(state: panes.State, pane: panes.Pane, position: Position) -> _CursorContext | None:
    spot = expression_at(edited_file(pane.value, state.text(pane)), position)
    if spot is None:
        return None
    around = panes.PaneReader().documents(state, (panes.Pane.POLICY, panes.Pane.CLUSTER))
    definitions = [document.value for document in around if document.is_definition]
    scopes = TypedScopes(definitions, Settings(state.release))
    return _CursorContext(spot.text, spot.offset, scopes.at(spot.document.value, spot.path))


# --- Schema completions ------------------------------------------------------
#
# Fields that may stand at a place: of an object, or behind a dot in an expression about one.
#
# The page finds the place (which kind, which fields lead there); here is what the kind's schema
# has there, built in or of a definition in one of the panes.


def completions(
    state: panes.State, api_version: str, kind: str, path: Sequence[str]
) -> list[dict[str, Json]]:
    """`label` and `detail`, the type, of each field below a path; items of lists are those of the
    list."""
    with answering_as(state.release):
        schema = _item(_schema(state, api_version, kind))
        for step in path:
            member = schema.properties.get(step) or schema.additional_properties
            schema = _item(member)
        return [
            {"label": name, "detail": _type(schema)} for name, schema in schema.properties.items()
        ]


def _item(schema: Schema | None) -> Schema:
    """Return what is in a list, and in lists within it; else the schema itself, or one without
    fields."""
    item_schema = resolved(schema or Schema())
    while item_schema.items is not None:
        item_schema = resolved(item_schema.items)
    return item_schema


def _schema(state: panes.State, api_version: str, kind: str) -> Schema | None:
    try:
        gvk = GroupVersionKind(*parse_api_version(api_version), kind)
    except ApiVersionError:
        return None
    return _custom(state).get(gvk) or schema_for(gvk)


def _custom(state: panes.State) -> Mapping[GroupVersionKind, Schema]:
    result: dict[GroupVersionKind, Schema] = {}
    for document in panes.PaneReader().documents(state, (panes.Pane.POLICY, panes.Pane.CLUSTER)):
        if document.is_definition:
            result.update(custom_schemas(document.value))
    return result


def _type(schema: Schema) -> str:
    if schema.items is not None:
        return f"list of {_type(schema.items)}"
    if schema.additional_properties is not None:
        return f"map of {_type(schema.additional_properties)}"
    return resolved(schema).type
