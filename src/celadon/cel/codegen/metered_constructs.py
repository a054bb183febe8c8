"""Calls in the metered variant: evaluate the arguments, run, charge.

With one or two arguments all are evaluated and the call is charged even if one failed; with three
or more, evaluation stops at the first error, and the call is charged only if none was skipped
(cel-go `evalUnary`, `evalBinary`, `evalVarArgs` and `costCall`). Of the latter kind are also calls
whose overload is variadic or chosen when they run, and searches for constant regular expressions.
The calls that policies make most have inline forms, which stand in the overloads' records
(`inline_functions`, `inline_operators`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from celadon.cel import syntax
from celadon.cel.analysis import tree_context
from celadon.cel.codegen.emitter import MeteredWriter, Writer
from celadon.cel.codegen.inline_operators import (
    MeteredCall,
    Native,
    is_class,
    length,
    operands,
    repeats,
)
from celadon.cel.cost import LIST_CREATE_COST, STRUCT_CREATE_COST, CostRule, SizeSource
from celadon.cel.runtime import unknown_function
from celadon.cel.syntax import Call, Comprehension, Expr, Ident, Struct
from celadon.cel.values import Value
from celadon.cel.values.text import Remembered


def writer(context: tree_context.Context, node: Call) -> MeteredCall:
    """Return what writes this call. Not written here, because each level of an expression costs the
    generator two Python frames, and expressions may be 250 levels deep."""
    form = context.inline(node)
    if form is None or form.whole is None:
        return general
    whole: MeteredCall | None = form.whole(context, node)
    return general if whole is None else whole


def general(w: MeteredWriter, node: Call) -> str:
    """Return the atom of any call that is not logic and not part of a chain."""
    e = w.emitter
    parts = operands(node)
    impl = w.context.direct_impl(node) or unknown_function(node.function)
    many = len(parts) > 2 or w.context.is_variadic(node)
    if many or (len(parts) == 2 and w.context.is_chosen_late(node)):
        atoms, failed = w.sequence(parts, check_last=False)
        result = e.name()
        with w.unless(failed, result, node.id):
            called = e.callee(w.context, node, impl)
            code = f"{e.runtime('call_v')}({', '.join([*called, *atoms])})"
            if many and (form := native(w, node, atoms)) is not None:
                code = f"{form.value} if {form.test} else {code}"
            e.emit(f"{result} = {code}", node.id)
            charge(w, node, atoms, result)
        return result
    atoms = [w.value(part) for part in parts]
    if node.function == syntax.IN:
        w.flush()  # Go may panic
    result = e.name()
    called = e.callee(w.context, node, impl)
    runner = _RUNNERS[len(atoms)] if len(called) == 1 else "call_v"
    run = f"{e.runtime(runner)}({', '.join([*called, *atoms])})"
    form = native(w, node, atoms)
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
        w.add(tracked(w, rule, atoms, result), node.id)


def tracked(w: Writer, rule: CostRule, atoms: list[str], result: str) -> str:
    """Return the source of what the rule says that a call cost."""
    arguments = f"{', '.join(atoms)}," if atoms else ""
    return f"{w.emitter.bind(rule.tracked, 'm')}(({arguments}), {result})"


def native(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    """Return the native form of a call with these evaluated operands, if it has one."""
    if (texts := w.context.remembered(node)) is not None and not repeats(w, node):
        return _recalled(w, texts, atoms[0])
    form = w.context.inline(node)
    if form is None or form.metered is None or not atoms:
        return None
    native: Native | None = form.metered(w, node, atoms)
    return native


def _recalled(w: Writer, texts: Remembered[Value], atom: str) -> Native:
    """Return what a text is known to stand for; the implementation reads those that are not."""
    e = w.emitter
    name = e.name()
    test = f"({name} := {e.bind(texts, 'k')}.get({atom})) is not None"
    return Native(f"{is_class(w, atom, 'str')} and {test}", name, (length(w, atom),))


def _amount(
    w: MeteredWriter, node: Call, form: Native, atoms: list[str], result: str
) -> SizeSource:
    """Return the source of what the native form is charged."""
    rule = w.context.cost_rule(node)
    if rule is None:
        return 1
    if rule.fixed is not None:
        return rule.fixed
    if rule.written is not None:
        return rule.written(*form.sizes)
    return tracked(w, rule, atoms, result)


def struct(w: MeteredWriter, node: Struct) -> str:
    """Return a message literal: the fields in order, then the type's constructor."""
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


