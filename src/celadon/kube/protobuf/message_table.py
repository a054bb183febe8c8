"""The table of messages, `messages.txt`: which fields a kind has, under which numbers.

The text beside this file is the source and explains its form. It is read once; the lines of a
message are parsed when the message is first asked for.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Mapping
from typing import Final

from celadon.kube.names import GroupVersionKind, parse_api_version
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

IN_CORE: Final = frozenset({"APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"})
"""Kinds of meta.v1 that are `v1`, and no other version (`metav1.Unversioned`)."""


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


@dataclass(frozen=True, slots=True)
class _Table:
    kinds: Mapping[GroupVersionKind, str]
    lines: Mapping[str, tuple[str, ...]]


@functools.cache
def _table() -> _Table:
    read = pkgutil.get_data("celadon.kube", "protobuf/messages.txt")
    if read is None:
        raise ImportError("messages.txt of celadon.kube.protobuf cannot be read")
    kinds: dict[GroupVersionKind, str] = {}
    lines: dict[str, tuple[str, ...]] = {}
    package = group = version = ""
    for block in read.decode().split("\n\n"):
        if block.startswith("#"):
            continue
        head, *fields = block.splitlines()
        if head.startswith("["):
            package, _, api_version = head[1:].partition("] ")
            group, version = parse_api_version(api_version)
            continue
        name, _, mark = head.partition(" ")
        lines[f"{package}.{name}"] = tuple(fields)
        if mark:
            kind = GroupVersionKind(group, version, name)
            if package == META and name in IN_CORE:
                kind = GroupVersionKind("", "v1", name)
            kinds[kind] = f"{package}.{name}"
    return _Table(kinds, lines)


def kinds() -> Mapping[GroupVersionKind, str]:
    """The kinds of the table, and the names of their messages."""
    return _table().kinds


def message_of(gvk: GroupVersionKind) -> str | None:
    """The name of the message, as `core.v1.Pod`; None for kinds without one."""
    if gvk.kind in IN_EVERY_GROUP_VERSION:
        return f"{META}.{gvk.kind}"
    return _table().kinds.get(gvk)


@functools.cache
def message_fields(name: str) -> tuple[MessageField, ...]:
    """In the order of Go's structs, in which JSON has them. KeyError for a name that is not in the
    table."""
    package = name.rpartition(".")[0]
    return tuple(_field(line, package) for line in _table().lines[name])


def _field(line: str, package: str) -> MessageField:
    number, name, type_ = line.split()
    optional, repeated = type_.endswith("?"), type_.endswith(_LIST_END)
    mapped = type_.startswith(_MAP_START)
    if mapped:
        type_ = type_[len(_MAP_START) : -1]
    type_ = type_.removesuffix("?").removesuffix(_LIST_END)
    if f"{package}.{type_}" in _table().lines or type_[0].isupper():
        type_ = f"{package}.{type_}"
    return MessageField(int(number), name, type_, optional, repeated, mapped)
