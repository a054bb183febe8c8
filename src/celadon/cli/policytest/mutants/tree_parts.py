"""A node with other parts, everything else as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from celadon.cel.syntax import (
    Call,
    Expr,
    ListLiteral,
    MapEntry,
    MapLiteral,
    Select,
    Struct,
    StructField,
)


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
