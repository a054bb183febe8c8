"""Results of tests for continuous integration: GitHub's workflow commands, JUnit XML, TAP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from celadon.cli.checking.check_report import Place
from celadon.cli.formats.case_reports.alteration_text import told
from celadon.cli.formats.case_reports.case_text import explained
from celadon.cli.formats.check_github import command
from celadon.cli.formats.check_human import Look
from celadon.cli.formats.check_junit import bad, case, suites
from celadon.cli.policy_tests.alteration_counts import AlterationResult, Fate
from celadon.cli.policy_tests.case_results import CaseResult, RunReport, Status

_PLAIN = Look(color=False)


def render_github(report: RunReport) -> str:
    """One line for each case that failed, and for each doubt about one that did not."""
    level = "error" if report.strict else "warning"
    found = [
        command("error", Place(one.file, one.line), "unreadable input", one.message, one.column)
        for one in report.all_problems
    ]
    for test in report.tests:
        for one in test.cases:
            if one.is_bad:
                title = f"{one.case.name} {one.status.value}"
                found.append(command("error", one.case.place, title, _details(one)))
            else:
                for doubt in one.doubts:
                    title = f"{one.case.name}: {doubt.vacuity.value}"
                    found.append(command(level, one.case.place, title, doubt.text))
        found += [command(level, one.place, one.vacuity.value, one.text) for one in test.doubts]
    worst = "error" if report.is_unnoticed else "warning"
    found += [
        command(worst, one.place, "mutant survived", _alteration(one)) for one in _survivors(report)
    ]
    return "".join(f"{line}\n" for line in found)


def render_junit(report: RunReport) -> str:
    """A case for each case and version, in the group of its file."""
    cases = [
        case("input", one.file, one.file, one.line, bad("error", one.message))
        for one in report.all_problems
    ]
    for test in report.tests:
        for one in test.cases:
            name, place = f"{one.case.name} ({one.version})", one.case.place
            cases.append(case(test.file, name, place.file, place.line, _body(one, report)))
        for doubt in test.doubts:
            body = bad("failure" if report.strict else "skipped", doubt.text)
            name, place = doubt.vacuity.value, doubt.place
            cases.append(case(test.file, name, place.file, place.line, body))
    for mutant in _survivors(report):
        name, place = told(mutant), mutant.place
        body = bad("failure" if report.is_unnoticed else "skipped", "survived", _alteration(mutant))
        cases.append(case(f"mutants of {mutant.policy.name}", name, place.file, place.line, body))
    return suites("celadon test", cases)


def _survivors(report: RunReport) -> list[AlterationResult]:
    found = () if report.alterations is None else report.alterations.results
    return [one for one in found if one.fate in (Fate.SURVIVED, Fate.UNREACHED)]


def _alteration(one: AlterationResult) -> str:
    """With the case that would notice it."""
    return f"{told(one)}\n{one.diff}{one.case}".rstrip()


def _body(one: CaseResult, report: RunReport) -> str:
    if one.status is Status.SKIPPED:
        return bad("skipped", one.case.skip)
    if one.is_bad:
        return bad(
            "error" if one.status is Status.BROKEN else "failure", _first(one), _details(one)
        )
    if one.doubts and report.strict:
        return bad("failure", one.doubts[0].text, _details(one))
    return ""


def render_tap(report: RunReport) -> str:
    """Version 14 of the Test Anything Protocol; what is known of a failure is in a YAML block."""
    every = [(test.file, one) for test in report.tests for one in test.cases]
    lines = ["TAP version 14", f"1..{len(every) + len(report.all_problems)}"]
    number = 0
    for problem in report.all_problems:
        number += 1
        lines.append(f"not ok {number} - {_tap(problem.position())}")
        lines += _block({"message": problem.message})
    for file, one in every:
        number += 1
        word = "not ok" if one.is_bad else "ok"
        skip = f" # SKIP {_tap(one.case.skip)}" if one.status is Status.SKIPPED else ""
        lines.append(f"{word} {number} - {_tap(f'{file}::{one.case.name} ({one.version})')}{skip}")
        if one.is_bad or one.doubts:
            lines += _block({"at": str(one.case.place), "message": _details(one)})
    return "".join(f"{line}\n" for line in lines)


def _tap(text: str) -> str:
    """A description: of one line, in which `#` and backslashes are escaped."""
    return re.sub(r"([\\#])", r"\\\1", " ".join(text.split()))


def _block(members: dict[str, str]) -> Iterator[str]:
    """Texts as JSON are YAML."""
    yield "  ---"
    for name, text in members.items():
        yield f"  {name}: {json.dumps(text)}"
    yield "  ..."


def _first(one: CaseResult) -> str:
    """What is wrong, in a line."""
    if one.problems:
        return one.problems[0].message
    if one.mismatches:
        found = one.mismatches[0]
        return f"expected {found.what} {found.expected}, actual {found.actual}"
    return one.doubts[0].text


def _details(one: CaseResult) -> str:
    return "\n".join(line.strip(" ") for line in explained(one, _PLAIN))
