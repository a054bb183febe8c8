"""Comprehensions in the metered variant: one loop per shape, charged as the general form.

What each iteration and the end cost follows from the nodes of the macro's expansion (reading the
accumulator is 1, `A + [x]` is 1 + 10 + 1, ...); the constants below spell that out per shape.
Unlike the absorbing quantifiers, the others run on after an error, because cel-go's fold does: the
accumulator then *is* the error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from celadon.cel.analysis.comprehension_shapes import (
    Bind,
    Collect,
    ExistsOne,
    Fold,
    Insert,
    Quantified,
    Quantifier,
    classify,
)
from celadon.cel.codegen.writer_protocols import MeteredWriter
from celadon.cel.pricing.cost_rules import LIST_CREATE_COST
from celadon.cel.syntax import Comprehension, Expr

#: `@not_strictly_false(A)` is a call and a name; `exists` has a `!` more.
_CONDITION = {Quantifier.ALL: 2, Quantifier.EXISTS: 3}
#: Reading the accumulator, in a step or as the result.
_ACCUMULATOR = 1
_CALL = 1


def comprehension(w: MeteredWriter, node: Comprehension) -> str:
    """The atom of a comprehension's value."""
    shape = classify(node)
    match shape:
        case Bind():
            bound = w.lazy(shape.value)
            with w.scope({shape.name: bound}, lazy=shape.name):
                return w.value(shape.body)
        case Quantified():
            return _quantified(w, node, shape)
        case ExistsOne():
            return _exists_one(w, node, shape)
        case Collect():
            return _collect(w, node, shape)
        case Insert():
            return _insert(w, node, shape)
        case Fold():
            return _fold(w, node)
        case _:
            assert_never(shape)


@contextmanager
def _range(w: MeteredWriter, node: Comprehension, result: str, start: str) -> Iterator[str]:
    """The range and, inside, what is computed if it did not fail, given the name of what to loop
    over. `result` starts as `start`, or is the range's error."""
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
    """The loop with its variables; each round ends with the check of the limit. No round begins
    once the test of `until` holds, which costs so much to find out."""
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


def _quantified(w: MeteredWriter, node: Comprehension, shape: Quantified) -> str:
    e = w.emitter
    result = e.name()
    is_all = shape.quantifier is Quantifier.ALL
    go, stop = ("True", "False") if is_all else ("False", "True")
    combine = e.runtime("and_v" if is_all else "or_v")
    condition = _CONDITION[shape.quantifier]
    with _range(w, node, result, go) as listed:
        with _rounds(w, node, listed, (f"{result} is {stop}", condition)):
            w.charge(condition + _ACCUMULATOR)
            p = w.value(shape.predicate)
            e.emit(
                f"{result} = {p} if {result} is {go} and ({p} is True or {p} is False) "
                f"else {combine}({result}, {p})",
                shape.predicate.id,
            )
        w.charge(_ACCUMULATOR)
    return result


def _exists_one(w: MeteredWriter, node: Comprehension, shape: ExistsOne) -> str:
    e = w.emitter
    result = e.name()
    with _range(w, node, result, "0") as listed:
        with _rounds(w, node, listed), _where(w, shape.predicate, result):
            w.charge(_ACCUMULATOR + _CALL)
            with e.block(f"if {result}.__class__ is {e.runtime('int')}:"):
                e.emit(f"{result} += 1")
        w.charge(_ACCUMULATOR + _CALL)
        with e.block(f"if {result}.__class__ is {e.runtime('int')}:"):
            e.emit(f"{result} = {result} == 1")
    return result


@contextmanager
def _where(w: MeteredWriter, predicate: Expr | None, result: str) -> Iterator[None]:
    """The step of `p ? step : A`; a predicate that fails replaces the accumulator."""
    if predicate is None:
        yield
        return
    e = w.emitter
    p = w.value(predicate)
    with w.branch(f"if {p} is True:", predicate.id):
        yield
    with w.branch(f"elif {p} is not False:"):
        e.emit(f"{result} = {e.runtime('no_bool_v')}({p})", predicate.id)


def _collect(w: MeteredWriter, node: Comprehension, shape: Collect) -> str:
    e = w.emitter
    result = e.name()
    folded = w.context.is_constant(shape.element) or shape.element.id in w.context.constants
    with _range(w, node, result, "[]") as listed:
        with _rounds(w, node, listed), _where(w, shape.predicate, result):
            w.charge(_ACCUMULATOR)
            element = w.value(shape.element)
            w.charge(_CALL + (0 if folded else LIST_CREATE_COST))
            with e.block(f"if {result}.__class__ is {e.runtime('list')}:"):
                _append(w, shape.element, element, result)
        w.charge(_ACCUMULATOR)
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


def _insert(w: MeteredWriter, node: Comprehension, shape: Insert) -> str:
    """`cel.@mapInsert(A, k, v)` has three arguments: after an error only A is evaluated."""
    e = w.emitter
    result = e.name()
    with _range(w, node, result, "{}") as listed:
        with _rounds(w, node, listed), _where(w, shape.predicate, result):
            w.charge(_ACCUMULATOR)
            if shape.key is None:
                value = w.value(shape.value)
                w.charge(_CALL)
                run, insert = e.runtime("call2_v"), e.runtime("map_insert_all")
                e.emit(f"{result} = {run}({insert}, {result}, {value})", node.id)
            else:
                with w.branch(f"if not {w.is_error(result)}:"):
                    _insert_entry(w, node, (shape.key, shape.value), result)
        w.charge(_ACCUMULATOR)
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
        w.charge(_CALL)
    e.emit(f"{result} = {new}")


def _fold(w: MeteredWriter, node: Comprehension) -> str:
    """The general form, literally: only hand-built trees have it."""
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
