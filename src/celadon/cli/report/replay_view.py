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
        """Return the inputs that could not be read."""
        return self.report.findings.problems

    def text(self, look: model.ReportStyle) -> str:
        """Return who is concerned, policy by policy, then tables."""
        report, findings = self.report, self.report.findings
        blocks = [*model.policy_error_lines(report.policy_errors, look)]
        blocks += _sighting_blocks("would have spoken", findings.would, look)
        blocks += _sighting_blocks("spoke", findings.did, look)
        blocks += model.notice_lines(report.notices, look, strict=report.strict)
        blocks += _undecidable_lines(report)
        plugin_lines = model.plugin_lines(report.plugins, report.unasked_plugins, look)
        blocks.append([*plugin_lines, _summary(report)])
        return model.joined(blocks)

    def data(self) -> JsonDict:
        """Return the document of kind ReplayReport."""
        report, findings = self.report, self.report.findings
        summary = model.filled(first=findings.first, last=findings.last) | {
            "events": findings.events,
            "judged": findings.judged,
            "wouldBeDenied": findings.denied,
            "undecidable": findings.undecidable.total(),
            "unconcerned": findings.unconcerned,
            "reads": findings.reads,
            "otherStages": findings.skipped,
            "noEvents": findings.strangers,
            "exitCode": int(report.exit),
        }
        undecidable = [
            {"reason": reason.lower(), "message": Undecidable[reason].value, "count": count}
            for reason, count in findings.undecidable.most_common()
        ]
        policies = [
            {"name": name, "matched": findings.matched[name], "undecided": findings.undecided[name]}
            for name in report.policies
        ]
        return model.document(
            "ReplayReport",
            summary=summary,
            would=_sightings(findings.would),
            did=_sightings(findings.did),
            undecidable=undecidable,
            policies=policies,
            plugins=model.plugins(report.plugins, report.unasked_plugins),
            policyErrors=report.policy_errors,
            notices=report.notices,
            problems=findings.problems,
        )

    def page(self) -> model.Page:
        """Numbers, tables with examples, and what cannot be said."""
        report, findings = self.report, self.report.findings
        remarks = model.remark_sections(report.policy_errors, report.notices, findings.problems)
        return model.Page("celadon replay", (*_sections(report), *remarks))


def _sightings(sightings: Sightings) -> dict[str, object]:
    total: dict[str, object] = model.data(sightings.total, _SHAPES)
    return total | {
        f"by{by.capitalize()}": [
            {"name": name, **model.data(sighted, _SHAPES)}
            for name, sighted in largest(sightings.groups[by], None)
        ]
        for by in BY
    }


# --- for people -----------------------------------------------------------------------------------


def _sighting_blocks(
    clause: str, sightings: Sightings, look: model.ReportStyle
) -> Iterator[list[str]]:
    if not sightings.total.count:
        return
    if look.verbosity >= 0:
        for policy, sighted in _largest(sightings.groups["policy"], look):
            yield [
                f"{policy}: {clause} against {model.plural(sighted.count, 'request')}",
                *_example_lines(sighted, look),
            ]
    for by in BY:
        yield _table(f"{clause.split()[0].upper()}, BY {by.upper()}", sightings.groups[by], look)


def _example_lines(sighted: Sighted, look: model.ReportStyle) -> Iterator[str]:
    for example in sighted.examples:
        word = look.paint(EFFECT_STYLES[example.effect], f"{example.effect:6}")
        request_text = f"{example.time} {example.user} {example.operation} {example.title}"
        yield f"  {word}  {request_text}: {example.message}"
        rule = f"{example.rule}  {example.field}  " if example.rule.file else ""
        yield f"          {rule}{example.place}  {example.audit_id}"


def _largest(groups: dict[str, Sighted], look: model.ReportStyle) -> list[tuple[str, Sighted]]:
    return largest(groups, None if look.verbosity > 0 else _SHOWN)


def _table(head: str, groups: dict[str, Sighted], look: model.ReportStyle) -> list[str]:
    largest_groups = _largest(groups, look)
    rows = [
        (
            name,
            str(sighted.denied),
            str(sighted.warned),
            str(sighted.audited),
            sighted.first,
            sighted.last,
        )
        for name, sighted in largest_groups
    ]
    lines = model.aligned([(head, *_HEADS), *rows], numbers={1, 2, 3})
    if len(groups) > len(largest_groups):
        lines.append(f"and {len(groups) - len(largest_groups)} more: see `-v`")
    return lines


