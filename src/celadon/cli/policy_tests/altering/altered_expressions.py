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
from itertools import islice
from typing import Final

from celadon.cel import Ast, unparse
from celadon.cel.syntax import Call, Expr, Ident, Literal
from celadon.cel.tracing import Written, unexpanded_tree, written_tree
from celadon.cli.policy_tests.alteration_counts import AlterationKind
from celadon.cli.policy_tests.altering.canonical_expressions import flat_text
from celadon.cli.policy_tests.altering.expression_changes import NodeChange, node_changes
from celadon.cli.policy_tests.altering.tree_parts import with_parts
from celadon.records import dataclass

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
        """As close to the text as it can be; `meant` is the flat text of the changed tree."""
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
