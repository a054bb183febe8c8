"""Inline forms of the calls that policies make most, for the metered variant.

An `Inline` is a test of the operands' classes and, where it holds, the native source of the value
and of the charge. Both must say what the implementation and its cost rule say for such operands; a
property compares the variants. Where the test fails, the general form serves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from celadon.cel import re2, syntax
from celadon.cel.codegen.writer_protocols import Writer
from celadon.cel.syntax import Call
from celadon.cel.values.numbers import MAX_INT, MIN_INT


class Inline(NamedTuple):
    """`amount` is the source of the charge where the call has a rule; empty means 1."""

    test: str
    value: str
    amount: str = ""


Former = Callable[[Writer, Call, list[str]], Inline | None]


def inline(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
    """The inline form of a call with these evaluated operands, if it has one."""
    former = _FORMS.get(node.function)
    return former(w, node, atoms) if former is not None else None


def _is(w: Writer, atom: str, kind: str) -> str:
    return f"{atom}.__class__ is {w.emitter.runtime(kind)}"


def _constant(w: Writer, node: Call) -> object:
    """The last operand if it is constant, else the context (which is no CEL value)."""
    c = w.context
    return c.constant(node.args[-1]) if c.is_constant(node.args[-1]) else c


def _tenth(size: str) -> str:
    return f"({size} + 9) // 10"


def _length(w: Writer, atom: str) -> str:
    return f"{w.emitter.runtime('len')}({atom})"


def _equality(operator: str, identity: str) -> Former:
    def form(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
        x, y = atoms
        value = _constant(w, node)
        if value.__class__ is int:
            return Inline(_is(w, x, "int"), f"{x} {operator} {y}", "1")
        if value.__class__ is bool:
            return Inline(_is(w, x, "bool"), f"{x} {identity} {value}", "1")
        if value is None:
            return Inline(_is(w, x, "dict"), f"{operator == '!='}", f"1 if {x} else 0")
        length = _length(w, x)
        if isinstance(value, str):
            shorter = f"({length} if {length} < {len(value)} else {len(value)})"
            return Inline(_is(w, x, "str"), f"{x} {operator} {y}", _tenth(shorter))
        other = _length(w, y)
        shorter = f"({length} if {length} < {other} else {other})"
        test = f"{_is(w, x, 'str')} and {_is(w, y, 'str')}"
        return Inline(test, f"{x} {operator} {y}", _tenth(shorter))

    return form


def _ordering(operator: str) -> Former:
    def form(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
        x, y = atoms
        value = _constant(w, node)
        if value.__class__ is int:
            return Inline(_is(w, x, "int"), f"{x} {operator} {y}", "1")
        test = f"{_is(w, x, 'int')} and {_is(w, y, 'int')}"
        return Inline(test, f"{x} {operator} {y}", "1")

    return form


def _add(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
    x, y = atoms
    c = w.context
    if str in (c.certain(node.args[0]), c.certain(node.args[1])):
        test = f"{_is(w, x, 'str')} and {_is(w, y, 'str')}"
        return Inline(test, f"{x} + {y}", _tenth(f"{_length(w, x)} + {_length(w, y)}"))
    return _arithmetic("+")(w, node, atoms)


def _arithmetic(operator: str) -> Former:
    def form(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
        x, y = atoms
        result = w.emitter.name()
        in_range = f"{MIN_INT} <= ({result} := {x} {operator} {y}) <= {MAX_INT}"
        test = f"{_is(w, x, 'int')} and {_is(w, y, 'int')} and {in_range}"
        return Inline(test, result, "1")

    return form


def _method(name: str) -> Former:
    def form(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
        x, y = atoms
        if not isinstance(_constant(w, node), str):
            return None
        return Inline(_is(w, x, "str"), f"{x}.{name}({y})", _tenth(_length(w, x)))

    return form


def _contains(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
    x, y = atoms
    value = _constant(w, node)
    if not isinstance(value, str):
        return None
    amount = f"{_tenth(_length(w, x))} * {-(-len(value) // 10)}"
    return Inline(_is(w, x, "str"), f"{y} in {x}", amount)


def _matches(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
    pattern = _constant(w, node)
    if not isinstance(pattern, str):
        return None
    x = atoms[0]
    search = w.emitter.bind(re2.compile(pattern).search_fn, "r")
    amount = f"({_length(w, x)} + 10) // 10 * {-(-len(pattern) // 4)}"
    return Inline(_is(w, x, "str"), f"True if {search}({x}) else False", amount)


def _size(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
    x = atoms[0]
    test = " or ".join(_is(w, x, kind) for kind in ("str", "list", "dict"))
    return Inline(test, _length(w, x), "1")


def _in(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
    """Only maps: what a look-up in a list is charged depends on its length."""
    x, y = atoms
    if len(w.context.overload_ids(node)) == 1 or w.context.certain(node.args[0]) is not str:
        return None
    return Inline(f"{_is(w, y, 'dict')} and {_is(w, x, 'str')}", f"{x} in {y}", "1")


def _string(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
    x = atoms[0]
    if w.context.overload(node) is not None:  # that one, and no other
        return None
    return Inline(_is(w, x, "int"), f"{w.emitter.runtime('str')}({x})", "1")


def _lower_ascii(w: Writer, node: Call, atoms: list[str]) -> Inline | None:
    x = atoms[0]
    test = f"{_is(w, x, 'str')} and {x}.isascii()"
    return Inline(test, f"{x}.lower()", _tenth(_length(w, x)))


_FORMS: dict[str, Former] = {
    "lowerAscii": _lower_ascii,
    syntax.EQUALS: _equality("==", "is"),
    syntax.NOT_EQUALS: _equality("!=", "is not"),
    syntax.LESS: _ordering("<"),
    syntax.LESS_EQUALS: _ordering("<="),
    syntax.GREATER: _ordering(">"),
    syntax.GREATER_EQUALS: _ordering(">="),
    syntax.ADD: _add,
    syntax.SUBTRACT: _arithmetic("-"),
    syntax.MULTIPLY: _arithmetic("*"),
    syntax.IN: _in,
    "startsWith": _method("startswith"),
    "endsWith": _method("endswith"),
    "contains": _contains,
    "matches": _matches,
    "size": _size,
    "string": _string,
}
