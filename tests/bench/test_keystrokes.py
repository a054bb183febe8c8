"""What is typed in the measurement of keystrokes is read as fifty policies, one of them changed."""

from __future__ import annotations

import yaml
from bench.keystrokes import POLICIES, part, text


def test_one_policy_changes() -> None:
    before, after = (list(yaml.safe_load_all(text(typed, 7))) for typed in (7, 1000))
    assert len(before) == 2 * POLICIES
    changed = [number for number in range(2 * POLICIES) if before[number] != after[number]]
    assert changed == [14]


def test_the_slowest_is_judged() -> None:
    assert "| 150 ms | ≤ 100 ms | ≤ 200 ms | reached |" in part([50.0, 150.0], 2)
    assert "**missed**" in part([50.0, 250.0], 2)
