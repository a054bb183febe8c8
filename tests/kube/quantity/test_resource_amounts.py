"""What pods need."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.quantity import has_own_needs, pod_needs


def needing(**requests: str) -> dict[str, Any]:
    return {"resources": {"requests": requests, "limits": requests}}


@pytest.mark.parametrize(
    ("spec", "requests", "limits"),
    [
        ({"containers": [needing(cpu="1"), needing(cpu="1")]}, {"cpu": "2"}, {"cpu": "2"}),
        (
            {"containers": [needing(cpu="1")], "initContainers": [needing(cpu="3")]},
            {"cpu": "3"},
            {"cpu": "3"},
        ),
        (
            {"containers": [needing(cpu="1", gpu="1")], **needing(cpu="5", gpu="9")},
            {"cpu": "5", "gpu": "1"},
            {"cpu": "5", "gpu": "1"},
        ),
        (
            {"containers": [needing(cpu="1")], "overhead": {"cpu": "250m", "memory": "1Gi"}},
            {"cpu": "1250m", "memory": "1Gi"},
            {"cpu": "1250m"},
        ),
    ],
)
def test_needs(spec: dict[str, Any], requests: dict[str, str], limits: dict[str, str]) -> None:
    for part, expected in (("requests", requests), ("limits", limits)):
        assert {name: str(amount) for name, amount in pod_needs(spec, part).items()} == expected


def test_overhead_can_be_left_out() -> None:
    spec = {"containers": [needing(cpu="1")], "overhead": {"cpu": "1"}}
    assert str(pod_needs(spec, "requests", overhead=False)["cpu"]) == "1"


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ({}, False),
        ({"requests": {"cpu": "1"}}, True),
        ({"limits": {"hugepages-2Mi": "1"}}, True),
        ({"requests": {"example.com/gpu": "1"}}, False),
    ],
)
def test_needs_of_the_pod_itself(own: dict[str, Any], found: bool) -> None:
    assert has_own_needs({"resources": own}) == found
