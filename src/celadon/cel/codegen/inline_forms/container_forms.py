"""Inline forms of membership, sizes and sets."""

from __future__ import annotations

from typing import Any

from celadon.cel.analysis.tree_context import Context
from celadon.cel.codegen.inline_forms.native_forms import (
    MeteredCall,
    Native,
    PlainForm,
    is_class,
    length,
    operands,
)
from celadon.cel.codegen.inline_forms.operator_forms import EXACT
from celadon.cel.codegen.writer_protocols import MeteredWriter, PlainWriter, Writer
from celadon.cel.declarations import Inline
from celadon.cel.syntax import Call
from celadon.cel.values.numbers import Uint


def _in(w: PlainWriter, node: Call) -> str | None:
    element, container = node.args
    c, e = w.context, w.emitter
    if c.is_constant(container) and c.constant(container).__class__ is list:
        members = _constant_set(c.constant(container))
        if members is None or c.certain(element) is bytes or c.mentions_bytes:
            slow = e.runtime("contains_constant" if _is_constant_set(c, node) else "contains")
            return f"{slow}({w.value(element)}, {e.constant(c.constant(container))})"
        code, test = w.value(element), e.bind(members, "k")
        if not members & {0, 1} or c.certain(element) is str:
            return f"({code} in {test})"  # an unhashable element raises
        t, bools = e.name(), e.runtime("bool")
        return f"(({t} := {code}) in {test} and {t}.__class__ is not {bools})"
    if c.certain(element) in (str, None):
        # a string equals only a string; abstract list elements raise
        x = e.key(c.constant(element)) if c.is_constant(element) else w.atom(element)
        t, o = e.name(), w.value(container)
        dicts, lists, slow = e.runtime("dict"), e.runtime("list"), e.runtime("contains")
        test = f"({t} := {o}).__class__ is {dicts} or {t}.__class__ is {lists}"
        if c.certain(element) is None:
            test = f"({test}) and {x}.__class__ is {e.runtime('str')}"
        return f"({x} in {t} if {test} else {slow}({x}, {t}))"
    return None


#: What cel-go can put in its set of constants.
_SET_CLASSES = frozenset({bool, float, int, str, Uint})


def _is_constant_set(c: Context, node: Call) -> bool:
    """Is this `in` a look-up in a set of constants for cel-go?"""
    container = node.args[1]
    return (
        c.overload_ids(node) == ("in_list",)
        and c.is_constant(container)
        and c.constant(container).__class__ is list
        and all(item.__class__ in _SET_CLASSES for item in c.constant(container))
    )


def _constant_set(items: list[Any]) -> frozenset[Any] | None:
    """A constant list as a set that answers membership as CEL does (bool apart from 0 and 1), or
    None. Large integers are left out because doubles compare with them after rounding."""
    for item in items:
        if item.__class__ is not str and not (item.__class__ is int and abs(item) < EXACT):
            return None
    return frozenset(items)


def _metered_in(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    """Only maps: what a look-up in a list is charged depends on its length."""
    x, y = atoms
    if len(w.context.overload_ids(node)) == 1:
        return None
    return Native(
        f"{is_class(w, y, 'dict')} and {is_class(w, x, 'str')}",
        f"{x} in {y}",
        (length(w, x), length(w, y)),
    )


def _in_constants(w: MeteredWriter, node: Call) -> str:
    """`x in [constants]` is a set look-up in cel-go: nothing is charged for it."""
    e, c = w.emitter, w.context
    x = w.value(node.args[0])
    w.flush()  # Go may panic
    items = c.constant(node.args[1])
    function, members = e.runtime("call2_v"), e.runtime("contains_constant")
    code = f"{function}({members}, {x}, {e.constant(items)})"
    if (quick := _constant_set(items)) is not None:
        test = f"{x}.__class__ is {e.runtime('str')}"
        code = f"{x} in {e.bind(quick, 'k')} if {test} else {code}"
    return e.assign(code, node.id)


def _size(w: PlainWriter, node: Call) -> str:
    # str counts code points; list, dict, bytes as CEL; anything else has no len and raises
    return f"{w.emitter.runtime('len')}({w.value(operands(node)[0])})"


def _metered_size(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    x = atoms[0]
    test = " or ".join(is_class(w, x, kind) for kind in ("str", "list", "dict"))
    return Native(test, length(w, x), (length(w, x),))


def _set_test(method: str, constant: int, *, negated: bool = False) -> PlainForm:
    """`sets.f(a, b)` with a constant list of strings, as a method of a frozenset: a string equals
    nothing but a string, and elements that cannot be hashed give up."""

    def write(w: PlainWriter, node: Call) -> str | None:
        e, c = w.emitter, w.context
        known, other = node.args[constant], node.args[1 - constant]
        items = c.constant(known) if c.is_constant(known) else None
        if items.__class__ is not list or any(item.__class__ is not str for item in items):
            return None
        t, k = e.name(), e.bind(frozenset(items), "k")
        args = [t, t]
        args[constant] = e.named(items)
        slow = f"{e.bind(c.impl(node), 'f')}({', '.join(args)})"
        test = f"({t} := {w.value(other)}).__class__ is {e.runtime('list')}"
        return f"({'not ' if negated else ''}{k}.{method}({t}) if {test} else {slow})"

    return write


def _metered_set_test(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    """Of two lists, with which the implementation never fails."""
    overload = w.context.overload(node)
    if overload is None:
        return None
    test = " and ".join(is_class(w, atom, "list") for atom in atoms)
    value = f"{w.emitter.bind(overload.impl, 'f')}({', '.join(atoms)})"
    return Native(test, value, tuple(length(w, atom) for atom in atoms))


def _first(*templates: PlainForm) -> PlainForm:
    """The first of several templates that does not decline."""

    def write(w: PlainWriter, node: Call) -> str | None:
        codes = (template(w, node) for template in templates)
        return next((code for code in codes if code is not None), None)

    return write


def _in_whole(context: Context, node: Call) -> MeteredCall | None:
    return _in_constants if _is_constant_set(context, node) else None


IN = Inline(_in, _metered_in, _in_whole)
SIZE = Inline(_size, _metered_size)
SETS_CONTAINS = Inline(
    _first(_set_test("issuperset", 0), _set_test("issubset", 1)), _metered_set_test
)
SETS_INTERSECTS = Inline(
    _first(_set_test("isdisjoint", 0, negated=True), _set_test("isdisjoint", 1, negated=True)),
    _metered_set_test,
)
