"""The ways in which one node of an expression is changed.

The tree is that of the text as it is written (macros are calls); each change gives a node that
stands in the place of another, with parts of the old one in it. Whether the result compiles is
found out by compiling it: `1 - 'a'` is nobody's mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Final

from celadon.cel import syntax
from celadon.cel.extend import Uint
from celadon.cel.syntax import (
    Call,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    LiteralValue,
    MapLiteral,
    Struct,
)
from celadon.cel.tracing import Written
from celadon.cli.policy_tests.alteration_counts import AlterationKind as Kind
from celadon.records import dataclass

_COMPARISONS: Final = {
    syntax.LESS: (syntax.LESS_EQUALS, syntax.GREATER_EQUALS),
    syntax.LESS_EQUALS: (syntax.LESS, syntax.GREATER),
    syntax.GREATER: (syntax.GREATER_EQUALS, syntax.LESS_EQUALS),
    syntax.GREATER_EQUALS: (syntax.GREATER, syntax.LESS),
    syntax.EQUALS: (syntax.NOT_EQUALS,),
    syntax.NOT_EQUALS: (syntax.EQUALS,),
}
"""A comparison, the one that differs where both sides are equal, and the opposite."""

_ARITHMETIC: Final = {
    syntax.ADD: (syntax.SUBTRACT,),
    syntax.SUBTRACT: (syntax.ADD,),
    syntax.MULTIPLY: (syntax.DIVIDE,),
    syntax.DIVIDE: (syntax.MULTIPLY,),
    syntax.MODULO: (syntax.MULTIPLY,),
}
_LOGIC: Final = {
    syntax.LOGICAL_AND: syntax.LOGICAL_OR,
    syntax.LOGICAL_OR: syntax.LOGICAL_AND,
}
_QUANTIFIERS: Final = {
    "all": ("exists",),
    "exists": ("all", "exists_one"),
    "exists_one": ("exists",),
    "existsOne": ("exists",),
}
_ENDS: Final = {"startsWith": "endsWith", "endsWith": "startsWith"}
_OBJECTS: Final = {"object": "oldObject", "oldObject": "object"}
_MOST_ITEMS: Final = 8
"""Items of a list, or fields of a map, that are left out one by one."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node of a tree, and what stands in its place."""

    kind: Kind
    old: Expr
    new: Expr


def node_changes(whole: Written) -> Iterator[NodeChange]:
    """All changes of all nodes, in the order of the text."""
    made = _Changes(count(1 + max(one.node.id for one in whole.walk())))
    parents = {id(part): one.node for one in whole.walk() for part in one.parts}
    for one in sorted(whole.walk(), key=lambda part: (part.start, -part.end)):
        yield from made.of(one.node, parents.get(id(one)))


class _Changes:
    """`ids` are those that no node of the tree has."""

    def __init__(self, ids: Iterator[int]) -> None:
        self._ids = ids

    def of(self, node: Expr, parent: Expr | None) -> Iterator[NodeChange]:
        match node:
            case Call():
                for kind, new in self._call(node, parent):
                    yield NodeChange(kind, node, new)
            case Ident(_, name) if name in _OBJECTS:
                yield NodeChange(Kind.OBJECT, node, Ident(next(self._ids), _OBJECTS[name]))
            case Literal():
                if not _is_item(parent):
                    for value in _shifted(node.value):
                        yield NodeChange(Kind.CONSTANT, node, Literal(next(self._ids), value))
            case ListLiteral(_, elements) if len(elements) > 1:
                for i in range(min(len(elements), _MOST_ITEMS)):
                    yield NodeChange(Kind.LIST, node, self._without_element(node, i))
            case MapLiteral(_, entries):
                for i in range(min(len(entries), _MOST_ITEMS)):
                    rest = (*entries[:i], *entries[i + 1 :])
                    yield NodeChange(Kind.FIELD, node, MapLiteral(next(self._ids), rest))
            case Struct(_, name, fields):
                for i in range(min(len(fields), _MOST_ITEMS)):
                    less = (*fields[:i], *fields[i + 1 :])
                    yield NodeChange(Kind.FIELD, node, Struct(next(self._ids), name, less))
            case _:
                return

    def _call(self, node: Call, parent: Expr | None) -> Iterator[tuple[Kind, Expr]]:
        name, args = node.function, node.args
        match name, args:
            case ((syntax.LOGICAL_AND | syntax.LOGICAL_OR), (left, right)):
                yield Kind.LOGIC, self._named(node, _LOGIC[name])
                yield from _clauses(name, left, right)
            case syntax.LOGICAL_NOT, (operand,):
                yield Kind.NEGATION, operand
            case syntax.CONDITIONAL, (_, then, otherwise):
                yield Kind.CLAUSE, then
                yield Kind.CLAUSE, otherwise
            case syntax.IN, (_, _):
                yield Kind.NEGATION, Call(next(self._ids), syntax.LOGICAL_NOT, None, (node,))
            case "has", (_,) if node.target is None and not _is_logic(parent):
                yield Kind.PRESENCE, Literal(next(self._ids), value=True)
            case syntax.ADD, (left, right):
                yield Kind.ARITHMETIC, self._named(node, syntax.SUBTRACT)
                yield Kind.CLAUSE, left
                yield Kind.CLAUSE, right
            case "filter", (_, _) if node.target is not None:
                yield Kind.CLAUSE, node.target
        for other in (*_COMPARISONS.get(name, ()), *_ENDS_OF.get(name, ())):
            yield Kind.COMPARISON, self._named(node, other)
        for other in () if name == syntax.ADD else _ARITHMETIC.get(name, ()):
            yield Kind.ARITHMETIC, self._named(node, other)
        for other in _QUANTIFIERS.get(name, ()) if node.target is not None else ():
            yield Kind.QUANTIFIER, self._named(node, other)

    def _named(self, node: Call, function: str) -> Call:
        return replace(node, id=next(self._ids), function=function)

    def _without_element(self, node: ListLiteral, index: int) -> ListLiteral:
        rest = (*node.elements[:index], *node.elements[index + 1 :])
        optional = frozenset(i - (i > index) for i in node.optional if i != index)
        return ListLiteral(next(self._ids), rest, optional)


_ENDS_OF: Final = {name: (other,) for name, other in _ENDS.items()}


def _clauses(name: str, left: Expr, right: Expr) -> Iterator[tuple[Kind, Expr]]:
    """Without the left one, without the right one; of a longer chain each operand goes once, where
    it stands itself."""
    for dropped, kept in ((left, right), (right, left)):
        if not (isinstance(dropped, Call) and dropped.function == name):
            yield Kind.CLAUSE, kept


def _is_logic(parent: Expr | None) -> bool:
    """There, that something is always true comes to the same as its absence."""
    return isinstance(parent, Call) and parent.function in _LOGIC


def _is_item(parent: Expr | None) -> bool:
    """Items of a longer list are left out, which says as much as another value would."""
    return isinstance(parent, ListLiteral) and len(parent.elements) > 1


def _shifted(value: LiteralValue) -> Iterator[LiteralValue]:
    """Values beside one."""
    match value:
        case bool():
            yield not value
        case Uint():
            yield Uint(int(value) + 1)
            if value:
                yield Uint(int(value) - 1)
        case int() | float():
            yield value + 1
            yield value - 1
        case str():
            yield f"{value}x"
        case _:
            return
