"""The columns in which a server shows built-in resources as a table.

`source` says where a cell comes from: `.path`, `age(.path)`, `labels(…)`, `join(…)`, `fn name`, or
words; an `int:` or `bool:` before it is the JSON type of the cell when that is not a string.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

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
    source: str = ""
    hidden: bool = False


def _column(entry: Mapping[str, Any] | str, *, hidden: bool) -> Column:
    if isinstance(entry, str):
        return Column(name="", source=entry, hidden=hidden)
    return Column(
        name=entry.get("name", ""),
        type=entry.get("type", "string"),
        format=entry.get("format", ""),
        priority=entry.get("priority", 0),
        source=entry.get("from", ""),
        hidden=hidden,
    )


@functools.cache
def _columns() -> Mapping[GroupVersionResource, tuple[Column, ...]]:
    return {
        GroupVersionResource(*name.split("/")): (
            *(_column(column, hidden=False) for column in entry["columns"]),
            *(_column(cell, hidden=True) for cell in entry.get("extraCells", ())),
        )
        for name, entry in packs.load("columns").items()
    }


def columns_of(gvr: GroupVersionResource) -> tuple[Column, ...]:
    """In the order of the table; none for resources that are not built in."""
    return _columns().get(gvr, ())
