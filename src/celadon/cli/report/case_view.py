"""The results of `celadon test`, and what its cases have not reached, as renderers see them.

For people: what failed, and why; what no case has reached; what was changed in policies and no case
noticed; a summary.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Final

from celadon.cli.annotated_source import shortened
from celadon.cli.check.check_report import Notice, Place, Violation
from celadon.cli.policytest import case_results
from celadon.cli.policytest.case_results import (
    AlterationResult,
    Alterations,
    Coverage,
    ExpectedOutcome,
    Fate,
    Goal,
    Measured,
)
from celadon.cli.reading.documents import Problem
from celadon.cli.report import report_model as model
from celadon.kube import Json
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass

# --- Coverage ----------------------------------------------------------------
#
# What cases have not reached, as lines for people, policy by policy, each part with its line; and
# as files: JSON, Cobertura XML, and a page with policies in colours.

_MOST_CHARACTERS: Final = 100
_BRANCHES: Final = frozenset({ExpectedOutcome.TRUE, ExpectedOutcome.FALSE, ExpectedOutcome.DECIDES})


# --- for people -----------------------------------------------------------------------------------


def coverage_blocks(
    coverage: Coverage, percentage: float, look: model.ReportStyle
) -> Iterator[list[str]]:
    """Yield a block for each policy, then one for all."""
    for policy, policy_coverage in coverage.of_policies().items():
        yield [_coverage_head(policy, policy_coverage, look), *_missing_lines(policy_coverage)]
    raised, total = coverage.errors
    less = f", less than {percentage:g}%" if coverage.percentage < percentage else ""
    yield [
        f"coverage: {_share(coverage)}{look.paint('denied', less) if less else ''}; "
        f"{raised} of {total} expressions gave an error once"
    ]


def _share(coverage: Coverage) -> str:
    """Return a share, rounded down: 100% is all."""
    tenths = int(coverage.percentage * 10) / 10
    return f"{tenths:g}% ({coverage.reached} of {coverage.goals})"


def _coverage_head(policy: Measured, coverage: Coverage, look: model.ReportStyle) -> str:
    style, word = (
        ("admitted", "FULL") if coverage.reached == coverage.goals else ("warning", "PART")
    )
    where = f"{policy.file}:{policy.line}"
    return f"{look.paint(style, word)} {where} {policy.kind} `{policy.name}`: {_share(coverage)}"


def _missing_lines(coverage: Coverage) -> Iterator[str]:
    """One for each part of which something is missing; of an expression that was never evaluated
    only that."""
    missed = (goal for goal, count in coverage.hits if goal.counts and not count)
    for _, of_field in groupby(missed, lambda goal: goal.field):
        goals = list(of_field)
        if goals[0].expected is ExpectedOutcome.EVALUATED:
            goals = goals[:1]
        for (place, field, text, _), parts in groupby(goals, _part):
            join = ", ".join(f"never {part.expected.value}" for part in parts)
            message = f": {shortened(' '.join(text.split()), _MOST_CHARACTERS)}" if text else ""
            yield f"  {place} {field}{message}: {join}"


def _part(goal: Goal) -> tuple[Place, str, str, int]:
    return goal.place, goal.field, goal.text, goal.start


# --- files ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    """The goals on one line that count, and in how many cases each was reached."""

    number: int
    counts: tuple[tuple[Goal, int], ...]

    @property
    def hits(self) -> int:
        return max(count for _, count in self.counts)

    @property
    def branches(self) -> tuple[int, int]:
        """Return how many branches are reached, and how many there are."""
        counts = [count for goal, count in self.counts if goal.expected in _BRANCHES]
        return sum(count > 0 for count in counts), len(counts)


def _lines(coverage: Coverage) -> dict[str, list[_Line]]:
    """Return the lines by file, in order."""
    result: dict[tuple[str, int], list[tuple[Goal, int]]] = {}
    for goal, count in coverage.hits:
        if goal.counts:
            result.setdefault((goal.place.file, goal.place.line), []).append((goal, count))
    files: dict[str, list[_Line]] = {}
    for file, number in sorted(result):
        files.setdefault(file, []).append(_Line(number, tuple(result[file, number])))
    return files


def coverage_document(coverage: Coverage) -> JsonDict:
    """Return plain data: for each policy its goals, with the number of cases that reached them."""
    return {
        "percentage": round(coverage.percentage, 2),
        "reached": coverage.reached,
        "goals": coverage.goals,
        "policies": [
            {
                "name": policy.name,
                "kind": policy.kind,
                "file": policy.file,
                "line": policy.line,
                "percentage": round(policy_coverage.percentage, 2),
                "goals": [
                    model.data(goal, _COVERAGE_SHAPES) | {"cases": count}
                    for goal, count in policy_coverage.hits
                ],
            }
            for policy, policy_coverage in coverage.of_policies().items()
        ],
    }


_COVERAGE_SHAPES: Final[model.Shapes] = {
    Goal: (
        *("file=place.file!", "line=place.line!", "field!", "text!", "outcome=expected", "counts!"),
    )
}


def as_json(coverage: Coverage, sources: Mapping[str, str]) -> str:
    """Return the coverage as one JSON document."""
    document = model.document("CoverageReport", **coverage_document(coverage))
    return model.json_document(document)


def as_cobertura(coverage: Coverage, sources: Mapping[str, str]) -> str:
    """Write it as Cobertura's `coverage-04.dtd` has it: files are classes; the outcomes of
    conditions and of operands are branches. There is no time in it: the same run gives the same
    text."""
    from xml.etree import ElementTree as ET

    files = _lines(model.for_people(coverage))
    lines_of_files = [line for lines in files.values() for line in lines]
    covered, valid = _sums(lines_of_files)
    root = ET.Element(
        "coverage",
        {
            **_rates(lines_of_files),
            "lines-covered": str(sum(line.hits > 0 for line in lines_of_files)),
            "lines-valid": str(len(lines_of_files)),
            "branches-covered": str(covered),
            "branches-valid": str(valid),
            "version": "1",
            "timestamp": "0",
        },
    )
    ET.SubElement(ET.SubElement(root, "sources"), "source").text = "."
    packages = ET.SubElement(root, "packages")
    package = ET.SubElement(packages, "package", {"name": "policies", **_rates(lines_of_files)})
    classes = ET.SubElement(package, "classes")
    for file, lines in files.items():
        sub_element = ET.SubElement(
            classes, "class", {"name": file, "filename": file, **_rates(lines)}
        )
        ET.SubElement(sub_element, "methods")
        written = ET.SubElement(sub_element, "lines")
        for line in lines:
            ET.SubElement(written, "line", _line_attributes(line))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _sums(lines: list[_Line]) -> tuple[int, int]:
    pairs = [line.branches for line in lines]
    return sum(pair for pair, _ in pairs), sum(pair for _, pair in pairs)


def _rates(lines: list[_Line]) -> dict[str, str]:
    covered, valid = _sums(lines)
    hit = sum(line.hits > 0 for line in lines)
    return {
        "line-rate": f"{hit / len(lines) if lines else 1:.4f}",
        "branch-rate": f"{covered / valid if valid else 1:.4f}",
        "complexity": "0",
    }


def _line_attributes(line: _Line) -> dict[str, str]:
    value = {"number": str(line.number), "hits": str(line.hits), "branch": "false"}
    covered, valid = line.branches
    if valid:
        share_of = f"{100 * covered // valid}% ({covered}/{valid})"
        value |= {"branch": "true", "condition-coverage": share_of}
    return value


_STYLE: Final = """
body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em;
  color: #222; }
