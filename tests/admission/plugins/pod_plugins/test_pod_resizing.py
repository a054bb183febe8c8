"""PodResizeValidator."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.plugins.asking import asked, obj, pod, refusal, world


def node(system: str = "linux") -> dict[str, Any]:
    made = obj("Node", "n", status={"allocatable": {"cpu": "2", "memory": "1Gi"}})
    made["metadata"]["labels"] = {"kubernetes.io/os": system}
    return made


def resized(cpu: str, memory: str, generation: int = 2, **spec: Any) -> dict[str, Any]:
    needs = {"requests": {"cpu": cpu, "memory": memory}}
    made = pod(nodeName="n", containers=[{"name": "c", "resources": needs}], **spec)
    made["metadata"]["generation"] = generation
    return made


BEFORE = '403 pods "p" is forbidden: '


@pytest.mark.parametrize(
    ("new", "around", "text"),
    [
        (resized("2", "1Gi"), world(node()), ""),
        (
            resized("2500m", "2Gi"),
            world(node()),
            "Node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: "
            "2000; memory, requested: 2147483648, allocatable: 1073741824",
        ),
        (resized("9", "1Gi", 1), world(node()), ""),
        (resized("1", "1"), world(), 'node "n" not found'),
        (
            resized("1", "1"),
            world(node("windows")),
            'pod resize is only supported on linux nodes, node "n" is "windows"',
        ),
    ],
)
def test_resizes(new: dict[str, Any], around: Any, text: str) -> None:
    old = resized("1", "1", 1)
    found = refusal("PodResizeValidator", asked(new, old, subresource="resize"), around)
    assert found == (BEFORE + text if text else "")
    assert refusal("PodResizeValidator", asked(new, old), around) == ""
