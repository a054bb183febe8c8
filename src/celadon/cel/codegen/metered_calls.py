"""Calls in the metered variant: evaluate the arguments, run, charge.

With one or two arguments all are evaluated and the call is charged even if one failed; with three
or more, evaluation stops at the first error, and the call is charged only if none was skipped
(cel-go `evalUnary`, `evalBinary`, `evalVarArgs` and `costCall`). Of the latter kind are also calls
whose overload is variadic or chosen when they run, and searches for constant regular expressions.
The calls that policies make most have inline forms, which stand in the overloads' records
(`inline_forms`).
"""

from __future__ import annotations

from typing import Any

from celadon.cel import syntax
from celadon.cel.analysis.tree_context import Context
from celadon.cel.codegen.inline_forms.native_forms import (
    MeteredCall,
    Native,
    is_class,
    length,
    operands,
)
from celadon.cel.codegen.writer_protocols import MeteredWriter
from celadon.cel.pricing.cost_rules import STRUCT_CREATE_COST, CostRule, SizeSource
from celadon.cel.runtime import unknown_function
from celadon.cel.syntax import Call, Struct
from celadon.cel.values.remembered_texts import Remembered


def writer(context: Context, node: Call) -> MeteredCall:
    """What writes this call. Not written here, because each level of an expression costs the
    generator two Python frames, and expressions may be 250 levels deep."""
    form = context.inline(node)
    if form is None or form.whole is None:
        return general
    whole: MeteredCall | None = form.whole(context, node)
    return general if whole is None else whole


def general(w: MeteredWriter, node: Call) -> str:
    """The atom of any call that is not logic and not part of a chain."""
    e = w.emitter
    parts = operands(node)
    impl = w.context.direct_impl(node) or unknown_function(node.function)
    many = len(parts) > 2 or w.context.is_variadic(node)
    if many or (len(parts) == 2 and w.context.is_chosen_late(node)):
        atoms, failed = w.sequence(parts, check_last=False)
        result = e.name()
        with w.unless(failed, result, node.id):
            code = f"{e.runtime('call_v')}({e.bind(impl, 'f')}, {', '.join(atoms)})"
            if many and (form := _native(w, node, atoms)) is not None:
                code = f"{form.value} if {form.test} else {code}"
            e.emit(f"{result} = {code}", node.id)
            charge(w, node, atoms, result)
        return result
    atoms = [w.value(part) for part in parts]
    if node.function == syntax.IN:
        w.flush()  # Go may panic
    result = e.name()
    run = f"{e.runtime(_RUNNERS[len(atoms)])}({', '.join([e.bind(impl, 'f'), *atoms])})"
    form = _native(w, node, atoms)
    stops = w.context.has_constant_pattern(node) and not w.never_fails(parts[0])
    if form is None and not stops:
        e.emit(f"{result} = {run}", node.id)
        charge(w, node, atoms, result)
        return result
    w.flush()
    word = "if"
    if form is not None:
        with e.block(f"if {form.test}:", node.id):
            e.emit(f"{result} = {form.value}", node.id)
            amount = _amount(w, node, form, atoms, result)
            if amount == 1:
                e.emit("c += 1")
            else:
                w.add(str(amount), node.id)
        word = "elif"
    if stops:  # cel-go makes calls with any number of arguments of these
        with e.block(f"{word} {w.is_error(atoms[0])}:"):
            e.emit(f"{result} = {atoms[0]}")
    with e.block("else:", node.id):
        e.emit(f"{result} = {run}", node.id)
        charge(w, node, atoms, result)
        w.flush()
    return result


#: By the number of arguments.
_RUNNERS = ("call_v", "call1_v", "call2_v")


def charge(w: MeteredWriter, node: Call, atoms: list[str], result: str) -> None:
    """Charge a call whose arguments and result are in locals."""
    rule = w.context.cost_rule(node)
    if rule is None or rule.fixed == 1:
        w.charge()
    elif rule.fixed is not None:
        w.add(str(rule.fixed), node.id)
    else:
        if rule.panics:
            w.flush()
        w.add(_tracked(w, rule, atoms, result), node.id)


def _tracked(w: MeteredWriter, rule: CostRule, atoms: list[str], result: str) -> str:
    arguments = f"{', '.join(atoms)}," if atoms else ""
    return f"{w.emitter.bind(rule.tracked, 'm')}(({arguments}), {result})"


def _native(w: MeteredWriter, node: Call, atoms: list[str]) -> Native | None:
    """The native form of a call with these evaluated operands, if it has one."""
    if (texts := w.context.remembered(node)) is not None:
        return _recalled(w, texts, atoms[0])
    form = w.context.inline(node)
    if form is None or form.metered is None or not atoms:
        return None
    native: Native | None = form.metered(w, node, atoms)
    return native


def _recalled(w: MeteredWriter, texts: Remembered[Any], atom: str) -> Native:
    """What a text is known to stand for; the implementation reads those that are not."""
    e = w.emitter
    found = e.name()
    known = f"({found} := {e.bind(texts, 'k')}.get({atom})) is not None"
    return Native(f"{is_class(w, atom, 'str')} and {known}", found, (length(w, atom),))


def _amount(
    w: MeteredWriter, node: Call, form: Native, atoms: list[str], result: str
) -> SizeSource:
    """The source of what the native form is charged."""
    rule = w.context.cost_rule(node)
    if rule is None:
        return 1
    if rule.fixed is not None:
        return rule.fixed
    if rule.written is not None:
        return rule.written(*form.sizes)
    return _tracked(w, rule, atoms, result)


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
