"""Objects, lists and watch events as tables, or reduced to their metadata.

Every function takes objects as they would be answered in full, with `kind` and `apiVersion`, and
changes nothing in them. As k8s.io/apiserver `pkg/endpoints/handlers/response.go`.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.printers import cell_texts
from celadon.apiserver.printers.printer_cells import compiled
from celadon.kube import (
    GroupVersionKind,
    GroupVersionResource,
    Json,
    JsonObject,
    StatusError,
    metadata,
    status,
)
from celadon.kube.go import TimeError, canonical_time, quote, sorted_members
from celadon.kube.json_types import JsonDict
from celadon.kube.jsonpath import JSONPathError, Steps, parse_jsonpath, printed, selected
from celadon.kube.protobuf import ordered_message
from celadon.kube.releases import per_release
from celadon.kube.resources import Column, Resource, columns_of, every_description, scale_columns
from celadon.kube.status import Status, plain_error
from celadon.kube.well_known_values import ZERO_TIME
from celadon.records import dataclass

# --- Headers of columns ------------------------------------------------------
#
# The heads of columns: name, type, and the words that explain a column to its reader.

Header: TypeAlias = JsonDict
"""An entry of a table's `columnDefinitions`."""

CREATED_AT: Final = "Created At"
"""The last column of a resource that nobody wrote a printer for."""


def described(column: Column) -> Header:
    """Return the head of a column, which always has all members."""
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }


# --- Columns of custom resources ---------------------------------------------
#
# The columns that a CustomResourceDefinition gives its objects: JSONPaths, typed and printed.
#
# As k8s.io/apiextensions-apiserver `pkg/registry/customresource/tableconvertor`: a cell whose
# value is missing or of another type than the column is null.

AGE: Final[JsonObject] = {
    "name": "Age",
    "type": "date",
    "jsonPath": ".metadata.creationTimestamp",
}
"""The column of a version that names none."""

_INT64: Final = 2**63
_ALL_DIGITS: Final = 1e16
"""The float from which on Python writes an exponent, and Go noughts in place of digits."""


