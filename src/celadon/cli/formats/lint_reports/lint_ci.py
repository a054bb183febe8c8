"""Findings for continuous integration: GitHub's workflow commands, and JUnit XML."""

from __future__ import annotations

from typing import Final

from celadon.admission.lint import Severity
from celadon.cli.checking.check_report import Place
from celadon.cli.formats.check_github import command
from celadon.cli.formats.check_junit import bad, case, suites
from celadon.cli.linting.lint_report import LintReport, LocatedFinding

_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
}


def render_github(report: LintReport) -> str:
    """One line per finding."""
    lines = [
        command("error", Place(one.file, one.line), "unreadable input", one.message)
        for one in report.problems
    ]
    for found in report.findings:
        place = Place(found.file, found.line)
        title = f"{found.code} {found.name}"
        lines.append(
            command(_LEVELS[found.severity], place, title, _text(found), column=found.column)
        )
    return "".join(f"{line}\n" for line in lines)


def render_junit(report: LintReport) -> str:
    """One case per finding; what does not fail the run is a skipped case. A clean run is one case
    that passed."""
    cases = [
        case("input", one.file, one.file, one.line, bad("error", one.message))
        for one in report.problems
    ]
    for found in report.findings:
        name = f"{found.code} {found.subject} {found.field}".rstrip()
        failed = found.severity in report.failing
        body = bad(
            "failure" if failed else "skipped", found.message, f"{found.place}\n{found.help}"
        )
        cases.append(case("lint", name, found.file, found.line, body))
    return suites("celadon lint", cases or [case("lint", "no findings", "", 0, "")])


def _text(found: LocatedFinding) -> str:
    return f"{found.message}\n{found.help}" if found.help else found.message
