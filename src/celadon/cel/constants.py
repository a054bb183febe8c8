"""Identifiers that denote a value rather than a variable: types (`int`) and enum constants."""

from __future__ import annotations

from typing import Any

from celadon.cel.declared import Declarations
from celadon.cel.syntax import CheckedAst, Comprehension, Expr, Ident, walk
from celadon.cel.types import Kind


def constant_identifiers(checked: CheckedAst, declarations: Declarations) -> dict[int, Any]:
    """Node ids of such identifiers with the `Type` or int they denote."""
    found: dict[int, tuple[str, Any]] = {}
    loops: list[Comprehension] = []
    for node in walk(checked.root):
        if isinstance(node, Comprehension):
            loops.append(node)
        elif isinstance(node, Ident) and node.name not in declarations.variables:
            reference = checked.references.get(node.id)
            t = checked.types[node.id]
            if reference is None:
                continue
            if reference.value is not None:
                found[node.id] = node.name, reference.value
            elif t.kind is Kind.TYPE and t.params:
                found[node.id] = node.name, t.params[0]
    for loop in loops if found else ():
        bound = (loop.iter_var, loop.iter_var2, loop.accu_var)
        for node in _inside(loop):
            if node.id in found and found[node.id][0] in bound:
                del found[node.id]
    return {node_id: value for node_id, (_, value) in found.items()}


def _inside(loop: Comprehension) -> list[Expr]:
    """The nodes where the loop's variables are visible."""
    return [node for part in (loop.condition, loop.step, loop.result) for node in walk(part)]
