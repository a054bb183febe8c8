"""Answers as tables, of registration objects."""

from __future__ import annotations

import re
from typing import Any

from celadon.kube.catalogue import Resource, columns_of
from celadon.serve.tables.cell_texts import seconds
from celadon.serve.tables.table_shapes import built_in_shape
from tests.recorded.calls import Call

VERSION = re.compile("as=Table;v=(v1beta1|v1)")


def table(call: Call, body: dict[str, Any], resource: Resource) -> dict[str, Any]:
    """Nothing was created longer ago than no time."""
    if body["kind"] == "Status":
        return body
    found = VERSION.search(call.accept)
    assert found is not None, "asked before"
    version = f"meta.k8s.io/{found[1]}"
    items = body.get("items", [body])
    return {
        "kind": "Table",
        "apiVersion": version,
        "metadata": {},
        "columnDefinitions": [
            {"name": c.name, "type": c.type, "format": c.format, "priority": c.priority}
            for c in columns_of(resource.gvr)
        ],
        "rows": [_row(item, version, resource) for item in items],
    }


def _row(item: dict[str, Any], version: str, resource: Resource) -> dict[str, Any]:
    document = {**item, "apiVersion": resource.gvk.api_version, "kind": resource.gvk.kind}
    partial = {"kind": "PartialObjectMetadata", "apiVersion": version}
    now = seconds(item["metadata"]["creationTimestamp"])
    cells = built_in_shape(resource.gvr).cells(document, now)
    return {"cells": cells, "object": {**partial, "metadata": item["metadata"]}}
