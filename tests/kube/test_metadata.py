"""Reading metadata never fails, whatever the object looks like."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import metadata
from celadon.memoization import LONGEST

FULL: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "a",
        "generateName": "a-",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "7",
        "generation": 3,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "deletionTimestamp": "2026-01-02T00:00:00Z",
        "labels": {"k": "v", "bad": 1},
        "annotations": {"n": "t"},
        "finalizers": ["f", 2],
    },
}


def test_reads() -> None:
    assert metadata.name(FULL) == "a"
    assert metadata.generate_name(FULL) == "a-"
    assert metadata.namespace(FULL) == "ns"
    assert metadata.uid(FULL) == "u"
    assert metadata.resource_version(FULL) == "7"
    assert metadata.generation(FULL) == 3
    assert metadata.creation_timestamp(FULL) == "2026-01-01T00:00:00Z"
    assert metadata.deletion_timestamp(FULL) == "2026-01-02T00:00:00Z"
    assert metadata.labels(FULL) == {"k": "v"}
    assert metadata.annotations(FULL) == {"n": "t"}
    assert metadata.finalizers(FULL) == ("f",)
    assert metadata.has_finalizer(FULL, "f")
    assert not metadata.has_finalizer(FULL, "g")
    assert metadata.gvk(FULL) == ("apps", "v1", "Deployment")


@pytest.mark.parametrize(
    "obj",
    [None, 3, "x", [], {}, {"metadata": None}, {"metadata": []}, {"metadata": {"labels": [1]}}],
)
def test_empty(obj: Any) -> None:
    assert metadata.name(obj) == ""
    assert metadata.labels(obj) == {}
    assert metadata.finalizers(obj) == ()
    assert not metadata.has_finalizer(obj, "f")
    assert metadata.generation(obj) == 0
    assert metadata.gvk(obj) == ("", "", "")


def test_unreadable_api_version() -> None:
    assert metadata.gvk({"apiVersion": "a/b/c", "kind": "K"}) == ("", "", "K")
    assert metadata.gvk({"apiVersion": 1, "kind": 2}) == ("", "", "")


def test_owners_are_the_same_if_all_their_members_are() -> None:
    owner = {"kind": "Pod", "name": "p", "uid": "1", "controller": True}
    assert metadata.owner_key(owner) == metadata.owner_key(dict(reversed(owner.items())))
    assert metadata.owner_key(owner) != metadata.owner_key({**owner, "controller": False})
    assert metadata.owner_key(owner) != metadata.owner_key({"kind": "Pod", "name": "p"})


@pytest.mark.parametrize(
    ("api_version", "kind", "is_definition"),
    [
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", True),
        ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", True),
        ("x.io/v1", "CustomResourceDefinition", False),
        ("apiextensions.k8s.io/v1", "Box", False),
    ],
)
def test_definitions(api_version: str, kind: str, is_definition: bool) -> None:
    found = metadata.is_definition({"apiVersion": api_version, "kind": kind})
    assert found is is_definition


def test_kinds_that_somebody_made_up_are_not_remembered() -> None:
    before = metadata._remembered_gvk.cache_info().currsize
    long = "a" * LONGEST
    assert metadata.gvk({"apiVersion": "v1", "kind": long}) == ("", "v1", long)
    assert metadata.gvk({"apiVersion": f"{long}/v1", "kind": "B"}) == (long, "v1", "B")
    assert metadata._remembered_gvk.cache_info().currsize == before
