"""What objects of all kinds count for."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.resource_quota import counted_resource, matching, usage_of
from celadon.kube import GroupResource

NOW = "2025-01-01T00:00:00Z"
SERVICES = GroupResource("", "services")
CLAIMS = GroupResource("", "persistentvolumeclaims")
DEVICES = GroupResource("resource.k8s.io", "resourceclaims")
PORTS = [{"port": 1}, {"port": 2}]


def claim(storage: str, **members: Any) -> dict[str, Any]:
    spec = {"resources": {"requests": {"storage": storage}}, **members.pop("spec", {})}
    return {"spec": spec, **members}


def devices(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"devices": {"requests": list(requests)}}}


def wanting(name: str, count: int = 0) -> dict[str, Any]:
    mode = {"allocationMode": "ExactCount", "count": count} if count else {"allocationMode": "All"}
    return {"deviceClassName": name, **mode}


@pytest.mark.parametrize(
    ("resource", "obj", "counted"),
    [
        (GroupResource("apps", "deployments"), {}, {"count/deployments.apps": "1"}),
        (GroupResource("", "configmaps"), {}, {"count/configmaps": "1", "configmaps": "1"}),
        (GroupResource("", "endpoints"), {}, {"count/endpoints": "1"}),
        (
            SERVICES,
            {"spec": {"type": "ClusterIP", "ports": PORTS}},
            {
                "count/services": "1",
                "services": "1",
                "services.loadbalancers": "0",
                "services.nodeports": "0",
            },
        ),
        (
            SERVICES,
            {"spec": {"type": "LoadBalancer", "ports": PORTS}},
            {
                "count/services": "1",
                "services": "1",
                "services.loadbalancers": "1",
                "services.nodeports": "2",
            },
        ),
        (
            CLAIMS,
            claim("1500m", spec={"storageClassName": "gold"}),
            {
                "count/persistentvolumeclaims": "1",
                "persistentvolumeclaims": "1",
                "requests.storage": "2",
                "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
                "gold.storageclass.storage.k8s.io/requests.storage": "2",
            },
        ),
        (
            CLAIMS,
            claim("1Gi", status={"allocatedResources": {"storage": "3Gi"}}),
            {
                "count/persistentvolumeclaims": "1",
                "persistentvolumeclaims": "1",
                "requests.storage": "3Gi",
            },
        ),
        (
            DEVICES,
            devices(
                {"exactly": wanting("gpu", 2)},
                {"exactly": wanting("nic")},
                {"firstAvailable": [wanting("gpu", 3), wanting("gpu", 1), wanting("tpu", 1)]},
            ),
            {
                "count/resourceclaims.resource.k8s.io": "1",
                "gpu.deviceclass.resource.k8s.io/devices": "5",
                "nic.deviceclass.resource.k8s.io/devices": "32",
                "tpu.deviceclass.resource.k8s.io/devices": "1",
            },
        ),
    ],
)
def test_usage(resource: GroupResource, obj: dict[str, Any], counted: dict[str, str]) -> None:
    found = usage_of(resource, obj, NOW)
    assert {name: str(amount) for name, amount in found.items()} == counted


HARD = (
    "pods",
    "services",
    "configmaps",
    "count/configmaps",
    "count/deployments.apps",
    "requests.storage",
    "gold.storageclass.storage.k8s.io/requests.storage",
    "gpu.deviceclass.resource.k8s.io/devices",
)


@pytest.mark.parametrize(
    ("resource", "names"),
    [
        (GroupResource("", "pods"), ["pods"]),
        (SERVICES, ["services"]),
        (GroupResource("", "configmaps"), ["configmaps", "count/configmaps"]),
        (GroupResource("apps", "deployments"), ["count/deployments.apps"]),
        (
            CLAIMS,
            ["gold.storageclass.storage.k8s.io/requests.storage", "requests.storage"],
        ),
        (DEVICES, ["gpu.deviceclass.resource.k8s.io/devices"]),
        (GroupResource("other", "configmaps"), []),
    ],
)
def test_names_of_resources(resource: GroupResource, names: list[str]) -> None:
    assert matching(resource, HARD) == names


@pytest.mark.parametrize(
    ("name", "resource"),
    [
        ("count/deployments.apps", GroupResource("apps", "deployments")),
        ("count/widgets.example.com", GroupResource("example.com", "widgets")),
        ("count/pods", GroupResource("", "pods")),
        ("secrets", GroupResource("", "secrets")),
        ("pods", None),
    ],
)
def test_whose_objects_are_counted(name: str, resource: GroupResource | None) -> None:
    assert counted_resource(name) == resource
