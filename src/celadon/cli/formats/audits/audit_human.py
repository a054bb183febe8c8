"""The audit for people: what is violated, policy by policy, with the first of the objects; then
tables of numbers, notices and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from celadon.cli.auditing.audit_findings import Tally, Violation
from celadon.cli.auditing.audit_report import AuditReport
from celadon.cli.formats.check_human import (
    Look,
    notice_lines,
    plugin_lines,
    plural,
    policy_error_lines,
)
from celadon.cli.formats.plain_text import one_line

_SHOWN: Final = 10
"""Objects that are shown for one policy, unless `-v` asks for all."""
_GROUPS: Final = 50
EFFECT_STYLES: Final = {"deny": "denied", "warn": "warned", "audit": "notice"}
"""How effects are coloured."""
_NUMBERS: Final = ("MATCHED", "DENIED", "WARNED", "AUDITED", "ERRORS")


def _shown(violations: Sequence[Violation], look: Look) -> Sequence[Violation]:
    """Those that people get to see."""
    if look.verbosity > 0:
        return violations
    most = _SHOWN if look.verbosity == 0 else 0
    counts: Counter[tuple[str, str]] = Counter()
    kept = []
    for one in violations:
        by = one.policy, one.binding
        counts[by] += 1
        if counts[by] <= most:
            kept.append(one)
    return kept


def render(report: AuditReport, look: Look) -> str:
    """The whole text, ending with a line end."""
    blocks = [*policy_error_lines(report.policy_errors, look)]
    blocks += violation_blocks(report, look)
    blocks += notice_lines(report.notices, look, strict=report.strict)
    blocks += tally_table("POLICY", [(one.name, one.tally) for one in report.policies])
    if report.summary_by != "policy":
        blocks += tally_table(report.summary_by.upper(), report.groups[:_GROUPS])
        if len(report.groups) > _GROUPS:
            blocks[-1].append(f"and {len(report.groups) - _GROUPS} more")
    asked = plugin_lines(report.plugins, report.unasked_plugins, look)
    blocks.append([*asked, _summary(report)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def violation_blocks(report: AuditReport, look: Look) -> Iterator[list[str]]:
    """Lines for each policy and binding that found something."""
    shown = _shown(report.violations, look)
    found = sorted(shown, key=lambda one: (one.policy, one.binding))
    for (policy, binding), same in groupby(found, key=lambda one: (one.policy, one.binding)):
        lines = [f"{policy}/{binding}" if binding else policy]
        for rule, together in groupby(same, key=lambda one: (one.rule, one.field)):
            place, field = rule
            where = f"{place}  " if place.file else ""
            lines.append(f"  rule    {where}{field}")
            lines += [line for one in together for line in _violation(one, look)]
        yield lines
    omitted = report.found - len(shown)
    if found and omitted:
        more = "`-v` shows more, `-o jsonl` all of them"
        yield [f"and {plural(omitted, 'violation')} more: {more}"]


def _violation(one: Violation, look: Look) -> Iterator[str]:
    word = look.paint(EFFECT_STYLES[one.effect], f"{one.effect:6}")
    place = f"{one.object.place}  " if one.object.place.file else ""
    yield f"  {word}  {place}{one.object.title}: {one_line(one.message)}"


def tally_table(head: str, rows: Sequence[tuple[str, Tally]]) -> Iterator[list[str]]:
    """A table of numbers, none if it would be empty."""
    if not rows:
        return
    width = max(len(head), *(len(name) for name, _ in rows))
    lines = [f"{head:{width}}" + "".join(f"  {one:>7}" for one in _NUMBERS)]
    for name, tally in rows:
        numbers = (tally.matched, tally.denied, tally.warned, tally.audited, tally.errors)
        lines.append(f"{name:{width}}" + "".join(f"  {one:>7}" for one in numbers))
    yield lines


def _summary(report: AuditReport) -> str:
    total = report.total
    parts = [f"{total.denied} would be denied", f"{total.warned} warned about"]
    parts.append(f"{total.audited} audited")
    unread = f", {len(report.problems)} unreadable" if report.problems else ""
    return (
        f"{plural(report.objects, 'object')}, {total.matched} matched by policies: "
        f"{', '.join(parts)}{unread} on {report.operation} "
        f"({plural(len(report.policies), 'policy')})"
    )
