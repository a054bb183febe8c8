"""The findings of `celadon lint` as renderers see them.

For people: place, severity, code, message, the line with a caret, help; or how many findings each
rule has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from celadon.admission.lint import Rule, Severity
from celadon.cli.check.check_report import Place
from celadon.cli.lint import EVERY_RULE, LEVELS, LintReport, LocatedFinding
from celadon.cli.reading.documents import Problem
from celadon.cli.report import report_model as model
from celadon.kube.json_types import JsonDict

_STYLES: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
}
_LEVELS: Final = {
    Severity.ERROR: model.Level.ERROR,
    Severity.WARNING: model.Level.WARNING,
    Severity.INFO: model.Level.NOTE,
}
_WIDTH: Final = 120
"""Longest line that is shown under a finding; of a longer one, the part around the column."""

_SHAPES: Final[model.Shapes] = {
    LocatedFinding: (
        *("code!", "rule=name!", "severity!", "file!", "line!", "column!", "object=subject!"),
        *("field!", "message!", "help!", "fixable=is_fixable!"),
    ),
    Problem: ("file!", "line!", "message!"),
}


class LintView(model.ReportView[LintReport]):
    """A run of the rules."""

    command = "celadon lint"

    def text(self, look: model.ReportStyle) -> str:
        """Return all findings; nothing if all is well and nobody wants to know."""
        blocks = [_finding(finding, look) for finding in self.report.findings]
        if look.verbosity >= 0:
            blocks.append(_summary(self.report))
        return "\n\n".join(blocks) + "\n" if blocks else ""

    def data(self) -> JsonDict:
        """Return the document of kind LintReport."""
        report = self.report
        summary = {
            "objects": report.objects,
            **{f"{level.value}s": report.count(level) for level in LEVELS},
            "silenced": report.suppressed,
            "fixed": report.fixed,
            "exitCode": int(report.exit),
        }
        return model.document(
            "LintReport",
            _SHAPES,
            summary=summary,
            findings=report.findings,
            problems=report.problems,
        )

    def findings(self) -> Iterator[model.Finding]:
        """Yield all findings."""
        for finding in self.report.findings:
            subject = f"{finding.subject} {finding.field}".rstrip()
            yield model.Finding(
                *(
                    _LEVELS[finding.severity],
                    Place(finding.file, finding.line),
                    f"{finding.code} {finding.name}",
                ),
                *(finding.message, finding.code, subject),
                column=finding.column,
                help=finding.help,
            )

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return every rule, whether it found something or not."""
        return list(map(_rule, EVERY_RULE))

    def cases(self) -> Iterator[model.ReportCase]:
        """Yield a case for each finding; what does not fail the run is a skipped case. A clean run
        is one case that passed."""
        report = self.report
        for finding in report.findings:
            name = f"{finding.code} {finding.subject} {finding.field}".rstrip()
            state = (
                model.CaseState.FAILED
                if finding.severity in report.failing
                else model.CaseState.SKIPPED
            )
            details = f"{finding.place}\n{finding.help}"
            yield model.ReportCase(
                "lint", name, Place(finding.file, finding.line), state, finding.message, details
            )
        if not (report.findings or report.problems):
            yield model.ReportCase("lint", "no findings", Place())


class StatisticsView(model.ReportView[LintReport]):
    """Says how many findings each rule has: the most frequent first."""

    command = "celadon lint"

    def text(self, look: model.ReportStyle) -> str:
        """Return a line for each rule that has findings."""
        counts = _counts(self.report)
        names = max((len(row["rule"]) for row in counts), default=0)
        digits = max((len(str(row["count"])) for row in counts), default=0)
        return "".join(
            f"{row['count']:>{digits}}  {row['code']}  {row['rule']:{names}}  {row['severity']}"
            f"{_fixable(row['fixable'])}\n"
            for row in counts
        )

    def data(self) -> list[JsonDict]:
        """Return an object for each rule that has findings."""
        return _counts(self.report)


def finding_data(finding: LocatedFinding) -> dict[str, object]:
    """Return a finding as JSON has it."""
    data: dict[str, object] = model.data(finding, _SHAPES)
    return data


def _rule(rule: Rule) -> model.FindingRule:
    text, help = rule.name.replace("-", " "), f"{rule.doc}\n\nbad:\n{rule.bad}\ngood:\n{rule.good}"
    return model.FindingRule(rule.code, rule.name, text, rule.doc, help, _LEVELS[rule.severity])


def _finding(finding: LocatedFinding, look: model.ReportStyle) -> str:
    severity = look.paint(_STYLES[finding.severity], finding.severity.value)
    lines = [f"{finding.place}: {severity} {finding.code} {finding.message}"]
    lines += _snippet(finding)
    if finding.help:
        lines.append(f"  help: {finding.help}")
    lines.append(
        look.paint("dim", f"  {finding.subject}, {finding.field or 'the object'} ({finding.name})")
    )
    return "\n".join(lines)


def _snippet(finding: LocatedFinding) -> list[str]:
    text = finding.line_text
    column = finding.column - 1
    if not text.strip() or column > len(text):
        return []
    start = max(0, column - _WIDTH // 2) if len(text) > _WIDTH else 0
    return [f"  | {text[start : start + _WIDTH]}", f"  | {' ' * (column - start)}^"]


def _summary(report: LintReport) -> str:
    counts = [
        model.plural(report.count(level), level.value if level is not Severity.INFO else "note")
        for level in LEVELS
        if report.count(level)
    ]
    text = ", ".join(counts) or "nothing found"
    text += f" in {model.plural(report.objects, 'object')}"
    fixable = sum(finding.is_fixable for finding in report.findings)
    notes = [
        f"{report.fixed} fixed" if report.fixed else "",
        f"{fixable} can be fixed with --fix" if fixable else "",
        f"{report.suppressed} silenced by comments" if report.suppressed else "",
    ]
    extra = ", ".join(note for note in notes if note)
    return f"{text} ({extra})" if extra else text


def _counts(report: LintReport) -> list[JsonDict]:
    """Rules with most findings first."""
    counts = Counter(
        (finding.code, finding.name, finding.severity.value) for finding in report.findings
    )
    fixable = Counter(finding.code for finding in report.findings if finding.is_fixable)
    return [
        {"code": code, "rule": name, "severity": severity, "count": count, "fixable": fixable[code]}
        for (code, name, severity), count in sorted(
            counts.items(), key=lambda pair: (-pair[1], pair[0])
        )
    ]


def _fixable(count: int) -> str:
    return f"  ({count} can be fixed with --fix)" if count else ""
