"""kill -9 under load."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.crash_rounds import CrashRounds


@pytest.mark.thorough
def test_what_was_acknowledged_survives_and_is_seen_once(tmp_path: Path) -> None:
    rounds = CrashRounds(tmp_path, seed=1)
    rounds.run(3)
    assert sum(len(one.revisions) for one in rounds.writers) > 50, "nothing was tried"
    assert len(rounds.watcher.seen) > 50
