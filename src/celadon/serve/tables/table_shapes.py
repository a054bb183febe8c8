"""How the objects of each resource are shown in a table: columns, cells, conditions, order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.catalogue import Column, Resource, columns_of, scale_columns
from celadon.records import dataclass
from celadon.serve.tables.cell_texts import Cell, CellsOf, Row, at, number
from celadon.serve.tables.column_headers import CREATED_AT, Header, described
from celadon.serve.tables.custom_columns import custom_cells, custom_headers
from celadon.serve.tables.pod_cells import pod_conditions
from celadon.serve.tables.printer_cells import compiled

PODS: Final = "pods"
FLOW_SCHEMAS: Final = "flowschemas.flowcontrol.apiserver.k8s.io"


@dataclass(frozen=True, slots=True)
class TableShape:
    """`cells` may be more than there are `headers`. `conditions` are those of a row; `order` sorts
    the rows of a list, where they are not in the order of the list. Where `null_rows` is set, the
    rows of an empty list are null, as they are for kinds that nobody wrote a printer for."""

    headers: tuple[Header, ...]
    cells: CellsOf
    conditions: Callable[[JsonObject], list[dict[str, str]]] | None = None
    order: Callable[[JsonObject], Any] | None = None
    null_rows: bool = False


@functools.lru_cache(maxsize=1024)
def built_in_shape(gvr: GroupVersionResource) -> TableShape:
    """Of a resource that is built in, or of any other: then name and time of creation."""
    columns = columns_of(gvr)
    resource = str(gvr.group_resource)
    return TableShape(
        _headers(columns),
        _cells(columns),
        pod_conditions if resource == PODS else None,
        flow_schema_order if resource == FLOW_SCHEMAS else None,
        null_rows=columns[-1].name == CREATED_AT,
    )


@functools.cache
def scale_shape() -> TableShape:
    """Of the subresource `scale`, whatever it scales."""
    columns = scale_columns()
    return TableShape(_headers(columns), _cells(columns))


def _headers(columns: Sequence[Column]) -> tuple[Header, ...]:
    return tuple(described(column) for column in columns if not column.hidden)


def _cells(columns: Sequence[Column]) -> CellsOf:
    """The function that fills the columns, as the data say it."""
    readers = [compiled(column.cell) for column in columns]

    def cells(obj: JsonObject, now: float) -> list[Cell]:
        row = Row(obj, now, {})
        return [read(obj, row) for read in readers]

    return cells


def flow_schema_order(obj: JsonObject) -> tuple[int, str]:
    """Lists of flow schemas show first what is matched first."""
    return number(obj, "spec", "matchingPrecedence"), metadata.name(obj)


def custom_shape(resource: Resource, definition: JsonObject) -> TableShape:
    """Of a custom resource in the version that `resource` is."""
    columns = _printer_columns(resource, definition)
    return TableShape(custom_headers(columns), custom_cells(columns))


def _printer_columns(resource: Resource, definition: JsonObject) -> Sequence[Mapping[str, Any]]:
    for version in at(definition, "spec", "versions") or ():
        if version["name"] == resource.gvr.version:
            return version.get("additionalPrinterColumns") or ()
    return ()
