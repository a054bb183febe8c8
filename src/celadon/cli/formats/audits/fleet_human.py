"""The audit of a fleet for people: what is violated, source by source; then tables of numbers by
source and by policy, what holds for all of them, and a summary."""

from __future__ import annotations

from celadon.cli.fleets.fleet_report import FleetReport
from celadon.cli.formats.audits.audit_human import tally_table, violation_blocks
from celadon.cli.formats.check_human import Look, notice_lines, plural


def render(report: FleetReport, look: Look) -> str:
    """The whole text, ending with a line end."""
    blocks: list[list[str]] = []
    for name, one in report.sources:
        found = list(violation_blocks(one, look))
        if found:
            blocks += [[look.paint("bold", f"== {name}")], *found]
    blocks += notice_lines(report.notices, look, strict=report.strict)
    blocks += tally_table("SOURCE", [(name, one.total) for name, one in report.sources])
    blocks += tally_table("POLICY", report.policies)
    if report.groups:
        blocks += tally_table("GROUP", report.groups)
    blocks.append([_summary(report)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _summary(report: FleetReport) -> str:
    total = report.total
    unread = sum(bool(one.problems) for _, one in report.sources)
    left_out = f", {plural(unread, 'source')} incomplete" if unread else ""
    return (
        f"{plural(len(report.sources), 'source')}{left_out}, {plural(report.objects, 'object')}, "
        f"{total.matched} matched by policies: {total.denied} would be denied, "
        f"{total.warned} warned about, {total.audited} audited"
    )
