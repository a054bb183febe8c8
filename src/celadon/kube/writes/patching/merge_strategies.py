"""What the schema of a kind says about merging its fields: which lists are merged, and by what.

The `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key` of OpenAPI, and how items of
such lists are told from one another.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.errors import KubeError
from celadon.kube.go.go_text import plain_text
from celadon.kube.json_types import JsonObject
from celadon.kube.schemas.pack_schemas import resolved
from celadon.kube.schemas.schema_model import Schema

DIRECTIVE: Final = "$patch"
RETAIN_KEYS: Final = "$retainKeys"
ELEMENT_ORDER: Final = "$setElementOrder/"
DELETE_FROM_LIST: Final = "$deleteFromPrimitiveList/"

_RETAINING: Final = "retainKeys"


class MergeError(KubeError, ValueError):
    """The patch cannot be applied, or not be made; the text is upstream's. A server answers 500, or
    400 when `is_malformed`."""

    def __init__(self, text: str, *, is_malformed: bool = False) -> None:
        super().__init__(text)
        self.is_malformed = is_malformed


def member_of(schema: Schema | None, key: str) -> Schema | None:
    """What is said of a member of an object: its strategy, and where its shape stands."""
    if schema is None:
        return None
    found = schema.properties.get(key)
    return schema.additional_properties if found is None else found


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


def key_text(item: JsonObject, key: str) -> str:
    """The value of the merge key, as it is compared. MergeError when there is none."""
    if key not in item:
        raise MergeError(
            f"map: {plain_text(dict(item))} does not contain declared merge key: {key}"
        )
    return plain_text(item[key])


def item_mark(item: object, key: str) -> str:
    """What tells an item of a list from the others; scalars are told by themselves."""
    return plain_text(item.get(key)) if key and isinstance(item, dict) else plain_text(item)
