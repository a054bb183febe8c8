"""The canonical tree of an expression: what has the same one comes to the same, for any input.

Few laws are used, those by which changes of one node are in vain: a size is never negative, `!=` is
the negation of `==`, a default that is not what is compared with may as well be another one, and
combinations of conditions are their tables (`outcome_tables`). None of them asks for types that are
not known, so none has exceptions (`x < 5` is not `x <= 4`: there are numbers between them).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from celadon.cel import unparse
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
    Literal,
    Select,
    children,
)
from celadon.cel.tracing import unexpanded_tree
from celadon.cli.policy_tests.altering.outcome_tables import is_logic, tabulated
from celadon.cli.policy_tests.altering.tree_parts import with_parts

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
    """Whether it is proved that two expressions come to the same, for any input."""
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
        """As whether it is less than something."""
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
