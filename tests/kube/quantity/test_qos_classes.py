"""The quality of service of pods."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.quantity import qos_class

BOTH = {"cpu": "1", "memory": "1Gi"}


def spec(*resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"containers": [{"resources": one} for one in resources], **more}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (spec({}), "BestEffort"),
        (spec({"requests": {"cpu": "0", "a.b/c": "1"}}), "BestEffort"),
        (spec({"requests": {"cpu": "1"}}), "Burstable"),
        (spec({"limits": BOTH, "requests": BOTH}), "Guaranteed"),
        (spec({"limits": BOTH, "requests": BOTH}, {}), "Burstable"),
        (spec({"limits": BOTH, "requests": {**BOTH, "cpu": "500m"}}), "Burstable"),
        (spec({}, resources={"limits": BOTH, "requests": BOTH}), "Guaranteed"),
    ],
)
def test_classes(given: dict[str, Any], expected: str) -> None:
    assert qos_class(given) == expected
