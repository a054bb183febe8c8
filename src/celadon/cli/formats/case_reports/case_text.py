"""The report of a run of tests for people: what failed, and why; a summary."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence

from celadon.cli.checking.check_report import Violation
from celadon.cli.formats.case_reports.alteration_text import alteration_blocks
from celadon.cli.formats.case_reports.coverage_text import coverage_blocks
from celadon.cli.formats.check_human import Look, plugin_lines
from celadon.cli.formats.plain_text import for_people
from celadon.cli.policy_tests.case_results import (
    CaseResult,
    FileResult,
    Mismatch,
    RunReport,
    Status,
)
from celadon.cli.policy_tests.vacuities import Doubt

_WORDS = {
    Status.PASSED: ("admitted", "PASS"),
    Status.FAILED: ("denied", "FAIL"),
    Status.VACUOUS: ("denied", "VACUOUS"),
    Status.BROKEN: ("error", "BROKEN"),
    Status.SKIPPED: ("dim", "SKIP"),
}
"""The style of `Look` and the word that a case begins with."""


def render(report: RunReport, look: Look) -> str:
    """The whole text."""
    blocks = [block for test in report.tests for block in _blocks(test, look)]
    if report.coverage is not None:
        blocks += coverage_blocks(report.coverage, report.coverage_wanted, look)
    if report.alterations is not None:
        blocks += alteration_blocks(report.alterations, report.killed_wanted, look)
    if look.verbosity == 0:
        blocks += [[one] for one in _skipped(report, look)]
    if look.verbosity >= 0:
        blocks.append([*_plugins(report, look), _summary(report)])
    return "".join(_joined(blocks, look))


def _joined(blocks: Sequence[list[str]], look: Look) -> Iterator[str]:
    """Blocks of one line stand together, longer ones apart."""
    for i, block in enumerate(blocks):
        if i and (len(block) > 1 or len(blocks[i - 1]) > 1 or i == len(blocks) - 1):
            yield "\n"
        yield from (f"{line}\n" for line in block)


def _blocks(test: FileResult, look: Look) -> Iterator[list[str]]:
    for case in test.cases:
        if case.is_bad:
            yield [_head(case, look), *explained(case, look)]
        elif look.verbosity > 0 or (case.doubts and look.verbosity >= 0):
            yield [_head(case, look), *(line for one in case.doubts for line in _doubt(one, look))]
    for doubt in test.doubts if look.verbosity >= 0 else ():
        yield [f"{look.paint('warning', 'NOTE')} {doubt.place}", *_doubt(doubt, look)]


def _head(case: CaseResult, look: Look) -> str:
    style, word = _WORDS[case.status]
    skipped = f": {case.case.skip}" if case.status is Status.SKIPPED else ""
    where = look.paint("dim", f"({case.version})")
    return f"{look.paint(style, word)} {case.case.place} {case.case.name}{skipped} {where}"


def explained(case: CaseResult, look: Look) -> Iterator[str]:
    """What is wrong with a case, and what policies had to say."""
    for problem in case.problems:
        yield f"  {problem.text()}"
    for one in case.mismatches:
        yield from _mismatch(one, look)
    for doubt in case.doubts:
        yield from _doubt(doubt, look)
    if case.outcome is not None and case.mismatches:
        yield from _spoke(case, look)


def explained_plainly(case: CaseResult) -> list[str]:
    """The same with the case itself, without colours, whatever is in the texts of others."""
    plain = Look(color=False)
    shown = for_people(case)
    return [_head(shown, plain), *explained(shown, plain)]


def _mismatch(one: Mismatch, look: Look) -> Iterator[str]:
    expected, actual = one.expected.splitlines() or [""], one.actual.splitlines() or [""]
    if len(expected) == 1 and len(actual) == 1:
        width = len("expected ") + len(one.what)
        yield f"  expected {one.what}: {expected[0]}"
        yield f"  {'actual':>{width}}: {look.paint('denied', actual[0])}"
    else:
        yield f"  {one.what}, expected (-) and actual (+):"
        for line in list(difflib.unified_diff(expected, actual, n=2, lineterm=""))[3:]:
            style = {"-": "admitted", "+": "denied"}.get(line[0], "dim")
            yield f"    {look.paint(style, line)}"


def _spoke(case: CaseResult, look: Look) -> Iterator[str]:
    """What policies had to say, and where that is written."""
    outcome = case.outcome
    if outcome is None:
        return
    for i, one in enumerate((*outcome.deciding, *outcome.others)):
        yield from _violation(one, look)
        for part in case.values if i == 0 else ():
            yield look.paint("dim", f"        {part.text} = {part.value}")
    if not (outcome.deciding or outcome.others) and outcome.result.sentence:
        yield f"  server: {outcome.result.sentence}"
    for notice in outcome.ignored:
        yield f"  {notice.place}: {notice.message}"


def _violation(one: Violation, look: Look) -> Iterator[str]:
    yield f"  {one.rule}: policy `{one.policy}` {_does(one)}: {one.message}"
    for line in one.expression.strip().splitlines():
        yield look.paint("dim", f"      {line.strip()}")


def _does(one: Violation) -> str:
    if one.is_error:
        return "fails"
    return "denies" if one.denies else f"speaks against it ({', '.join(one.actions)})"


def _doubt(doubt: Doubt, look: Look) -> Iterator[str]:
    yield f"  {look.paint('notice', doubt.vacuity.value)}: {doubt.text}"
    if doubt.help:
        yield f"    help: {doubt.help}"


def _skipped(report: RunReport, look: Look) -> Iterator[str]:
    """One line for each reason, however many cases it is given for."""
    reasons = Counter(one.case.skip for one in report.cases if one.status is Status.SKIPPED)
    style, word = _WORDS[Status.SKIPPED]
    for reason, count in reasons.items():
        noun = "case" if count == 1 else "cases"
        yield f"{look.paint(style, word)} {count} {noun}: {reason}"


def _plugins(report: RunReport, look: Look) -> Iterator[str]:
    """For who wants to know: most tests are not about them."""
    if look.verbosity > 0:
        yield from plugin_lines(report.asked_plugins, report.unasked_plugins, look)


def _summary(report: RunReport) -> str:
    counts = [f"{report.count(one)} {one.value}" for one in Status if report.count(one)]
    total = sum(len(test.cases) for test in report.tests)
    words = ", ".join(counts) or "none run"
    more = f", {report.deselected} not selected" if report.deselected else ""
    stopped = ", stopped at the first failure" if report.stopped else ""
    noun = "case" if total == 1 else "cases"
    files = "file" if len(report.tests) == 1 else "files"
    return f"{total} {noun} in {len(report.tests)} {files}: {words}{more}{stopped}"
