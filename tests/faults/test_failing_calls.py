"""Calls that fail, power that fails, bytes that flip, disks that are full: the short forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.failing_calls import STEPS, WAYS, run_preloaded
from tests.faults.power_loss import PowerLosses


@pytest.mark.thorough
def test_each_call_may_fail(tmp_path: Path) -> None:
    outcomes = run_preloaded(tmp_path, "tests.faults.failing_calls", "9")
    assert {step for step, _, _, _ in outcomes} == set(STEPS)
    assert {way for _, way, _, _ in outcomes} == set(WAYS)
    failed = sum(count for *_, outcome, count in outcomes if outcome != "unharmed")
    assert failed > 50


@pytest.mark.thorough
def test_what_was_acknowledged_survives_a_loss_of_power(tmp_path: Path) -> None:
    assert PowerLosses(tmp_path, seed=1).run(100) > 500
