"""What pods count for."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.resource_quota import counts_for_pods, unsaid, usage_of_pod

NOW = "2025-01-01T00:01:00Z"


def needing(name: str = "c", **parts: dict[str, str]) -> dict[str, Any]:
    return {"name": name, "resources": parts}


BIG = needing(
    requests={"cpu": "1", "memory": "1Gi", "example.com/gpu": "2", "hugepages-2Mi": "4Mi"},
    limits={"cpu": "2", "ephemeral-storage": "1Gi"},
)
COUNTED = {
    "count/pods": "1",
    "pods": "1",
    "cpu": "1",
    "requests.cpu": "1",
    "limits.cpu": "2",
    "memory": "1Gi",
    "requests.memory": "1Gi",
    "limits.ephemeral-storage": "1Gi",
    "hugepages-2Mi": "4Mi",
    "requests.hugepages-2Mi": "4Mi",
    "requests.example.com/gpu": "2",
}
ENDED = {"count/pods": "1"}


@pytest.mark.parametrize(
    ("members", "counted"),
    [
        ({}, COUNTED),
        ({"status": {"phase": "Running"}}, COUNTED),
        ({"status": {"phase": "Failed"}}, ENDED),
        ({"status": {"phase": "Succeeded"}}, ENDED),
        (
            {
                "metadata": {
                    "deletionTimestamp": "2025-01-01T00:00:00Z",
                    "deletionGracePeriodSeconds": 30,
                }
            },
            ENDED,
        ),
        (
            {
                "metadata": {
                    "deletionTimestamp": "2025-01-01T00:00:30Z",
                    "deletionGracePeriodSeconds": 30,
                }
            },
            COUNTED,
        ),
    ],
)
def test_usage(members: dict[str, Any], counted: dict[str, str]) -> None:
    found = usage_of_pod({"spec": {"containers": [BIG]}, **members}, NOW)
    assert {name: str(amount) for name, amount in found.items()} == counted


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("pods", True),
        ("limits.memory", True),
        ("requests.ephemeral-storage", True),
        ("hugepages-1Gi", True),
        ("requests.hugepages-1Gi", True),
        ("requests.example.com/gpu", True),
        ("requests.deviceclass.resource.kubernetes.io/x", True),
        ("requests.storage", False),
        ("services", False),
        ("example.com/gpu", False),
    ],
)
def test_names(name: str, counts: bool) -> None:
    assert counts_for_pods(name) == counts


@pytest.mark.parametrize(
    ("spec", "names", "text"),
    [
        ({"containers": [BIG]}, ["requests.cpu", "limits.cpu", "pods"], ""),
        ({"containers": [needing("b"), needing("a")]}, ["pods", "requests.storage"], ""),
        (
            {"containers": [needing("b"), needing("a")], "initContainers": [needing("i")]},
            ["memory", "limits.cpu"],
            "limits.cpu for: a,b,i; memory for: a,b,i",
        ),
        ({"containers": [BIG]}, ["limits.memory"], "limits.memory for: c"),
        ({"containers": [needing()], "resources": {"requests": {"cpu": "1"}}}, ["memory"], ""),
    ],
)
def test_what_containers_must_say(spec: dict[str, Any], names: list[str], text: str) -> None:
    assert unsaid({"spec": spec}, names) == text
