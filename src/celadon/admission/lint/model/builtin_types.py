"""The types of built-in kinds as they are on data: made once, for they never change."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from celadon.kube import GroupVersionKind
from celadon.kube.schemas import SchemaType, View, schema_for, schema_type

_MOST: Final = 64
"""Kinds that are kept; what a large workspace has policies about."""


@lru_cache(maxsize=_MOST)
def builtin_type(kind: GroupVersionKind) -> SchemaType | None:
    """The type of a kind; None if it is not built in."""
    schema = schema_for(kind)
    return None if schema is None else schema_type(schema, kind.kind, View.ACTUAL)
