"""What `celadon diff` found, as renderers see it.

For people: differences first, each with a request and what both sides say of it; then what is not
decided, and what is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from celadon.cli.check.check_report import Place
from celadon.cli.claims.claim_report import ClaimExample
from celadon.cli.diff.diff_report import (
    BOUNDED,
    DIFFERS,
    SAME,
    UNDECIDED,
    Against,
    DiffAnswer,
    DiffReport,
    Reason,
    RequestExample,
    SideVerdict,
)
from celadon.cli.report.json_form import SHAPES, Shapes, document
from celadon.cli.report.plain_text import (
    Look,
    joined,
    lines,
    plural,
    policy_error_lines,
    yaml_text,
)
from celadon.cli.report.report_model import (
    CaseState,
    Finding,
    FindingRule,
    Level,
    ReportCase,
    ReportView,
    error_case,
    error_finding,
)

_SHAPES: Final[Shapes] = {
    **SHAPES,
    Against: ("policy", "binding", "param", "field", "*place", "message", "error=is_error?"),
    Reason: ("message", "*place"),
    RequestExample: (
        *("old", "new", "object=manifest", "oldObject=old_manifest", "around", "user", "groups"),
        "remark",
    ),
    DiffAnswer: (
        *("operation", "apiVersion=api_version", "kind", "direction", "answer", "*place"),
        *("example", "reasons", "items?", "bounded"),
    ),
}

_MEANT: Final = {
    "looser": "admitted or less strictly judged by the new policies only",
    "stricter": "refused or more strictly judged by the new policies only",
    "not-decided": "whether the policies differ is not decided",
}


class DiffView(ReportView[DiffReport]):
    """A comparison."""

    command = "celadon diff"

    def text(self, look: Look) -> str:
        """Differences with their requests, what is not decided, what is proved; and the answer."""
        report = self.report
        blocks = [*policy_error_lines(report.errors, look)]
        blocks += (_difference(group, look) for group in _alike(report.of(DIFFERS)))
        blocks += ([lines(f"notice: {one}")] for one in report.notices)
        rest = [*_undecided(report, look), *_proved(report)]
        blocks += [rest] if rest else []
        blocks.append([look.paint("bold", report.summary)])
        return joined(blocks)

    def data(self) -> dict[str, Any]:
        """The document of kind DiffReport."""
        report = self.report
        return document(
            "DiffReport",
            _SHAPES,
            old=report.old,
            new=report.new,
            summary={"answer": report.summary, "exitCode": int(report.exit)},
            answers=report.answers,
            notices=report.notices,
            unseen=report.unseen,
            policyErrors=report.errors,
            problems=report.problems,
        )

    def findings(self) -> Iterator[Finding]:
        """A finding for each difference, and for what is not decided."""
        yield from map(error_finding, self.report.errors)
        for group in _alike(self.report.of(DIFFERS)):
            yield _found(group)
        for one in self.report.of(UNDECIDED):
            place = one.reasons[0].place if one.reasons else Place()
            message = f"{one.endpoint}: not decided whether it is {one.direction}"
            details = tuple(reason.message for reason in one.reasons)
            title = "not decided"
            yield Finding(
                Level.WARNING, place, title, message, "not-decided", one.endpoint, details=details
            )

    def rules(self, groups: Sequence[str]) -> Sequence[FindingRule]:
        """What the groups stand for."""
        return [FindingRule(one, one, _MEANT.get(one, one.replace("-", " "))) for one in groups]

    def cases(self) -> Iterator[ReportCase]:
        """A case for each question."""
        yield from map(error_case, self.report.errors)
        for one in self.report.answers:
            state, text = CaseState.PASSED, one.answer
            if one.answer == DIFFERS:
                state, text = CaseState.FAILED, _sides(one)
            elif one.answer == UNDECIDED:
                state = CaseState.SKIPPED
                text = "; ".join(reason.message for reason in one.reasons)
            details = "\n".join(_example_lines(one)) if one.example else ""
            yield ReportCase(
                "diff", f"{one.endpoint} {one.direction}", one.place, state, text, details
            )


def _alike(answers: Sequence[DiffAnswer]) -> list[list[DiffAnswer]]:
    """The answers that are due to the same things, of which one request is enough."""
    groups: dict[object, list[DiffAnswer]] = {}
    for one in answers:
        assert one.example is not None
        key = one.direction, *map(_cause, (one.example.old, one.example.new))
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _cause(side: SideVerdict) -> object:
    return side.verdict, tuple((one.policy, one.binding, one.field) for one in side.against)


def _difference(group: Sequence[DiffAnswer], look: Look) -> list[str]:
    first = group[0]
    also = ", ".join(one.endpoint for one in group[1:])
    head = look.paint("bold", f"{first.direction}: {first.endpoint}")
    found = [f"{head} (also {also})" if also else head]
    found += (f"  {line}" for line in _side_lines(first, look))
    found += (f"    {line}" for line in _example_lines(first))
    return found


def _side_lines(one: DiffAnswer, look: Look) -> Iterator[str]:
    assert one.example is not None
    for name, side in (("old", one.example.old), ("new", one.example.new)):
        yield f"{name}  {look.paint(_STYLES[side.verdict], side.verdict)}"
        for against in side.against:
            place = f"{against.place}: " if against.place.file else ""
            yield f"       {lines(f'{place}{against.policy}: {against.message}')}"


_STYLES: Final = {
    "denied": "denied",
    "warned": "warned",
    "audited": "notice",
    "admitted": "admitted",
}


def _example_lines(one: DiffAnswer) -> Iterator[str]:
    assert one.example is not None
    return request_lines(one.example)


def request_lines(example: RequestExample | ClaimExample) -> Iterator[str]:
    """A request as manifests."""
    if example.user:
        groups = f" of {', '.join(example.groups)}" if example.groups else ""
        yield f"# by {lines(example.user)}{lines(groups)}"
    if example.remark:
        yield f"# {lines(example.remark)}"
    given = [
        *(("", value) for value in example.around),
        *([("# before", example.old_manifest)] if example.old_manifest is not None else []),
        *([("# after", example.manifest)] if example.manifest is not None else []),
    ]
    for number, (title, value) in enumerate(given):
        if number:
            yield "---"
        if title and example.old_manifest is not None:
            yield title
        yield from lines(yaml_text(value)).splitlines()


def _sides(one: DiffAnswer) -> str:
    assert one.example is not None
    return (
        f"{one.example.old.verdict} by the old policies, {one.example.new.verdict} by the new ones"
    )


def _found(group: Sequence[DiffAnswer]) -> Finding:
    first = group[0]
    assert first.example is not None
    where = ", ".join(one.endpoint for one in group)
    said = [
        f"{name}: {against.policy}: {against.message}"
        for name, side in (("old", first.example.old), ("new", first.example.new))
        for against in side.against
    ]
    return Finding(
        Level.ERROR,
        first.place,
        f"{first.direction} policy",
        f"{where}: {_sides(first)}",
        first.direction,
        first.subject or first.endpoint,
        details=(*said, *_example_lines(first)),
    )


def _undecided(report: DiffReport, look: Look) -> Iterator[str]:
    reasons: dict[Reason, list[str]] = {}
    for one in report.of(UNDECIDED):
        for reason in one.reasons:
            reasons.setdefault(reason, []).append(f"{one.endpoint} {one.direction}?")
    for reason in report.unseen:
        reasons.setdefault(reason, [])
    for reason, asked in reasons.items():
        place = f"{reason.place}: " if reason.place.file else ""
        about = f" ({', '.join(dict.fromkeys(asked))})" if asked else ""
        yield f"{look.paint('notice', 'not decided')}: {lines(place + reason.message)}{about}"


def _proved(report: DiffReport) -> Iterator[str]:
    for answer, title in ((SAME, "the same (proved)"), (BOUNDED, BOUNDED)):
        ways: dict[str, list[DiffAnswer]] = {}
        for one in report.of(answer):
            ways.setdefault(one.endpoint, []).append(one)
        for endpoint, found in ways.items():
            both = {one.direction for one in report.answers if one.endpoint == endpoint}
            way = "" if len(found) == len(both) else f", not {found[0].direction}"
            bound = ""
            if answer == BOUNDED:
                items = max(one.items for one in found)
                paths = dict.fromkeys(path for one in found for path in one.bounded)
                bound = f" with at most {plural(items, 'item')} in {', '.join(paths)}"
            yield lines(f"{title}{way}{bound}: {endpoint}")
