"""The numbers that authors of policies meet, as Kubernetes documents them."""

from __future__ import annotations

import pytest

from celadon.admission import policy_limits


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("PER_CALL_COST", 1_000_000),
        ("RUNTIME_COST_BUDGET", 10_000_000),
        ("MATCH_CONDITIONS_COST_BUDGET", 2_500_000),
        ("MESSAGE_EXPRESSION_BYTES", 5120),
        ("AUDIT_ANNOTATION_BYTES", 10240),
        ("VALUE_EXPRESSION_BYTES", 5120),
        ("AUDIT_ANNOTATIONS", 20),
        ("MATCH_CONDITIONS", 64),
        ("WARNING_TOTAL_RUNES", 4096),
        ("WARNING_ITEM_RUNES", 256),
    ],
)
def test_limits(name: str, limit: int) -> None:
    assert getattr(policy_limits, name) == limit
