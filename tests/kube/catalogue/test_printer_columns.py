"""Printer columns."""

from __future__ import annotations

from celadon.kube.catalogue.printer_columns import Column, columns_of
from celadon.kube.names import GroupVersionResource


def test_columns() -> None:
    config_maps = columns_of(GroupVersionResource("", "v1", "configmaps"))
    assert [column.name for column in config_maps] == ["Name", "Data", "Age"]
    pods = columns_of(GroupVersionResource("", "v1", "pods"))
    assert {column.name for column in pods if column.priority} >= {"IP", "Node"}
    addresses = columns_of(GroupVersionResource("networking.k8s.io", "v1", "ipaddresses"))
    assert sum(column.hidden for column in addresses) == 1
    assert columns_of(GroupVersionResource("example.com", "v1", "widgets")) == ()
    assert Column("x").type == "string"
