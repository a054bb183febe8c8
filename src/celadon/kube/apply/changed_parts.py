"""An object that was merged, read into Go's types where it is not the object it was before.

What the two objects share was read before: it stays, and is told apart by its identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.kube.apply.go_numbers import with_go_number
from celadon.kube.schemas import schema_model
from celadon.kube.schemas.typed_objects import StructCodec, struct_codec


class ChangedParts:
    """`settled` has the identities of all that both objects share, and of more that is scalar."""

    __slots__ = ("settled",)

    def __init__(self) -> None:
        self.settled: set[int] = set()

    def read(
        self, made: Mapping[str, Any], live: Mapping[str, Any], codec: StructCodec
    ) -> dict[str, Any]:
        """A new struct, which shares with the one before what `made` shares with it. DecodeError
        and Mismatch where a value does not fit; their paths are not those of the object."""
        found, old = dict(made), live.get
        self.settled.update(map(id, live.values()))
        for name in [name for name, value in made.items() if value is not old(name)]:
            self._read_field(found, name, old(name), codec)
        return found

    def _read_field(self, found: dict[str, Any], name: str, old: Any, codec: StructCodec) -> None:
        value, node = found[name], codec.field_nodes[name]
        if value and isinstance(node, dict) and value.__class__ is old.__class__:
            inner = _struct_of(node)
            if value.__class__ is dict and inner:
                found[name] = self.read(value, old, struct_codec(inner))
                return
            items = node.get("items")
            if value.__class__ is list and isinstance(items, dict) and _struct_of(items):
                found[name] = self._read_items(value, old, _struct_of(items))
                return
        read = codec.decode({name: with_go_number(value, node)})
        if name in read:
            found[name] = read[name]
        else:
            del found[name]

    def _read_items(self, items: list[Any], old: list[Any], struct: str) -> list[Any]:
        """An item is read beside one of its name: that they belong together only saves time."""
        codec = struct_codec(struct)
        shared = set(map(id, old))
        self.settled |= shared
        named = {item["name"]: item for item in old if item.__class__ is dict and "name" in item}
        made = []
        for item in items:
            if id(item) not in shared:
                before = named.get(item.get("name")) if item.__class__ is dict else None
                if before is None:
                    item = codec.decode(with_go_number(item, {"ref": struct}))
                else:
                    item = self.read(item, before, codec)
            made.append(item)
        return made


def _struct_of(node: Mapping[str, Any]) -> str:
    """The component whose fields are known; empty for other shapes."""
    name: str = node.get("ref", "")
    return "" if name in schema_model.SPECIAL_COMPONENTS else name
