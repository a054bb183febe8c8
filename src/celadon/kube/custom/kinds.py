"""One version of a custom kind: everything that happens to its objects because of the schema.

    kind = custom_kinds(definition)[gvk]
    kind.prepare(obj)                 nulls, defaults, pruning
    kind.errors(obj, before)          why it would be refused; `before` on updates

Metadata is no concern of the schema: it is typed, and validated like that of any other kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from celadon.kube.custom.correlation import Unknown
from celadon.kube.custom.defaulting import defaulted
from celadon.kube.custom.list_types import repeated_items
from celadon.kube.custom.pruning import Pruned, pruned
from celadon.kube.custom.structural import OPEN, Structural, decode
from celadon.kube.custom.values import value_errors
from celadon.kube.fieldpath import ErrorType, FieldError
from celadon.kube.names import GroupVersionKind

Json = Any

_BLOCKING: Final = frozenset(
    {
        ErrorType.NOT_SUPPORTED,
        ErrorType.REQUIRED,
        ErrorType.TOO_LONG,
        ErrorType.TOO_MANY,
        ErrorType.TYPE_INVALID,
    }
)
"""After an error of these types validation rules are not evaluated."""
_SKIPPED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation"
)


@dataclass(frozen=True, slots=True)
class CustomKind:
    """A kind with its schema."""

    gvk: GroupVersionKind
    schema: Structural
    has_status: bool = False

    def prepare(self, obj: dict[str, Json]) -> Pruned:
        """The object as it would be stored but for its metadata, and the fields it lost."""
        return pruned(defaulted(obj, self.schema), self.schema)

    def errors(
        self, obj: dict[str, Json], before: dict[str, Json] | None = None
    ) -> list[FieldError]:
        """What is wrong with a prepared object, in the order of an API server."""
        was: Json | Unknown = Unknown() if before is None else before
        found = value_errors(obj, self.schema, was)
        if before is None or not repeated_items(before, self.schema):
            found += repeated_items(obj, self.schema)
        return found


def custom_kinds(definition: Mapping[str, Json]) -> dict[GroupVersionKind, CustomKind]:
    """The kinds of all versions of a CustomResourceDefinition, served or not."""
    spec = definition["spec"]
    found = {}
    for version in spec.get("versions") or ():
        gvk = GroupVersionKind(spec["group"], version["name"], spec["names"]["kind"])
        given = (version.get("schema") or {}).get("openAPIV3Schema")
        schema = OPEN if given is None or spec.get("preserveUnknownFields") else decode(given)
        has_status = (version.get("subresources") or {}).get("status") is not None
        found[gvk] = CustomKind(gvk, schema, has_status)
    return found
