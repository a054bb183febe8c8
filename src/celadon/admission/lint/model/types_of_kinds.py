"""The types of kinds as they are on data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from celadon.kube import GroupVersionKind
from celadon.kube.schemas import Schema, SchemaType, View, schema_for, schema_type

_MOST: Final = 64
"""Built-in kinds that are kept; what a large workspace has policies about."""


class KindTypes:
    """Of built-in kinds, and of custom ones by their schemas; each is made once."""

    __slots__ = ("_custom", "_known")

    def __init__(self, custom: Mapping[GroupVersionKind, Schema]) -> None:
        self._custom = custom
        self._known: dict[GroupVersionKind, SchemaType | None] = {}

    def of(self, kind: GroupVersionKind) -> SchemaType | None:
        """None if nobody knows the kind."""
        if kind not in self._known:
            self._known[kind] = _builtin_type(kind) or self._custom_type(kind)
        return self._known[kind]

    def _custom_type(self, kind: GroupVersionKind) -> SchemaType | None:
        schema = self._custom.get(kind)
        return None if schema is None else _made(schema, kind)


@lru_cache(maxsize=_MOST)
def _builtin_type(kind: GroupVersionKind) -> SchemaType | None:
    """The same for all: built-in kinds never change."""
    schema = schema_for(kind)
    return None if schema is None else _made(schema, kind)


def _made(schema: Schema, kind: GroupVersionKind) -> SchemaType:
    return schema_type(schema, kind.kind, View.ACTUAL)
