"""A bare expression and its variables: the mode without a request.

Variables come from the pane of that name, and `object`, `oldObject` and `params` from theirs; their
types are dynamic, as those of objects in policies.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.cel import EvaluationError, Issues, Program, ProgramError, types
from celadon.cel.tracing import TraceRecorder
from celadon.cel.value_functions import notation
from celadon.cli.explaining.annotated_source import traced
from celadon.cli.explaining.outline import Item, Style
from celadon.cli.explaining.value_texts import brief
from celadon.cli.playing.item_trees import item_tree
from celadon.cli.playing.pane_reading import PaneReader
from celadon.cli.playing.playground_states import Pane, State
from celadon.cli.reading.problems import Problem
from celadon.cli.report.json_form import data
from celadon.kube.library import PER_CALL_COST, environment

_NAMED: Final = (Pane.OBJECT, Pane.OLD_OBJECT, Pane.PARAMS)
"""Panes that are variables of the same name."""
_ROOM: Final = 4_000


def expression_verdict(state: State, panes: PaneReader) -> dict[str, Any]:
    """The value, or what is wrong: `issues` with offsets in code points, `problems` of panes."""
    text = state.text(Pane.EXPRESSION)
    bound = bound_variables(state, panes)
    if isinstance(bound, Problem):
        return {"problems": [data(bound)]}
    if not text.strip():
        return {"problems": []}
    program = _program(text, bound, state.release)
    if isinstance(program, Issues):
        return {"issues": _issues(program), "message": program.display()}
    try:
        value, cost = program.evaluate_metered(bound, PER_CALL_COST)
    except EvaluationError as error:
        where = program.locate(bound, error)
        return {"issues": _issues(where), "message": error.message, "type": str(program.type)}
    return {
        "value": _shown(value),
        "type": str(program.type),
        "cost": {"spent": cost, "limit": PER_CALL_COST},
    }


def expression_details(state: State, panes: PaneReader) -> dict[str, Any]:
    """The expression with the value of every part."""
    text, bound = state.text(Pane.EXPRESSION), bound_variables(state, panes)
    if isinstance(bound, Problem) or not text.strip():
        return {}
    program = _program(text, bound, state.release)
    if isinstance(program, Issues):
        return {}
    recorder = TraceRecorder()
    value: Any
    try:
        value, _ = program.evaluate_traced(bound, recorder, PER_CALL_COST)
    except EvaluationError as error:
        value = error
    snippet = traced(program.checked.ast, recorder.frame)
    style = Style.BAD if isinstance(value, EvaluationError) else Style.PLAIN
    item = Item(Pane.EXPRESSION.value, brief(value, 80), style, snippet=snippet)
    return {"explanation": [item_tree(item)]}


def bound_variables(state: State, panes: PaneReader) -> dict[str, Any] | Problem:
    """The variables by name, or what is wrong with the panes that give them."""
    found: dict[str, Any] = {}
    for pane in _NAMED:
        if state.text(pane).strip():
            value = panes.mapping(state, pane)
            if isinstance(value, Problem):
                return value
            found[pane.value] = value
    given = panes.mapping(state, Pane.VARIABLES)
    if isinstance(given, Problem):
        return given
    wrong = [name for name in given if not name.isidentifier() or not name.isascii()]
    if wrong:
        return Problem(Pane.VARIABLES.value, 1, f"`{wrong[0]}` is no name of a variable")
    return {**found, **given}


def _program(text: str, bound: dict[str, Any], release: str) -> Program | Issues:
    env = environment(release).extend(dict.fromkeys(bound, types.DYN))
    compilation = env.compile(text)
    if compilation.ast is None:
        return compilation.issues
    try:
        return env.program(compilation.ast)
    except ProgramError as error:
        issues = Issues(compilation.ast.ast.source)
        issues.add(str(error), None)
        return issues


def _issues(found: Issues) -> list[dict[str, Any]]:
    return [{"message": one.message, "offset": one.offset} for one in found]


def _shown(value: Any) -> str:  # noqa: ANN401 - a value of CEL
    try:
        text = notation(value)
    except EvaluationError:
        return brief(value, _ROOM)
    return text if len(text) <= _ROOM else brief(value, _ROOM)
