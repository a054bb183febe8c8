"""Worlds made of objects."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import ConversionError
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.kube import GroupVersionResource, User
from celadon.kube.authorization import Attributes, Ruling

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "boxes.x.io"},
    "spec": {
        "group": "x.io",
        "names": {"kind": "Box", "plural": "boxes"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1", "served": True, "storage": True},
            {"name": "v2", "served": True, "storage": False},
        ],
    },
}
BOXES = GroupVersionResource("x.io", "v1", "boxes")


def box(name: str, version: str = "v1", namespace: str = "ns") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": f"x.io/{version}", "kind": "Box", "metadata": metadata}


def test_custom_resources_need_their_definition() -> None:
    assert ObjectWorld([box("a")]).list(BOXES, "ns") == []
    world = ObjectWorld([box("b"), CRD, box("a", "v2")])
    assert world.list(BOXES, "ns") == [box("a"), box("b")]
    assert world.get(BOXES._replace(version="v2"), "ns", "b") == box("b", "v2")
    assert world.get(BOXES, "other", "b") is None


def test_worlds_do_not_change() -> None:
    world = ObjectWorld([CRD])
    larger = world.with_objects([box("a")])
    assert world.get(BOXES, "ns", "a") is None
    assert larger.get(BOXES, "ns", "a") == box("a")
    assert larger.catalog is world.catalog
    assert larger.without(box("a")).get(BOXES, "ns", "a") is None
    assert ObjectWorld().with_objects([CRD]).catalog.by_gvr(BOXES) is not None


def test_an_object_without_namespace_is_in_default() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    world = ObjectWorld([secret])
    assert world.get(GroupVersionResource("", "v1", "secrets"), "default", "s") == secret


def test_namespaces_may_be_implied() -> None:
    assert ObjectWorld().namespace("n") is None
    implied = ObjectWorld(implicit_namespaces=True).with_objects([]).namespace("n")
    assert implied is not None
    assert implied == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "n", "labels": {"kubernetes.io/metadata.name": "n"}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def test_every_world_has_the_roles_of_a_new_server() -> None:
    nobody = User("system:anonymous", ("system:unauthenticated",))
    path = Attributes(nobody, "get", "/healthz")
    secrets = Attributes(nobody, "get", resource_request=True, resource="secrets", namespace="ns")
    world = ObjectWorld()
    assert world.authorize(path)[:2] == (
        Ruling.ALLOW,
        'RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole '
        '"system:public-info-viewer" to Group "system:unauthenticated"',
    )
    assert world.authorize(secrets)[0] is Ruling.NO_OPINION
    given = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:public-info-viewer"},
        "rules": [],
    }
    other = world.with_objects([given])
    assert "public-info-viewer" not in other.authorize(path)[1]


def test_what_a_webhook_converts_is_not_known_in_another_version() -> None:
    spec = {**CRD["spec"], "conversion": {"strategy": "Webhook"}}  # type: ignore[dict-item]
    world = ObjectWorld([{**CRD, "spec": spec}, box("a")])
    assert world.get(BOXES, "ns", "a") == box("a")
    with pytest.raises(ConversionError, match=r"webhook for x.io/v1, Kind=Box is not called"):
        world.get(BOXES._replace(version="v2"), "ns", "a")
    with pytest.raises(ConversionError, match=r"the object is not known as x.io/v2"):
        world.list(BOXES._replace(version="v2"), "ns")
