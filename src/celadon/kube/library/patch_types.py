"""The types of mutating policies: `Object`, `Object.spec`, …, `Object.<any path>`, and `JSONPatch`.

A type of the `Object` family takes every field, with any value: whether the fields exist in the
kind that is changed shows only when the patch is merged. `JSONPatch` has four fields; others exist
for the checker too, but with a type that nothing is assignable to, and that prints as nothing.

Upstream: k8s.io/apiserver `pkg/cel/mutation/{dynamic,typeresolver,jsonpatch}.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from celadon.cel.extend import ObjectType, types
from celadon.kube.library.patch_values import PatchOperation, object_maker
from celadon.remembering import remembering

OBJECT: Final = types.object_type("Object")
JSON_PATCH: Final = types.object_type("JSONPatch")

_NO_TYPE: Final = types.opaque("")
_OBJECT_PREFIX: Final = OBJECT.name + "."


class _AnyField(Mapping[str, types.Type]):
    """Every field has `type`, but those that are listed."""

    __slots__ = ("_listed", "_type")

    def __init__(self, listed: Mapping[str, types.Type], type_: types.Type) -> None:
        self._listed = listed
        self._type = type_

    def __getitem__(self, field: str) -> types.Type:
        return self._listed.get(field, self._type)

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


_OBJECT_FIELDS: Final = _AnyField({}, types.DYN)
_JSON_PATCH: Final = ObjectType(
    JSON_PATCH.name,
    _AnyField(
        {"op": types.STRING, "path": types.STRING, "from": types.STRING, "value": types.DYN},
        _NO_TYPE,
    ),
    PatchOperation,
    keeps_size=True,
)


@remembering(1024)
def find_type(name: str) -> ObjectType | None:
    """The type of that full name, if it is one of these."""
    if name == JSON_PATCH.name:
        return _JSON_PATCH
    if name == OBJECT.name or name.startswith(_OBJECT_PREFIX):
        make = object_maker(types.object_type(name))
        return ObjectType(name, _OBJECT_FIELDS, make, keeps_size=True)
    return None