pre { border: 1px solid #ccc; padding: .5em 0; overflow-x: auto; }
pre span { display: block; padding: 0 1em; min-height: 1.4em; }
.all { background: #dff3df; } .some { background: #fdf2c8; } .none { background: #f9d9d6; }
"""
_BODY: Final = """\
<h1>Coverage: {share}</h1>
<p><span class="all">all reached</span> <span class="some">some of it</span>
<span class="none">nothing</span></p>
<ul>
{missing}</ul>
{files}"""


def as_html(coverage: Coverage, sources: Mapping[str, str]) -> str:
    """Return one page that needs nothing else. `sources` are the texts of the files by their
    names."""
    from celadon.cli.report.html_pages import page

    readable = model.for_people(coverage)
    missing = "".join(
        f"<li>{escape(missing_line.strip())}</li>\n" for missing_line in _missing_lines(readable)
    )
    files = "".join(
        f"<h2>{escape(file)}</h2>\n<pre>{''.join(_coloured(sources.get(file, ''), lines))}</pre>\n"
        for file, lines in _lines(coverage).items()
    )
    body = _BODY.format(share=escape(_share(coverage)), missing=missing, files=files)
    return page("Coverage of policies", _STYLE, body)


def _coloured(text: str, lines: list[_Line]) -> Iterator[str]:
    by_number = {line.number: line for line in lines}
    for number, written in enumerate(text.splitlines(), 1):
        message = f"{number:4}  {escape(written)}"
        line = by_number.get(number)
        if line is None:
            yield f"<span>{message}</span>"
            continue
        reached = [count > 0 for _, count in line.counts]
        colour = "all" if all(reached) else "some" if any(reached) else "none"
        never = ", ".join(f"never {g.expected.value}: {g.text}" for g, n in line.counts if not n)
        yield f'<span class="{colour}" title="{escape(never)}">{message}</span>'


RENDERERS: Final[Mapping[str, Callable[[Coverage, Mapping[str, str]], str]]] = {
    ".json": as_json,
    ".xml": as_cobertura,
    ".html": as_html,
}
"""By the suffix of the file."""


# --- Cases -------------------------------------------------------------------

_PLAIN: Final = model.ReportStyle(color=False)
_WORDS: Final = {
    case_results.Status.PASSED: ("admitted", "PASS"),
    case_results.Status.FAILED: ("denied", "FAIL"),
    case_results.Status.VACUOUS: ("denied", "VACUOUS"),
    case_results.Status.BROKEN: ("error", "BROKEN"),
    case_results.Status.SKIPPED: ("dim", "SKIP"),
}
"""The style of `ReportStyle` and the word that a case begins with."""
_DIFF_STYLES: Final = {"+": "admitted", "-": "denied"}
_LEFT: Final = frozenset({Fate.SURVIVED, Fate.OPEN, Fate.UNREACHED})
"""What becomes of an alteration that lowers the score."""


class CaseView(model.ReportView[case_results.RunReport]):
    """A run of tests."""

    command = "celadon test"

    @property
    def problems(self) -> Sequence[Problem]:
        """Return the inputs that could not be read."""
        return self.report.all_problems

    def text(self, look: model.ReportStyle) -> str:
        """Return what is wrong with cases, coverage, alterations, and a summary."""
        report = self.report
        blocks = [block for test in report.tests for block in _blocks(test, look)]
        if report.coverage is not None:
            blocks += coverage_blocks(report.coverage, report.coverage_wanted, look)
        if report.alterations is not None:
            blocks += _alteration_blocks(report.alterations, report.killed_wanted, look)
        if look.verbosity == 0:
            blocks += [[text] for text in _skipped(report, look)]
        if look.verbosity >= 0:
            blocks.append([*_plugins(report, look), _summary(report)])
        return "".join(_joined(blocks))

    def data(self) -> JsonDict:
        """Return the document of kind TestReport."""
        report = self.report
        summary = {
            "tests": len(report.tests),
            "cases": sum(1 for _ in report.cases),
            **{status.value: report.count(status) for status in case_results.Status},
            "deselected": report.deselected,
            "stopped": report.stopped,
            "exitCode": int(report.exit),
        }
        measured: dict[str, object] = {}
        if report.coverage is not None:
            measured["coverage"] = coverage_document(report.coverage)
        if report.alterations is not None:
            measured["mutants"] = _alterations(report.alterations)
        return model.document(
            "TestReport",
            _SHAPES,
            summary=summary,
            tests=report.tests,
            problems=report.all_problems,
            **measured,
        )

    def findings(self) -> Iterator[model.Finding]:
        """Cases that failed, doubts about those that did not, and mutants that survived."""
        report = self.report
        level = model.Level.ERROR if report.strict else model.Level.WARNING
        for test in report.tests:
            for result in test.cases:
                yield from _case_findings(result, level)
            for doubt in test.doubts:
                yield _doubt_finding(doubt, doubt.place, doubt.vacuity.value, test.name, level)
        worst = model.Level.ERROR if report.is_unnoticed else model.Level.WARNING
        for mutant in _survivors(report):
            subject = f"{mutant.policy.kind} {mutant.policy.name}"
            text = _alteration_text(mutant)
            yield model.Finding(worst, mutant.place, "mutant survived", text, "mutant", subject)

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return a rule for each way in which a case fails, and for each doubt."""
        return [model.FindingRule(group, group, _rule_text(group)) for group in groups]

    def cases(self) -> Iterator[model.ReportCase]:
        """Yield a case for each case and version, in the group of its file; doubts about whole
        files and mutants that survived are remarks."""
        report = self.report
        for test in report.tests:
            for result in test.cases:
                yield _report_case(test.file, result, report)
            for doubt in test.doubts:
                state = model.CaseState.FAILED if report.strict else model.CaseState.SKIPPED
                name, text = doubt.vacuity.value, doubt.text
                yield model.ReportCase(test.file, name, doubt.place, state, text, text, remark=True)
        for mutant in _survivors(report):
            state = model.CaseState.FAILED if report.is_unnoticed else model.CaseState.SKIPPED
            yield model.ReportCase(
                *(f"mutants of {mutant.policy.name}", _alteration_line(mutant), mutant.place),
                *(state, "survived", _alteration_text(mutant)),
                remark=True,
            )


# --- for people -----------------------------------------------------------------------------------


def _joined(blocks: Sequence[list[str]]) -> Iterator[str]:
    """Blocks of one line stand together, longer ones apart."""
    for i, block in enumerate(blocks):
        if i and (len(block) > 1 or len(blocks[i - 1]) > 1 or i == len(blocks) - 1):
            yield "\n"
        yield from (f"{line}\n" for line in block)


def _blocks(test: case_results.FileResult, look: model.ReportStyle) -> Iterator[list[str]]:
    for case in test.cases:
        if case.is_bad:
            yield [_head(case, look), *_explained(case, look)]
        elif look.verbosity > 0 or (case.doubts and look.verbosity >= 0):
            yield [
                _head(case, look),
                *(line for doubt in case.doubts for line in _doubt(doubt, look)),
            ]
    for doubt in test.doubts if look.verbosity >= 0 else ():
        yield [f"{look.paint('warning', 'NOTE')} {doubt.place}", *_doubt(doubt, look)]


def _head(case: case_results.CaseResult, look: model.ReportStyle) -> str:
    style, word = _WORDS[case.status]
    skipped = f": {case.case.skip}" if case.status is case_results.Status.SKIPPED else ""
    where = look.paint("dim", f"({case.version})")
    return f"{look.paint(style, word)} {case.case.place} {case.case.name}{skipped} {where}"


def _explained(case: case_results.CaseResult, look: model.ReportStyle) -> Iterator[str]:
    """Yield what is wrong with a case, and what policies had to say."""
    for problem in case.problems:
        yield f"  {problem.text()}"
    for mismatch in case.mismatches:
        yield from _mismatch(mismatch, look)
    for doubt in case.doubts:
        yield from _doubt(doubt, look)
    if case.outcome is not None and case.mismatches:
        yield from _spoke(case, look)


def explained_plainly(case: case_results.CaseResult) -> list[str]:
    """Return the explanation with the case itself, without colours."""
    result = model.for_people(case)
    return [_head(result, _PLAIN), *_explained(result, _PLAIN)]


def _mismatch(mismatch: case_results.Mismatch, look: model.ReportStyle) -> Iterator[str]:
    expected, actual = mismatch.expected.splitlines() or [""], mismatch.actual.splitlines() or [""]
    if len(expected) == 1 and len(actual) == 1:
        width = len("expected ") + len(mismatch.part)
        yield f"  expected {mismatch.part}: {expected[0]}"
        yield f"  {'actual':>{width}}: {look.paint('denied', actual[0])}"
    else:
        yield f"  {mismatch.part}, expected (-) and actual (+):"
        for line in list(difflib.unified_diff(expected, actual, n=2, lineterm=""))[3:]:
            style = {"-": "admitted", "+": "denied"}.get(line[0], "dim")
            yield f"    {look.paint(style, line)}"


def _spoke(case: case_results.CaseResult, look: model.ReportStyle) -> Iterator[str]:
    """Yield what policies had to say, and where that is written."""
    outcome = case.outcome
    if outcome is None:
        return
    for i, violation in enumerate((*outcome.deciding, *outcome.other_violations)):
        yield from _violation(violation, look)
        for part in case.values if i == 0 else ():
            yield look.paint("dim", f"        {part.text} = {part.value}")
    if not (outcome.deciding or outcome.other_violations) and outcome.result.sentence:
        yield f"  server: {outcome.result.sentence}"
    for notice in outcome.ignored:
        yield f"  {notice.place}: {notice.message}"


def _violation(violation: Violation, look: model.ReportStyle) -> Iterator[str]:
    yield f"  {violation.rule}: policy `{violation.policy}` {_does(violation)}: {violation.message}"
    for line in violation.expression.strip().splitlines():
        yield look.paint("dim", f"      {line.strip()}")


def _does(violation: Violation) -> str:
    if violation.is_error:
        return "fails"
    return "denies" if violation.denies else f"speaks against it ({', '.join(violation.actions)})"


def _doubt(doubt: case_results.Doubt, look: model.ReportStyle) -> Iterator[str]:
    yield f"  {look.paint('notice', doubt.vacuity.value)}: {doubt.text}"
    if doubt.help:
        yield f"    help: {doubt.help}"


def _skipped(report: case_results.RunReport, look: model.ReportStyle) -> Iterator[str]:
    """Yield a line for each reason, however many cases it is given for."""
    reasons = Counter(
        result.case.skip for result in report.cases if result.status is case_results.Status.SKIPPED
    )
    style, word = _WORDS[case_results.Status.SKIPPED]
    for reason, count in reasons.items():
        yield f"{look.paint(style, word)} {model.plural(count, 'case')}: {reason}"


def _plugins(report: case_results.RunReport, look: model.ReportStyle) -> Iterator[str]:
    """Yield what is said about plugins to those who want to know: most tests are not about them."""
    if look.verbosity > 0:
        yield from model.plugin_lines(report.asked_plugins, report.unasked_plugins, look)


def _summary(report: case_results.RunReport) -> str:
    counts = [
        f"{report.count(status)} {status.value}"
        for status in case_results.Status
        if report.count(status)
    ]
    total = sum(len(test.cases) for test in report.tests)
    words = ", ".join(counts) or "none run"
    more = f", {report.deselected} not selected" if report.deselected else ""
    stopped = ", stopped at the first failure" if report.stopped else ""
    files = model.plural(len(report.tests), "file")
    return f"{model.plural(total, 'case')} in {files}: {words}{more}{stopped}"


# --- alterations, for people ----------------------------------------------------------------------


def _alteration_blocks(
    alterations: Alterations, percentage: float, look: model.ReportStyle
) -> Iterator[list[str]]:
    """Blocks for each policy, then one for all."""
    for policy, policy_alterations in alterations.of_policies().items():
        yield [
            _alteration_head(policy, policy_alterations, look),
            *_notes(policy_alterations, look),
        ]
        for result in policy_alterations.results:
            if result.fate in _LEFT:
                yield list(_survivor(result, look))
    less = f", less than {percentage:g}%" if alterations.score < percentage else ""
    same, alike = alterations.count(Fate.SAME), alterations.count(Fate.ALIKE)
    yield [
        f"mutants: {_killed_share(alterations)} killed"
        f"{look.paint('denied', less) if less else ''}; "
        f"{same} proved the same, {alike} the same within the bound of a search"
    ]


def _killed_share(alterations: Alterations) -> str:
    """Return a share, rounded down: 100% is all."""
    tenths = int(alterations.score * 10) / 10
    return f"{tenths:g}% ({alterations.count(Fate.KILLED)} of {alterations.counted})"


def _alteration_line(result: AlterationResult) -> str:
    """Return what was changed, and what became of it, in a line."""
    changed = f"{result.kind.value}: {result.field} {result.text}"
    match result.fate:
        case Fate.KILLED:
            return f"{changed}: killed by {result.killer}"
        case Fate.SAME:
            return f"{changed}: proved to be the same: {result.reason}"
        case Fate.ALIKE:
            return f"{changed}: the same within a bound: {result.reason}"
        case Fate.OPEN:
            return (
                f"{changed}: the same in {result.requests} requests, "
                f"but {result.reason} had one value"
            )
        case Fate.UNREACHED:
            return f"{changed}: no request came to it"
        case Fate.SURVIVED:
            return changed


def _alteration_head(policy: Measured, alterations: Alterations, look: model.ReportStyle) -> str:
    is_full = alterations.count(Fate.KILLED) == alterations.counted
    style, word = ("admitted", "FULL") if is_full else ("warning", "PART")
    where = f"{policy.file}:{policy.line}"
    share = _killed_share(alterations)
    return f"{look.paint(style, word)} {where} {policy.kind} `{policy.name}`: {share}"


def _notes(alterations: Alterations, look: model.ReportStyle) -> Iterator[str]:
    """Yield what no test could notice, as far as is known; with `-v` also what was killed."""
    for result in alterations.results:
        is_told = result.fate in (Fate.SAME, Fate.ALIKE) and look.verbosity >= 0
        if is_told or (result.fate is Fate.KILLED and look.verbosity > 0):
            yield f"  {result.place} {_alteration_line(result)}"


def _survivor(result: AlterationResult, look: model.ReportStyle) -> Iterator[str]:
    yield f"{look.paint('denied', result.fate.name)} {result.place} {_alteration_line(result)}"
    for line in result.diff.splitlines():
        yield f"  {look.paint(_DIFF_STYLES.get(line[:1], 'dim'), line)}"
    if result.case:
        yield "  a case that notices it:"
        yield from (f"    {line}" for line in result.case.splitlines())
    elif result.fate is Fate.SURVIVED:
        yield "  requests tell it apart, but no case that says so was found"


# --- for programs ---------------------------------------------------------------------------------


def _alterations(alterations: Alterations) -> dict[str, object]:
    """Return JSON with the percentage of those that a case could notice, as far as known."""
    return {
        "percentage": round(alterations.score, 2),
        **{fate.value: alterations.count(fate) for fate in Fate},
        "policies": [
            model.data(Place(policy.file, policy.line))
            | {
                "kind": policy.kind,
                "name": policy.name,
                "percentage": round(policy_alterations.score, 2),
                "mutants": policy_alterations.results,
            }
            for policy, policy_alterations in alterations.of_policies().items()
        ],
    }


def _ignored(notice: Notice) -> dict[str, Json]:
    return {"file": notice.place.file, "line": notice.place.line, "message": notice.message}


_SHAPES: Final = {
    **model.SHAPES,
    case_results.FileResult: (
        *("name", "file", "cases", "doubts"),
        (
            "plugins",
            lambda value: (
                value.plugins and model.plugins(value.asked_plugins, value.unasked_plugins)
            ),
        ),
    ),
    case_results.CaseResult: (
        *("name=case.name", "*case.place", "kubernetesVersion=version", "status"),
        "skip=case.skip",
        (
            "expected",
            lambda value: "" if value.case.expect.snapshot else value.case.expect.verdict.value,
        ),
        *("mismatches", "doubts", "problems", "values", "outcome"),
    ),
    case_results.CaseOutcome: (
        *("verdict", "code=result.code?", "sentence=result.sentence"),
        ("reached", lambda value: sorted(value.reached)),
        *("deciding", "others=other_violations"),
        ("ignored", lambda value: list(map(_ignored, value.ignored))),
        ("warnings", lambda value: [warning.text for warning in value.result.warnings]),
        "auditAnnotations=result.audit_annotations",
        ("patch", lambda value: value.result.mutated and value.result.mutated.patch),
    ),
    Violation: model.sparse(
        *("policy", "binding", "param", "field", "*rule", "expression", "message"),
        "isError=is_error",
    ),
    case_results.Mismatch: (
        "what=part!",
        "expected!",
        "actual!",
        "file=place.file!",
        "line=place.line!",
    ),
    case_results.Doubt: ("name=vacuity", "fatal=is_fatal", "message=text", "*place", "help"),
    case_results.PartValue: ("expression=text!", "value!"),
    AlterationResult: model.sparse(
        *("*place", "kind", "field", "change=text", "fate", "killer", "reason", "requests"),
        *("diff", "case"),
    ),
}


# --- findings and cases ---------------------------------------------------------------------------


def _case_findings(result: case_results.CaseResult, level: model.Level) -> Iterator[model.Finding]:
    name = result.case.name
    if result.is_bad:
        status = result.status.value
        text, title = _details(result), f"{name} {status}"
        yield model.Finding(
            model.Level.ERROR, result.case.place, title, text, f"case/{status}", name
        )
        return
    for doubt in result.doubts:
        yield _doubt_finding(
            doubt, result.case.place, f"{name}: {doubt.vacuity.value}", name, level
        )


def _doubt_finding(
    doubt: case_results.Doubt, place: Place, title: str, subject: str, level: model.Level
) -> model.Finding:
    return model.Finding(level, place, title, doubt.text, f"doubt/{doubt.vacuity.value}", subject)


def _rule_text(group: str) -> str:
    kind, _, name = group.partition("/")
    if kind == "mutant":
        return "a change of a policy that no case notices"
    return f"a case that is {name}" if kind == "case" else f"doubts about cases: {name}"


def _report_case(
    file: str, result: case_results.CaseResult, report: case_results.RunReport
) -> model.ReportCase:
    name = f"{result.case.name} ({result.version})"
    state, message, details = model.CaseState.PASSED, "", ""
    if result.status is case_results.Status.SKIPPED:
        state, message, details = model.CaseState.SKIPPED, result.case.skip, result.case.skip
    elif result.is_bad:
        state = (
            model.CaseState.ERROR
            if result.status is case_results.Status.BROKEN
            else model.CaseState.FAILED
        )
        message, details = _first(result), _details(result)
    elif result.doubts:
        state = model.CaseState.FAILED if report.strict else model.CaseState.PASSED
        message, details = result.doubts[0].text, _details(result)
    return model.ReportCase(
        *(file, name, result.case.place, state, message, details), title=f"{file}::{name}"
    )


def _survivors(report: case_results.RunReport) -> list[AlterationResult]:
    results = () if report.alterations is None else report.alterations.results
    return [result for result in results if result.fate in (Fate.SURVIVED, Fate.UNREACHED)]


def _alteration_text(result: AlterationResult) -> str:
    """Return the alteration with the case that would notice it."""
    return f"{_alteration_line(result)}\n{result.diff}{result.case}".rstrip()


def _first(result: case_results.CaseResult) -> str:
    """Return what is wrong, in a line."""
    if result.problems:
        return result.problems[0].message
    if result.mismatches:
        mismatch = result.mismatches[0]
        return f"expected {mismatch.part} {mismatch.expected}, actual {mismatch.actual}"
    return result.doubts[0].text


def _details(result: case_results.CaseResult) -> str:
    return "\n".join(line.strip(" ") for line in _explained(result, _PLAIN))
