"""The findings of `celadon diff` as renderers see them.

For people: differences first, each with a request and what both sides say of it; then what is not
decided, and what is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.cli import diff
from celadon.cli.proof_report import Reason, SideVerdict
from celadon.cli.report import proof_view
from celadon.cli.report import report_model as model
from celadon.kube.json_types import JsonDict

_SHAPES: Final[model.Shapes] = {
    **proof_view.ANSWER_SHAPES,
    diff.DiffExample: ("old", "new", "*request"),
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

    def text(self, look: model.ReportStyle) -> str:
        """Differences with their requests, what is not decided, what is proved; and the answer."""
        report = self.report
        differences = (_difference(group, look) for group in _alike(report.of(diff.DIFFERS)))
        others = [*_undecided(report, look), *_proved(report)]
        return proof_view.answers_text(report, look, differences, others)

    def data(self) -> JsonDict:
        """Return the document of kind DiffReport."""
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
        for answer in self.report.of(diff.UNDECIDED):
            message = f"{answer.endpoint}: not decided whether it is {answer.direction}"
            yield proof_view.undecided_finding(answer, answer.endpoint, message)

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return what the groups stand for."""
        return proof_view.meaning_rules(groups, _MEANT)

    def cases(self) -> Iterator[model.ReportCase]:
        """Yield a case for each question."""
        yield from map(model.error_case, self.report.errors)
        for answer in self.report.answers:
            fault = _sides(answer) if answer.answer == diff.DIFFERS else ""
            name = f"{answer.endpoint} {answer.direction}"
            yield proof_view.answer_case(answer, "diff", name, fault)


def _alike(answers: Sequence[diff.DiffAnswer]) -> list[list[diff.DiffAnswer]]:
    """The answers that are due to the same things, of which one request is enough."""
    groups: dict[object, list[diff.DiffAnswer]] = {}
    for answer in answers:
        assert answer.example is not None
        key = answer.direction, *map(_cause, (answer.example.old, answer.example.new))
        groups.setdefault(key, []).append(answer)
    return list(groups.values())


def _cause(side: SideVerdict) -> object:
    return side.verdict, tuple(
        (against.policy, against.binding, against.field) for against in side.against
    )


def _difference(group: Sequence[diff.DiffAnswer], look: model.ReportStyle) -> list[str]:
    first = group[0]
    also = ", ".join(answer.endpoint for answer in group[1:])
    head = look.paint("bold", f"{first.direction}: {first.endpoint}")
    result = [f"{head} (also {also})" if also else head]
    result += (f"  {line}" for line in _side_lines(first, look))
    result += (f"    {line}" for line in _example_lines(first))
    return result


def _side_lines(answer: diff.DiffAnswer, look: model.ReportStyle) -> Iterator[str]:
    assert answer.example is not None
    for name, side in (("old", answer.example.old), ("new", answer.example.new)):
        yield f"{name}  {look.paint(_STYLES[side.verdict], side.verdict)}"
        for against in side.against:
            place = f"{against.place}: " if against.place.file else ""
            yield f"       {model.one_line(f'{place}{against.policy}: {against.message}')}"


_STYLES: Final = {
    "denied": "denied",
    "warned": "warned",
    "audited": "notice",
    "admitted": "admitted",
}


def _example_lines(answer: diff.DiffAnswer) -> Iterator[str]:
    assert answer.example is not None
    return proof_view.request_lines(answer.example.request)


def _sides(answer: diff.DiffAnswer) -> str:
    assert answer.example is not None
    old, new = answer.example.old.verdict, answer.example.new.verdict
    return f"{old} by the old {_judges(answer)}, {new} by the new {_judges(answer, is_short=True)}"


def _judges(answer: diff.DiffAnswer, *, is_short: bool = False) -> str:
    if answer.operation == diff.STORED:
        return "one" if is_short else "definition"
    return "ones" if is_short else "policies"


def _found(group: Sequence[diff.DiffAnswer]) -> model.Finding:
    first = group[0]
    assert first.example is not None
    where = ", ".join(answer.endpoint for answer in group)
    remarks = [
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
        details=(*remarks, *_example_lines(first)),
    )


def _undecided(report: diff.DiffReport, look: model.ReportStyle) -> Iterator[str]:
    reasons: dict[Reason, list[str]] = {}
    for answer in report.of(diff.UNDECIDED):
        for reason in answer.reasons:
            reasons.setdefault(reason, []).append(f"{answer.endpoint} {answer.direction}?")
    for reason in report.unseen:
        reasons.setdefault(reason, [])
    for reason, value in reasons.items():
        place = f"{reason.place}: " if reason.place.file else ""
        about = f" ({', '.join(dict.fromkeys(value))})" if value else ""
        yield f"{look.paint('notice', 'not decided')}: {model.lines(place + reason.message)}{about}"


def _proved(report: diff.DiffReport) -> Iterator[str]:
    for answer, title in (
        (diff.SAME, "the same (proved)"),
        (diff.BOUNDED, diff.BOUNDED),
    ):
        ways: dict[str, list[diff.DiffAnswer]] = {}
        for diff_answer in report.of(answer):
            ways.setdefault(diff_answer.endpoint, []).append(diff_answer)
        for endpoint, answers in ways.items():
            directions = {
                answer.direction for answer in report.answers if answer.endpoint == endpoint
            }
            way = "" if len(answers) == len(directions) else f", not {answers[0].direction}"
            bound = ""
            if answer == diff.BOUNDED:
                items = max(answer.items for answer in answers)
                paths = dict.fromkeys(path for answer in answers for path in answer.bounded)
                bound = f" with at most {model.plural(items, 'item')} in {', '.join(paths)}"
            yield model.lines(f"{title}{way}{bound}: {endpoint}")
