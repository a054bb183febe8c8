"""What nobody may use without a quota for it."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.resource_quota import POD, LimitedResource, amounts_of, uncovered

HIGH = {"scopeName": "PriorityClass", "operator": "In", "values": ["high", "higher"]}
USAGE = amounts_of({"pods": "1", "requests.cpu": "500m", "requests.memory": "0"})
IMPORTANT = {"spec": {"priorityClassName": "high"}}


def quota(*scopes: Any) -> Any:
    return {"spec": {"scopeSelector": {"matchExpressions": list(scopes)}}}


@pytest.mark.parametrize(
    ("limited", "pod", "quotas", "why"),
    [
        (LimitedResource(POD, ("cpu",)), {}, [], "insufficient quota to consume: requests.cpu"),
        (LimitedResource(POD, ("cpu",)), {}, [(quota(), ["requests.cpu"])], ""),
        (LimitedResource(POD, ("memory",)), {}, [], ""),
        (LimitedResource(POD._replace(resource="services"), ("cpu",)), {}, [], ""),
        (LimitedResource(POD, scopes=(HIGH,)), {}, [], ""),
        (
            LimitedResource(POD, scopes=(HIGH,)),
            IMPORTANT,
            [(quota(), ["pods"])],
            "insufficient quota to match these scopes: [{PriorityClass In [high higher]}]",
        ),
        (LimitedResource(POD, scopes=(HIGH,)), IMPORTANT, [(quota(HIGH), ["pods"])], ""),
    ],
)
def test_what_is_lacking(limited: LimitedResource, pod: Any, quotas: Any, why: str) -> None:
    assert uncovered([limited], POD, pod, USAGE, quotas) == why
