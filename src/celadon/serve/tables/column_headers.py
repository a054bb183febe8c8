"""The heads of columns: name, type, and the words that explain a column to its reader.

The words are in `column_descriptions.toml` beside this file: one section for each
resource (with its group, in all versions) and `[every]` for what most kinds have.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from celadon.kube import GroupVersionResource
from celadon.kube.catalogue import Column, columns_of

Header: TypeAlias = dict[str, Any]
"""An entry of a table's `columnDefinitions`."""

EVERY: Final = "every"
CREATED_AT: Final = Column("Created At", type="date")
NAME: Final = Column("Name", format="name")


def header(column: Column, description: str) -> Header:
    """All members are always there."""
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": description,
        "priority": column.priority,
    }


def described(column: Column, resource: str) -> Header:
    """A column of a built-in resource, which is named with its group."""
    own, every = _descriptions().get(resource, {}), _descriptions()[EVERY]
    return header(column, own.get(column.name, every.get(column.name, "")))


def built_in_headers(gvr: GroupVersionResource) -> tuple[Header, ...]:
    """Of a resource without columns of its own: name and time of creation."""
    resource = str(gvr.group_resource)
    columns = [one for one in columns_of(gvr) if not one.hidden] or [NAME, CREATED_AT]
    return tuple(described(column, resource) for column in columns)


@functools.cache
def _descriptions() -> Mapping[str, Mapping[str, str]]:
    read = pkgutil.get_data("celadon.serve.tables", "column_descriptions.toml")
    if read is None:
        raise ImportError("column_descriptions.toml of celadon.serve.tables cannot be read")
    import tomllib  # late: nobody may ask for a table

    return tomllib.loads(read.decode())
