"""What is written of a policy whose types were checked."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.controllers.policy_and_quota_status import merged_status
from celadon.kube.releases import answering_as

WARNED = {"observedGeneration": 1, "typeChecking": {"expressionWarnings": [{"warning": "w"}]}}
FINE: dict[str, Any] = {"observedGeneration": 2, "typeChecking": {}}


@pytest.mark.parametrize(
    ("release", "former", "expected"),
    [
        ("1.35", {}, FINE),
        ("1.35", WARNED, {"observedGeneration": 2}),
        ("1.35", FINE, FINE),
        ("1.36", WARNED, FINE),
    ],
)
def test_warnings_that_are_gone_by_release(
    release: str, former: dict[str, Any], expected: dict[str, Any]
) -> None:
    with answering_as(release):
        assert merged_status(former, FINE) == expected
