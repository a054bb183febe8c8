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


def test_ranges_and_records_of_addresses() -> None:
    made = bootstrap_objects.service_range("10.0.0.0/24", "2026-01-01T00:00:00Z")
    assert made == {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "ServiceCIDR",
        "metadata": {"name": "kubernetes"},
        "spec": {"cidrs": ["10.0.0.0/24"]},
        "status": {
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                    "reason": "",
                    "message": "Kubernetes default Service CIDR is ready",
                }
            ]
        },
    }
    for address, family in (("10.0.0.1", "IPv4"), ("fd00::1", "IPv6")):
        record = bootstrap_objects.address_record(address, "ns", "s")
        assert record["metadata"]["name"] == address
        assert record["metadata"]["labels"]["ipaddress.kubernetes.io/ip-family"] == family
        parent = {"resource": "services", "namespace": "ns", "name": "s"}
        assert record["spec"] == {"parentRef": parent}


LEVELS: list[tuple[str, int, int, dict[str, int] | None]] = [
    ("catch-all", 5, 0, None),
    ("global-default", 20, 50, {"queues": 128, "handSize": 6, "queueLengthLimit": 50}),
    ("leader-election", 10, 0, {"queues": 16, "handSize": 4, "queueLengthLimit": 50}),
    ("node-high", 40, 25, {"queues": 64, "handSize": 6, "queueLengthLimit": 50}),
    ("system", 30, 33, {"queues": 64, "handSize": 6, "queueLengthLimit": 50}),
    ("workload-high", 40, 50, {"queues": 128, "handSize": 6, "queueLengthLimit": 50}),
    ("workload-low", 100, 90, {"queues": 128, "handSize": 6, "queueLengthLimit": 50}),
]


@pytest.mark.parametrize(("name", "shares", "lendable", "queuing"), LEVELS)
def test_priority_levels(
    name: str, shares: int, lendable: int, queuing: dict[str, int] | None
) -> None:
    specs = {metadata.name(obj): obj["spec"] for obj in bootstrap_objects.priority_levels()}
    assert set(specs) == {"exempt", *(row[0] for row in LEVELS)}
    response = {"type": "Queue", "queuing": queuing} if queuing else {"type": "Reject"}
    assert specs[name] == {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": shares,
            "lendablePercent": lendable,
            "limitResponse": response,
        },
    }
