"""Forms for continuous integration: of a report with everything in it; `celadon check -o sarif`:
rules, results where the objects stand, the policies beside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.check.check_report import Place
from celadon.cli.reading.documents import Problem
from celadon.cli.report.report_model import (
    CaseState,
    Finding,
    FindingRule,
    Level,
    Related,
    ReportCase,
    ReportView,
)
from celadon.cli.report.sarif_junit_tap import as_github, as_junit, as_sarif, as_tap
from tests.cli.files import binding, config_map, policy, run, write


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("p.json"), policy(), binding())


def sarif(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    _, out, err = run(capsys, "check", "-f", "p.json", "-o", "sarif", *words)
    assert err == ""
    found = json.loads(out)
    assert found["version"] == "2.1.0"
    (one,) = found["runs"]
    for result in one["results"]:
        assert one["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    return one


def place(location: Any) -> tuple[str, int]:
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def test_a_denial_names_the_object_and_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = sarif(capsys, write(Path("a b.json"), config_map("bad", x="no")))["results"]
    assert (result["ruleId"], result["level"]) == ("policy/limit", "error")
    assert result["message"]["text"].startswith('configmaps "bad" is forbidden: ')
    (location,) = result["locations"]
    assert place(location) == ("a%20b.json", 1)
    assert location["logicalLocations"] == [{"fullyQualifiedName": "ConfigMap default/bad"}]
    (related,) = result["relatedLocations"]
    assert place(related) == ("p.json", 30)
    assert related["message"]["text"] == "spec.validations[0].expression"


def test_paths_are_those_of_the_repository(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("a.json"), config_map("bad", x="no"))
    Path("b.yaml").write_text("{{ .Values }}: x\nkind: Y\n")
    one = sarif(capsys, ".")
    (result,) = one["results"]
    assert place(result["locations"][0]) == ("a.json", 1)
    (said,) = one["invocations"][0]["toolExecutionNotifications"]
    assert place(said["locations"][0]) == ("b.yaml", 1)
    assert "a template? fill it in first" in said["message"]["text"]
    for form, text in (("github", "file=a.json,"), ("junit", 'file="a.json"')):
        _, out, _ = run(capsys, "check", "-f", "p.json", ".", "-o", form)
        assert text in out
        assert "a template? fill it in first" in out


def test_faults_warnings_and_notices(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("p.json"), policy(), binding(actions="Warn"), binding("other", "gone"))
    bad, odd = config_map("bad", x="no"), config_map("odd", x="ok") | {"dat": {}}
    found = sarif(capsys, write(Path("a.json"), bad, odd))["results"]
    assert [(one["ruleId"], one["level"]) for one in found] == [
        ("policy/limit", "warning"),
        ("invalid", "error"),
        ("notice/binding-without-policy", "note"),
    ]
    assert found[1]["message"]["text"] == 'dat: unknown field "dat"'
    strict = sarif(capsys, "--strict", "--fail-on", "warning", "a.json")["results"]
    assert {one["level"] for one in strict} == {"error"}


def test_what_is_refused_by_others(capsys: pytest.CaptureFixture[str]) -> None:
    limits = {"type": "Container", "max": {"cpu": "1"}}
    given = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "default"},
        "spec": {"limits": [limits]},
    }
    resources = {"limits": {"cpu": "2"}}
    container = {"name": "c", "image": "i", "resources": resources}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [container]},
    }
    words = ("-f", write(Path("l.json"), given), write(Path("a.json"), pod))
    found = sarif(capsys, *words)["results"]
    assert found[0]["ruleId"] == "plugin/LimitRanger"
    assert "maximum cpu usage per Container is 1" in found[0]["message"]["text"]


def test_broken_policies_and_unreadable_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("p.json"), policy(expression="+"), binding())
    Path("b.yaml").write_text("a: b: c\n")
    one = sarif(capsys, write(Path("a.json"), config_map()), "b.yaml")
    assert [result["ruleId"] for result in one["results"]] == ["policy-error"]
    (invocation,) = one["invocations"]
    assert invocation["executionSuccessful"] is False
    (said,) = invocation["toolExecutionNotifications"]
    assert place(said["locations"][0]) == ("b.yaml", 1)


# --- one finding, one case, in every form ---------------------------------------------------------


class _View(ReportView[None]):
    command = "celadon try"

    @property
    def problems(self) -> list[Problem]:
        return [Problem("a#b.yaml", 3, "un%read", column=2)]

    def findings(self) -> list[Finding]:
        place = Place("d:e.yaml", 7)
        whole = Finding(Level.ERROR, place, "t", "both", "all", "Pod web", details=("x", "y"))
        one = replace(whole, message="one", group="rule/a", related=(Related(Place("p", 1), "f"),))
        noted = Finding(Level.NOTE, Place(), "n", "noted", "rule/b", "", column=5, help="do it")
        return [replace(whole, parts=(one, replace(one, message="two"))), noted]

    def rules(self, groups: Sequence[str]) -> list[FindingRule]:
        rule = FindingRule("rule/b", "b", "B", "all of B", "help with B", Level.WARNING)
        return [FindingRule(groups[0], "a", "A"), rule]

    def cases(self) -> list[ReportCase]:
        place = Place("d.yaml", 7)
        return [
            ReportCase("g", "passed", place),
            ReportCase("g", "talks", place, output="hello"),
            ReportCase("g", "failed", place, CaseState.FAILED, "no\nnever", title="short"),
            ReportCase("g", "error", Place(), CaseState.ERROR, "no", "more"),
            ReportCase("g", "skipped", place, CaseState.SKIPPED, "later"),
            ReportCase("g", "noted", place, CaseState.SKIPPED, "later", "much", remark=True),
        ]


VIEW: ReportView[None] = _View(None)


def test_annotations() -> None:
    assert as_github(VIEW).splitlines() == [
        "::error file=a#b.yaml,line=3,col=2,title=unreadable input::un%25read",
        "::error file=d%3Ae.yaml,line=7,title=t::both%0Ax%0Ay",
        "::notice title=n::noted%0Ado it",
    ]


def test_suites() -> None:
    bodies = re.findall(r'<testcase classname="g" name="(\w+)"[^>]*?(/>|>.*)', as_junit(VIEW))
    assert bodies == [
        ("passed", "/>"),
        ("talks", "><system-out>hello</system-out></testcase>"),
        ("failed", '><failure message="no&#10;never">no'),
        ("error", '><error message="no">more</error></testcase>'),
        ("skipped", '><skipped message="later"/></testcase>'),
        ("noted", '><skipped message="later">much</skipped></testcase>'),
    ]
    assert '<testsuite name="celadon try" tests="7" failures="1" errors="2">' in as_junit(VIEW)


def test_points() -> None:
    lines = as_tap(VIEW).splitlines()
    assert lines[:2] == ["TAP version 14", "1..6"]
    assert [line for line in lines if not line.startswith("  ")][2:] == [
        "not ok 1 - a\\#b.yaml:3:2",
        "ok 2 - g passed",
        "ok 3 - g talks",
        "not ok 4 - short",
        "not ok 5 - g error",
        "ok 6 - g skipped # SKIP later",
    ]
    at = lines.index("not ok 4 - short")
    assert lines[at + 1 : at + 5] == [
        "  ---",
        '  at: "d.yaml:7"',
        '  message: "no\\nnever"',
        "  ...",
    ]


def test_results() -> None:
    (one,) = json.loads(as_sarif(VIEW))["runs"]
    assert [rule["id"] for rule in one["tool"]["driver"]["rules"]] == ["rule/a", "rule/b"]
    assert one["tool"]["driver"]["rules"][1]["defaultConfiguration"] == {"level": "warning"}
    first, second, noted = one["results"]
    assert [first["message"]["text"], second["message"]["text"]] == ["one", "two"]
    assert place(first["relatedLocations"][0]) == ("p", 1)
    assert noted["message"]["text"] == "noted. Help: do it"
    assert "physicalLocation" not in noted["locations"][0]


_HARM = "\x1b[2J\x9b31m\x7f\u202e\n::error::x ##[error]y\r  ::stop"


class _Harmful(_View):
    def cases(self) -> list[ReportCase]:
        place = Place(_HARM, 1)
        return [
            ReportCase(_HARM, _HARM, place, state, _HARM, _HARM, title=_HARM) for state in CaseState
        ]


@pytest.mark.parametrize("form", [as_tap, as_junit, as_github, as_sarif])
def test_nothing_in_a_form_is_obeyed(form: Callable[[ReportView[Any]], str]) -> None:
    """By a terminal, or by a service in whose log it stands."""
    text = form(_Harmful(None))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert "##[" not in text
    assert form is as_github or not re.search(r"(?m)^\s*::", text)
    commands = re.findall(r"(?m)^::(\w+)", text)
    assert set(commands) <= {"error", "warning", "notice"}
    assert "stop" not in commands
