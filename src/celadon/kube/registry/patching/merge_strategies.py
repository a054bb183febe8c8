"""What the schema of a kind says about merging its fields: which lists are merged, and by what.

The `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key` of OpenAPI, and how items of
such lists are told from one another.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from celadon.kube.errors import KubeError
from celadon.kube.go.go_text import plain_text, quote, type_text
from celadon.kube.json_types import JsonObject
from celadon.kube.schemas.schema_model import Schema
from celadon.kube.schemas.schema_packs import resolved

DIRECTIVE: Final = "$patch"
RETAIN_KEYS: Final = "$retainKeys"
ELEMENT_ORDER: Final = "$setElementOrder/"
DELETE_FROM_LIST: Final = "$deleteFromPrimitiveList/"

_RETAINING: Final = "retainKeys"


class MergeError(KubeError, ValueError):
    """The patch cannot be applied, or not be made; the text is upstream's. A server answers with
    `code`."""

    def __init__(self, text: str, *, code: int = 500) -> None:
        super().__init__(text)
        self.code = code


def member_of(schema: Schema | None, key: str) -> Schema | None:
    """What is said of a member of an object: its strategy, and where its shape stands."""
    if schema is None:
        return None
    found = schema.properties.get(key)
    return schema.additional_properties if found is None else found


def field_of(schema: Schema | None, key: str) -> Schema | None:
    """The same for a server, which knows the fields of structs and nothing else: MergeError for
    what is a map in Go, and for fields that there are not. Nothing is said by no schema."""
    if schema is None:
        return None
    if schema.additional_properties is not None:
        raise MergeError("merging an object in json but data type is not struct, instead is: map")
    found = schema.properties.get(key)
    if found is None:
        folded = key.casefold()
        alike = (field for name, field in schema.properties.items() if name.casefold() == folded)
        found = next(alike, None)
    if found is None:
        struct = schema.name.rpartition(".")[2]
        text = f"unable to find api field in struct {struct} for the json field {quote(key)}"
        raise MergeError(text)
    return found


def list_field_of(schema: Schema | None, key: str) -> Schema | None:
    """The same for a field that has to be a list. What Go has pointers to may be anything."""
    found = field_of(schema, key)
    if found is not None:
        shape = resolved(found)
        is_text = shape.type == "string" and not shape.format and not found.ref
        if is_text or shape.additional_properties is not None:
            raise MergeError("expected slice or array type, but got: struct")
        if shape.items is not None and resolved(shape.items).items is not None:
            raise MergeError("unexpected slice of slice")
    return found


def shape_of(member: Schema | None) -> Schema | None:
    """The shape of a member that is an object."""
    return None if member is None else resolved(member)


def items_of(member: Schema) -> Schema | None:
    """The shape of the items of a member that is a list."""
    items = resolved(member).items
    return None if items is None else resolved(items)


def merge_strategy(member: Schema | None) -> str:
    """`merge`, `replace` or nothing."""
    return next((word for word in _words(member) if word in {"merge", "replace"}), "")


def retains_keys(member: Schema | None) -> bool:
    """Whether a patch says which members stay, so that of several that exclude each other the one
    before goes."""
    return _RETAINING in _words(member)


def _words(member: Schema | None) -> list[str]:
    return [] if member is None else (member.patch_strategy or "").split(",")


def go_type(value: object) -> str:
    """The Go type of a JSON value, as texts of errors name it."""
    return "%!s(<nil>)" if value is None else type_text(value)


def bad_argument(wanted: str, found: object) -> MergeError:
    """For a value that is not of the type which a directive, or a list with a key, needs."""
    return MergeError(f"expected a {wanted}, but received a {go_type(found)}")


def require_map(item: object) -> JsonObject:
    """The item. MergeError when it is no object."""
    if isinstance(item, dict):
        return item
    raise bad_argument(go_type({}), item)


def require_key(item: object, key: str) -> None:
    """MergeError for an item of a list that the merge key cannot tell."""
    if key not in require_map(item):
        raise MergeError(f"map: {plain_text(item)} does not contain declared merge key: {key}")


def key_text(item: JsonObject, key: str) -> str:
    """The value of the merge key, as it is compared. MergeError when there is none."""
    require_key(item, key)
    return plain_text(item[key])


def item_mark(item: object, key: str) -> Hashable:
    """What tells an item of a list from the others: the value of the key; scalars are told by
    themselves. Numbers of the two kinds are never alike."""
    value = item.get(key) if key and isinstance(item, dict) else item
    return go_type(value), plain_text(value) if isinstance(value, dict | list) else value
