"""The findings of `celadon diff` as renderers see them.

For people: differences first, each with a request and what both sides say of it; then what is not
decided, and what is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.cli import diff
from celadon.cli.check.check_report import Place
from celadon.cli.claims import ClaimExample
from celadon.cli.report import report_model as model
from celadon.kube.json_types import JsonDict

_SHAPES: Final[model.Shapes] = {
    **model.SHAPES,
    diff.Against: (
        "policy",
        "binding",
        "param",
        "field",
        "*place",
        "message",
        "error=is_error?",
    ),
    diff.Reason: ("message", "*place"),
    diff.RequestExample: (
        *("old", "new", "object=manifest", "oldObject=old_manifest", "around", "user", "groups"),
        "remark",
    ),
    diff.DiffAnswer: (
        *("operation", "apiVersion=api_version", "kind", "direction", "answer", "*place"),
        *("example", "reasons", "items?", "bounded"),
    ),
}

_MEANT: Final = {
    "looser": "admitted or less strictly judged by the new policies only",
    "stricter": "refused or more strictly judged by the new policies only",
    "not-decided": "whether the policies differ is not decided",
}


class DiffView(model.ReportView[diff.DiffReport]):
    """A comparison."""

    command = "celadon diff"

    def text(self, look: model.Look) -> str:
        """Differences with their requests, what is not decided, what is proved; and the answer."""
        report = self.report
        blocks = [*model.policy_error_lines(report.errors, look)]
        blocks += (_difference(group, look) for group in _alike(report.of(diff.DIFFERS)))
        blocks += ([model.lines(f"notice: {one}")] for one in report.notices)
        rest = [*_undecided(report, look), *_proved(report)]
        blocks += [rest] if rest else []
        blocks.append([look.paint("bold", report.summary)])
        return model.joined(blocks)

    def data(self) -> JsonDict:
        """The document of kind DiffReport."""
        report = self.report
        return model.document(
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

    def findings(self) -> Iterator[model.Finding]:
        """A finding for each difference, and for what is not decided."""
        yield from map(model.error_finding, self.report.errors)
        for group in _alike(self.report.of(diff.DIFFERS)):
            yield _found(group)
        for one in self.report.of(diff.UNDECIDED):
            place = one.reasons[0].place if one.reasons else Place()
            message = f"{one.endpoint}: not decided whether it is {one.direction}"
            details = tuple(reason.message for reason in one.reasons)
            title = "not decided"
            yield model.Finding(
                model.Level.WARNING,
                place,
                title,
                message,
                "not-decided",
                one.endpoint,
                details=details,
            )

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return what the groups stand for."""
        return [
            model.FindingRule(one, one, _MEANT.get(one, one.replace("-", " "))) for one in groups
        ]

    def cases(self) -> Iterator[model.ReportCase]:
        """A case for each question."""
        yield from map(model.error_case, self.report.errors)
        for one in self.report.answers:
            state, text = model.CaseState.PASSED, one.answer
            if one.answer == diff.DIFFERS:
                state, text = model.CaseState.FAILED, _sides(one)
            elif one.answer == diff.UNDECIDED:
                state = model.CaseState.SKIPPED
                text = "; ".join(reason.message for reason in one.reasons)
            details = "\n".join(_example_lines(one)) if one.example else ""
            yield model.ReportCase(
                "diff", f"{one.endpoint} {one.direction}", one.place, state, text, details
            )


def _alike(answers: Sequence[diff.DiffAnswer]) -> list[list[diff.DiffAnswer]]:
    """The answers that are due to the same things, of which one request is enough."""
    groups: dict[object, list[diff.DiffAnswer]] = {}
    for one in answers:
        assert one.example is not None
        key = one.direction, *map(_cause, (one.example.old, one.example.new))
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _cause(side: diff.SideVerdict) -> object:
    return side.verdict, tuple((one.policy, one.binding, one.field) for one in side.against)