def shown_columns(columns: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Return those of the `additionalPrinterColumns` of a version that stand before the first
    whose path cannot be read: validation looks at no more than how paths begin."""
    return tuple(itertools.takewhile(_is_readable, columns or (AGE,)))


def _is_readable(column: JsonObject) -> bool:
    try:
        _path(column)
    except JSONPathError:
        return False
    return True


def custom_headers(columns: Sequence[JsonObject]) -> tuple[Header, ...]:
    """Return the heads of the columns that are shown of a version."""
    name = described(Column("Name", format="name", description=every_description("Name")))
    return name, *map(_header, columns)


def _header(entry: JsonObject) -> Header:
    if entry is AGE:
        return described(Column("Age", type="date", description=every_description("Age")))
    path = f"Custom resource definition column (in JSONPath format): {entry['jsonPath']}"
    column = Column(
        entry["name"],
        entry["type"],
        entry.get("format") or "",
        entry.get("priority") or 0,
        entry.get("description") or path,
    )
    return described(column)


def custom_cells(columns: Sequence[JsonObject]) -> cell_texts.CellsOf:
    """Return the function that fills the columns, whose paths can be read."""
    readers = [_reader(column) for column in columns]

    def cells(obj: JsonObject, now: float) -> list[cell_texts.Cell]:
        return [metadata.name(obj), *(read(obj, now) for read in readers)]

    return cells


def _reader(column: JsonObject) -> Callable[[JsonObject, float], cell_texts.Cell]:
    steps, kind = _path(column), column["type"]

    def read(obj: JsonObject, now: float) -> cell_texts.Cell:
        values = selected(steps, obj)
        return _cell(kind, values[0], now) if values else None

    return read


def _path(column: JsonObject) -> Steps:
    return parse_jsonpath(f"{{{column['jsonPath']}}}")


def _cell(kind: str, value: Json, now: float) -> cell_texts.Cell:
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
    """Return a float for JSON, or None for what is no number. A whole one is written without a
    fraction, as long as all of its digits are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = float(value)
    return int(number) if abs(number) < _ALL_DIGITS and number.is_integer() else number


def _date(value: str, now: float) -> str:
    if value in ("", "null"):
        return cell_texts.since("", now)
    try:
        time = canonical_time(value)
    except TimeError:
        return cell_texts.INVALID
    return cell_texts.since("" if time == ZERO_TIME else time, now)


# --- Table shapes ------------------------------------------------------------
#
# How the objects of each resource are shown in a table: columns, cells, conditions, order.

PODS: Final = "pods"
FLOW_SCHEMAS: Final = "flowschemas.flowcontrol.apiserver.k8s.io"


@dataclass(frozen=True, slots=True)
class TableShape:
    """Describes the table of a kind. `cells` may be more than there are `headers`. `conditions` are
    those of a row; `order` sorts the rows of a list, where they are not in the order of the list.
    Where `null_rows` is set, the rows of an empty list are null, as they are for kinds that nobody
    wrote a printer for."""

    headers: tuple[Header, ...]
    cells: cell_texts.CellsOf
    conditions: Callable[[JsonObject], list[dict[str, str]]] | None = None
    order: Callable[[JsonObject], Any] | None = None
    null_rows: bool = False


@per_release(maxsize=1024)
def built_in_shape(gvr: GroupVersionResource) -> TableShape:
    """Return the shape of a built-in resource; of any other one, it is name and time of
    creation."""
    columns = columns_of(gvr)
    resource = str(gvr.group_resource)
    return TableShape(
        _headers(columns),
        _cells(columns),
        cell_texts.pod_conditions if resource == PODS else None,
        flow_schema_order if resource == FLOW_SCHEMAS else None,
        null_rows=columns[-1].name == CREATED_AT,
    )


@per_release()
def scale_shape() -> TableShape:
    """Return the shape of the subresource `scale`, whatever it scales."""
    columns = scale_columns()
    return TableShape(_headers(columns), _cells(columns))


def _headers(columns: Sequence[Column]) -> tuple[Header, ...]:
    return tuple(described(column) for column in columns if not column.hidden)


def _cells(columns: Sequence[Column]) -> cell_texts.CellsOf:
    """Return the function that fills the columns, as the data say it."""
    readers = [compiled(column.cell) for column in columns]

    def cells(obj: JsonObject, now: float) -> list[cell_texts.Cell]:
        row = cell_texts.Row(obj, now, {})
        return [read(obj, row) for read in readers]

    return cells


def flow_schema_order(obj: JsonObject) -> tuple[int, str]:
    """Return what lists of FlowSchemas are sorted by: they show first what is matched first."""
    return cell_texts.number(obj, "spec", "matchingPrecedence"), metadata.name(obj)


def custom_shape(resource: Resource, definition: JsonObject) -> TableShape:
    """Return the shape of a custom resource in the version that `resource` is."""
    columns = shown_columns(_printer_columns(resource, definition))
    return TableShape(custom_headers(columns), custom_cells(columns))


def custom_scale_shape() -> TableShape:
    """Return the shape of the scale of a custom resource."""
    return TableShape(custom_headers(_SCALE_COLUMNS), custom_cells(_SCALE_COLUMNS))


_SCALE_COLUMNS: Final[Sequence[JsonObject]] = (
    {
        "name": "Desired",
        "type": "integer",
        "description": "Number of desired replicas",
        "jsonPath": ".spec.replicas",
    },
    {
        "name": "Available",
        "type": "integer",
        "description": "Number of actual replicas",
        "jsonPath": ".status.replicas",
    },
    AGE,
)


def _printer_columns(resource: Resource, definition: JsonObject) -> Sequence[JsonObject]:
    for version in cell_texts.at(definition, "spec", "versions") or ():
        if version["name"] == resource.gvr.version:
            return version.get("additionalPrinterColumns") or ()
    return ()


PARTIAL: Final = "PartialObjectMetadata"
FIELDS_IN_ANNOTATIONS: Final = frozenset(
    {
        "deprecated.daemonset.template.generation",
        "deprecated.deployment.rollback.to",
        "autoscaling.alpha.kubernetes.io/behavior",
        "autoscaling.alpha.kubernetes.io/conditions",
        "autoscaling.alpha.kubernetes.io/current-metrics",
        "autoscaling.alpha.kubernetes.io/metrics",
    }
)
"""What a version of a kind has no field for and shows as an annotation: forms that are made of the
object as the server has it inside lack them (k8s.io/kubernetes `pkg/apis/*/*/conversion.go`)."""


class IncludedObject(enum.Enum):
    """Says what a row has of its object."""

    METADATA = "Metadata"
    OBJECT = "Object"
    NONE = "None"


@dataclass(frozen=True, slots=True)
class TableForm:
    """Says which table was asked for: `version` is that of `meta.k8s.io`. Members of whole objects
    are sorted, if they have no order of their own."""

    version: str = "v1"
    included: IncludedObject = IncludedObject.METADATA
    sorts: bool = False

    @property
    def api_version(self) -> str:
        return f"meta.k8s.io/{self.version}"


def included_object(request: HttpRequest) -> IncludedObject:
    """Return what a row is to have of its object. Raises StatusError 400."""
    first = request.first("includeObject") or IncludedObject.METADATA.value
    try:
        return IncludedObject(first)
    except ValueError:
        pass
    problem = "must be 'Metadata', 'Object', 'None', or empty"
    raise status.bad_request(
        "Unable to convert to Table as requested: includeObject: "
        f"Invalid value: {quote(first)}: {problem}"
    )


def list_table(
    shape: TableShape, meta: JsonObject, objects: Iterable[JsonObject], form: TableForm, now: float
) -> JsonDict:
    """Return a table with a row for each object; `meta` is the metadata of the list."""
    ordered = objects if shape.order is None else sorted(objects, key=shape.order)
    return _table(shape, meta, [_row(shape, obj, form, now) for obj in ordered], form)


def object_table(shape: TableShape, obj: JsonObject, form: TableForm, now: float) -> JsonDict:
    """Return a table with one row."""
    return _table(shape, _version_of(obj), [_row(shape, obj, form, now)], form)


def event_table(
    shape: TableShape, obj: JsonObject, form: TableForm, now: float, *, first: bool
) -> JsonDict:
    """Return the object of a watch event, bookmarks included; only the first of a stream has
    columns."""
    table = object_table(shape, obj, form, now)
    return table if first else {**table, "columnDefinitions": None}


def partial_object(obj: JsonObject, version: str) -> JsonDict:
    """Return an object as PartialObjectMetadata of that version of `meta.k8s.io`."""
    return {
        "kind": PARTIAL,
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": _own_metadata(obj),
    }


def _own_metadata(obj: JsonObject) -> JsonObject:
    """Return the metadata without the annotations that are fields elsewhere, its members in the
    order of their struct: those of custom resources have none of their own."""
    meta = ordered_message(metadata.metadata(obj), "meta.v1.ObjectMeta")
    notes = metadata.annotations(obj)
    if not notes or FIELDS_IN_ANNOTATIONS.isdisjoint(notes):
        return meta
    result = {key: note for key, note in notes.items() if key not in FIELDS_IN_ANNOTATIONS}
    if result:
        return {**meta, "annotations": result}
    return {key: value for key, value in meta.items() if key != "annotations"}


def partial_list(meta: JsonObject, objects: Iterable[JsonObject], version: str) -> JsonDict:
    """Return a list as PartialObjectMetadataList; of nothing, its items are null."""
    items = [partial_object(obj, version) for obj in objects]
    return {
        "kind": f"{PARTIAL}List",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": meta,
        "items": items or None,
    }


def not_an_object(kind: GroupVersionKind, *, custom: bool) -> StatusError:
    """406: a list of this kind was asked for as the metadata of one object."""
    name = "unstructured.UnstructuredList" if custom else f"{go_type(kind)}List"
    return _refused(f"you requested {PARTIAL}, but the requested object is a list (*{name})")


def not_a_list(type_: str, *, custom: bool) -> StatusError:
    """Return the refusal where one object of this Go type was asked for as a list of metadata: 406.
    Upstream's custom resources can be lists, so that only their items are missed: 500."""
    if custom:
        return plain_error("content is not a list")
    return _refused(
        f"you requested {PARTIAL}List, but the requested object is not a list (*{type_})"
    )


def _refused(message: str) -> StatusError:
    return StatusError(Status(message=message, reason="NotAcceptable", code=406))


def go_type(kind: GroupVersionKind) -> str:
    """Return the type inside the server, where all versions of a kind are one."""
    return f"{kind.group_kind.go_package}.{kind.kind}"


def _version_of(obj: JsonObject) -> dict[str, str]:
    version = metadata.resource_version(obj)
    return {"resourceVersion": version} if version else {}


def _table(shape: TableShape, meta: JsonObject, rows: list[JsonDict], form: TableForm) -> JsonDict:
    return {
        "kind": "Table",
        "apiVersion": form.api_version,
        "metadata": meta,
        "columnDefinitions": list(shape.headers),
        "rows": None if shape.null_rows and not rows else rows,
    }


def _row(shape: TableShape, obj: JsonObject, form: TableForm, now: float) -> JsonDict:
    conditions = [] if shape.conditions is None else shape.conditions(obj)
    return {
        "cells": shape.cells(obj, now),
        **({"conditions": conditions} if conditions else {}),
        "object": _included(obj, form),
    }


def _included(obj: JsonObject, form: TableForm) -> JsonObject | None:
    match form.included:
        case IncludedObject.NONE:
            return None
        case IncludedObject.OBJECT:
            return sorted_members(obj) if form.sorts else obj
        case IncludedObject.METADATA:
            return partial_object(obj, form.version)
