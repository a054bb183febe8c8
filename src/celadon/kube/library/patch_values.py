"""The values that literals of the types of mutating policies build.

A `PatchObject` knows the name of its type, which says where in an object it belongs; a
`PatchOperation` is one operation of a JSON patch. Both are records: their fields can be read,
tested and compared. What they become outside of expressions is the business of those who change
objects.

Upstream: k8s.io/apiserver `pkg/cel/mutation/{dynamic/objects,jsonpatch}.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.cel.extend import NONE, EvaluationError, Optional, Record, types
from celadon.cel.value_functions import equal

_TEXTS: Final = frozenset({"op", "path", "from"})
_VALUE: Final = "value"


class PatchObject(Record):
    """`Object{…}` or `Object.<path>{…}`: the fields that the literal gives, by name."""

    __slots__ = ("cel_type", "fields")
    go_name = "*dynamic.ObjectVal"

    def __init__(self, type_: types.Type, fields: Mapping[str, Any]) -> None:
        self.cel_type = type_  # type: ignore[misc]  # a class for each path would be one too many
        self.fields = fields

    def __getitem__(self, field: str) -> Any:  # noqa: ANN401 - a value of CEL
        if field not in self.fields:
            raise EvaluationError(f"no such key: {field}")
        return self.fields[field]

    def has(self, field: str) -> bool:
        """Whether the literal gives it: every name could be that of a field."""
        return field in self.fields

    def equals(self, other: object) -> bool:
        """The same type and equal fields."""
        return (
            isinstance(other, PatchObject)
            and self.cel_type.name == other.cel_type.name
            and equal(self.fields, other.fields)
        )

    @property
    def is_zero(self) -> bool:
        """Has it no fields?"""
        return not self.fields


class PatchOperation(Record):
    """`JSONPatch{…}`. Texts that are not given are empty."""

    __slots__ = ("fields",)
    cel_type = types.object_type("JSONPatch")
    go_name = "*mutation.JSONPatchVal"

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields

    @property
    def has_value(self) -> bool:
        """Whether there is a value, be it null."""
        return _VALUE in self.fields

    def __getitem__(self, field: str) -> Any:  # noqa: ANN401 - a value of CEL
        if field in _TEXTS:
            return self.fields.get(field, "")
        if field == _VALUE:
            return self.fields.get(field)
        raise EvaluationError(f"unsupported indexer: {field}")

    def has(self, field: str) -> bool:
        """Whether a text is not empty, or there is a value."""
        if field in _TEXTS:
            return bool(self.fields.get(field))
        if field == _VALUE:
            return self.has_value
        raise EvaluationError(f"unsupported field: {field}")

    def equals(self, other: object) -> bool:
        """The same texts, and equal values or none."""
        if not isinstance(other, PatchOperation) or self.has_value is not other.has_value:
            return False
        return all(self[name] == other[name] for name in _TEXTS) and equal(
            self[_VALUE], other[_VALUE]
        )


def object_maker(type_: types.Type) -> Callable[[Mapping[str, Any]], PatchObject]:
    """What literals of that type are made with."""

    def make(fields: Mapping[str, Any]) -> PatchObject:
        return PatchObject(type_, fields)

    return make


def unwrapped(value: object) -> Any:  # noqa: ANN401 - a value of CEL
    """What an optional holds, or the value itself; an empty optional stays one."""
    while isinstance(value, Optional) and value is not NONE:
        value = value.value
    return value
