"""Identifiers that denote a value rather than a variable: types (`int`) and enum constants.

cel-go's planner takes every identifier whose checked type is the type of a type for the name of
one, the variables of macros included: `[type(1)].map(int, int)` is a list of the type `int`
whatever is in the range, and `[type(1)].map(t, t)` cannot be planned at all.
"""

from __future__ import annotations

from typing import Any

from celadon.cel.checking.scope import Declarations
from celadon.cel.errors import ProgramError
from celadon.cel.syntax import CheckedAst, Ident, walk
from celadon.cel.types import Kind


def constant_identifiers(checked: CheckedAst, declarations: Declarations) -> dict[int, Any]:
    """Node ids of such identifiers with the `Type` or int they denote. Raises `ProgramError` for
    one that no type has the name of."""
    found: dict[int, Any] = {}
    suspects: set[int] = set()
    for node_id, reference in checked.references.items():
        if reference.overloads:
            continue
        if reference.value is not None:
            found[node_id] = reference.value
        elif checked.types[node_id].kind is Kind.TYPE:
            variable = declarations.variables.get(reference.name)
            if variable is None or variable.kind is not Kind.TYPE:
                suspects.add(node_id)
    if not found and not suspects:
        return found
    names = {node.id: node.name for node in walk(checked.root) if isinstance(node, Ident)}
    for node_id, name in names.items():
        if node_id in suspects:
            denoted = declarations.find_type(checked.references[node_id].name)
            if denoted is None:
                raise ProgramError(f"reference to undefined type: {name}")
            found[node_id] = denoted.type.params[0]
    return {node_id: value for node_id, value in found.items() if node_id in names}
