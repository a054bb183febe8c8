"""What may be written next in an expression: as the language server offers it.

In policies, webhooks and definitions the kinds that they match say which fields `object` has; a
bare expression has the variables of its panes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from celadon.admission.lint import Settings, TypedScope, TypedScopes
from celadon.cel import types
from celadon.cli.language_server.completions import Sort, completions
from celadon.cli.language_server.expression_spots import expression_at
from celadon.cli.language_server.text_positions import Lines, Position
from celadon.cli.language_server.workspace_files import edited_file
from celadon.cli.playing.bare_expressions import bound_variables
from celadon.cli.playing.pane_reading import PaneReader, is_definition
from celadon.cli.playing.playground_states import Pane, State
from celadon.cli.reading.problems import Problem
from celadon.kube.library import environment
from celadon.records import dataclass

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
class _Spot:
    text: str
    offset: int
    scopes: Sequence[TypedScope]


def expression_completions(
    state: State, pane: Pane, line: int, character: int
) -> dict[str, Any] | None:
    """`typed`, how many characters of it stand there, and `completions`; None where there is no
    expression. Lines and characters, in UTF-16, count from 0."""
    position = Position(line, character)
    spot = _bare(state, position) if pane is Pane.EXPRESSION else _in_yaml(state, pane, position)
    found = None if spot is None else completions(spot.text, spot.offset, spot.scopes)
    if spot is None:
        return None
    if found is None:
        return {"typed": 0, "completions": []}
    return {
        "typed": spot.offset - found.start,
        "completions": [
            {"label": one.label, "type": _SORTS[one.sort], "detail": one.detail, "info": one.doc}
            for one in found.offers
        ],
    }


def _bare(state: State, position: Position) -> _Spot:
    text = state.text(Pane.EXPRESSION)
    bound = bound_variables(state, PaneReader())
    names = () if isinstance(bound, Problem) else bound
    scope = TypedScope(environment(state.release).extend(dict.fromkeys(names, types.DYN)))
    return _Spot(text, Lines(text).offset(position), [scope])


def _in_yaml(state: State, pane: Pane, position: Position) -> _Spot | None:
    spot = expression_at(edited_file(pane.value, state.text(pane)), position)
    if spot is None:
        return None
    around = PaneReader().documents(state, (Pane.POLICY, Pane.CLUSTER))
    definitions = [one.value for one in around if is_definition(one)]
    scopes = TypedScopes(definitions, Settings(state.release))
    return _Spot(spot.text, spot.offset, scopes.at(spot.document.value, spot.path))
