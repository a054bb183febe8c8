"""The columns that a CustomResourceDefinition gives its objects: JSONPaths, typed and printed.

As k8s.io/apiextensions-apiserver `pkg/registry/customresource/tableconvertor`: a cell whose value
is missing or of another type than the column is null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from celadon.apiserver.printers.cell_texts import INVALID, Cell, CellsOf, since
from celadon.apiserver.printers.column_headers import Header, described
from celadon.kube import Json, JsonObject, metadata
from celadon.kube.go import TimeError, canonical_time
from celadon.kube.jsonpath import parse_jsonpath, printed, selected
from celadon.kube.resources import Column, every_description

AGE: Final[JsonObject] = {
    "name": "Age",
    "type": "date",
    "jsonPath": ".metadata.creationTimestamp",
}
"""The column of a version that names none."""

_INT64: Final = 2**63


def custom_headers(columns: Sequence[JsonObject]) -> tuple[Header, ...]:
    """Of the `additionalPrinterColumns` of a version."""
    name = described(Column("Name", format="name", description=every_description("Name")))
    if not columns:
        age = Column("Age", type="date", description=every_description("Age"))
        return name, described(age)
    return name, *(_header(column) for column in columns)


def _header(entry: JsonObject) -> Header:
    path = f"Custom resource definition column (in JSONPath format): {entry['jsonPath']}"
    column = Column(
        entry["name"],
        entry["type"],
        entry.get("format") or "",
        entry.get("priority") or 0,
        entry.get("description") or path,
    )
    return described(column)


def custom_cells(columns: Sequence[JsonObject]) -> CellsOf:
    """The function that fills the columns. They have been validated: their paths can be read."""
    readers = [_reader(column) for column in columns or (AGE,)]

    def cells(obj: JsonObject, now: float) -> list[Cell]:
        return [metadata.name(obj), *(read(obj, now) for read in readers)]

    return cells


def _reader(column: JsonObject) -> Callable[[JsonObject, float], Cell]:
    steps = parse_jsonpath(f"{{{column['jsonPath']}}}")
    kind = column["type"]

    def read(obj: JsonObject, now: float) -> Cell:
        found = selected(steps, obj)
        return _cell(kind, found[0], now) if found else None

    return read


def _cell(kind: str, value: Json, now: float) -> Cell:
    match kind:
        case "string":
            return printed(value)
        case "integer":
            return _integer(value)
        case "number":
            return _number(value)
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date":
            return _date(value, now) if isinstance(value, str) else None
        case _:
            return None


def _integer(value: object) -> int | None:
    """Floats are cut; what is too large for that becomes what it does on most machines."""
    if isinstance(value, float):
        return int(value) if abs(value) < _INT64 else -_INT64
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> int | float | None:
    """Whole floats are written without a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < _INT64 and value == int(value) else value


def _date(value: str, now: float) -> str:
    if value in ("", "null"):
        return since("", now)
    try:
        return since(canonical_time(value), now)
    except TimeError:
        return INVALID
