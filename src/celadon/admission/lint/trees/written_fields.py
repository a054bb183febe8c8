"""What the expression of a mutation writes, as far as its text says.

Objects are followed through literals, the branches of conditions, lists and what `map` makes of the
items of a list. Of JSON patches only paths that are constants are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.admission.lint.model.mutating_subjects import Path, Written
from celadon.admission.lint.model.policy_expressions import PolicyExpression
from celadon.cel.syntax import (
    Comprehension,
    Expr,
    ListLiteral,
    Literal,
    MapLiteral,
    Struct,
    walk,
)

ROOT: Final = "Object"
PATCH: Final = "JSONPatch"


def written_fields(expression: PolicyExpression) -> Iterator[Written]:
    """Everything that is known to be written, in the order of the text."""
    if expression.checked is None:
        return
    for node in walk(expression.checked.ast.root):
        if isinstance(node, Struct) and node.type_name == ROOT:
            yield from _fields(expression, node, ())
        elif isinstance(node, Struct) and node.type_name == PATCH:
            found = _operation(expression, node)
            if found is not None:
                yield found


def _fields(expression: PolicyExpression, node: Struct, path: Path) -> Iterator[Written]:
    for field in node.fields:
        here = (*path, field.name)
        inner = list(_structs(field.value))
        name = inner[0].type_name if inner else ""
        yield Written(expression, here, field.value, field.value, type_name=name)
        for struct in inner:
            yield from _fields(expression, struct, here)
        if isinstance(field.value, MapLiteral):
            for entry in field.value.entries:
                if isinstance(entry.key, Literal):
                    yield Written(
                        expression, (*here, str(entry.key.value)), entry.value, entry.value
                    )


def _structs(value: Expr) -> Iterator[Struct]:
    """The objects that a value is, or that are its items."""
    match value:
        case Struct():
            yield value
        case ListLiteral():
            for element in value.elements:
                yield from _structs(element)
        case Comprehension():
            yield from _structs(value.step)
        case _:
            for part in getattr(value, "args", ()):
                yield from _structs(part)


def _operation(expression: PolicyExpression, node: Struct) -> Written | None:
    given = {field.name: field.value for field in node.fields}
    op, path = given.get("op"), given.get("path")
    if not isinstance(op, Literal) or not isinstance(path, Literal):
        return None
    steps = tuple(
        part.replace("~1", "/").replace("~0", "~") for part in str(path.value).split("/")[1:]
    )
    return Written(expression, steps, path, given.get("value"), str(op.value))
