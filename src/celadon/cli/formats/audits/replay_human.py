"""A replay for people: what would have been denied, what was, by whom, and what cannot be said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.cli.formats.audits.audit_human import EFFECT_STYLES
from celadon.cli.formats.check_human import (
    Look,
    notice_lines,
    plugin_lines,
    plural,
    policy_error_lines,
)
from celadon.cli.replaying.logged_requests import Undecidable
from celadon.cli.replaying.replay_findings import (
    BY,
    ReplayReport,
    Sighted,
    Sightings,
    largest,
)

_SHOWN: Final = 20
_HEAD: Final = ("DENIED", "WARNED", "AUDITED", "FIRST", "LAST")


def render(report: ReplayReport, look: Look) -> str:
    """The whole text, ending with a line end."""
    findings = report.findings
    blocks = [*policy_error_lines(report.policy_errors, look)]
    blocks += _sightings("would have spoken", findings.would, look)
    blocks += _sightings("spoke", findings.did, look)
    blocks += notice_lines(report.notices, look, strict=report.strict)
    blocks += _undecidable(report)
    asked = plugin_lines(report.plugins, report.unasked_plugins, look)
    blocks.append([*asked, _summary(report)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _sightings(when: str, found: Sightings, look: Look) -> Iterator[list[str]]:
    if not found.total.count:
        return
    if look.verbosity >= 0:
        for policy, one in _largest(found.groups["policy"], look):
            yield [
                f"{policy}: {when} against {plural(one.count, 'request')}",
                *_examples(one, look),
            ]
    for by in BY:
        yield _table(f"{when.split()[0].upper()}, BY {by.upper()}", found.groups[by], look)


def _examples(one: Sighted, look: Look) -> Iterator[str]:
    for example in one.examples:
        word = look.paint(EFFECT_STYLES[example.effect], f"{example.effect:6}")
        who = f"{example.time} {example.user} {example.operation} {example.title}"
        yield f"  {word}  {who}: {example.message}"
        rule = f"{example.rule}  {example.field}  " if example.rule.file else ""
        yield f"          {rule}{example.place}  {example.audit_id}"


def _largest(groups: dict[str, Sighted], look: Look) -> list[tuple[str, Sighted]]:
    return largest(groups, None if look.verbosity > 0 else _SHOWN)


def _table(head: str, groups: dict[str, Sighted], look: Look) -> list[str]:
    shown = _largest(groups, look)
    rows = [
        (name, str(one.denied), str(one.warned), str(one.audited), one.first, one.last)
        for name, one in shown
    ]
    table = [(head, *_HEAD), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(6)]
    lines = [_row(row, widths) for row in table]
    if len(groups) > len(shown):
        lines.append(f"and {len(groups) - len(shown)} more: see `-v`")
    return lines


def _row(row: tuple[str, ...], widths: list[int]) -> str:
    name, denied, warned, audited, first, last = row
    numbers = f"{denied:>{widths[1]}}  {warned:>{widths[2]}}  {audited:>{widths[3]}}"
    return f"{name:{widths[0]}}  {numbers}  {first:{widths[4]}}  {last}".rstrip()


def _undecidable(report: ReplayReport) -> Iterator[list[str]]:
    found = report.findings.undecidable
    if found:
        lines = [f"undecidable: {plural(found.total(), 'request')}"]
        for why, count in found.most_common():
            lines.append(f"  {count:>7}  {Undecidable[why].value}")
        yield lines


def _summary(report: ReplayReport) -> str:
    found = report.findings
    parts = [f"{found.judged} judged", f"{found.undecidable.total()} undecidable"]
    parts += [f"{found.unconcerned} of no policy's concern", f"{found.reads} reads"]
    if found.skipped:
        parts.append(f"{found.skipped} of other stages")
    if found.strangers:
        parts.append(f"{found.strangers} lines without an event")
    between = f" from {found.first} to {found.last}" if found.first else ""
    return (
        f"{plural(found.events, 'event')}{between}: {', '.join(parts)}; "
        f"{plural(found.denied, 'request')} would have been denied, "
        f"{found.did.total.denied} were ({plural(len(report.policies), 'policy')})"
    )
