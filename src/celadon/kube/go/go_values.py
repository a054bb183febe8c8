"""Values as Go holds them, with their types, for those who print them as Go does.

A value knows what its type is called (`core.PodSpec`, `[]string`), of which kind that is, and what
its `String` method gives, if it has one.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Final

from celadon.records import dataclass


class Kind(enum.Enum):
    """What a type is made of."""

    STRUCT = "struct"
    LIST = "slice"
    MAP = "map"
    POINTER = "ptr"
    TEXT = "string"
    PLAIN = "plain"
    """A number or a boolean."""


@dataclass(frozen=True, slots=True)
class GoData:
    """A value of a type with a name.

    `members` are the fields of a struct that is one, the entries of a map and, by their numbers,
    the items of a list; None for a map or a list that is nil. A pointer points to `target`; a text,
    number or boolean is its `text`. Two values of a type that `compares` itself are not taken
    apart to see whether they are equal: their `text` says it.
    """

    type: str
    kind: Kind
    members: Mapping[str, GoData] | None = None
    target: GoData | None = None
    text: str = ""
    shown: str | None = None
    """What its `String` method gives."""
    shown_by_pointer: str | None = None
    """The same, of a type whose method belongs to pointers."""
    names_keys: bool = False
    """The keys of a map have a `String` method."""
    compares: bool = False

    @property
    def is_nil(self) -> bool:
        """Return whether it is a map, a list or a pointer that is nil."""
        if self.kind is Kind.POINTER:
            return self.target is None
        return self.kind in _NILLABLE and self.members is None

    @property
    def is_zero(self) -> bool:
        """Return whether it is what Go has for a field that nobody has set."""
        match self.kind:
            case Kind.STRUCT:
                return all(member.is_zero for member in (self.members or {}).values())
            case Kind.TEXT | Kind.PLAIN:
                return self.text in _ZEROS
        return self.is_nil


_NILLABLE: Final = (Kind.LIST, Kind.MAP)
_ZEROS: Final = ("", "0", "false")


def go_struct(type_: str, members: Mapping[str, GoData]) -> GoData:
    """A struct with its fields in order."""
    return GoData(type_, Kind.STRUCT, members)


def go_list(items: Sequence[GoData] | None, type_: str) -> GoData:
    """A list, nil for none; `type_` is that of its items."""
    members = None if items is None else {str(at): one for at, one in enumerate(items)}
    return GoData(f"[]{type_}", Kind.LIST, members)


def go_map(entries: Mapping[str, GoData] | None, type_: str, *, names_keys: bool = False) -> GoData:
    """A map, nil for none; `names_keys` says that its keys have a `String` method."""
    return GoData(type_, Kind.MAP, entries, names_keys=names_keys)


def go_pointer(target: GoData | None, type_: str) -> GoData:
    """A pointer to a value of this type; nil to none."""
    shown = None if target is None else target.shown_by_pointer
    return GoData(f"*{type_}", Kind.POINTER, target=target, shown=shown)


def go_text(text: str) -> GoData:
    """A text."""
    return GoData("string", Kind.TEXT, text=text)


def go_number(value: int, type_: str) -> GoData:
    """A whole number."""
    return GoData(type_, Kind.PLAIN, text=str(value))
