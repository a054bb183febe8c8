"""Built-in schemas as structural ones, so that objects of built-in kinds can carry their schema.

What a published schema leaves open stays open: a quantity is text (or a number), a type within
itself may hold anything.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.custom.structural import ABSENT, OPEN, Structural
from celadon.kube.schemas.schema_model import Schema

_EITHER: Final = Structural(int_or_string=True)


def structural_of(schema: Schema, open_: frozenset[str] = frozenset()) -> Structural:
    """The same schema; `open_` names the types that it is part of."""
    if schema.ref in open_:
        return OPEN
    list_type, keys, map_type = schema.list_type, schema.list_map_keys, schema.map_type
    if schema.ref:
        open_ |= {schema.ref}
        schema = schema.resolved()
    if schema.is_int_or_string or schema.format == "quantity":
        return _EITHER
    items, values = schema.items, schema.additional_properties
    return Structural(
        type=schema.type,
        format=schema.format,
        nullable=schema.nullable,
        default=ABSENT if schema.default is None else schema.default,
        properties={
            name: structural_of(one, open_) for name, one in (schema.properties or {}).items()
        },
        additional=None if values is None else structural_of(values, open_),
        items=None if items is None else structural_of(items, open_),
        required=schema.required,
        preserve_unknown=schema.preserve_unknown,
        list_type=list_type,
        list_map_keys=keys,
        map_type=map_type or schema.map_type,
    )
