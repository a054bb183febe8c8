"""One run of tests in every format, and what is said of mutants."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from celadon.cli.policytest.case_results import RunReport
from celadon.cli.reading.documents import Problem
from celadon.cli.report.case_view import CaseView
from celadon.cli.report.report_model import ReportStyle, as_json
from celadon.cli.report.sarif_junit_tap import as_github, as_junit, as_tap
from tests.cli.files import Json, binding, config_map, policy, run
from tests.cli.policytest.given_cases import report, written

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


def test_each_status_has_its_colour(run: RunReport) -> None:
    shown = CaseView(run).text(ReportStyle(color=True, verbosity=1))
    heads = re.findall(r"^\033\[([\d;]+)m([A-Z]+)\033\[0m limit\.policytest\.yaml", shown, re.M)
    assert [(word, code) for code, word in heads] == [
        ("PASS", "32"),
        ("PASS", "32"),
        ("FAIL", "31;1"),
        ("VACUOUS", "31;1"),
        ("BROKEN", "31;1"),
        ("SKIP", "2"),
        ("NOTE", "33;1"),
        ("NOTE", "33;1"),
    ]


def test_junit(run: RunReport) -> None:
    root = ET.fromstring(as_junit(CaseView(run)))
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
    strict = ET.fromstring(as_junit(CaseView(replace(run, strict=True))))
    assert strict[0].get("failures") == "5"


def test_github(run: RunReport) -> None:
    lines = as_github(CaseView(run)).splitlines()
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
    assert "::error " in as_github(CaseView(replace(run, strict=True))).splitlines()[1]


def test_tap(run: RunReport) -> None:
    lines = as_tap(CaseView(run)).splitlines()
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
    found = json.loads(as_json(CaseView(run)))
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


# --- mutants --------------------------------------------------------------------------------------


RULES = [
    {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
]
DOCUMENTS = [policy(expression="int(object.data.x) <= 5", rules=RULES), binding()]


def asked(verdict: str, x: str) -> Json:
    return {"object": config_map(x=x), "expect": verdict}


WEAK = (asked("admit", "1"), asked("deny", "9"))
STRONG = (asked("admit", "5"), asked("deny", "6"), asked("error", "x"))


@pytest.fixture(name="weak")
def _weak(tmp_path: Path) -> str:
    return written(tmp_path, *WEAK, documents=DOCUMENTS)


def test_a_survivor_with_its_difference_and_its_case(
    weak: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "test", weak, "--mutate", "--jobs", "1")
    file = tmp_path / "limit.yaml"
    assert code == 0
    head, _, rest = out.partition("\n")
    assert head.startswith(f"PART {file}:1 ValidatingAdmissionPolicy `limit`: ")
    block = next(
        one for one in rest.split("\n\n") if "<= 5` becomes `int(object.data.x) < 5`" in one
    )
    lines = block.splitlines()
    assert lines[0] == (
        f"SURVIVED {file}:28 comparison: spec.validations[0].expression "
        "`int(object.data.x) <= 5` becomes `int(object.data.x) < 5`"
    )
    assert lines[1:3] == [f"  --- {file}", f"  +++ {file}"]
    assert '  -    "expression": "int(object.data.x) <= 5"' in lines
    assert '  +    "expression": "int(object.data.x) < 5"' in lines
    case = "\n".join(lines[lines.index("  a case that notices it:") + 1 :])
    assert yaml.safe_load(case)[0]["expect"] == "admit"


def test_the_share_that_is_killed(weak: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "test", weak, "--kill-under", "100", "--jobs", "1", "-q")
    assert code == 1
    assert ", less than 100%; 1 proved the same, " in out
    code, out, _ = run(capsys, "test", weak, "--kill-under", "10", "--jobs", "1", "-q")
    assert code == 0


def test_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, *STRONG, documents=DOCUMENTS)
    code, out, _ = run(capsys, "test", path, "--mutate", "--jobs", "1", "-v")
    assert code == 0
    killed = "`int(object.data.x) <= 5` becomes `int(object.data.x) < 5`: killed by "
    assert f"{killed}{path}::case 0\n" in out


def test_for_programs(weak: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", weak, "--mutate", "-o", "json", "--jobs", "1")
    found = json.loads(out)["mutants"]
    (own,) = found["policies"]
    assert own["name"] == "limit"
    assert own["file"] == str(tmp_path / "limit.yaml")
    assert found["killed"] == sum(one["fate"] == "killed" for one in own["mutants"])
    survivor = next(one for one in own["mutants"] if one["fate"] == "survived")
    assert survivor.keys() >= {"file", "line", "kind", "field", "change", "diff", "case"}
    assert all("killer" in one for one in own["mutants"] if one["fate"] == "killed")


def test_for_ci(weak: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", weak, "--mutate", "-o", "github", "--jobs", "1")
    assert "::warning file=" in out
    assert "title=mutant survived::comparison: spec.validations[0].expression" in out
    _, out, _ = run(capsys, "test", weak, "--kill-under", "100", "-o", "junit", "--jobs", "1")
    groups = [one for one in ET.fromstring(out).iter("testcase") if one.find("failure") is not None]
    assert {one.get("classname") for one in groups} == {"mutants of limit"}
