"""What several releases say of the same files, as renderers see it: what stands in the way of an
upgrade comes first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from celadon.cli.check.check_report import Place
from celadon.cli.check.upgrade_report import (
    Answer,
    Difference,
    FieldChange,
    FlippedGate,
    GateStretch,
    Stretch,
    UpgradeReport,
)
from celadon.cli.report.json_form import SHAPES, document
from celadon.cli.report.plain_text import Look, joined, notice_lines, plural
from celadon.cli.report.report_model import (
    CaseState,
    Finding,
    FindingRule,
    Level,
    ReportCase,
    ReportView,
)

_MOST_TEXT: Final = 60
"""Characters of a value that are shown."""

_SHAPES: Final = {
    **SHAPES,
    Difference: ("*place", "title", ("unsafe", lambda one: one.is_unsafe), "stretches"),
    Stretch: ("releases", "*answer"),
    Answer: (
        *("state=word", "refused=is_refused", "message", "warnings", "changes", "replacement"),
        "cost",
    ),
    FieldChange: ("path", "before", "after", "gate"),
    FlippedGate: ("name", "fields", "stretches"),
    GateStretch: ("releases", "on", "stage"),
}


class UpgradeView(ReportView[UpgradeReport]):
    """A check under several releases."""

    command = "celadon check"

    def text(self, look: Look) -> str:
        """A block for each difference, and what they come to."""
        report = self.report
        shown = [one for one in report.differences if one.is_unsafe or look.verbosity >= 0]
        shown.sort(key=lambda one: not one.is_unsafe)
        blocks = [*(_block(one, look) for one in shown)]
        if look.verbosity >= 0:
            blocks += notice_lines(report.notices, look, strict=report.strict)
        gates = list(_gate_lines(report, look)) if look.verbosity >= 0 else []
        return joined([*blocks, gates, [_summary(report)]])

    def data(self) -> dict[str, Any]:
        """The document of kind UpgradeReport."""
        report = self.report
        summary = {
            "objects": report.objects,
            "policies": report.policies,
            "different": len(report.differences),
            "unsafe": len(report.unsafe),
            "exitCode": int(report.exit),
        }
        return document(
            "UpgradeReport",
            _SHAPES,
            releases=report.releases,
            summary=summary,
            differences=report.differences,
            gates=report.gates,
            notices=report.notices,
            problems=report.problems,
        )

    def findings(self) -> Iterator[Finding]:
        """A finding for each difference; what stands in the way is an error."""
        for one in self.report.differences:
            lines = _block(one, Look())[1:]
            level = Level.ERROR if one.is_unsafe else Level.WARNING
            message = "; ".join(line.strip() for line in lines)
            group = "unsafe-upgrade" if one.is_unsafe else "release-difference"
            yield Finding(level, one.place, one.title, message, group, one.title)

    def rules(self, groups: Sequence[str]) -> Sequence[FindingRule]:
        """The two sorts of differences."""
        texts = {
            "unsafe-upgrade": "A later release refuses this, or does not keep all of it.",
            "release-difference": "Releases do not say the same of this.",
        }
        return [FindingRule(group, group, texts.get(group, group)) for group in groups]

    def cases(self) -> Iterator[ReportCase]:
        """A case for each difference; one alone where there are none."""
        for one in self.report.differences:
            outcome = CaseState.FAILED if one.is_unsafe else CaseState.PASSED
            details = "\n".join(_block(one, Look())[1:])
            yield ReportCase("upgrade", one.title, one.place, outcome, details.strip(), details)
        if not self.report.differences:
            yield ReportCase("upgrade", _summary(self.report), Place())


class UpgradeAuditView(UpgradeView):
    """An audit under several releases."""

    command = "celadon audit"


def _block(one: Difference, look: Look) -> list[str]:
    word = look.paint("denied", "unsafe") if one.is_unsafe else look.paint("warning", "different")
    lines = [f"{one.place}: {word}: {one.title}"]
    names = [_span(stretch.releases) for stretch in one.stretches]
    width = max(map(len, names))
    for name, stretch in zip(names, one.stretches, strict=True):
        answer = stretch.answer
        lines.append(f"  {name:<{width}}  {_said(answer)}")
        below = " " * (width + 4)
        lines += [f"{below}warning: {warning}" for warning in answer.warnings]
        lines += [f"{below}{_changed(change)}" for change in answer.changes]
    return lines


def _said(answer: Answer) -> str:
    text = f"{answer.word}: {answer.message}" if answer.message else answer.word
    if answer.replacement:
        text += f"; use {answer.replacement}"
    return text if answer.cost is None else f"{text}, costs up to {answer.cost:,}"


def _gate_lines(report: UpgradeReport, look: Look) -> Iterator[str]:
    """The gates that decide about fields of the input, and all that flip where more is wanted."""
    if not report.gates:
        return
    shown = [one for one in report.gates if one.fields or look.verbosity > 0]
    others = len(report.gates) - len(shown)
    for gate in shown:
        states = ", ".join(f"{_span(one.releases)} {_state(one)}" for one in gate.stretches)
        fields = f" ({', '.join(gate.fields)})" if gate.fields else ""
        yield f"feature gate {gate.name}: {states}{fields}"
    if others:
        yield f"feature gates that flip, and no field here depends on: {others} (-v names them)"


def _state(stretch: GateStretch) -> str:
    word = "on" if stretch.on else "off"
    return f"{word} ({stretch.stage})" if stretch.stage else word


def _span(releases: Sequence[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]}..{releases[-1]}"


def _changed(change: FieldChange) -> str:
    by = f", by feature gate {change.gate}" if change.gate else ""
    if change.is_lost:
        return f"{change.path} is dropped (it was {_value(change.before)}){by}"
    if change.before is None:
        return f"{change.path} is {_value(change.after)}{by}"
    return f"{change.path} is {_value(change.after)} (it was {_value(change.before)}){by}"


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def _summary(report: UpgradeReport) -> str:
    asked = f"{', '.join(report.releases)}: {plural(report.objects, 'object')}"
    if not report.objects and not report.policies:
        return f"{asked}: nothing was judged"
    if not report.differences:
        return f"{asked}, no differences"
    different = f"{asked}, {plural(len(report.differences), 'difference')}"
    if not report.unsafe:
        return f"{different}, none of which stands in the way"
    return f"{different}, {len(report.unsafe)} in the way of the upgrade"
