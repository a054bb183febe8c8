"""Sums of what was covered, and what a run makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.exit_codes import Exit
from celadon.cli.policytest import case_running
from celadon.cli.policytest.case_results import Coverage
from tests.cli.files import binding, config_map, policy
from tests.cli.policytest.given_cases import report, written

CASE = {"object": config_map(x="ok"), "expect": "admit"}
"""Reaches three of four goals of `policy()` and `binding()`."""


def test_nothing_to_reach_is_all() -> None:
    assert Coverage().percentage == 100.0


def test_nothing_is_measured_unasked(tmp_path: Path) -> None:
    assert report(written(tmp_path, CASE)).coverage is None


@pytest.mark.parametrize(
    ("wanted", "exit_code"), [(0, Exit.OK), (75, Exit.OK), (75.1, Exit.DENIED), (100, Exit.DENIED)]
)
def test_less_than_is_wanted(wanted: float, exit_code: Exit, tmp_path: Path) -> None:
    path = written(tmp_path, CASE, documents=[policy(), binding()])
    found = report(path, coverage=True, coverage_wanted=wanted)
    assert found.coverage is not None
    assert found.coverage.percentage == 75.0
    assert found.exit is exit_code


def test_processes_are_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = []
    for number, data in enumerate(("ok", "other", "ok")):
        folder = tmp_path / str(number)
        folder.mkdir()
        case = {"object": config_map(x=data), "expect": "admit"}
        paths.append(written(folder, case, documents=[policy(), binding()]))
    alone = report(*paths, coverage=True, jobs=1).coverage
    monkeypatch.setattr(case_running, "WORTH_WORKERS", 1)
    together = report(*paths, coverage=True, jobs=2).coverage
    assert alone is not None
    assert together == alone
    assert len(together.of_policies()) == 3
