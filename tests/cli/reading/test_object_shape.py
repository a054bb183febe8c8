"""What must be right about an object before anybody looks at its meaning."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.reading.documents import Document, shape_problem
from celadon.cli.reading.locations import Chunk

NAMES = {"plural": "ps", "kind": "P"}
CRD = {"group": "g", "names": NAMES, "versions": [{"name": "v1"}]}


def problem(kind: str = "A", **members: Any) -> str | None:
    api_version = "apiextensions.k8s.io/v1" if kind == "CustomResourceDefinition" else "x.io/v1"
    value = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, **members}
    chunk = Chunk("f", str(value).replace("'", '"'), 1, 0, is_json=True)
    found = shape_problem(Document(chunk, (), value))
    return None if found is None else found.message


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, None),
        ({"name": "a", "labels": None, "annotations": {"a": "b", "c": None}}, None),
        (5, "`metadata` must be a map, not the number 5"),
        ({"name": 5}, "`metadata.name` must be text, not the number 5"),
        ({"name": ["a"]}, "`metadata.name` must be text, not a list"),
        ({"namespace": {"a": 1}}, "`metadata.namespace` must be text, not a map"),
        ({"labels": "a"}, "`metadata.labels` must be a map, not text"),
        ({"labels": {"a": True}}, "`metadata.labels.a` must be text, not true"),
        ({"annotations": {"a": 1.5}}, "`metadata.annotations.a` must be text, not the number 1.5"),
    ],
)
def test_metadata(metadata: Any, message: str | None) -> None:
    assert problem(metadata=metadata) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, None),
        ({"group": None}, "`spec.group` must be text, not absent"),
        ({"names": []}, "`spec.names` must be a map, not a list"),
        ({"names": {"plural": "ps"}}, "`spec.names.kind` must be text, not absent"),
        ({"versions": {}}, "`spec.versions` must be a list, not a map"),
        ({"versions": [5]}, "`spec.versions[0]` must be a map, not the number 5"),
        ({"versions": [{}]}, "`spec.versions[0].name` must be text, not absent"),
        (
            {"names": {**NAMES, "shortNames": [{}]}},
            "`spec.names.shortNames[0]` must be text, not a map",
        ),
        (
            {"versions": [{"name": "v1", "subresources": True}]},
            "`spec.versions[0].subresources` must be a map, not true",
        ),
        (
            {"versions": [{"name": "v1", "selectableFields": [{}]}]},
            "`spec.versions[0].selectableFields[0].jsonPath` must be text, not absent",
        ),
    ],
)
def test_definitions(change: dict[str, Any], message: str | None) -> None:
    assert problem("CustomResourceDefinition", spec={**CRD, **change}) == message


def test_a_definition_without_spec() -> None:
    assert problem("CustomResourceDefinition") == "`spec` must be a map, not absent"
