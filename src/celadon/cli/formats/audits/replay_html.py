"""A replay as one page that needs nothing else: what would have been denied, for whom, since when;
what was; and what cannot be said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from celadon.cli.formats.audits.report_pages import (
    Cell,
    all_remarks,
    effect,
    named,
    number,
    report_page,
    said,
    table,
    tiles,
    time,
    told,
)
from celadon.cli.replaying.logged_requests import Undecidable
from celadon.cli.replaying.replay_findings import (
    BY,
    Occurrence,
    ReplayFindings,
    ReplayReport,
    Sighted,
    Sightings,
    largest,
)

_ROWS: Final = 200
"""Of one table; JSON has all of them."""
_HEADS: Final = ("Denied", "Warned", "Audited", "First", "Last")
_EXAMPLES: Final = ("Effect", "Request", "Time", "User", "Message")


def render(report: ReplayReport) -> str:
    """The whole document."""
    return report_page("celadon replay", _parts(report))


def _parts(report: ReplayReport) -> Iterator[str]:
    found = report.findings
    yield "<h1>Replay</h1>"
    if found.first:
        yield f"<p>Requests from {told(found.first)} to {told(found.last)}.</p>"
    yield _numbers(found)
    yield from _sightings("Policies would have spoken", found.would)
    yield from _sightings("Policies spoke", found.did)
    if found.undecidable:
        yield "<h2>Undecidable</h2>"
        why = found.undecidable.most_common()
        rows = ([said(Undecidable[name].value), number(count)] for name, count in why)
        yield table(("Reason", "Requests"), rows)
    yield from all_remarks(report.policy_errors, report.notices, found.problems)


def _numbers(found: ReplayFindings) -> str:
    return tiles(
        [
            ("events", found.events, ""),
            ("judged", found.judged, ""),
            ("would have been denied", found.denied, "deny"),
            ("were denied", found.did.total.denied, "deny"),
            ("undecidable", found.undecidable.total(), "warn"),
            ("of no policy's concern", found.unconcerned, ""),
        ]
    )


def _sightings(title: str, found: Sightings) -> Iterator[str]:
    if not found.total.count:
        return
    yield f"<h2>{title}</h2>"
    for by in BY:
        yield f"<h3>By {by}</h3>"
        yield _groups(by.capitalize(), found.groups[by])
    yield "<h3>Examples</h3>"
    examples = (
        one for _, group in largest(found.groups["policy"], _ROWS) for one in group.examples
    )
    yield table(_EXAMPLES, map(_example, examples))


def _groups(head: str, groups: Mapping[str, Sighted]) -> str:
    shown = largest(groups, _ROWS)
    more = len(groups) - len(shown)
    rest = f"<p>and {more:,} more: JSON has all of them</p>" if more else ""
    return table((head, *_HEADS), ([named(name), *_counts(one)] for name, one in shown)) + rest


def _counts(one: Sighted) -> list[Cell]:
    effects = ((one.denied, "deny"), (one.warned, "warn"), (one.audited, "audit"))
    return [*(number(*each) for each in effects), time(one.first), time(one.last)]


def _example(one: Occurrence) -> Sequence[Cell]:
    rule = f"{one.rule}  {one.field}" if one.rule.file else one.field
    by = f"{one.policy}/{one.binding}" if one.binding else one.policy
    request = named(f"{one.operation} {one.title}", f"{one.place}  {one.audit_id}")
    return [
        effect(one.effect),
        request,
        time(one.time),
        said(one.user),
        said(one.message, by, rule),
    ]
