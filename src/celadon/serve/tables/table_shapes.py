"""How the objects of each resource are shown in a table: columns, cells, conditions, order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.catalogue import Column, Resource
from celadon.records import dataclass
from celadon.serve.tables.access_cells import ACCESS, FLOW_SCHEMAS, flow_schema_order
from celadon.serve.tables.autoscaler_cells import autoscaler_cells
from celadon.serve.tables.cell_texts import Cell, CellsOf, age, at, number
from celadon.serve.tables.cluster_cells import CLUSTER
from celadon.serve.tables.column_headers import CREATED_AT, Header, built_in_headers, described
from celadon.serve.tables.custom_columns import custom_cells, custom_headers
from celadon.serve.tables.device_cells import DEVICES
from celadon.serve.tables.network_cells import NETWORK
from celadon.serve.tables.pod_cells import pod_cells, pod_conditions
from celadon.serve.tables.registration_cells import REGISTRATIONS
from celadon.serve.tables.storage_cells import STORAGE
from celadon.serve.tables.workload_cells import WORKLOADS

_BUILT_IN: Final[Mapping[str, CellsOf]] = {
    **ACCESS,
    **CLUSTER,
    **DEVICES,
    **NETWORK,
    **REGISTRATIONS,
    **STORAGE,
    **WORKLOADS,
    "horizontalpodautoscalers.autoscaling": autoscaler_cells,
    "pods": pod_cells,
}
_ZERO_TIME: Final = "0001-01-01T00:00:00Z"


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


def _created_at(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), metadata.creation_timestamp(obj) or _ZERO_TIME]


def _name_and_age(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), age(obj, now)]


def _scale(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        number(obj, "spec", "replicas"),
        number(obj, "status", "replicas"),
        age(obj, now),
    ]


@functools.lru_cache(maxsize=1024)
def built_in_shape(gvr: GroupVersionResource) -> TableShape:
    """Of a resource that is built in, or of any other: then name and time of creation."""
    headers = built_in_headers(gvr)
    resource = str(gvr.group_resource)
    if headers[-1]["name"] == CREATED_AT.name:
        return TableShape(headers, _created_at, null_rows=True)
    return TableShape(
        headers,
        _BUILT_IN.get(resource, _name_and_age),
        pod_conditions if resource == "pods" else None,
        flow_schema_order if resource == FLOW_SCHEMAS else None,
    )


@functools.cache
def scale_shape() -> TableShape:
    """Of the subresource `scale`, whatever it scales."""
    columns = (
        Column("Name"),
        Column("Desired", type="integer"),
        Column("Available", type="integer"),
        Column("Age"),
    )
    return TableShape(tuple(described(one, "scales.autoscaling") for one in columns), _scale)


def custom_shape(resource: Resource, definition: JsonObject) -> TableShape:
    """Of a custom resource in the version that `resource` is."""
    columns = _printer_columns(resource, definition)
    return TableShape(custom_headers(columns), custom_cells(columns))


def _printer_columns(resource: Resource, definition: JsonObject) -> Sequence[Mapping[str, Any]]:
    for version in at(definition, "spec", "versions") or ():
        if version["name"] == resource.gvr.version:
            return version.get("additionalPrinterColumns") or ()
    return ()
