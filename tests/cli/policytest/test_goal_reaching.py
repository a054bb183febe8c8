"""A request in hand, and what it reaches in a policy that several bindings bring up."""

from __future__ import annotations

from pathlib import Path

from tests.cli.files import binding, config_map, policy
from tests.cli.policytest.given_cases import report, written


def test_a_case_counts_once_however_often_it_reaches_a_goal(tmp_path: Path) -> None:
    documents = [policy(), binding("one", "limit"), binding("two", "limit")]
    case = {"object": config_map(x="ok"), "expect": "admit"}
    found = report(written(tmp_path, case, case, documents=documents), coverage=True).coverage
    assert found is not None
    counts = {goal.expected.value: count for goal, count in found.hits if goal.counts}
    assert counts == {"reached": 2, "evaluated": 2, "true": 2, "false": 0}


def test_versions_are_added_up(tmp_path: Path) -> None:
    case = {"object": config_map(x="ok"), "expect": "admit"}
    path = written(tmp_path, case, documents=[policy(), binding()])
    found = report(path, coverage=True, versions=("1.34", "1.36")).coverage
    assert found is not None
    assert {count for goal, count in found.hits if goal.counts} == {0, 2}


def test_a_request_that_the_server_refuses_reaches_nothing(tmp_path: Path) -> None:
    case = {"object": config_map("A_b", x="ok"), "expect": "invalid"}
    found = report(written(tmp_path, case), coverage=True).coverage
    assert found is not None
    assert found.reached == 0
    assert found.goals > 0
