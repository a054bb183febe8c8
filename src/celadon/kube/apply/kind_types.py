"""How the objects of a kind are merged: the type of a built-in kind, or of one of a definition."""

from __future__ import annotations

import functools

from celadon.kube.apply.typed.merge_types import MergeType, built_in_type, made_type
from celadon.kube.custom.custom_kinds import CustomKind
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.definition_schemas import published_schema
from celadon.kube.schemas.schema_model import Schema


class _Same:
    """A custom kind as a key: it is the same only as itself."""

    __slots__ = ("kind",)

    def __init__(self, kind: CustomKind) -> None:
        self.kind = kind

    def __hash__(self) -> int:
        return id(self.kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.kind is self.kind


@functools.lru_cache(maxsize=1024)
def _custom_type(kind: _Same) -> MergeType:
    return made_type(published_schema(kind.kind.schema, kind.kind.gvk))


def merge_type(kind: GroupVersionKind, custom: Schema | None) -> MergeType | None:
    """The same by the schema of a custom kind; None for a kind that nobody knows."""
    if custom is not None:
        return made_type(published_schema(custom, kind))
    return built_in_type(kind)


def type_of(kind: GroupVersionKind, custom: CustomKind | None) -> MergeType:
    """The kind is built in, or `custom` is what its definition says."""
    if custom is not None:
        return _custom_type(_Same(custom))
    found = built_in_type(kind)
    assert found is not None, f"{kind} has a schema"
    return found
