"""What a new server and a new namespace have, as objects a server accepts."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver import bootstrap_objects
from celadon.kube import metadata
from celadon.kube.registry import create
from celadon.kube.validation import validate_create

OBJECTS: list[dict[str, Any]] = [
    *bootstrap_objects.initial_namespaces(),
    bootstrap_objects.kubernetes_service(),
    *bootstrap_objects.kubernetes_endpoints("192.0.2.1", 6443),
    *bootstrap_objects.kubernetes_endpoints("2001:db8::1", 6443),
    bootstrap_objects.authentication_config_map("PEM"),
    bootstrap_objects.authentication_config_map(""),
    bootstrap_objects.default_service_account("ns"),
    bootstrap_objects.root_ca_config_map("ns", "PEM"),
]


@pytest.mark.parametrize("obj", OBJECTS, ids=lambda obj: f"{obj['kind']}-{metadata.name(obj)}")
def test_a_server_accepts_them(obj: dict[str, Any]) -> None:
    gvk = metadata.gvk(obj)
    assert validate_create(create.admit_form(obj, gvk), gvk) == []


def test_the_namespaces() -> None:
    names = [metadata.name(obj) for obj in bootstrap_objects.initial_namespaces()]
    assert names == ["default", "kube-node-lease", "kube-public", "kube-system"]


def test_system_priorities() -> None:
    values = {metadata.name(o): o["value"] for o in bootstrap_objects.initial_priority_classes()}
    assert values == {
        "system-node-critical": 2_000_001_000,
        "system-cluster-critical": 2_000_000_000,
    }


def test_the_slice_has_the_family_of_its_address() -> None:
    families = [obj["addressType"] for obj in OBJECTS if obj["kind"] == "EndpointSlice"]
    assert families == ["IPv4", "IPv6"]
