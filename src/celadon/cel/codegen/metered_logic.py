"""Logic in the metered variant: the operands that are evaluated depend on the values of others.

Functions, not methods of the walk, called as directly as those: each level of an expression costs
the generator two Python frames (see `metered_calls.writer`).
"""

from __future__ import annotations

from celadon.cel import syntax
from celadon.cel.analysis.attribute_chains import is_attribute
from celadon.cel.codegen.inline_forms.native_forms import MeteredCall
from celadon.cel.codegen.writer_protocols import MeteredWriter
from celadon.cel.syntax import Call, Expr


def _logic(w: MeteredWriter, node: Call) -> str:
    """A run of terms. `stop` decides at once; `go` goes on; anything else is remembered."""
    e = w.emitter
    operands = w.terms(node)
    stop, go, combine = _OPERATORS[node.function]
    function = e.runtime(combine)
    result = e.name()
    e.emit(f"{result} = {w.value(operands[0])}", operands[0].id)
    for operand in operands[1:]:
        with w.branch(f"if {result} is not {stop}:", operand.id):
            term = w.value(operand)
            e.emit(
                f"{result} = {term} if {result} is {go} and ({term} is True or {term} is False)"
                f" else {function}({result}, {term})",
                operand.id,
            )
    return result


def _conditional(w: MeteredWriter, node: Call) -> str:
    """`test ? yes : no`: a failed test is the result, and neither branch is evaluated."""
    e = w.emitter
    condition, yes, no = node.args
    test = w.value(condition)
    result = e.name()
    with w.branch(f"if {test} is True:", node.id):
        e.emit(f"{result} = {_branch(w, yes)}", yes.id)
    with w.branch(f"elif {test} is False:"):
        e.emit(f"{result} = {_branch(w, no)}", no.id)
    with w.branch("else:"):
        e.emit(f"{result} = {e.runtime('no_bool_v')}({test})", node.id)
    return result


def _branch(w: MeteredWriter, node: Expr) -> str:
    """A branch of a conditional: cel-go makes an attribute of it if it is none."""
    value = w.value(node, branch=True)
    return value if is_attribute(node) else w.resolved(node, value)


#: Per operator: the value that decides, the one that goes on, and how other values combine.
_OPERATORS = {
    syntax.LOGICAL_AND: ("False", "True", "and_v"),
    syntax.LOGICAL_OR: ("True", "False", "or_v"),
}

#: What writes the calls that are logic, by function.
LOGICAL: dict[str, MeteredCall] = {
    syntax.LOGICAL_AND: _logic,
    syntax.LOGICAL_OR: _logic,
    syntax.CONDITIONAL: _conditional,
}