def _difference(group: Sequence[diff.DiffAnswer], look: model.Look) -> list[str]:
    first = group[0]
    also = ", ".join(one.endpoint for one in group[1:])
    head = look.paint("bold", f"{first.direction}: {first.endpoint}")
    found = [f"{head} (also {also})" if also else head]
    found += (f"  {line}" for line in _side_lines(first, look))
    found += (f"    {line}" for line in _example_lines(first))
    return found


def _side_lines(one: diff.DiffAnswer, look: model.Look) -> Iterator[str]:
    assert one.example is not None
    for name, side in (("old", one.example.old), ("new", one.example.new)):
        yield f"{name}  {look.paint(_STYLES[side.verdict], side.verdict)}"
        for against in side.against:
            place = f"{against.place}: " if against.place.file else ""
            yield f"       {model.lines(f'{place}{against.policy}: {against.message}')}"


_STYLES: Final = {
    "denied": "denied",
    "warned": "warned",
    "audited": "notice",
    "admitted": "admitted",
}


def _example_lines(one: diff.DiffAnswer) -> Iterator[str]:
    assert one.example is not None
    return request_lines(one.example)


def request_lines(example: diff.RequestExample | ClaimExample) -> Iterator[str]:
    """A request as manifests."""
    if example.user:
        groups = f" of {', '.join(example.groups)}" if example.groups else ""
        yield f"# by {model.lines(example.user)}{model.lines(groups)}"
    if example.remark:
        yield f"# {model.lines(example.remark)}"
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
        yield from model.lines(model.yaml_text(value)).splitlines()


def _sides(one: diff.DiffAnswer) -> str:
    assert one.example is not None
    old, new = one.example.old.verdict, one.example.new.verdict
    return f"{old} by the old {_judges(one)}, {new} by the new {_judges(one, is_short=True)}"


def _judges(one: diff.DiffAnswer, *, is_short: bool = False) -> str:
    if one.operation == diff.STORED:
        return "one" if is_short else "definition"
    return "ones" if is_short else "policies"


def _found(group: Sequence[diff.DiffAnswer]) -> model.Finding:
    first = group[0]
    assert first.example is not None
    where = ", ".join(one.endpoint for one in group)
    said = [
        f"{name}: {against.policy}: {against.message}"
        for name, side in (("old", first.example.old), ("new", first.example.new))
        for against in side.against
    ]
    return model.Finding(
        model.Level.ERROR,
        first.place,
        f"{first.direction} {'definition' if first.operation == diff.STORED else 'policy'}",
        f"{where}: {_sides(first)}",
        first.direction,
        first.subject or first.endpoint,
        details=(*said, *_example_lines(first)),
    )


def _undecided(report: diff.DiffReport, look: model.Look) -> Iterator[str]:
    reasons: dict[diff.Reason, list[str]] = {}
    for one in report.of(diff.UNDECIDED):
        for reason in one.reasons:
            reasons.setdefault(reason, []).append(f"{one.endpoint} {one.direction}?")
    for reason in report.unseen:
        reasons.setdefault(reason, [])
    for reason, asked in reasons.items():
        place = f"{reason.place}: " if reason.place.file else ""
        about = f" ({', '.join(dict.fromkeys(asked))})" if asked else ""
        yield f"{look.paint('notice', 'not decided')}: {model.lines(place + reason.message)}{about}"


def _proved(report: diff.DiffReport) -> Iterator[str]:
    for answer, title in (
        (diff.SAME, "the same (proved)"),
        (diff.BOUNDED, diff.BOUNDED),
    ):
        ways: dict[str, list[diff.DiffAnswer]] = {}
        for one in report.of(answer):
            ways.setdefault(one.endpoint, []).append(one)
        for endpoint, found in ways.items():
            both = {one.direction for one in report.answers if one.endpoint == endpoint}
            way = "" if len(found) == len(both) else f", not {found[0].direction}"
            bound = ""
            if answer == diff.BOUNDED:
                items = max(one.items for one in found)
                paths = dict.fromkeys(path for one in found for path in one.bounded)
                bound = f" with at most {model.plural(items, 'item')} in {', '.join(paths)}"
            yield model.lines(f"{title}{way}{bound}: {endpoint}")
