"""The findings of `celadon replay` as renderers see them: what would have been denied, what was, by
whom, since when, and what cannot be said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from celadon.cli.audit_logs import Undecidable
from celadon.cli.reading.documents import Problem
from celadon.cli.replay import BY, Occurrence, ReplayReport, Sighted, Sightings, largest
from celadon.cli.report import report_model as model
from celadon.cli.report.audit_view import EFFECT_STYLES
from celadon.kube.json_types import JsonDict

_SHOWN: Final = 20
_ROWS: Final = 200
"""Rows of one table of a page; JSON has all of them."""
_HEADS: Final = ("DENIED", "WARNED", "AUDITED", "FIRST", "LAST")

_SHAPES: Final = {
    **model.SHAPES,
    Occurrence: (
        *("*place", "auditID=audit_id", "time", "user", "operation", "object=title", "effect"),
        *("policy", "binding", "field", "rule", "message", "error=is_error?"),
    ),
}


class ReplayView(model.ReportView[ReplayReport]):
    """A replay of audit logs."""

    command = "celadon replay"

    @property
    def problems(self) -> Sequence[Problem]:
        """The inputs that could not be read."""
        return self.report.findings.problems

    def text(self, look: model.Look) -> str:
        """Return who is concerned, policy by policy, then tables."""
        report, found = self.report, self.report.findings
        blocks = [*model.policy_error_lines(report.policy_errors, look)]
        blocks += _sighting_blocks("would have spoken", found.would, look)
        blocks += _sighting_blocks("spoke", found.did, look)
        blocks += model.notice_lines(report.notices, look, strict=report.strict)
        blocks += _undecidable_lines(report)
        asked = model.plugin_lines(report.plugins, report.unasked_plugins, look)
        blocks.append([*asked, _summary(report)])
        return model.joined(blocks)

    def data(self) -> JsonDict:
        """The document of kind ReplayReport."""
        report, found = self.report, self.report.findings
        summary = model.filled(first=found.first, last=found.last) | {
            "events": found.events,
            "judged": found.judged,
            "wouldBeDenied": found.denied,
            "undecidable": found.undecidable.total(),
            "unconcerned": found.unconcerned,
            "reads": found.reads,
            "otherStages": found.skipped,
            "noEvents": found.strangers,
            "exitCode": int(report.exit),
        }
        undecidable = [
            {"reason": why.lower(), "message": Undecidable[why].value, "count": count}
            for why, count in found.undecidable.most_common()
        ]
        policies = [
            {"name": name, "matched": found.matched[name], "undecided": found.undecided[name]}
            for name in report.policies
        ]
        return model.document(
            "ReplayReport",
            summary=summary,
            would=_sightings(found.would),
            did=_sightings(found.did),
            undecidable=undecidable,
            policies=policies,
            plugins=model.plugins(report.plugins, report.unasked_plugins),
            policyErrors=report.policy_errors,
            notices=report.notices,
            problems=found.problems,
        )

    def page(self) -> model.Page:
        """Numbers, tables with examples, and what cannot be said."""
        report, found = self.report, self.report.findings
        remarks = model.remark_sections(report.policy_errors, report.notices, found.problems)
        return model.Page("celadon replay", (*_sections(report), *remarks))


def _sightings(found: Sightings) -> dict[str, object]:
    total: dict[str, object] = model.data(found.total, _SHAPES)
    return total | {
        f"by{by.capitalize()}": [
            {"name": name, **model.data(one, _SHAPES)}
            for name, one in largest(found.groups[by], None)
        ]
        for by in BY
    }


# --- for people -----------------------------------------------------------------------------------


def _sighting_blocks(when: str, found: Sightings, look: model.Look) -> Iterator[list[str]]:
    if not found.total.count:
        return
    if look.verbosity >= 0:
        for policy, one in _largest(found.groups["policy"], look):
            yield [
                f"{policy}: {when} against {model.plural(one.count, 'request')}",
                *_example_lines(one, look),
            ]
    for by in BY:
        yield _table(f"{when.split()[0].upper()}, BY {by.upper()}", found.groups[by], look)


def _example_lines(one: Sighted, look: model.Look) -> Iterator[str]:
    for example in one.examples:
        word = look.paint(EFFECT_STYLES[example.effect], f"{example.effect:6}")
        who = f"{example.time} {example.user} {example.operation} {example.title}"
        yield f"  {word}  {who}: {example.message}"
        rule = f"{example.rule}  {example.field}  " if example.rule.file else ""
        yield f"          {rule}{example.place}  {example.audit_id}"


def _largest(groups: dict[str, Sighted], look: model.Look) -> list[tuple[str, Sighted]]:
    return largest(groups, None if look.verbosity > 0 else _SHOWN)


def _table(head: str, groups: dict[str, Sighted], look: model.Look) -> list[str]:
    shown = _largest(groups, look)
    rows = [
        (name, str(one.denied), str(one.warned), str(one.audited), one.first, one.last)
        for name, one in shown
    ]
    lines = model.aligned([(head, *_HEADS), *rows], numbers={1, 2, 3})
    if len(groups) > len(shown):
        lines.append(f"and {len(groups) - len(shown)} more: see `-v`")
    return lines


def _undecidable_lines(report: ReplayReport) -> Iterator[list[str]]:
    found = report.findings.undecidable
    if found:
        lines = [f"undecidable: {model.plural(found.total(), 'request')}"]
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
        f"{model.plural(found.events, 'event')}{between}: {', '.join(parts)}; "
        f"{model.plural(found.denied, 'request')} would have been denied, "
        f"{found.did.total.denied} were ({model.plural(len(report.policies), 'policy')})"
    )


# --- pages ----------------------------------------------------------------------------------------


def _sections(report: ReplayReport) -> Iterator[model.Section]:
    found = report.findings
    yield model.Section(
        "Replay",
        1,
        f"Requests from {found.first} to {found.last}." if found.first else "",
        (
            ("events", found.events, ""),
            ("judged", found.judged, ""),
            ("would have been denied", found.denied, "deny"),
            ("were denied", found.did.total.denied, "deny"),
            ("undecidable", found.undecidable.total(), "warn"),
            ("of no policy's concern", found.unconcerned, ""),
        ),
    )
    yield from _sighting_sections("Policies would have spoken", found.would)
    yield from _sighting_sections("Policies spoke", found.did)
    if found.undecidable:
        reasons = found.undecidable.most_common()
        rows = tuple(
            (model.Cell(Undecidable[why].value), model.Cell.number(count)) for why, count in reasons
        )
        yield model.Section("Undecidable", table=model.Table(("Reason", "Requests"), rows))


def _sighting_sections(title: str, found: Sightings) -> Iterator[model.Section]:
    if not found.total.count:
        return
    yield model.Section(title)
    for by in BY:
        yield _group_section(by, found.groups[by])
    rows = tuple(
        _example_cells(one)
        for _, group in largest(found.groups["policy"], _ROWS)
        for one in group.examples
    )
    heads = ("Effect", "Request", "Time", "User", "Message")
    yield model.Section("Examples", 3, table=model.Table(heads, rows))


def _group_section(by: str, groups: Mapping[str, Sighted]) -> model.Section:
    shown = largest(groups, _ROWS)
    more = len(groups) - len(shown)
    rows = tuple((model.Cell.named(name), *_count_cells(one)) for name, one in shown)
    heads = (by.capitalize(), *(name.capitalize() for name in _HEADS))
    left_out = f"and {more:,} more: JSON has all of them" if more else ""
    return model.Section(f"By {by}", 3, table=model.Table(heads, rows), left_out=left_out)


def _count_cells(one: Sighted) -> tuple[model.Cell, ...]:
    effects = ((one.denied, "deny"), (one.warned, "warn"), (one.audited, "audit"))
    counts = (model.Cell.number(count, effect) for count, effect in effects)
    return (*counts, model.Cell.time(one.first), model.Cell.time(one.last))


def _example_cells(one: Occurrence) -> tuple[model.Cell, ...]:
    rule = f"{one.rule}  {one.field}" if one.rule.file else one.field
    by = f"{one.policy}/{one.binding}" if one.binding else one.policy
    return (
        model.Cell(one.effect, one.effect),
        model.Cell.named(f"{one.operation} {one.title}", f"{one.place}  {one.audit_id}"),
        model.Cell.time(one.time),
        model.Cell(one.user),
        model.Cell(one.message, below=(by, rule)),
    )
