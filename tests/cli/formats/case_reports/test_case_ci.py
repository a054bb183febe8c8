"""One run of tests in every format for continuous integration, and for programs."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from celadon.cli.formats.case_reports import case_ci, case_data
from celadon.cli.policy_tests.case_results import RunReport
from celadon.cli.reading.problems import Problem
from tests.cli.policy_tests.given_cases import report, written

NO = {"data": {"x": "no"}}


@pytest.fixture(name="run")
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunReport:
    """Cases of every status, and doubts."""
    monkeypatch.chdir(tmp_path)
    cases = (
        {"expect": "admit"},
        {"patch": NO, "expect": "deny"},
        {"patch": NO, "expect": "admit", "name": "wrong # 100%"},
        {"patch": NO, "expect": {"deny": {"contains": ""}}, "name": "vacuous"},
        {"object": {"apiVersion": "v1", "kind": "Nothing"}, "expect": "deny", "name": "broken"},
        {"skip": "later", "expect": "deny", "name": "skipped"},
    )
    found = report(written(Path(), *cases))
    return replace(found, problems=(Problem("x.yaml", 3, "cannot be read"),))


def test_junit(run: RunReport) -> None:
    root = ElementTree.fromstring(case_ci.render_junit(run))
    (suite,) = root
    bodies = {one.get("name"): [child.tag for child in one] for one in suite}
    assert bodies == {
        "x.yaml": ["error"],
        "case 0 (1.36)": [],
        "case 1 (1.36)": [],
        "wrong # 100% (1.36)": ["failure"],
        "vacuous (1.36)": ["failure"],
        "broken (1.36)": ["error"],
        "skipped (1.36)": ["skipped"],
        "same-case": ["skipped"],
    }
    assert (suite.get("failures"), suite.get("errors")) == ("2", "2")
    wrong = suite[3][0]
    assert wrong.get("message") == "expected verdict admit, actual deny"
    assert "limit.yaml:30: policy `limit` denies: x must be ok" in str(wrong.text)
    strict = ElementTree.fromstring(case_ci.render_junit(replace(run, strict=True)))
    assert strict[0].get("failures") == "5"


def test_github(run: RunReport) -> None:
    lines = case_ci.render_github(run).splitlines()
    heads = [
        re.sub(r"line=\d+", "line=N", line.partition("::")[2].partition("::")[0]) for line in lines
    ]
    file = "file=limit.policytest.yaml,line=N,title="
    assert heads == [
        "error file=x.yaml,line=N,title=unreadable input",
        f"warning {file}case 1%3A any-denial",
        f"error {file}wrong # 100%25 failed",
        f"error {file}vacuous vacuous",
        f"error {file}broken broken",
        f"warning {file}same-case",
        f"warning {file}same-case",
    ]
    assert "::error " in case_ci.render_github(replace(run, strict=True)).splitlines()[1]


def test_tap(run: RunReport) -> None:
    lines = case_ci.render_tap(run).splitlines()
    assert lines[:2] == ["TAP version 14", "1..7"]
    results = [line for line in lines if re.match("(not )?ok ", line)]
    file = "limit.policytest.yaml"
    assert results == [
        "not ok 1 - x.yaml:3",
        f"ok 2 - {file}::case 0 (1.36)",
        f"ok 3 - {file}::case 1 (1.36)",
        f"not ok 4 - {file}::wrong \\# 100% (1.36)",
        f"not ok 5 - {file}::vacuous (1.36)",
        f"not ok 6 - {file}::broken (1.36)",
        f"ok 7 - {file}::skipped (1.36) # SKIP later",
    ]
    block = "\n".join(lines[lines.index(results[3]) + 2 :]).partition("  ...")[0]
    assert "actual: deny" in yaml.safe_load(block)["message"]


def test_json(run: RunReport) -> None:
    found = json.loads(case_data.render_json(run))
    assert found["summary"] == {
        "tests": 1,
        "cases": 6,
        "passed": 2,
        "failed": 1,
        "vacuous": 1,
        "broken": 1,
        "skipped": 1,
        "deselected": 0,
        "stopped": False,
        "exitCode": 2,
    }
    wrong = found["tests"][0]["cases"][2]
    assert wrong["status"] == "failed"
    assert wrong["mismatches"][0] == {
        "what": "verdict",
        "expected": "admit",
        "actual": "deny",
        "file": "limit.policytest.yaml",
        "line": 41,
    }
    assert wrong["outcome"]["deciding"][0]["expression"] == "object.data.x == 'ok'"
    assert wrong["outcome"]["code"] == 422
    assert found["tests"][0]["cases"][1]["doubts"][0]["name"] == "any-denial"
    assert found["problems"] == [{"file": "x.yaml", "line": 3, "message": "cannot be read"}]
