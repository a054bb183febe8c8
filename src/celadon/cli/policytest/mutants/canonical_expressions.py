"""The canonical tree of an expression: what has the same one comes to the same, for any input.

Few laws are used, those by which changes of one node are in vain: a size is never negative, `!=` is
the negation of `==`, a default that is not what is compared with may as well be another one, and
combinations of conditions are their tables (see below). None of them asks for types that are
not known, so none has exceptions (`x < 5` is not `x <= 4`: there are numbers between them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Final

from celadon.cel import syntax, unparse
from celadon.cel.extend import Uint
from celadon.cel.syntax import (
    EQUALS,
    GREATER,
    GREATER_EQUALS,
    LESS,
    LESS_EQUALS,
    LOGICAL_AND,
    LOGICAL_NOT,
    LOGICAL_OR,
    NOT_EQUALS,
    Ast,
    Call,
    Expr,
    ListLiteral,
    Literal,
    MapEntry,
    MapLiteral,
    Select,
    Struct,
    StructField,
    children,
)
from celadon.cel.tracing import unexpanded_tree

# --- Parts of trees ----------------------------------------------------------
#
# A node with other parts, everything else as it was.


def with_parts(node: Expr, put: Callable[[Expr], Expr]) -> Expr:
    """`put` is what stands in the place of each part; in trees without macros."""
    match node:
        case Select():
            return replace(node, operand=put(node.operand))
        case Call(_, _, target, args):
            receiver = None if target is None else put(target)
            return replace(node, target=receiver, args=tuple(map(put, args)))
        case ListLiteral():
            return replace(node, elements=tuple(map(put, node.elements)))
        case MapLiteral():
            entries = (MapEntry(e.id, put(e.key), put(e.value), e.optional) for e in node.entries)
            return replace(node, entries=tuple(entries))
        case Struct():
            fields = (StructField(f.id, f.name, put(f.value), f.optional) for f in node.fields)
            return replace(node, fields=tuple(fields))
        case _:
            return node


# --- Canonical expressions ---------------------------------------------------

# --- Outcome tables ----------------------------------------------------------
#
# What a combination of conditions comes to, for every outcome that each of them may have.
#
# A condition (an atom: whatever is not `&&`, `||`, `!`, `?:` or a written truth value) is true,
# false or an error, and the same text is the same outcome wherever it stands. A table has what
# the whole comes to for each combination; an error is known by the condition that it is of,
# since messages tell which it was. Two combinations with one table come to the same for any
# input, whatever the conditions are about: dropping a clause that others imply, saying
# something twice, `a || a && b`.
#
# The rules are those of the language: `&&` is false where either side is, `||` true where
# either side is, whatever the other side does; of two errors the left one counts.


_MOST_ATOMS: Final = 7
"""Of which each has three outcomes."""
_TRUE: Final = "t"
_FALSE: Final = "f"

_LOGIC: Final = frozenset(
    {syntax.LOGICAL_AND, syntax.LOGICAL_OR, syntax.LOGICAL_NOT, syntax.CONDITIONAL}
)

Combination = Callable[[tuple[str, ...]], str]
"""What it comes to, by the outcomes of the atoms: `t`, `f`, or the number of an atom whose error
it is."""


def is_logic(node: Expr) -> bool:
    """Return whether it combines conditions."""
    return isinstance(node, Call) and node.function in _LOGIC


def tabulated(node: Expr, text: Callable[[Expr], str], made: Callable[[], int]) -> Expr:
    """Return what stands for all combinations with the same table: a truth value, a condition, or a
    call whose name is the table and whose arguments are the conditions that matter. `text` tells
    conditions apart, `made` gives ids. Of too many conditions nothing is said: the node itself."""
    atoms: dict[str, Expr] = {}
    _collect(node, text, atoms)
    if len(atoms) > _MOST_ATOMS:
        return node
    names = sorted(atoms)
    combination = _combination(node, text, {name: i for i, name in enumerate(names)})
    every = [_outcomes(i) for i in range(len(names))]
    table = {given: combination(given) for given in product(*every)}
    kept = [i for i in range(len(names)) if _matters(table, i, every[i])]
    digits = _digits(table, every, kept)
    if not kept:
        return Literal(made(), digits == _TRUE) if digits in (_TRUE, _FALSE) else node
    if digits == "".join(_outcomes(0)) and len(kept) == 1:
        return atoms[names[kept[0]]]
    return Call(made(), f"table_{digits}", None, tuple(atoms[names[i]] for i in kept))


def _outcomes(number: int) -> tuple[str, ...]:
    """Return those of an atom."""
    return (_TRUE, _FALSE, str(number))


def _collect(node: Expr, text: Callable[[Expr], str], found: dict[str, Expr]) -> None:
    if isinstance(node, Call) and is_logic(node):
        for one in node.args:
            _collect(one, text, found)
    elif not _is_truth(node):
        found.setdefault(text(node), node)


def _is_truth(node: Expr) -> bool:
    return isinstance(node, Literal) and isinstance(node.value, bool)


def _combination(node: Expr, text: Callable[[Expr], str], atoms: dict[str, int]) -> Combination:
    if isinstance(node, Call) and is_logic(node):
        return _combined(node.function, [_combination(one, text, atoms) for one in node.args])
    if isinstance(node, Literal) and isinstance(node.value, bool):
        constant = _TRUE if node.value else _FALSE
        return lambda _: constant
    number = atoms[text(node)]
    return lambda given: given[number]


def _combined(function: str, parts: list[Combination]) -> Combination:
    if function == syntax.LOGICAL_NOT:
        (only,) = parts
        turned = {_TRUE: _FALSE, _FALSE: _TRUE}
        return lambda given: turned.get(only(given), only(given))
    if function == syntax.CONDITIONAL:
        condition, then, otherwise = parts
        return lambda given: _chosen(condition(given), then(given), otherwise(given))
    left, right = parts
    decides = _FALSE if function == syntax.LOGICAL_AND else _TRUE
    return lambda given: _absorbed(left(given), right(given), decides)


def _chosen(condition: str, then: str, otherwise: str) -> str:
    return {_TRUE: then, _FALSE: otherwise}.get(condition, condition)


def _absorbed(left: str, right: str, decides: str) -> str:
    if decides in (left, right):
        return decides
    is_truth = left in (_TRUE, _FALSE)
    return right if is_truth else left


def _matters(table: Mapping[tuple[str, ...], str], number: int, outcomes: tuple[str, ...]) -> bool:
    """Return whether the outcome of an atom makes a difference."""
    return any(
        table[(*given[:number], other, *given[number + 1 :])] != came
        for given, came in table.items()
        for other in outcomes
    )


def _digits(
    table: Mapping[tuple[str, ...], str], every: list[tuple[str, ...]], kept: list[int]
) -> str:
    """The outcomes in order, atoms that make no difference left out; errors by the numbers of the
    atoms that are left."""
    numbers = {str(old): str(new) for new, old in enumerate(kept)}
    rows = product(*(every[i] if i in kept else every[i][:1] for i in range(len(every))))
    return "".join(numbers.get(table[given], table[given]) for given in rows)


_MIRRORED: Final = {
    LESS: GREATER,
    LESS_EQUALS: GREATER_EQUALS,
    GREATER: LESS,
    GREATER_EQUALS: LESS_EQUALS,
    EQUALS: EQUALS,
    NOT_EQUALS: NOT_EQUALS,
}

_CHAINS: Final = {LOGICAL_AND: "all_of", LOGICAL_OR: "any_of"}


def canonical_text(ast: Ast) -> str:
    """The text of the canonical tree of a tree without macros."""
    return unparse(replace(ast, root=_Canonical(ast).of(ast.root)))


def is_same(text: str, other: str) -> bool:
    """Return whether it is proved that two expressions come to the same, for any input."""
    trees = [unexpanded_tree(one) for one in (text, other)]
    found = {None if one is None else canonical_text(one) for one in trees}
    return len(found) == 1 and None not in found


def flat_text(ast: Ast) -> str:
    """The same for trees that differ in nothing but how chains of `&&` and `||` are nested."""

    def flat(node: Expr) -> Expr:
        node = with_parts(node, flat)
        name = _CHAINS.get(node.function) if isinstance(node, Call) else None
        if name is None:
            return node
        assert isinstance(node, Call), "has a function"
        operands: list[Expr] = []
        for one in node.args:
            is_link = isinstance(one, Call) and one.function == name
            operands += children(one) if is_link else [one]
        return Call(node.id, name, None, tuple(operands))

    return unparse(replace(ast, root=flat(ast.root)))


class _Canonical:
    """Ids of nodes that are made are negative."""

    def __init__(self, ast: Ast) -> None:
        self._ast = ast
        self._made = 0

    def of(self, node: Expr) -> Expr:
        made = self._without_tables(node)
        return tabulated(made, self._text, self._id) if is_logic(made) else made

    def _without_tables(self, node: Expr) -> Expr:
        """Combinations stay what they are, so that those around them see their conditions."""
        node = with_parts(node, self._without_tables if is_logic(node) else self.of)
        match node:
            case Call(_, name, None, (left, right)) if name in _MIRRORED:
                return self._comparison(node, name, left, right)
            case _:
                return node

    def _comparison(self, node: Call, name: str, left: Expr, right: Expr) -> Expr:
        if _is_size(right):
            name, left, right = _MIRRORED[name], right, left
        if _is_size(left) and isinstance(right, Literal) and _is_int(right):
            return self._size(name, left, right)
        if name in (EQUALS, NOT_EQUALS):
            same = self._call(EQUALS, self._with_any_default(left, right), right)
            return self._not(same) if name == NOT_EQUALS else same
        return node

    def _with_any_default(self, node: Expr, compared: Expr) -> Expr:
        """`x.orValue('a')`, beside anything but 'a', is as any other default."""
        match node, compared:
            case (
                Call(_, "orValue", Call() | Select() as target, (Literal(_, str() as default),)),
                Literal(_, str() as other),
            ) if default != other:
                return Call(self._id(), "orValue", target, (Literal(self._id(), f"{other}_"),))
            case _:
                return node

    def _size(self, name: str, size: Expr, limit: Literal) -> Expr:
        """Write a size as whether it is less than something."""
        assert isinstance(limit.value, int), "was looked at before"
        number = limit.value
        if name in (EQUALS, NOT_EQUALS):
            same = self._call(EQUALS, size, limit)
            if number == 0:
                same = self._call(LESS, size, self._int(1))
            return self._not(same) if name == NOT_EQUALS else same
        is_behind = name in (LESS_EQUALS, GREATER)
        less = self._call(LESS, size, self._int(number + is_behind))
        return less if name in (LESS, LESS_EQUALS) else self._not(less)

    def _text(self, node: Expr) -> str:
        return unparse(replace(self._ast, root=node))

    def _int(self, value: int) -> Literal:
        return Literal(self._id(), value)

    def _not(self, node: Expr) -> Call:
        return self._call(LOGICAL_NOT, node)

    def _call(self, function: str, *args: Expr) -> Call:
        return Call(self._id(), function, None, args)

    def _id(self) -> int:
        self._made -= 1
        return self._made


def _is_size(node: Expr) -> bool:
    if not isinstance(node, Call) or node.function != "size":
        return False
    return len(node.args) + (node.target is not None) == 1


def _is_int(node: Literal) -> bool:
    return isinstance(node.value, int) and not isinstance(node.value, bool | Uint)
