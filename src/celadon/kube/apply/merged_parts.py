"""What a merge puts into an object of Go's types, read into them as it comes.

What was there before was read before: it stays, and so do its defaults. So only what a
configuration says has to be read, and defaulted only if it has consequences (`default_triggers`),
which few configurations have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.kube.apply.typed.merge_types import MergeType
from celadon.kube.defaulting.default_triggers import NO_TRIGGERS, Triggers
from celadon.kube.registry.draft import ChangedDefaulting
from celadon.kube.schemas.typed_objects import struct_codec
from celadon.kube.schemas.typed_values import DROPPED

_CONTAINERS: Final = (dict, list)


class MergedParts:
    """A `Joiner` for one merge into a defaulted object, with the triggers of its kind. Raises
    DecodeError and Mismatch where a value does not fit; their paths are not those of the object."""

    __slots__ = ("_added", "_is_stirred", "_triggers", "_was")

    def __init__(self, triggers: Mapping[str, Triggers]) -> None:
        self._triggers = triggers
        self._is_stirred = False
        self._added: list[tuple[str, dict[str, Any]]] = []
        self._was: list[Mapping[str, Any] | Sequence[Any]] = []

    def joined(
        self,
        type_: MergeType,
        live: Mapping[str, Any],
        made: dict[str, Any],
        config: Mapping[str, Any],
    ) -> None:
        """Reads what was taken over into a struct; a map is read with the struct it is in."""
        self._was.append(live)
        codec = type_.codec
        if codec is None:
            return
        triggers, entered = self._triggers.get(codec.name, NO_TRIGGERS), codec.entered
        for name, given in config.items():
            value = made[name]
            inner = entered.get(name, "")
            if inner and value is not given:
                continue
            read = codec.read_field(name, value)
            if read is DROPPED:
                del made[name]
            else:
                made[name] = read
                if read.__class__ in _CONTAINERS:
                    self._take(inner, codec.field_nodes[name], read)
            if (not read or read is DROPPED) and triggers.of_emptied(made, name):
                self._is_stirred = True
        if triggers is not NO_TRIGGERS and triggers.of_set(made, config):
            self._is_stirred = True

    def added(self, type_: MergeType, item: Any) -> Any:
        """Reads an item that is a struct; lists of others are read with the struct they are in."""
        codec = type_.codec
        if codec is None:
            return item
        read = codec.decode(item)
        self._added.append((codec.name, read))
        return read

    def passed(self, live: Sequence[Any]) -> None:
        self._was.append(live)

    def _take(self, component: str, node: Any, value: Any) -> None:
        """Remembers the structs that were read, of a component or a list of it; deeper ones are
        not looked for, but taken for a reason to ask the rules."""
        if component:
            structs = value if value.__class__ is list else (value,)
            self._added += [(component, one) for one in structs]
        else:
            inner = node.get("items") or node.get("values")
            self._is_stirred |= isinstance(inner, dict)

    def finish(self, made: dict[str, Any], defaulting: ChangedDefaulting) -> None:
        """Completes the object, and defaults it if there may be something to do. Changes `made`
        where it is new."""
        if not self._is_stirred and not self._added:
            return
        run, known = defaulting.run(made), self._triggers
        if self._is_stirred or any(
            known.get(component, NO_TRIGGERS).of_new(struct, run)
            for component, struct in self._added
        ):
            defaulting.default(run, self._settled())
            return
        for component, struct in self._added:
            struct_codec(component).complete(struct)

    def _settled(self) -> set[int]:
        """The identities of all that the object shares with the one before, and of more that is
        scalar."""
        found: set[int] = set()
        for was in self._was:
            found.update(map(id, was.values() if isinstance(was, Mapping) else was))
        return found
