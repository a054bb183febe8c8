"""The types of mutating policies: `Object`, `Object.spec`, …, `Object.<any path>`, and `JSONPatch`.

A type of the `Object` family takes every field, with any value: whether the fields exist in the
kind that is changed shows only when the patch is merged. `JSONPatch` has four fields; others exist
for the checker too, but with a type that nothing is assignable to, and that prints as nothing.

Upstream: k8s.io/apiserver `pkg/cel/mutation/{dynamic,typeresolver,jsonpatch}.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from celadon.cel import extend
from celadon.cel.value_functions import equal
from celadon.kube.json_types import JsonObject
from celadon.kube.library import costs
from celadon.kube.library.costs import declared
from celadon.memoization import remembering

# --- Patch values ------------------------------------------------------------
#
# The values that literals of the types of mutating policies build.
#
# A `PatchObject` knows the name of its type, which says where in an object it belongs; a
# `PatchOperation` is one operation of a JSON patch. Both are records: their fields can be read,
# tested and compared. What they become outside of expressions is the business of those who
# change objects.
#
# Upstream: k8s.io/apiserver `pkg/cel/mutation/{dynamic/objects,jsonpatch}.go`.

_TEXTS: Final = frozenset({"op", "path", "from"})
_VALUE: Final = "value"


class PatchObject(extend.Record):
    """Holds `Object{…}` or `Object.<path>{…}`: the fields that the literal gives, by name."""

    __slots__ = ("cel_type", "fields")
    go_name = "*dynamic.ObjectVal"

    def __init__(self, type_: extend.types.Type, fields: JsonObject) -> None:
        self.cel_type = type_  # type: ignore[misc]  # a class for each path would be one too many
        self.fields = fields

    def __getitem__(self, field: str) -> Any:  # noqa: ANN401 - a value of CEL
        if field not in self.fields:
            raise extend.EvaluationError(f"no such key: {field}")
        return self.fields[field]

    def has(self, field: str) -> bool:
        """Return whether the literal gives it: every name could be that of a field."""
        return field in self.fields

    def equals(self, other: object) -> bool:
        """Tell whether type and fields are equal."""
        return (
            isinstance(other, PatchObject)
            and self.cel_type.name == other.cel_type.name
            and equal(self.fields, other.fields)
        )

    @property
    def is_zero(self) -> bool:
        """Return whether it has no fields."""
        return not self.fields


class PatchOperation(extend.Record):
    """Holds one operation, `JSONPatch{…}`. Texts that are not given are empty."""

    __slots__ = ("fields",)
    cel_type = extend.types.object_type("JSONPatch")
    go_name = "*mutation.JSONPatchVal"

    def __init__(self, fields: JsonObject) -> None:
        self.fields = fields

    @property
    def has_value(self) -> bool:
        """Return whether there is a value, be it null."""
        return _VALUE in self.fields

    def __getitem__(self, field: str) -> Any:  # noqa: ANN401 - a value of CEL
        if field in _TEXTS:
            return self.fields.get(field, "")
        if field == _VALUE:
            return self.fields.get(field)
        raise extend.EvaluationError(f"unsupported indexer: {field}")

    def has(self, field: str) -> bool:
        """Return whether a text is not empty, or there is a value."""
        if field in _TEXTS:
            return bool(self.fields.get(field))
        if field == _VALUE:
            return self.has_value
        raise extend.EvaluationError(f"unsupported field: {field}")

    def equals(self, other: object) -> bool:
        """Tell whether the texts are the same, and the values equal or absent."""
        if not isinstance(other, PatchOperation) or self.has_value is not other.has_value:
            return False
        return all(self[name] == other[name] for name in _TEXTS) and equal(
            self[_VALUE], other[_VALUE]
        )


def object_maker(type_: extend.types.Type) -> Callable[[JsonObject], PatchObject]:
    """Return what literals of that type are made with."""

    def make(fields: JsonObject) -> PatchObject:
        return PatchObject(type_, fields)

    return make


def unwrapped(value: object) -> Any:  # noqa: ANN401 - a value of CEL
    """Return what an optional holds, or the value itself; an empty optional stays one."""
    while isinstance(value, extend.Optional) and value is not extend.NONE:
        value = value.value
    return value


OBJECT: Final = extend.types.object_type("Object")
JSON_PATCH: Final = extend.types.object_type("JSONPatch")

_NO_TYPE: Final = extend.types.opaque("")
_OBJECT_PREFIX: Final = OBJECT.name + "."


class _AnyField(Mapping[str, extend.types.Type]):
    """Every field has `type`, but those that are listed."""

    __slots__ = ("_listed", "_type")

    def __init__(self, listed: Mapping[str, extend.types.Type], type_: extend.types.Type) -> None:
        self._listed = listed
        self._type = type_

    def __getitem__(self, field: str) -> extend.types.Type:
        return self._listed.get(field, self._type)

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


_OBJECT_FIELDS: Final = _AnyField({}, extend.types.DYN)
_JSON_PATCH: Final = extend.ObjectType(
    JSON_PATCH.name,
    _AnyField(
        {
            "op": extend.types.STRING,
            "path": extend.types.STRING,
            "from": extend.types.STRING,
            "value": extend.types.DYN,
        },
        _NO_TYPE,
    ),
    PatchOperation,
    keeps_size=True,
)


@remembering(1024)
def find_type(name: str) -> extend.ObjectType | None:
    """Return the type of that full name, if it is one of these."""
    if name == JSON_PATCH.name:
        return _JSON_PATCH
    if name == OBJECT.name or name.startswith(_OBJECT_PREFIX):
        make = object_maker(extend.types.object_type(name))
        return extend.ObjectType(name, _OBJECT_FIELDS, make, keeps_size=True)
    return None


# --- Json patch keys ---------------------------------------------------------
#
# `kubernetes.jsonpatch`: `jsonpatch.escapeKey`, for mutating policies only.
#
# Upstream: k8s.io/apiserver `pkg/cel/library/jsonpatch.go`.


def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


LIBRARY: Final = extend.Library(
    "kubernetes.jsonpatch",
    functions=(
        declared(
            "jsonpatch.escapeKey(string) -> string",
            "string_jsonpatch_escapeKey_string",
            _escape_key,
            "A map key as a part of a JSON patch path.",
            ("jsonpatch.escapeKey('k8s.io/my~label')", "'k8s.io~1my~0label'"),
            cost=costs.FIRST_SAME_SIZE,
            growth=extend.growth.times(2),
        ),
    ),
)
