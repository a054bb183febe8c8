"""Findings of the linter as people and programs see them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.lint import Severity
from celadon.cli.lint import LintReport, LocatedFinding
from celadon.cli.report.lint_view import LintView, StatisticsView
from celadon.cli.report.report_model import CaseState, Level, ReportStyle

LOOK = ReportStyle()


def finding(**more: Any) -> LocatedFinding:
    made: dict[str, Any] = {
        "code": "CEL004",
        "name": "old-version",
        "severity": Severity.WARNING,
        "file": "p.yaml",
        "line": 3,
        "column": 5,
        "field": "spec.x",
        "subject": "Policy p",
        "message": "it is old",
    }
    return LocatedFinding(**made | more)


ERROR, WARNING, INFO = (finding(severity=one) for one in Severity)
FIXABLE = finding(is_fixable=True)


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (LintReport(objects=0), "nothing found in 0 objects"),
        (LintReport(objects=1), "nothing found in 1 object"),
        (LintReport((ERROR,), objects=2), "1 error in 2 objects"),
        (LintReport((WARNING, WARNING), objects=2), "2 warnings in 2 objects"),
        (LintReport((INFO,), objects=2), "1 note in 2 objects"),
        (
            LintReport((INFO, WARNING, ERROR, INFO), objects=1),
            "1 error, 1 warning, 2 notes in 1 object",
        ),
        (LintReport(objects=1, fixed=2), "nothing found in 1 object (2 fixed)"),
        (
            LintReport((FIXABLE, FIXABLE), objects=1),
            "2 warnings in 1 object (2 can be fixed with --fix)",
        ),
        (LintReport(objects=1, suppressed=3), "nothing found in 1 object (3 silenced by comments)"),
        (
            LintReport((FIXABLE,), objects=1, fixed=1, suppressed=1),
            "1 warning in 1 object (1 fixed, 1 can be fixed with --fix, 1 silenced by comments)",
        ),
    ],
)
def test_the_summary(report: LintReport, text: str) -> None:
    assert LintView(report).text(LOOK).splitlines()[-1] == text
    assert text not in LintView(report).text(ReportStyle(verbosity=-1))


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ({}, []),
        ({"line_text": "   "}, []),
        ({"line_text": "abc"}, []),
        ({"line_text": "abcd"}, ["  | abcd", "  |     ^"]),
        ({"line_text": "a: b: c"}, ["  | a: b: c", "  |     ^"]),
        ({"help": "write it anew"}, ["  help: write it anew"]),
        (
            {"line_text": "x" * 70 + "y" * 60, "column": 71},
            [f"  | {'x' * 60}{'y' * 60}", f"  | {' ' * 60}^"],
        ),
        (
            {"line_text": "x" * 20 + "y" * 101, "column": 21},
            [f"  | {'x' * 20}{'y' * 100}", f"  | {' ' * 20}^"],
        ),
        ({"line_text": "x" * 120, "column": 100}, [f"  | {'x' * 120}", f"  | {' ' * 99}^"]),
    ],
)
def test_a_finding(more: dict[str, Any], lines: list[str]) -> None:
    """With its line and a mark below the column; of a long line only what is around it."""
    found = finding(**more)
    shown = LintView(LintReport((found,))).text(ReportStyle(verbosity=-1)).splitlines()
    assert shown == [
        f"p.yaml:3:{found.column}: warning CEL004 it is old",
        *lines,
        "  Policy p, spec.x (old-version)",
    ]


def test_a_finding_of_the_whole_object() -> None:
    report = LintReport((finding(field=""),))
    assert "  Policy p, the object (old-version)" in LintView(report).text(LOOK).splitlines()
    (found,) = LintView(report).findings()
    (case,) = LintView(report).cases()
    assert (found.subject, case.name) == ("Policy p", "CEL004 Policy p")


@pytest.mark.parametrize(
    ("severity", "level", "code"),
    [
        (Severity.ERROR, Level.ERROR, "31;1"),
        (Severity.WARNING, Level.WARNING, "33;1"),
        (Severity.INFO, Level.NOTE, "36;1"),
    ],
)
def test_severities(severity: Severity, level: Level, code: str) -> None:
    view = LintView(LintReport((finding(severity=severity, help="help"),), objects=1))
    assert f"\033[{code}m{severity.value}\033[0m" in view.text(ReportStyle(color=True))
    (found,) = view.findings()
    assert (found.level, found.title, found.message) == (level, "CEL004 old-version", "it is old")
    assert (found.group, found.subject, found.column) == ("CEL004", "Policy p spec.x", 5)
    assert (str(found.place), found.help) == ("p.yaml:3", "help")


@pytest.mark.parametrize(
    ("fail_on", "states"),
    [
        (Severity.ERROR, [CaseState.FAILED, CaseState.SKIPPED, CaseState.SKIPPED]),
        (Severity.WARNING, [CaseState.FAILED, CaseState.FAILED, CaseState.SKIPPED]),
        (Severity.INFO, [CaseState.FAILED] * 3),
        (None, [CaseState.SKIPPED] * 3),
    ],
)
def test_cases(fail_on: Severity | None, states: list[CaseState]) -> None:
    """What does not fail the run is left out of those that failed."""
    view = LintView(LintReport((ERROR, WARNING, INFO), fail_on=fail_on))
    assert [one.outcome for one in view.cases()] == states
    assert {one.name for one in view.cases()} == {"CEL004 Policy p spec.x"}
    (clean,) = LintView(LintReport()).cases()
    assert (clean.name, clean.outcome) == ("no findings", CaseState.PASSED)


def test_as_json() -> None:
    data = LintView(LintReport((ERROR, INFO, FIXABLE), objects=4, suppressed=2, fixed=3)).data()
    assert data["summary"] == {
        "objects": 4,
        "errors": 1,
        "warnings": 1,
        "infos": 1,
        "silenced": 2,
        "fixed": 3,
        "exitCode": 1,
    }
    assert data["findings"][-1] == {
        "code": "CEL004",
        "rule": "old-version",
        "severity": "warning",
        "file": "p.yaml",
        "line": 3,
        "column": 5,
        "object": "Policy p",
        "field": "spec.x",
        "message": "it is old",
        "help": "",
        "fixable": True,
    }


def test_how_many_findings_each_rule_has() -> None:
    """The most frequent first, and those of one number by their code."""
    other = finding(code="CEL001", name="x", severity=Severity.ERROR)
    third = finding(code="CEL002", name="y", severity=Severity.INFO)
    view = StatisticsView(LintReport((third, other, *[WARNING] * 9, FIXABLE)))
    assert view.text(LOOK).splitlines() == [
        "10  CEL004  old-version  warning  (1 can be fixed with --fix)",
        " 1  CEL001  x            error",
        " 1  CEL002  y            info",
    ]
    assert view.data()[0] == {
        "code": "CEL004",
        "rule": "old-version",
        "severity": "warning",
        "count": 10,
        "fixable": 1,
    }
    assert StatisticsView(LintReport()).text(LOOK) == ""
