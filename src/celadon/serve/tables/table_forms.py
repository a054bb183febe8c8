"""Objects, lists and watch events as tables, or reduced to their metadata.

Every function takes objects as they would be answered in full, with `kind` and `apiVersion`, and
changes nothing in them. As k8s.io/apiserver `pkg/endpoints/handlers/response.go`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any, Final

from celadon.kube import GroupVersionKind, JsonObject, StatusError, metadata, status
from celadon.kube.go import quote
from celadon.kube.status import Status
from celadon.records import dataclass
from celadon.serve.http_messages import HttpRequest
from celadon.serve.tables.table_shapes import TableShape

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

_PACKAGES: Final = {
    "": "core",
    "events.k8s.io": "core",
    "internal.apiserver.k8s.io": "apiserverinternal",
}
"""Go packages of groups whose package is not the first word of the group's name."""


class IncludedObject(enum.Enum):
    """What a row has of its object."""

    METADATA = "Metadata"
    OBJECT = "Object"
    NONE = "None"


@dataclass(frozen=True, slots=True)
class TableForm:
    """What was asked for: `version` is that of `meta.k8s.io`."""

    version: str = "v1"
    included: IncludedObject = IncludedObject.METADATA

    @property
    def api_version(self) -> str:
        return f"meta.k8s.io/{self.version}"


def included_object(request: HttpRequest) -> IncludedObject:
    """Raises StatusError 400."""
    wanted = request.first("includeObject") or IncludedObject.METADATA.value
    try:
        return IncludedObject(wanted)
    except ValueError:
        pass
    problem = "must be 'Metadata', 'Object', 'None', or empty"
    raise status.bad_request(
        "Unable to convert to Table as requested: includeObject: "
        f"Invalid value: {quote(wanted)}: {problem}"
    )


def list_table(
    shape: TableShape, meta: JsonObject, objects: Iterable[JsonObject], form: TableForm, now: float
) -> dict[str, Any]:
    """`meta` is the metadata of the list."""
    ordered = objects if shape.order is None else sorted(objects, key=shape.order)
    return _table(shape, meta, [_row(shape, obj, form, now) for obj in ordered], form)


def object_table(shape: TableShape, obj: JsonObject, form: TableForm, now: float) -> dict[str, Any]:
    """A table with one row."""
    return _table(shape, _version_of(obj), [_row(shape, obj, form, now)], form)


def event_table(
    shape: TableShape, obj: JsonObject, form: TableForm, now: float, *, first: bool
) -> dict[str, Any]:
    """The object of a watch event, bookmarks included; only the first of a stream has columns."""
    table = object_table(shape, obj, form, now)
    return table if first else {**table, "columnDefinitions": None}


def partial_object(obj: JsonObject, version: str) -> dict[str, Any]:
    """An object as PartialObjectMetadata of that version of `meta.k8s.io`."""
    return {
        "kind": PARTIAL,
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": _own_metadata(obj),
    }


def _own_metadata(obj: JsonObject) -> Mapping[str, Any]:
    """Without the annotations that are fields elsewhere."""
    meta = metadata.metadata(obj)
    notes = metadata.annotations(obj)
    if not notes or FIELDS_IN_ANNOTATIONS.isdisjoint(notes):
        return meta
    kept = {key: note for key, note in notes.items() if key not in FIELDS_IN_ANNOTATIONS}
    if kept:
        return {**meta, "annotations": kept}
    return {key: value for key, value in meta.items() if key != "annotations"}


def partial_list(meta: JsonObject, objects: Iterable[JsonObject], version: str) -> dict[str, Any]:
    """A list as PartialObjectMetadataList; of nothing, its items are null."""
    items = [partial_object(obj, version) for obj in objects]
    return {
        "kind": f"{PARTIAL}List",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": meta,
        "items": items or None,
    }


def not_an_object(kind: GroupVersionKind, *, custom: bool) -> StatusError:
    """406: a list of this kind was asked for as the metadata of one object."""
    name = "unstructured.UnstructuredList" if custom else f"{_go_type(kind)}List"
    return _refused(f"you requested {PARTIAL}, but the requested object is a list (*{name})")


def not_a_list(kind: GroupVersionKind, *, custom: bool) -> StatusError:
    """406: one object of this kind was asked for as a list of metadata."""
    name = "unstructured.Unstructured" if custom else _go_type(kind)
    return _refused(
        f"you requested {PARTIAL}List, but the requested object is not a list (*{name})"
    )


def _refused(message: str) -> StatusError:
    return StatusError(Status(message=message, reason="NotAcceptable", code=406))


def _go_type(kind: GroupVersionKind) -> str:
    """The type inside the server, where all versions of a kind are one."""
    package = _PACKAGES.get(kind.group, kind.group.split(".")[0])
    return f"{package}.{kind.kind}"


def _version_of(obj: JsonObject) -> dict[str, str]:
    version = metadata.resource_version(obj)
    return {"resourceVersion": version} if version else {}


def _table(
    shape: TableShape, meta: JsonObject, rows: list[dict[str, Any]], form: TableForm
) -> dict[str, Any]:
    return {
        "kind": "Table",
        "apiVersion": form.api_version,
        "metadata": meta,
        "columnDefinitions": list(shape.headers),
        "rows": None if shape.null_rows and not rows else rows,
    }


def _row(shape: TableShape, obj: JsonObject, form: TableForm, now: float) -> dict[str, Any]:
    conditions = [] if shape.conditions is None else shape.conditions(obj)
    return {
        "cells": shape.cells(obj, now),
        **({"conditions": conditions} if conditions else {}),
        "object": _included(obj, form),
    }


def _included(obj: JsonObject, form: TableForm) -> Mapping[str, Any] | None:
    match form.included:
        case IncludedObject.NONE:
            return None
        case IncludedObject.OBJECT:
            return obj
        case IncludedObject.METADATA:
            return partial_object(obj, form.version)
