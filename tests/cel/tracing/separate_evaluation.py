"""Every part of a traced expression, against an evaluation of that part alone.

The interpreter of the properties evaluates the part, with the variables of the loops around it: it
shares nothing with the code generators.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from celadon.cel import CostLimitExceeded, EvaluationError, Program, syntax
from celadon.cel.analysis.tree_context import Context
from celadon.cel.errors import Panicked
from celadon.cel.syntax import Comprehension, Expr, Struct, children
from celadon.cel.tracing import Frame, TraceRecorder
from tests.properties.interpreter import Interpreter, Lazy, show

Names = Mapping[str, Any]


def outcome(value: Any) -> str:
    return f"error: {value.message}" if isinstance(value, EvaluationError) else show(value)


def traced(program: Program, activation: Names, limit: int) -> tuple[str, int | None, Frame]:
    """Outcome, cost and trace. Raises CostLimitExceeded."""
    recorder = TraceRecorder()
    try:
        value, cost = program.evaluate_traced(activation, recorder, limit)
    except CostLimitExceeded:
        raise
    except EvaluationError as error:
        return outcome(error), error.cost, recorder.frame
    return show(value), cost, recorder.frame


def differences(context: Context, activation: Names, frame: Frame) -> Iterator[str]:
    """What parts came to in the trace and, alone, did not. Nothing if the trace is right. Parts
    with message literals, which the interpreter does not know, are left out, and tests of presence
    that come to something else as parts of attributes."""
    yield from _compared(context, activation, context.checked.root, frame, {})


def _compared(
    context: Context, activation: Names, node: Expr, frame: Frame, names: Names
) -> Iterator[str]:
    found = frame.outcomes.get(node.id)
    is_known = not any(isinstance(one, Struct) for one in syntax.walk(node))
    if found is not None and is_known and not context.tests_optional(node):
        try:
            alone = Interpreter(context, activation).value(node, names)
        except Panicked as panic:
            alone = panic
        if outcome(found.value) != outcome(alone):
            offset = context.checked.ast.positions[node.id]
            yield f"at {offset}: traced {outcome(found.value)}, alone {outcome(alone)}"
    if not isinstance(node, Comprehension):
        for child in children(node):
            yield from _compared(context, activation, child, frame, names)
    elif node.iter_var == syntax.UNUSED:
        bound = {**names, node.accu_var: Lazy(node.accu_init, names)}
        yield from _compared(context, activation, node.accu_init, frame, names)
        yield from _compared(context, activation, node.result, frame, bound)
    else:
        yield from _compared(context, activation, node.iter_range, frame, names)
        rounds = frame.loops.get(node.id)
        variables = (node.iter_var, node.iter_var2) if node.iter_var2 else (node.iter_var,)
        for one in rounds.kept if rounds is not None else ():
            inner = {**names, **dict(zip(variables, one.variables, strict=True))}
            yield from _compared(context, activation, node.step, one.frame, inner)