# --- Metered keys ------------------------------------------------------------
#
# Computed keys in the metered variant: attributes that are a part of another attribute.
#
# An attribute as key does not pay for its own root. What cannot be a key is an error that names
# Go's own classes where the key was read from an input: `map[string]interface {}`, and cel-go's
# where an expression computed it: `*types.baseMap`. A conditional is whatever its branch is.


def key(w: MeteredWriter, node: Expr | None) -> str:
    """Return the atom of a computed key."""
    assert node is not None, "constant keys are handled in runs"
    e = w.emitter
    if e.is_deep() and not isinstance(node, Ident):
        return w.outlined(node, lambda part: key(w, part))
    attribute = _attribute(w, node)
    if attribute is None:
        return w.value(node, branch=True)
    result, root = attribute
    if not root or tree_context.chain_of(node).is_optional:
        return result
    result = result if result.isidentifier() else e.assign(result)
    test = f"{result}.__class__ is {e.runtime('str')}"
    return e.assign(f"{result} if {test} else {e.runtime('native_key_v')}({result}, {root})")


def _conditional(w: MeteredWriter, node: Call) -> tuple[str, str]:
    """Return the value, and the local that holds the input that it is read from, or what is no
    input."""
    e = w.emitter
    test = w.value(node.args[0])
    result, root = e.name(), e.name()
    nothing = e.runtime("MISSING")
    for word, is_taken, branch in (("if", "True", node.args[1]), ("elif", "False", node.args[2])):
        with w.branch(f"{word} {test} is {is_taken}:", branch.id):
            value, source = _branch(w, branch)
            e.emit(f"{result}, {root} = {value}, {source or nothing}", branch.id)
    with w.branch("else:"):
        e.emit(f"{result}, {root} = {e.runtime('no_bool_v')}({test}), {nothing}", node.id)
    w.reached(node, result)
    return result, root


def _branch(w: MeteredWriter, node: Expr) -> tuple[str, str]:
    """Return the value, and the source of the input that it is read from, if it is read from
    one."""
    attribute = _attribute(w, node)
    return (w.resolved(node, w.value(node, branch=True)), "") if attribute is None else attribute


def _attribute(w: MeteredWriter, node: Expr) -> tuple[str, str] | None:
    """Return the value of an attribute, and the source of the input that it is read from, empty if
    there is none. None for an expression that is no attribute."""
    chain = tree_context.chain_of(node)
    base = chain.base
    if tree_context.is_conditional(base):
        start, root = _conditional(w, base)
    elif chain.steps or isinstance(base, Ident):
        start = w.base(base)
        root = start if isinstance(base, Ident) and not w.is_bound(base) else ""
    else:
        return None
    steps = w.steps(start, chain.steps)
    if chain.steps:
        w.reached(node, steps)
    return steps, root


# --- Metered logic -----------------------------------------------------------
#
# Logic in the metered variant: the operands that are evaluated depend on the values of others.
#
# Functions, not methods of the walk, called as directly as those: each level of an expression
# costs the generator two Python frames (see `metered_calls.writer`).


def _logic(w: MeteredWriter, node: Call) -> str:
    """Write a run of terms. `stop` decides at once; `go` goes on; anything else is remembered."""
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


def _metered_logic_conditional(w: MeteredWriter, node: Call) -> str:
    """`test ? yes : no`: a failed test is the result, and neither branch is evaluated."""
    e = w.emitter
    condition, yes, no = node.args
    test = w.value(condition)
    result = e.name()
    with w.branch(f"if {test} is True:", node.id):
        e.emit(f"{result} = {_metered_logic_branch(w, yes)}", yes.id)
    with w.branch(f"elif {test} is False:"):
        e.emit(f"{result} = {_metered_logic_branch(w, no)}", no.id)
    with w.branch("else:"):
        e.emit(f"{result} = {e.runtime('no_bool_v')}({test})", node.id)
    return result


def _metered_logic_branch(w: MeteredWriter, node: Expr) -> str:
    """Write a branch of a conditional: cel-go makes an attribute of it if it is none."""
    value = w.value(node, branch=True)
    return value if tree_context.is_attribute(node) else w.resolved(node, value)


#: Per operator: the value that decides, the one that goes on, and how other values combine.
_OPERATORS = {
    syntax.LOGICAL_AND: ("False", "True", "and_v"),
    syntax.LOGICAL_OR: ("True", "False", "or_v"),
}

