"""Identifiers that denote a value rather than a variable: types (`int`) and enum constants."""

from __future__ import annotations

from typing import Any

from celadon.cel.checking.scope import Declarations
from celadon.cel.syntax import CheckedAst, Comprehension, Expr, Ident, walk
from celadon.cel.types import Kind


def constant_identifiers(checked: CheckedAst, declarations: Declarations) -> dict[int, Any]:
    """Node ids of such identifiers with the `Type` or int they denote."""
    found: dict[int, Any] = {}
    for node_id, reference in checked.references.items():
        if reference.overloads or reference.name in declarations.variables:
            continue
        t = checked.types[node_id]
        if reference.value is not None:
            found[node_id] = reference.value
        elif t.kind is Kind.TYPE and t.params:
            found[node_id] = t.params[0]
    return _without_locals(checked.root, found) if found else found


def _without_locals(root: Expr, found: dict[int, Any]) -> dict[int, Any]:
    """Only identifiers, and of these not the loop variables that have the name of a type."""
    names = {node.id: node.name for node in walk(root) if isinstance(node, Ident)}
    kept = {node_id: value for node_id, value in found.items() if node_id in names}
    for loop in walk(root):
        if isinstance(loop, Comprehension):
            bound = (loop.iter_var, loop.iter_var2, loop.accu_var)
            for node in _inside(loop):
                if node.id in kept and names[node.id] in bound:
                    del kept[node.id]
    return kept


def _inside(loop: Comprehension) -> list[Expr]:
    """The nodes where the loop's variables are visible."""
    return [node for part in (loop.condition, loop.step, loop.result) for node in walk(part)]
