"""The columns in which a server shows resources as a table.

What is known of a column stands in `data/resources` and `data/columns.json`: its head, the words
that explain it, and in `cell` what it shows, in the small language of the server's printers. Who
shows no tables never loads it.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.json_types import Json, JsonObject
from celadon.kube.names import GroupVersionResource
from celadon.kube.releases import per_release
from celadon.kube.schemas import schema_packs
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


def _column(entry: JsonObject) -> Column:
    return Column(
        name=entry["name"],
        type=entry["type"],
        format=entry.get("format", ""),
        priority=entry.get("priority", 0),
        description=entry.get("description", every_description(entry["name"])),
        cell=entry["cell"],
    )


def every_description(name: str) -> str:
    """Return what a column of this name means where its resource does not say more; maybe
    nothing."""
    description: str = schema_packs.load("columns")["every"].get(name, "")
    return description


@per_release()
def columns_of(gvr: GroupVersionResource) -> tuple[Column, ...]:
    """In the order of the table; those of name and time of creation for resources without any."""
    pack = schema_packs.load("columns")
    entry = pack["resources"].get("/".join(gvr))
    if entry is None:
        return tuple(map(_column, pack["unprinted"]))
    hidden = (Column(name="", cell=cell, hidden=True) for cell in entry.get("extraCells", ()))
    return *map(_column, entry["columns"]), *hidden


@per_release()
def scale_columns() -> tuple[Column, ...]:
    """Return the columns of the subresource `scale`."""
    return tuple(map(_column, schema_packs.load("columns")["scale"]))


# --- Ages --------------------------------------------------------------------
#
# How long ago, as tables show it: `5s`, `3m20s`, `47h`, `2y30d`.
#
# As `HumanDuration` in k8s.io/apimachinery `pkg/util/duration`: the further back, the coarser.


UNKNOWN: Final = "<unknown>"
"""The age of what has no time of creation."""

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
YEAR: Final = 365 * DAY


def human_duration(seconds: int) -> str:
    """Whole seconds, rounded towards zero; a clock that is a second behind is forgiven."""
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    if seconds < 2 * MINUTE:
        return f"{seconds}s"
    if seconds < 10 * MINUTE:
        return _two(seconds, MINUTE, "m", 1, "s")
    if seconds < 3 * HOUR:
        return f"{seconds // MINUTE}m"
    if seconds < 8 * HOUR:
        return _two(seconds, HOUR, "h", MINUTE, "m")
    if seconds < 2 * DAY:
        return f"{seconds // HOUR}h"
    if seconds < 8 * DAY:
        return _two(seconds, DAY, "d", HOUR, "h")
    if seconds < 2 * YEAR:
        return f"{seconds // DAY}d"
    if seconds < 8 * YEAR:
        return _two(seconds, YEAR, "y", DAY, "d")
    return f"{seconds // YEAR}y"


def _two(seconds: int, unit: int, letter: str, small_unit: int, small_letter: str) -> str:
    """Without the second part when it is nothing."""
    whole, rest = divmod(seconds, unit)
    small = rest // small_unit
    return f"{whole}{letter}" + (f"{small}{small_letter}" if small else "")