#: What writes the calls that are logic, by function.
LOGICAL: dict[str, MeteredCall] = {
    syntax.LOGICAL_AND: _logic,
    syntax.LOGICAL_OR: _logic,
    syntax.CONDITIONAL: _metered_logic_conditional,
}


# --- Metered loops -----------------------------------------------------------
#
# Comprehensions in the metered variant: one loop per shape, charged as the general form.
#
# What each iteration and the end cost follows from the nodes of the macro's expansion (reading
# the accumulator is 1, `A + [x]` is 1 + 10 + 1, ...); the constants below spell that out per
# shape. Unlike the absorbing quantifiers, the others run on after an error, because cel-go's
# fold does: the accumulator then *is* the error.

#: `@not_strictly_false(A)` is a call and a name; `exists` has a `!` more.
CONDITION = {tree_context.Quantifier.ALL: 2, tree_context.Quantifier.EXISTS: 3}
#: Reading the accumulator, in a step or as the result.
ACCUMULATOR = 1
CALL = 1


def comprehension(w: MeteredWriter, node: Comprehension) -> str:
    """Return the atom of a comprehension's value."""
    shape = tree_context.classify(node)
    match shape:
        case tree_context.Bind():
            bound = w.lazy(shape.value)
            with w.scope({shape.name: bound}, lazy=shape.name):
                return w.value(shape.body)
        case tree_context.Quantified():
            return _quantified(w, node, shape)
        case tree_context.ExistsOne():
            return _exists_one(w, node, shape)
        case tree_context.Collect():
            return _collect(w, node, shape)
        case tree_context.Insert():
            return _insert(w, node, shape)
        case tree_context.Fold():
            return _fold(w, node)
        case _:
            assert_never(shape)


@contextmanager
def _range(w: MeteredWriter, node: Comprehension, result: str, start: str) -> Iterator[str]:
    """Write the range and, inside, what is computed if it did not fail, given the name of what to
    loop over. `result` starts as `start`, or is the range's error."""
    e = w.emitter
    two = bool(node.iter_var2)
    items = w.value(node.iter_range)
    iterate = f"{e.runtime('iterate2_v' if two else 'iterate_v')}({items})"
    test = f"{items}.__class__ is {e.runtime('dict')}"
    if two:
        quick = f"{items}.items()"
    else:
        quick, test = items, f"{test} or {items}.__class__ is {e.runtime('list')}"
    listed = e.assign(f"{quick} if {test} else {iterate}", node.iter_range.id)
    with w.branch(f"if {w.is_error(listed)}:", node.id):
        e.emit(f"{result} = {listed}")
    with w.branch("else:"):
        e.emit(f"{result} = {start}")
        yield listed


@contextmanager
def _rounds(
    w: MeteredWriter, node: Comprehension, listed: str, until: tuple[str, int] = ("", 0)
) -> Iterator[None]:
    """Write the loop with its variables; each round ends with the check of the limit. No round
    begins once the test of `until` holds, which costs so much to find out."""
    e = w.emitter
    if node.iter_var2:
        names = {node.iter_var: e.name("v"), node.iter_var2: e.name("v")}
        header = f"for {names[node.iter_var]}, {names[node.iter_var2]} in {listed}:"
    else:
        names = {node.iter_var: e.name("v")}
        header = f"for {names[node.iter_var]} in {listed}:"
    test, cost = until
    with w.loop(header, node), w.scope(names):
        if test:
            with w.branch(f"if {test}:"):
                w.charge(cost)
                w.flush()
                e.emit("break")
        w.round(node, names)
        yield
        w.flush()
        e.emit(f"if c > L: raise {e.runtime('over_limit')}(L + 1)", node.id)


def _quantified(w: MeteredWriter, node: Comprehension, shape: tree_context.Quantified) -> str:
    e = w.emitter
    result = e.name()
    is_all = shape.quantifier is tree_context.Quantifier.ALL
    go, stop = ("True", "False") if is_all else ("False", "True")
    combine = e.runtime("and_v" if is_all else "or_v")
    condition = CONDITION[shape.quantifier]
    with _range(w, node, result, go) as listed:
        with _rounds(w, node, listed, (f"{result} is {stop}", condition)):
            w.charge(condition + ACCUMULATOR)
            p = w.value(shape.predicate)
            e.emit(
                f"{result} = {p} if {result} is {go} and ({p} is True or {p} is False) "
                f"else {combine}({result}, {p})",
                shape.predicate.id,
            )
        w.charge(ACCUMULATOR)
    return result


