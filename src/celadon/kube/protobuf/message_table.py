"""The table of messages: which fields a kind has, under which numbers, and in which order.

The pack `messages` is made of the types in `data/`. A message is a text with a line for each field
in the order of the Go struct: number, name in JSON, type. `?` marks what Go holds by pointer (or as
bytes): on the wire only when it is set. Everything else is always written, zeros too, except lists
and maps, whose empty form has no bytes. `(inline)` fields hold a message whose fields are in JSON
those of the outer one. Types without a package are of the same one.

The lines of a message are parsed when the message is first asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import packs
from celadon.records import dataclass

META: Final = "meta.v1"
INLINE: Final = "(inline)"
_LIST_END: Final = "[]"
_MAP_START: Final = "map<string,"

IN_EVERY_GROUP_VERSION: Final = frozenset(
    {
        *("CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions"),
        "UpdateOptions",
    }
)
"""Kinds of meta.v1 that every group version registers (apimachinery `metav1.AddToGroupVersion`)."""

_META_VERSION: Final = GroupVersionKind("meta.k8s.io", "v1", "")


@dataclass(frozen=True, slots=True)
class MessageField:
    """`type` is a scalar or the full name of a message. A field is at most one of `repeated` and
    `mapped` (to values of `type`, under strings). `name` is that in JSON."""

    number: int
    name: str
    type: str
    optional: bool = False
    repeated: bool = False
    mapped: bool = False

    @property
    def inline(self) -> bool:
        return self.name == INLINE


@functools.cache
def _lines() -> Mapping[str, str]:
    lines: Mapping[str, str] = packs.load("messages")["messages"]
    return lines


@functools.cache
def kinds() -> Mapping[GroupVersionKind, str]:
    """The kinds of the table, and the names of their messages."""
    named = {
        GroupVersionKind(*name.split("/")): message
        for name, message in packs.load("messages")["kinds"].items()
    }
    options = {
        _META_VERSION._replace(kind=kind): f"{META}.{kind}" for kind in IN_EVERY_GROUP_VERSION
    }
    return named | options


def message_of(gvk: GroupVersionKind) -> str | None:
    """The name of the message, as `core.v1.Pod`; None for kinds without one."""
    if gvk.kind in IN_EVERY_GROUP_VERSION:
        return f"{META}.{gvk.kind}"
    return kinds().get(gvk)


@functools.cache
def message_fields(name: str) -> tuple[MessageField, ...]:
    """In the order of Go's structs, in which JSON has them. KeyError for a name that is not in the
    table."""
    package = ".".join(name.split(".")[:2])
    return tuple(_field(line, package) for line in _lines()[name].splitlines())


def _field(line: str, package: str) -> MessageField:
    number, name, type_ = line.split()
    optional, repeated = type_.endswith("?"), type_.endswith(_LIST_END)
    mapped = type_.startswith(_MAP_START)
    if mapped:
        type_ = type_[len(_MAP_START) : -1]
    type_ = type_.removesuffix("?").removesuffix(_LIST_END)
    if type_[0].isupper():
        type_ = f"{package}.{type_}"
    return MessageField(int(number), name, type_, optional, repeated, mapped)
