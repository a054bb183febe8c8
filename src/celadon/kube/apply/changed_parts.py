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
    """`settled` are the identities of the topmost lists and maps that both objects have."""

    __slots__ = ("settled",)

    def __init__(self) -> None:
        self.settled: set[int] = set()

    def read(
        self, made: Mapping[str, Any], live: Mapping[str, Any], codec: StructCodec
    ) -> dict[str, Any]:
        """A new struct, which shares what is settled. DecodeError and Mismatch where a value does
        not fit; their paths are not those of the object."""
        nodes = codec.field_nodes
        found: dict[str, Any] = {}
        for name, value in made.items():
            old = live.get(name)
            if value is old:
                self._settle(value)
                found[name] = value
            elif name in nodes:
                self._read_field(found, name, value, old, codec)
        for name, empty in codec.empty().items():
            found.setdefault(name, empty)
        return found

    def _settle(self, value: object) -> None:
        if value.__class__ is dict or value.__class__ is list:
            self.settled.add(id(value))

    def _read_field(
        self, found: dict[str, Any], name: str, value: Any, old: Any, codec: StructCodec
    ) -> None:
        node = codec.field_nodes[name]
        if isinstance(node, dict) and value.__class__ is old.__class__:
            ref = node.get("ref", "")
            if value.__class__ is dict and ref and ref not in schema_model.SPECIAL_COMPONENTS:
                found[name] = self.read(value, old, struct_codec(ref))
                return
            if value.__class__ is list and value and "items" in node:
                found[name] = self._read_items(name, value, old, codec)
                return
        read = codec.decode({name: with_go_number(value, node)})
        if name in read:
            found[name] = read[name]

    def _read_items(
        self, name: str, items: list[Any], old: list[Any], codec: StructCodec
    ) -> list[Any]:
        """Those that are new are read as a list of their own."""
        known = {id(item) for item in old if item.__class__ is dict or item.__class__ is list}
        new = [item for item in items if id(item) not in known]
        node = codec.field_nodes[name]
        read = iter(codec.decode({name: with_go_number(new, node)})[name] if new else ())
        for item in items:
            if id(item) in known:
                self._settle(item)
        return [item if id(item) in known else next(read) for item in items]
