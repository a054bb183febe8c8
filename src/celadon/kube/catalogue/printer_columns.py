"""The columns in which a server shows resources as a table.

What is known of a column stands in `data/resources` and `data/columns.json`: its head, the words
that explain it, and in `cell` what it shows, in the small language of the server's printers. Who
shows no tables never loads it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from celadon.kube.json_types import Json
from celadon.kube.names import GroupVersionResource
from celadon.kube.schemas import packs
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """`priority` 1 is shown only in wide output; `hidden` cells have no column of their own."""

    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""
    cell: Json = ""
    hidden: bool = False


def _column(entry: Mapping[str, Any]) -> Column:
    return Column(
        name=entry["name"],
        type=entry["type"],
        format=entry.get("format", ""),
        priority=entry.get("priority", 0),
        description=entry.get("description", every_description(entry["name"])),
        cell=entry["cell"],
    )


def every_description(name: str) -> str:
    """What a column of this name means where its resource does not say more; maybe nothing."""
    description: str = packs.load("columns")["every"].get(name, "")
    return description


@functools.cache
def columns_of(gvr: GroupVersionResource) -> tuple[Column, ...]:
    """In the order of the table; those of name and time of creation for resources without any."""
    pack = packs.load("columns")
    entry = pack["resources"].get("/".join(gvr))
    if entry is None:
        return tuple(map(_column, pack["unprinted"]))
    hidden = (Column(name="", cell=cell, hidden=True) for cell in entry.get("extraCells", ()))
    return *map(_column, entry["columns"]), *hidden


@functools.cache
def scale_columns() -> tuple[Column, ...]:
    """Of the subresource `scale`."""
    return tuple(map(_column, packs.load("columns")["scale"]))
