"""Inline forms of equality, ordering, arithmetic and negation."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

from celadon.cel import syntax
from celadon.cel.codegen.inline_forms.native_forms import (
    Native,
    NativeForm,
    PlainForm,
    always,
    is_class,
    last_constant,
    length,
)
from celadon.cel.codegen.writer_protocols import MeteredWriter, PlainWriter, Writer
from celadon.cel.declarations import Inline
from celadon.cel.syntax import Call, Expr
from celadon.cel.types import Kind
from celadon.cel.values.numbers import MAX_INT, MIN_INT

#: Integers that double represents exactly, so that int/double comparison cannot differ.
EXACT = 1 << 53
#: From so many texts on, a formatted string joins them faster than `+`.
_SEVERAL: Final = 3
#: Most additions that are written as one.
_MOST: Final = 20


def _equals(w: PlainWriter, node: Call) -> str:
    return _equality(w, node, "==", "equal")


def _not_equals(w: PlainWriter, node: Call) -> str:
    return _equality(w, node, "!=", "not_equal")


def _equality(w: PlainWriter, node: Call, operator: str, function: str) -> str:
    left, right = node.args
    c, e = w.context, w.emitter
    for side, other in ((right, left), (left, right)):
        if c.is_constant(side):
            code = _equals_constant(w, other, c.constant(side), operator, left=other is left)
            if code is not None:
                return code
    one, two = c.certain(left), c.certain(right)
    if one is two and one in (int, str, bool):
        return f"({w.value(left)} {operator} {w.value(right)})"
    x, y = w.atom(left), w.atom(right)
    slow = f"{e.runtime(function)}({x}, {y})"
    return f"({x} {operator} {y} if {x}.__class__ is {e.runtime('str')} else {slow})"


def _equals_constant(
    w: PlainWriter, node: Expr, value: Any, operator: str, *, left: bool
) -> str | None:
    """Comparison with a constant; None where Python's `==` could differ from CEL's. `left` says
    that the node is the left operand, with which it fails if it is abstract."""
    e, kind = w.emitter, value.__class__
    if w.context.is_constant(node):
        return None
    negated = operator == "!="
    if kind is bool and left and w.context.checked.types[node.id].kind is not Kind.BOOL:
        return _equals_bool(w, node, value=value, negated=negated)
    if value is None or kind is bool:
        return f"({w.value(node)} {'is not' if negated else 'is'} {value})"
    if kind is str:
        return f"({w.value(node)} {operator} {e.key(value)})"
    if kind is int and -EXACT < value < EXACT:
        if value not in (0, 1) or w.context.certain(node) is int:
            return f"({w.value(node)} {operator} {e.constant(value)})"
        t, bools = e.name(), e.runtime("bool")
        if negated:
            return f"(({t} := {w.value(node)}) != {value} or {t}.__class__ is {bools})"
        return f"(({t} := {w.value(node)}) == {value} and {t}.__class__ is not {bools})"
    return None


def _equals_bool(w: PlainWriter, node: Expr, *, value: bool, negated: bool) -> str:
    """Of a left operand of an open type."""
    e = w.emitter
    t = e.name()
    other = f"{t} is {not value}"
    if negated:
        slow = f"{e.runtime('not_equal')}({t}, {value})"
        return f"(({t} := {w.value(node)}) is not {value} and ({other} or {slow}))"
    slow = f"({t} is not {not value} and {e.runtime('equal')}({t}, {value}))"
    return f"(({t} := {w.value(node)}) is {value} or {slow})"


def _metered_equality(operator: str, identity: str) -> NativeForm:
    def form(w: Writer, node: Call, atoms: list[str]) -> Native | None:
        x, y = atoms
        value = last_constant(w, node)
        if value.__class__ is int:
            return Native(is_class(w, x, "int"), f"{x} {operator} {y}", (1, 1))
        if value.__class__ is bool:
            return Native(is_class(w, x, "bool"), f"{x} {identity} {value}", (1, 1))
        if value is None:
            return Native(is_class(w, x, "dict"), f"{operator == '!='}", (length(w, x), 1))
        if isinstance(value, str):
            sizes = length(w, x), len(value)
            return Native(is_class(w, x, "str"), f"{x} {operator} {y}", sizes)
        test = f"{is_class(w, x, 'str')} and {is_class(w, y, 'str')}"
        return Native(test, f"{x} {operator} {y}", (length(w, x), length(w, y)))

    return form


def _ordering(operator: str) -> PlainForm:
    def write(w: PlainWriter, node: Call) -> str:
        left, right = node.args
        c, e = w.context, w.emitter
        function = e.bind(w.context.impl(node), "f")
        one, two = c.certain(left), c.certain(right)
        if one is two and one in (int, str):
            return f"({w.value(left)} {operator} {w.value(right)})"
        if two in (int, str) and c.is_constant(right):
            # ints against ints and strings against strings compare as in Python
            t, kind, k = e.name(), e.runtime(two.__name__), e.constant(c.constant(right))
            fast = f"{t} {operator} {k} if ({t} := {w.value(left)}).__class__ is {kind}"
            return f"({fast} else {function}({t}, {k}))"
        if one in (int, str) and c.is_constant(left):
            t, kind, k = e.name(), e.runtime(one.__name__), e.constant(c.constant(left))
            fast = f"{k} {operator} {t} if ({t} := {w.value(right)}).__class__ is {kind}"
            return f"({fast} else {function}({k}, {t}))"
        x, y = w.atom(left), w.atom(right)
        ints = e.runtime("int")
        return (
            f"({x} {operator} {y} if {x}.__class__ is {ints} and {y}.__class__ is {ints} "
            f"else {function}({x}, {y}))"
        )

    return write


def _metered_ordering(operator: str) -> NativeForm:
    def form(w: Writer, node: Call, atoms: list[str]) -> Native | None:
        x, y = atoms
        value = last_constant(w, node)
        if value.__class__ is int:
            return Native(is_class(w, x, "int"), f"{x} {operator} {y}", (1, 1))
        test = f"{is_class(w, x, 'int')} and {is_class(w, y, 'int')}"
        return Native(test, f"{x} {operator} {y}", (1, 1))

    return form


def _arithmetic(operator: str) -> PlainForm:
    def write(w: PlainWriter, node: Call) -> str:
        left, right = node.args
        c, e = w.context, w.emitter
        function = e.bind(w.context.impl(node), "f")
        one, two = c.certain(left), c.certain(right)
        if operator == "+" and (joined := _joined_texts(w, node)) is not None:
            return joined
        if (one not in (int, None)) or (two not in (int, None)):
            return f"{function}({w.value(left)}, {w.value(right)})"
        x, y = w.atom(left), w.atom(right)
        ints = e.runtime("int")
        tests = [f"{n}.__class__ is {ints}" for n, k in ((x, one), (y, two)) if k is not int]
        t = e.name()
        tests.append(f"{MIN_INT} <= ({t} := {x} {operator} {y}) <= {MAX_INT}")
        return f"({t} if {' and '.join(tests)} else {function}({x}, {y}))"

    return write


def _joined_texts(w: PlainWriter, node: Call) -> str | None:
    """A row of additions one of whose operands is a text: then all must be."""
    c, e = w.context, w.emitter
    parts = _addends(node)
    kinds = [c.certain(part) for part in parts]
    if str not in kinds or not {str, None}.issuperset(kinds):
        return None
    open_kinds = [kind is None for kind in kinds]
    atoms = [w.atom(part) for part in parts]
    if len(parts) >= _SEVERAL:
        fast = "f'" + "".join(f"{{{atom}}}" for atom in atoms) + "'"
    else:
        fast = " + ".join(atoms)
    if not any(open_kinds):
        return f"({fast})"
    text, function = e.runtime("str"), e.bind(c.impl(node), "f")
    tests = (
        f"{atom}.__class__ is {text}"
        for atom, is_open in zip(atoms, open_kinds, strict=True)
        if is_open
    )
    slow = reduce(lambda x, y: f"{function}({x}, {y})", atoms)
    return f"({fast} if {' and '.join(tests)} else {slow})"


def _addends(node: Call) -> list[Expr]:
    """Of a row of additions, from left to right."""
    parts: list[Expr] = []
    first: Expr = node
    while isinstance(first, Call) and first.function == syntax.ADD and len(parts) < _MOST:
        parts.append(first.args[1])
        first = first.args[0]
    return [first, *reversed(parts)]


def _metered_arithmetic(operator: str) -> NativeForm:
    def form(w: Writer, node: Call, atoms: list[str]) -> Native | None:
        x, y = atoms
        result = w.emitter.name()
        in_range = f"{MIN_INT} <= ({result} := {x} {operator} {y}) <= {MAX_INT}"
        test = f"{is_class(w, x, 'int')} and {is_class(w, y, 'int')} and {in_range}"
        return Native(test, result, (1, 1))

    return form


def _metered_add(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    x, y = atoms
    c = w.context
    if str in (c.certain(node.args[0]), c.certain(node.args[1])):
        known = [c.constant(arg) if c.is_constant(arg) else None for arg in node.args]
        pairs = list(zip(atoms, known, strict=True))
        tests = [is_class(w, atom, "str") for atom, text in pairs if not isinstance(text, str)]
        sizes = [len(t) if isinstance(t, str) else length(w, atom) for atom, t in pairs]
        return Native(" and ".join(tests) or "True", f"{x} + {y}", tuple(sizes))
    return _metered_arithmetic("+")(w, node, atoms)


def _not(w: PlainWriter, node: Call) -> str:
    return f"(not {w.boolean(node.args[0])})"


def _metered_not(w: MeteredWriter, node: Call) -> str:
    e = w.emitter
    x = w.value(node.args[0])
    w.charge()
    test = f"{x}.__class__ is {e.runtime('bool')}"
    return e.assign(f"{x} is False if {test} else {e.runtime('not_v')}({x})", node.id)


EQUALS = Inline(_equals, _metered_equality("==", "is"))
NOT_EQUALS = Inline(_not_equals, _metered_equality("!=", "is not"))
LESS = Inline(_ordering("<"), _metered_ordering("<"))
LESS_EQUALS = Inline(_ordering("<="), _metered_ordering("<="))
GREATER = Inline(_ordering(">"), _metered_ordering(">"))
GREATER_EQUALS = Inline(_ordering(">="), _metered_ordering(">="))
ADD = Inline(_arithmetic("+"), _metered_add)
SUBTRACT = Inline(_arithmetic("-"), _metered_arithmetic("-"))
MULTIPLY = Inline(_arithmetic("*"), _metered_arithmetic("*"))
LOGICAL_NOT = Inline(_not, whole=always(_metered_not))
