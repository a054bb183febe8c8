"""The heads of columns: name, type, and the words that explain a column to its reader."""

from __future__ import annotations

from typing import Final, TypeAlias

from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Column

Header: TypeAlias = JsonDict
"""An entry of a table's `columnDefinitions`."""

CREATED_AT: Final = "Created At"
"""The last column of a resource that nobody wrote a printer for."""


def described(column: Column) -> Header:
    """All members are always there."""
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }
