"""An expression with one node changed, as text again.

The tree is changed, and the unparser says what the changed tree is as text. So that people
recognize what is left of theirs, the parts that stay are put in as they wrote them; that the
result is the changed tree nevertheless is checked by reading it again. Where it is not, the whole
expression is what the unparser makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from typing import Final

from celadon.cel import Ast, syntax, unparse
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
from celadon.cel.tracing import Written, unexpanded_tree, written_tree
from celadon.cli.policytest.mutants.alteration_counts import AlterationKind
from celadon.cli.policytest.mutants.alteration_counts import AlterationKind as Kind
from celadon.cli.policytest.mutants.canonical_expressions import flat_text, with_parts
from celadon.records import dataclass

# --- Expression changes ------------------------------------------------------
#
# The ways in which one node of an expression is changed.
#
# The tree is that of the text as it is written (macros are calls); each change gives a node
# that stands in the place of another, with parts of the old one in it. Whether the result
# compiles is found out by compiling it: `1 - 'a'` is nobody's mistake.


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


_MOST_PLACES: Final = 12
"""Places in a text at which a name may be the one that is meant."""


@dataclass(frozen=True, slots=True)
class AlteredExpression:
    """`new` stands where `old` was, at `start`; `text` is the whole."""

    kind: AlterationKind
    text: str
    start: int
    old: str
    new: str


def altered_expressions(text: str) -> Iterator[AlteredExpression]:
    """In the order of the text, each only once; none for what is no expression."""
    ast = unexpanded_tree(text)
    if ast is not None:
        yield from _Altering(text, ast).all()


class _Altering:
    def __init__(self, text: str, ast: Ast) -> None:
        self._text = text
        self._ast = ast
        self._whole = written_tree(ast)
        parts = self._whole.walk()
        self._places = {id(one.node): one for one in parts}
        self._parents = {id(part.node): one.node for one in parts for part in one.parts}

    def all(self) -> Iterator[AlteredExpression]:
        seen = {flat_text(self._ast)}
        for change in node_changes(self._whole):
            changed = replace(self._ast, root=self._replaced(change))
            meant = flat_text(changed)
            if meant not in seen:
                seen.add(meant)
                yield self._written(change, changed, meant)

    def _replaced(self, change: NodeChange) -> Expr:
        """The root of the changed tree."""
        old, new = change.old, change.new
        while (parent := self._parents.get(id(old))) is not None:
            old, new = parent, _with_part(parent, old, new)
        return new

    def _written(self, change: NodeChange, changed: Ast, meant: str) -> AlteredExpression:
        """Write it as close to the text as it can be; `meant` is the flat text of the changed
        tree."""
        text, place = self._text, self._places[id(change.old)]
        for piece in (*self._in_style(change), *self._pieces(change.new)):
            for new in (piece, f"({piece})"):
                made = text[: place.start] + new + text[place.end :]
                read = unexpanded_tree(made)
                if read is not None and flat_text(read) == meant:
                    old = text[place.start : place.end]
                    return AlteredExpression(change.kind, made, place.start, old, new)
        whole = unparse(changed)
        return AlteredExpression(change.kind, whole, 0, text, whole)

    def _in_style(self, change: NodeChange) -> Iterator[str]:
        """With nothing but the name of a function, or an operator, or a longer string in place of
        the old one."""
        old, new = change.old, change.new
        was = self._slice(self._places[id(old)])
        if isinstance(old, Literal) and isinstance(new, Literal) and isinstance(new.value, str):
            more = new.value[len(str(old.value)) :]
            yield f"{was[:-1]}{more}{was[-1]}"
        if isinstance(old, Call) and isinstance(new, Call) and new.args is old.args:
            name, other = old.function.strip("_"), new.function.strip("_")
            for found in islice(re.finditer(re.escape(name), was), _MOST_PLACES):
                yield f"{was[: found.start()]}{other}{was[found.end() :]}"

    def _pieces(self, new: Expr) -> Iterator[str]:
        """A new node as text, its old parts as they stand in the text: as they are, then each in
        parentheses."""
        kept = self._places.get(id(new))
        if kept is not None:
            yield self._slice(kept)
            return
        for form in ("{}", "({})"):
            names: dict[str, str] = {}
            made = unparse(replace(self._ast, root=self._named(new, names, form)))
            for name, part in names.items():
                made = made.replace(name, part, 1)
            yield made

    def _named(self, new: Expr, names: dict[str, str], form: str) -> Expr:
        """With names in place of old parts; their texts go to `names`."""

        def put(node: Expr) -> Expr:
            place = self._places.get(id(node))
            if place is None or isinstance(node, Ident):
                return node
            name = f"part_{len(names)}_as_it_was"
            names[name] = form.format(self._slice(place))
            return Ident(-len(names), name)

        return with_parts(new, put)

    def _slice(self, place: Written) -> str:
        return self._text[place.start : place.end]


def _with_part(parent: Expr, old: Expr, new: Expr) -> Expr:
    return with_parts(parent, lambda node: new if node is old else node)