def _exists_one(w: MeteredWriter, node: Comprehension, shape: tree_context.ExistsOne) -> str:
    e = w.emitter
    result = e.name()
    with _range(w, node, result, "0") as listed:
        with _rounds(w, node, listed), _where(w, shape.predicate, result):
            w.charge(ACCUMULATOR + CALL)
            with e.block(f"if {result}.__class__ is {e.runtime('int')}:"):
                e.emit(f"{result} += 1")
        w.charge(ACCUMULATOR + CALL)
        with e.block(f"if {result}.__class__ is {e.runtime('int')}:"):
            e.emit(f"{result} = {result} == 1")
    return result


@contextmanager
def _where(w: MeteredWriter, predicate: Expr | None, result: str) -> Iterator[None]:
    """Write the step of `p ? step : A`; a predicate that fails replaces the accumulator."""
    if predicate is None:
        yield
        return
    e = w.emitter
    p = w.value(predicate)
    with w.branch(f"if {p} is True:", predicate.id):
        yield
    with w.branch(f"elif {p} is not False:"):
        e.emit(f"{result} = {e.runtime('no_bool_v')}({p})", predicate.id)


def _collect(w: MeteredWriter, node: Comprehension, shape: tree_context.Collect) -> str:
    e = w.emitter
    result = e.name()
    folded = w.context.is_constant(shape.element) or shape.element.id in w.context.constants
    with _range(w, node, result, "[]") as listed:
        with _rounds(w, node, listed), _where(w, shape.predicate, result):
            w.charge(ACCUMULATOR)
            element = w.value(shape.element)
            w.charge(CALL + (0 if folded else LIST_CREATE_COST))
            with e.block(f"if {result}.__class__ is {e.runtime('list')}:"):
                _append(w, shape.element, element, result)
        w.charge(ACCUMULATOR)
    return result


def _append(w: MeteredWriter, node: Expr, element: str, result: str) -> None:
    """Append the node's value to the list, or make its error the result."""
    e = w.emitter
    if w.never_fails(node):
        e.emit(f"{result}.append({element})", node.id)
        return
    with e.block(f"if {w.is_error(element)}:"):
        e.emit(f"{result} = {element}")
    with e.block("else:"):
        e.emit(f"{result}.append({element})", node.id)


def _insert(w: MeteredWriter, node: Comprehension, shape: tree_context.Insert) -> str:
    """`cel.@mapInsert(A, k, v)` has three arguments: after an error only A is evaluated."""
    e = w.emitter
    result = e.name()
    with _range(w, node, result, "{}") as listed:
        with _rounds(w, node, listed), _where(w, shape.predicate, result):
            w.charge(ACCUMULATOR)
            if shape.key is None:
                value = w.value(shape.value)
                w.charge(CALL)
                insert = ", ".join(e.inserting(shape.key))
                e.emit(f"{result} = {e.runtime('call_v')}({insert}, {result}, {value})", node.id)
            else:
                with w.branch(f"if not {w.is_error(result)}:"):
                    _insert_entry(w, node, (shape.key, shape.value), result)
        w.charge(ACCUMULATOR)
    return result


def _insert_entry(
    w: MeteredWriter, node: Comprehension, entry: tuple[Expr, Expr], result: str
) -> None:
    e = w.emitter
    insert = e.runtime("insert_entry")
    atoms, failed = w.sequence(entry, check_last=False)
    new = e.name()
    with w.unless(failed, new, node.id):
        args = ", ".join([insert, result, *atoms])
        w.flush()
        e.emit(f"{new} = {e.runtime('call_v')}({args})", node.id)
        w.charge(CALL)
    e.emit(f"{result} = {new}")


def _fold(w: MeteredWriter, node: Comprehension) -> str:
    """Write the general form, literally: only hand-built trees have it."""
    e = w.emitter
    result = e.name()
    start = w.value(node.accu_init)
    with _range(w, node, result, start) as listed:
        with _rounds(w, node, listed), w.scope({node.accu_var: result}):
            condition = w.value(node.condition)
            with w.branch(f"if {condition} is False:"):
                e.emit("break")
            e.emit(f"{result} = {w.value(node.step)}", node.step.id)
        with w.scope({node.accu_var: result}):
            e.emit(f"{result} = {w.value(node.result)}", node.result.id)
    return result
