"""Indexes of plain objects."""

from __future__ import annotations

from typing import Any

from celadon.kube.names import GroupVersionResource
from celadon.kube.resources.api_resources import ObjectIndex

SECRETS = GroupVersionResource("", "v1", "secrets")
NODES = GroupVersionResource("", "v1", "nodes")


def obj(kind: str, name: str, **meta: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **meta}}


def test_objects_are_found_where_they_belong() -> None:
    index = ObjectIndex([obj("Secret", "b"), obj("Secret", "a"), obj("Secret", "c", namespace="n")])
    assert index.list(SECRETS, "default") == [obj("Secret", "a"), obj("Secret", "b")]
    assert index.get(SECRETS, "n", "c") == obj("Secret", "c", namespace="n")
    assert index.get(SECRETS, "n", "a") is None
    assert index.list(SECRETS, "other") == ()


def test_cluster_scoped_objects_are_in_no_namespace() -> None:
    node = obj("Node", "a", namespace="ignored")
    index = ObjectIndex([node, obj("Namespace", "n")])
    assert index.get(NODES, "", "a") == node
    assert index.namespace("n") == obj("Namespace", "n")
    assert index.namespace("m") is None


def test_unknown_kinds_are_left_out() -> None:
    assert ObjectIndex([obj("Gadget", "a")]).objects == ()


def test_a_changed_index_leaves_the_first_alone() -> None:
    first = ObjectIndex([obj("Secret", "a"), obj("Secret", "b"), obj("Node", "n")])
    newer = obj("Secret", "b", labels={"x": "y"})
    second = first.changed([newer, obj("Secret", "c")], [obj("Secret", "a"), obj("Gadget", "g")])
    assert second.list(SECRETS, "default") == [newer, obj("Secret", "c")]
    assert second.list(NODES, "") == [obj("Node", "n")]
    assert first.list(SECRETS, "default") == [obj("Secret", "a"), obj("Secret", "b")]
