"""Printer columns."""

from __future__ import annotations

from celadon.kube.names import GroupVersionResource
from celadon.kube.resources.api_resources import (
    Column,
    columns_of,
    every_description,
    scale_columns,
)


def test_columns() -> None:
    config_maps = columns_of(GroupVersionResource("", "v1", "configmaps"))
    assert [column.name for column in config_maps] == ["Name", "Data", "Age"]
    pods = columns_of(GroupVersionResource("", "v1", "pods"))
    assert {column.name for column in pods if column.priority} >= {"IP", "Node"}
    addresses = columns_of(GroupVersionResource("networking.k8s.io", "v1", "ipaddresses"))
    assert sum(column.hidden for column in addresses) == 1
    unknown = columns_of(GroupVersionResource("example.com", "v1", "widgets"))
    assert [column.name for column in unknown] == ["Name", "Created At"]
    assert Column("x").type == "string"


def test_descriptions() -> None:
    """A column says what it means itself, or as columns of its name do everywhere."""
    revision = columns_of(GroupVersionResource("apps", "v1", "controllerrevisions"))[2]
    assert revision.description.startswith("Revision indicates the revision")
    assert revision.cell == ["number", ".revision"]
    pods = columns_of(GroupVersionResource("", "v1", "pods"))
    assert pods[0].description == every_description("Name") != ""
    assert every_description("Nothing like it") == ""


def test_columns_of_scale() -> None:
    assert [column.name for column in scale_columns()] == ["Name", "Desired", "Available", "Age"]
