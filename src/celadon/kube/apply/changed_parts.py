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

    def read(self, made: dict[str, Any], live: Mapping[str, Any], codec: StructCodec) -> None:
        """Reads what is new in a struct, in place; `made` shares nothing else with anybody that it
        does not share with `live`. DecodeError and Mismatch where a value does not fit; their paths
        are not those of the object."""
        old = live.get
        self.settled.update(map(id, live.values()))
        for name in [name for name, value in made.items() if value is not old(name)]:
            self._read_field(made, name, old(name), codec)

    def _read_field(self, made: dict[str, Any], name: str, old: Any, codec: StructCodec) -> None:
        value, node = made[name], codec.field_nodes[name]
        if value and isinstance(node, dict) and value.__class__ is old.__class__:
            inner = _struct_of(node)
            if value.__class__ is dict and inner:
                self.read(value, old, struct_codec(inner))
                return
            items = node.get("items")
            if value.__class__ is list and isinstance(items, dict) and _struct_of(items):
                self._read_items(value, old, _struct_of(items))
                return
        read = codec.decode({name: with_go_number(value, node)})
        if name in read:
            made[name] = read[name]
        else:
            del made[name]

    def _read_items(self, items: list[Any], old: list[Any], struct: str) -> None:
        """An item is read beside the one of its name, if each has one: then that is what it was
        merged with. Others are read as a whole."""
        codec = struct_codec(struct)
        shared = set(map(id, old))
        self.settled |= shared
        named = {item.get("name"): item for item in old if item.__class__ is dict}
        if len(named) < len(old):
            named = {}
        for i, item in enumerate(items):
            if id(item) in shared:
                continue
            before = named.get(item.get("name")) if item.__class__ is dict else None
            if before is None:
                items[i] = codec.decode(with_go_number(item, {"ref": struct}))
            else:
                self.read(item, before, codec)


def _struct_of(node: Mapping[str, Any]) -> str:
    """The component whose fields are known; empty for other shapes."""
    name: str = node.get("ref", "")
    return "" if name in schema_model.SPECIAL_COMPONENTS else name