def _undecidable_lines(report: ReplayReport) -> Iterator[list[str]]:
    undecidable = report.findings.undecidable
    if undecidable:
        lines = [f"undecidable: {model.plural(undecidable.total(), 'request')}"]
        for reason, count in undecidable.most_common():
            lines.append(f"  {count:>7}  {Undecidable[reason].value}")
        yield lines


def _summary(report: ReplayReport) -> str:
    findings = report.findings
    parts = [f"{findings.judged} judged", f"{findings.undecidable.total()} undecidable"]
    parts += [
        f"{findings.unconcerned} of no policy's concern",
        model.plural(findings.reads, "read"),
    ]
    if findings.skipped:
        parts.append(f"{findings.skipped} of other stages")
    if findings.strangers:
        parts.append(f"{model.plural(findings.strangers, 'line')} without an event")
    between = f" from {findings.first} to {findings.last}" if findings.first else ""
    denied, policies = findings.did.total.denied, model.plural(len(report.policies), "policy")
    return (
        f"{model.plural(findings.events, 'event')}{between}: {', '.join(parts)}; "
        f"{model.plural(findings.denied, 'request')} would have been denied, "
        f"{denied} {'was' if denied == 1 else 'were'} ({policies})"
    )


# --- pages ----------------------------------------------------------------------------------------


def _sections(report: ReplayReport) -> Iterator[model.Section]:
    findings = report.findings
    yield model.Section(
        "Replay",
        1,
        f"Requests from {findings.first} to {findings.last}." if findings.first else "",
        (
            ("events", findings.events, ""),
            ("judged", findings.judged, ""),
            ("would have been denied", findings.denied, "deny"),
            ("were denied", findings.did.total.denied, "deny"),
            ("undecidable", findings.undecidable.total(), "warn"),
            ("of no policy's concern", findings.unconcerned, ""),
        ),
    )
    yield from _sighting_sections("Policies would have spoken", findings.would)
    yield from _sighting_sections("Policies spoke", findings.did)
    if findings.undecidable:
        reasons = findings.undecidable.most_common()
        rows = tuple(
            (model.Cell(Undecidable[reason].value), model.Cell.number(count))
            for reason, count in reasons
        )
        yield model.Section("Undecidable", table=model.Table(("Reason", "Requests"), rows))


def _sighting_sections(title: str, sightings: Sightings) -> Iterator[model.Section]:
    if not sightings.total.count:
        return
    yield model.Section(title)
    for by in BY:
        yield _group_section(by, sightings.groups[by])
    rows = tuple(
        _example_cells(example)
        for _, group in largest(sightings.groups["policy"], _ROWS)
        for example in group.examples
    )
    heads = ("Effect", "Request", "Time", "User", "Message")
    yield model.Section("Examples", 3, table=model.Table(heads, rows))


def _group_section(by: str, groups: Mapping[str, Sighted]) -> model.Section:
    largest_groups = largest(groups, _ROWS)
    hidden = len(groups) - len(largest_groups)
    rows = tuple(
        (model.Cell.named(name), *_count_cells(sighted)) for name, sighted in largest_groups
    )
    heads = (by.capitalize(), *(name.capitalize() for name in _HEADS))
    left_out = f"and {hidden:,} more: JSON has all of them" if hidden else ""
    return model.Section(f"By {by}", 3, table=model.Table(heads, rows), left_out=left_out)


def _count_cells(sighted: Sighted) -> tuple[model.Cell, ...]:
    effects = ((sighted.denied, "deny"), (sighted.warned, "warn"), (sighted.audited, "audit"))
    counts = (model.Cell.number(count, effect) for count, effect in effects)
    return (*counts, model.Cell.time(sighted.first), model.Cell.time(sighted.last))


def _example_cells(occurrence: Occurrence) -> tuple[model.Cell, ...]:
    rule = f"{occurrence.rule}  {occurrence.field}" if occurrence.rule.file else occurrence.field
    by = f"{occurrence.policy}/{occurrence.binding}" if occurrence.binding else occurrence.policy
    return (
        model.Cell(occurrence.effect, occurrence.effect),
        model.Cell.named(
            f"{occurrence.operation} {occurrence.title}",
            f"{occurrence.place}  {occurrence.audit_id}",
        ),
        model.Cell.time(occurrence.time),
        model.Cell(occurrence.user),
        model.Cell(occurrence.message, below=(by, rule)),
    )
