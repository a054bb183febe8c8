"""Calls in the metered variant: evaluate the arguments, run, charge.

With one or two arguments all are evaluated and the call is charged even if one failed; with three
or more, evaluation stops at the first error, and the call is charged only if none was skipped
(cel-go `evalUnary`, `evalBinary`, `evalVarArgs` and `costCall`). The calls that policies make most
have an inline form (`metered_inline`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from celadon.cel import syntax
from celadon.cel.codegen.metered_inline import inline
from celadon.cel.codegen.plain_calls import (
    block_slots,
    constant_set,
    is_constant_set,
    is_standard,
)
from celadon.cel.codegen.writer_protocols import MeteredWriter
from celadon.cel.cost_rules import STRUCT_CREATE_COST
from celadon.cel.runtime import unknown_function
from celadon.cel.syntax import Call, Expr, Struct


def _operands(node: Call) -> tuple[Expr, ...]:
    return node.args if node.target is None else (node.target, *node.args)


def general(w: MeteredWriter, node: Call) -> str:
    """The atom of any call that is not logic and not part of a chain."""
    e = w.emitter
    operands = _operands(node)
    impl = w.context.impl(node) or unknown_function(node.function)
    if len(operands) > 2:
        atoms, failed = w.sequence(operands, check_last=False)
        result = e.name()
        with w.unless(failed, result, node.id):
            code = f"{e.runtime('call_v')}({e.bind(impl, 'f')}, {', '.join(atoms)})"
            e.emit(f"{result} = {code}", node.id)
            charge(w, node, atoms, result)
        return result
    atoms = [w.value(operand) for operand in operands]
    result = e.name()
    run = f"{e.runtime(_RUNNERS[len(atoms)])}({', '.join([e.bind(impl, 'f'), *atoms])})"
    form = inline(w, node, atoms) if atoms and is_standard(w.context, node) else None
    if form is None:
        e.emit(f"{result} = {run}", node.id)
        charge(w, node, atoms, result)
        return result
    w.flush()
    with e.block(f"if {form.test}:", node.id):
        e.emit(f"{result} = {form.value}", node.id)
        if w.context.cost_rule(node) is None or form.amount == "1":
            e.emit("c += 1")
        else:
            w.add(form.amount, node.id)
    with e.block("else:", node.id):
        e.emit(f"{result} = {run}", node.id)
        charge(w, node, atoms, result)
        w.flush()
    return result


#: By the number of arguments.
_RUNNERS = ("call_v", "call1_v", "call2_v")


def charge(w: MeteredWriter, node: Call, atoms: list[str], result: str) -> None:
    """Charge a call whose arguments and result are in locals."""
    e = w.emitter
    rule = w.context.cost_rule(node)
    if rule is None or rule.fixed == 1:
        w.charge()
    elif rule.fixed is not None:
        w.add(str(rule.fixed), node.id)
    else:
        arguments = f"{', '.join(atoms)}," if atoms else ""
        w.add(f"{e.bind(rule.tracked, 'm')}(({arguments}), {result})", node.id)


def _not_strictly_false(w: MeteredWriter, node: Call) -> str:
    return w.value(node.args[0])


def _not(w: MeteredWriter, node: Call) -> str:
    e = w.emitter
    x = w.value(node.args[0])
    w.charge()
    return e.assign(f"{e.runtime('not_v')}({x})", node.id)


def _in_constants(w: MeteredWriter, node: Call) -> str:
    """`x in [constants]` is a set look-up in cel-go: nothing is charged for it."""
    e, c = w.emitter, w.context
    if not is_constant_set(c, node):
        return general(w, node)
    x = w.value(node.args[0])
    items = c.constant(node.args[1])
    function, members = e.runtime("call2_v"), e.runtime("contains_constant")
    code = f"{function}({members}, {x}, {e.constant(items)})"
    if (quick := constant_set(items)) is not None:
        test = f"{x}.__class__ is {e.runtime('str')}"
        code = f"{x} in {e.bind(quick, 'k')} if {test} else {code}"
    return e.assign(code, node.id)


def _is_optional_call(w: MeteredWriter, node: Call) -> bool:
    return all(overload.startswith("optional_or") for overload in w.context.overload_ids(node))


def _otherwise(w: MeteredWriter, node: Call) -> str:
    """`opt.or(o)`, `opt.orValue(v)`: no charge of their own, the right side only when absent."""
    if not _is_optional_call(w, node):
        return general(w, node)
    e = w.emitter
    left, right = _operands(node)
    result = e.assign(w.value(left), node.id)
    with w.branch(f"if {result} is {e.runtime('NONE')}:", node.id):
        e.emit(f"{result} = {w.value(right)}", right.id)
    if node.function == "orValue":
        with w.branch(f"elif {result}.__class__ is {e.runtime('Optional')}:", node.id):
            e.emit(f"{result} = {result}.value")
    return result


def struct(w: MeteredWriter, node: Struct) -> str:
    """A message literal: the fields in order, then the type's constructor."""
    e = w.emitter
    construct = e.bind(w.context.constructor(node.type_name), "f")
    optional = frozenset(i for i, field in enumerate(node.fields) if field.optional)
    atoms, failed = w.sequence([field.value for field in node.fields])
    result = e.name()
    with w.unless(failed, result, node.id):
        names = [e.constant(field.name) for field in node.fields]
        run = e.runtime("call1_v")
        if optional:
            pairs = ", ".join(f"({n}, {v})" for n, v in zip(names, atoms, strict=True))
            build, marks = e.runtime("map_with_optionals"), e.bind(optional, "k")
            fields = f"{e.runtime('call2_v')}({build}, [{pairs}], {marks})"
        else:
            pairs = ", ".join(f"{n}: {v}" for n, v in zip(names, atoms, strict=True))
            fields = f"{{{pairs}}}"
        e.emit(f"{result} = {run}({construct}, {fields})", node.id)
    w.add(str(STRUCT_CREATE_COST), node.id)
    return result


def _block(w: MeteredWriter, node: Call) -> str:
    """`cel.@block([slots], body)`: each slot at its first use."""
    slots, body = node.args
    with ExitStack() as scopes:
        for position, slot in enumerate(block_slots(slots)):
            name = f"@index{position}"
            scopes.enter_context(w.scope({name: w.lazy(slot)}, lazy=name))
        return w.value(body)


#: Calls that are not simply run: by function name, as the checker resolved it.
WRITERS: dict[str, Callable[[MeteredWriter, Call], str]] = {
    syntax.BLOCK: _block,
    syntax.IN: _in_constants,
    syntax.LOGICAL_NOT: _not,
    syntax.NOT_STRICTLY_FALSE: _not_strictly_false,
    "or": _otherwise,
    "orValue": _otherwise,
}
