"""Findings for people: place, severity, code, message, the line with a caret, help."""

from __future__ import annotations

from typing import Final

from celadon.admission.lint import Severity
from celadon.cli.formats.check_human import Look
from celadon.cli.linting.lint_report import LEVELS, LintReport, LocatedFinding

_STYLES: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
}
_WIDTH: Final = 120
"""Longest line that is shown under a finding; of a longer one, the part around the column."""


def render(report: LintReport, look: Look) -> str:
    """The whole text, ending with a line end; empty if all is well and nobody wants to know."""
    blocks = [_finding(one, look) for one in report.findings]
    if look.verbosity >= 0:
        blocks.append(_summary(report))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _finding(one: LocatedFinding, look: Look) -> str:
    severity = look.paint(_STYLES[one.severity], one.severity.value)
    lines = [f"{one.place}: {severity} {one.code} {one.message}"]
    lines += _snippet(one)
    if one.help:
        lines.append(f"  help: {one.help}")
    lines.append(look.paint("dim", f"  {one.subject}, {one.field or 'the object'} ({one.name})"))
    return "\n".join(lines)


def _snippet(one: LocatedFinding) -> list[str]:
    text = one.line_text
    column = one.column - 1
    if not text.strip() or column > len(text):
        return []
    start = max(0, column - _WIDTH // 2) if len(text) > _WIDTH else 0
    return [f"  | {text[start : start + _WIDTH]}", f"  | {' ' * (column - start)}^"]


def _summary(report: LintReport) -> str:
    counts = [
        _counted(report.count(level), level.value if level is not Severity.INFO else "note")
        for level in LEVELS
        if report.count(level)
    ]
    text = ", ".join(counts) or "nothing found"
    text += f" in {_counted(report.objects, 'object')}"
    fixable = sum(one.is_fixable for one in report.findings)
    notes = [
        f"{report.fixed} fixed" if report.fixed else "",
        f"{fixable} can be fixed with --fix" if fixable else "",
        f"{report.suppressed} silenced by comments" if report.suppressed else "",
    ]
    extra = ", ".join(note for note in notes if note)
    return f"{text} ({extra})" if extra else text


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
