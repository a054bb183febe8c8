"""The answers of the prover as renderers see them: those of `celadon prove` about policies and
definitions, and about claims, and those of `celadon diff`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from celadon.cli import diff, proof_report, property_proofs
from celadon.cli.check.check_report import Place
from celadon.cli.diff import DiffAnswer, DiffReport
from celadon.cli.report import report_model as model
from celadon.kube.json_types import JsonDict

# --- Proofs ------------------------------------------------------------------

# What `celadon prove` says of policies and definitions, as renderers see it.
#
# For people: each validation with what is proved of it; of all else (match conditions, variables
# and parts of policies, rules of definitions) what is at fault, would be if a bound were none, or
# is not decided.

_COUNTED: Final = {
    proof_report.VALIDATION: ("validation", "validations"),
    proof_report.CONDITION: ("match condition or variable", "match conditions and variables"),
    proof_report.PART: ("part of a policy", "parts of policies"),
    proof_report.RULE: (
        "question about rules of definitions",
        "questions about rules of definitions",
    ),
}
_UNDECIDED: Final = "not decided"


class ProofView(model.ReportView[proof_report.ProofReport]):
    """Answers about policies and definitions."""

    command = "celadon prove"

    def text(self, look: model.ReportStyle) -> str:
        """Return what is found, proved and not decided; and the counts."""
        reported_items = [
            item
            for item in self.report.items
            if item.sort == proof_report.VALIDATION or item.is_told
        ]
        result = ["\n".join(_lines(item, look)) for item in reported_items]
        counts = self.counts()
        return "".join(f"{text}\n" for text in (*result, *(["", *counts] if counts else [])))

    def counts(self) -> list[str]:
        """Return how many answers there are of each sort, and how many of them are findings."""
        return [
            _count(nouns, items)
            for sort, nouns in _COUNTED.items()
            if (items := self._counted(sort))
        ]

    def _counted(self, sort: str) -> list[proof_report.ProofItem]:
        items = self.report.of(sort)
        return (
            items
            if sort in (proof_report.VALIDATION, proof_report.RULE)
            or any(item.is_told for item in items)
            else []
        )

    def data(self) -> list[JsonDict]:
        """Return all answers, each with its place."""
        return [
            {
                "definition" if item.sort == proof_report.RULE else "policy": item.subject,
                "field": item.field,
                "position": str(item.place),
                **item.data,
            }
            for item in self.report.items
        ]

    def findings(self) -> Iterator[model.Finding]:
        """Yield a finding for each fault, and for what is not decided."""
        for item in self.report.items:
            name = f"{item.subject} {item.field}"
            for remark in item.remarks:
                is_undecided = remark.title == _UNDECIDED
                if not (remark.is_fault or is_undecided):
                    continue
                yield model.Finding(
                    model.Level.WARNING if is_undecided else model.Level.ERROR,
                    item.place,
                    remark.title,
                    f"{name}: {remark.title}{f': {remark.text}' if remark.text else ''}",
                    _group(remark.title),
                    name,
                    details=tuple(_example_lines(item)) if remark.is_fault else (),
                )

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return what the groups stand for."""
        return meaning_rules(groups, {})

    def cases(self) -> Iterator[model.ReportCase]:
        """Yield a case for each place."""
        for item in self.report.items:
            state = model.CaseState.SKIPPED if item.is_undecided else model.CaseState.PASSED
            remarks = [
                f"{each.title}: {each.text}".removesuffix(": ")
                for each in item.remarks
                if each.is_fault or each.title == _UNDECIDED
            ]
            yield model.ReportCase(
                "prove",
                f"{item.subject} {item.field}",
                item.place,
                model.CaseState.FAILED if item.is_finding else state,
                "; ".join(remarks),
                "\n".join((*remarks, *_example_lines(item))),
            )


def _group(title: str) -> str:
    return title.removesuffix(" (proved)").replace(" ", "-")


def _count(nouns: tuple[str, str], items: Sequence[proof_report.ProofItem]) -> str:
    findings = sum(item.is_finding for item in items)
    undecided = sum(item.is_undecided and not item.is_finding for item in items)
    return f"{model.plural(len(items), *nouns)}, {findings} with findings, {undecided} not decided"


def _lines(item: proof_report.ProofItem, look: model.ReportStyle) -> Iterator[str]:
    yield look.paint("bold", model.lines(f"{item.place}: {item.subject} {item.field}"))
    for remark in item.remarks:
        title = look.paint("error", remark.title) if remark.is_fault else remark.title
        yield f"  {title}: {model.one_line(remark.text)}" if remark.text else f"  {title}"
    if item.examples:
        yield "  for instance:"
        yield from (f"    {line}" for line in _example_lines(item))


def _example_lines(item: proof_report.ProofItem) -> Iterator[str]:
    for number, example in enumerate(item.examples):
        if number:
            yield "---"
        if example.title:
            yield f"# {example.title}"
        yield from model.lines(model.yaml_text(example.manifest)).splitlines()


_STYLES: Final = {
    "denied": "denied",
    "warned": "warned",
    "audited": "notice",
    "admitted": "admitted",
}
"""The styles of verdicts."""


# --- Answers about endpoints -------------------------------------------------
#
# The parts that claims and comparisons have in common.
#
# For people: requests first, then what is not decided, then what is proved.

ANSWER_SHAPES: Final[model.Shapes] = {
    **model.SHAPES,
    proof_report.Against: (
        "policy",
        "binding",
        "param",
        "field",
        "*place",
        "message",
        "error=is_error?",
    ),
    proof_report.Reason: ("message", "*place"),
    proof_report.ExampleRequest: (
        *("object=manifest", "oldObject=old_manifest", "around", "user", "groups", "remark"),
    ),
}


def answers_text(
    report: DiffReport | property_proofs.ClaimReport,
    look: model.ReportStyle,
    examples: Iterable[list[str]],
    others: Sequence[str],
) -> str:
    """Return the report for people: blocks of lines for requests, notices, the lines about all
    `others`, and the answer to the whole question."""
    blocks = [*model.policy_error_lines(report.errors, look), *examples]
    blocks += ([model.lines(f"notice: {notice}")] for notice in report.notices)
    blocks += [[*others]] if others else []
    blocks.append([look.paint("bold", report.summary)])
    return model.joined(blocks)


def undecided_finding(
    answer: DiffAnswer | property_proofs.ClaimAnswer, subject: str, message: str
) -> model.Finding:
    """Return the finding that something is not decided; it stands at the first reason if the answer
    itself has no place."""
    reason_place = answer.reasons[0].place if answer.reasons else Place()
    return model.Finding(
        model.Level.WARNING,
        answer.place if answer.place.file else reason_place,
        _UNDECIDED,
        message,
        "not-decided",
        subject,
        details=tuple(reason.message for reason in answer.reasons),
    )


def answer_case(
    answer: DiffAnswer | property_proofs.ClaimAnswer, group: str, name: str, fault: str
) -> model.ReportCase:
    """Return the case of an answer, which has failed if a fault is found."""
    state, text = model.CaseState.PASSED, answer.answer
    if fault:
        state, text = model.CaseState.FAILED, fault
    elif answer.answer == _UNDECIDED:
        state, text = (
            model.CaseState.SKIPPED,
            "; ".join(reason.message for reason in answer.reasons),
        )
    details = "\n".join(request_lines(answer.example.request)) if answer.example else ""
    return model.ReportCase(group, name, answer.place, state, text, details)


def meaning_rules(groups: Sequence[str], meanings: Mapping[str, str]) -> list[model.FindingRule]:
    """Return what groups of findings stand for; a group without a meaning speaks for itself."""
    return [
        model.FindingRule(group, group, meanings.get(group, group.replace("-", " ")))
        for group in groups
    ]


def request_lines(request: proof_report.ExampleRequest) -> Iterator[str]:
    """Yield a request as manifests."""
    if request.user:
        groups = f" of {', '.join(request.groups)}" if request.groups else ""
        yield model.one_line(f"# by {request.user}{groups}")
    if request.remark:
        yield model.one_line(f"# {request.remark}")
    manifests = [
        *(("", value) for value in request.around),
        *([("# before", request.old_manifest)] if request.old_manifest is not None else []),
        *([("# after", request.manifest)] if request.manifest is not None else []),
    ]
    for number, (title, value) in enumerate(manifests):
        if number:
            yield "---"
        if title and request.old_manifest is not None:
            yield title
        yield from model.lines(model.yaml_text(value)).splitlines()


# --- Claims ------------------------------------------------------------------

# What came of claims about policies, as renderers see it.

_SHAPES: Final[model.Shapes] = {
    **ANSWER_SHAPES,
    proof_report.Against: ("policy", "binding", "param", "field", "*place", "message"),
    property_proofs.ClaimExample: (
        "verdict=verdict.verdict",
        "against=verdict.against",
        "*request",
    ),
    property_proofs.ClaimAnswer: (
        *("name", "claim", "operation", "apiVersion=api_version", "kind", "answer", "*place"),
        *("example", "reasons", "items?", "bounded"),
    ),
}

_MEANT: Final = {
    property_proofs.COUNTEREXAMPLE: "a request is against what is claimed of the policies",
    "not-decided": "whether the policies are as claimed is not decided",
}


class ClaimView(model.ReportView[property_proofs.ClaimReport]):
    """Claims and their answers."""

    command = "celadon prove"

    def text(self, look: model.ReportStyle) -> str:
        """Counterexamples, what is not decided, what is proved; and the counts."""
        report = self.report
        counterexamples = (
            _counterexample(answer, look) for answer in report.of(property_proofs.COUNTEREXAMPLE)
        )
        others = [*_undecided(report, look), *_proved(report)]
        return answers_text(report, look, counterexamples, others)

    def data(self) -> JsonDict:
        """Return the document of kind ProofReport."""
        report = self.report
        return model.document(
            "ProofReport",
            _SHAPES,
            summary={"answer": report.summary, "exitCode": int(report.exit)},
            answers=report.answers,
            notices=report.notices,
            policyErrors=report.errors,
            problems=report.problems,
        )

    def findings(self) -> Iterator[model.Finding]:
        """Yield a finding for each counterexample, and for what is not decided."""
        yield from map(model.error_finding, self.report.errors)
        for answer in self.report.of(property_proofs.COUNTEREXAMPLE):
            assert answer.example is not None
            message = (
                f"{answer.name}: {answer.endpoint} {answer.example.verdict.verdict}: {answer.claim}"
            )
            details = (*_against(answer), *request_lines(answer.example.request))
            title = group = property_proofs.COUNTEREXAMPLE
            yield model.Finding(
                model.Level.ERROR, answer.place, title, message, group, answer.name, details=details
            )
        for answer in self.report.of(property_proofs.UNDECIDED):
            message = f"{answer.name}: {answer.endpoint}: {property_proofs.UNDECIDED}"
            yield undecided_finding(answer, answer.name, message)

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return what the groups stand for."""
        return meaning_rules(groups, _MEANT)

    def cases(self) -> Iterator[model.ReportCase]:
        """Yield a case for each question."""
        yield from map(model.error_case, self.report.errors)
        for answer in self.report.answers:
            is_fault = answer.answer == property_proofs.COUNTEREXAMPLE
            fault = f"{answer.answer}: {answer.claim}" if is_fault else ""
            yield answer_case(answer, "prove", f"{answer.name} {answer.endpoint}", fault)


def _counterexample(answer: property_proofs.ClaimAnswer, look: model.ReportStyle) -> list[str]:
    assert answer.example is not None
    verdict = answer.example.verdict.verdict
    place = f"{answer.place}: " if answer.place.file else ""
    head = look.paint("bold", f"{property_proofs.COUNTEREXAMPLE}: {answer.name}: {answer.endpoint}")
    result = [head, f"  {model.lines(place)}{model.lines(answer.claim)}"]
    result.append(f"  but this is {look.paint(_STYLES[verdict], verdict)}:")
    result += (
        f"    {line}" for line in (*_against(answer), *request_lines(answer.example.request))
    )
    return result


def _against(answer: property_proofs.ClaimAnswer) -> Iterator[str]:
    assert answer.example is not None
    for by in answer.example.verdict.against:
        place = f"{by.place}: " if by.place.file else ""
        yield model.one_line(f"# {place}{by.policy}: {by.message}")


def _undecided(report: property_proofs.ClaimReport, look: model.ReportStyle) -> Iterator[str]:
    title = look.paint("notice", property_proofs.UNDECIDED)
    for answer in report.of(property_proofs.UNDECIDED):
        for reason in answer.reasons:
            place = f"{reason.place}: " if reason.place.file else ""
            yield model.lines(f"{title}: {answer.name}: {answer.endpoint}: {place}{reason.message}")


def _proved(report: property_proofs.ClaimReport) -> Iterator[str]:
    ways: dict[tuple[str, str, int, tuple[str, ...]], list[str]] = {}
    for claim_answer in report.answers:
        if claim_answer.answer in (property_proofs.PROVED, property_proofs.BOUNDED):
            ways.setdefault(
                (claim_answer.name, claim_answer.answer, claim_answer.items, claim_answer.bounded),
                [],
            ).append(claim_answer.endpoint)
    for (name, answer, items, bounded), endpoints in ways.items():
        bound = (
            f" with at most {model.plural(items, 'item')} in {', '.join(bounded)}" if items else ""
        )
        yield model.lines(f"{answer}: {name}: {', '.join(endpoints)}{bound}")


# --- Comparisons -------------------------------------------------------------
#
# The findings of `celadon diff`, as renderers see them.
#
# For people: differences first, each with a request and what both sides say of it; then what is not
# decided, and what is proved.

_DIFF_SHAPES: Final[model.Shapes] = {
    **ANSWER_SHAPES,
    diff.DiffExample: ("old", "new", "*request"),
    DiffAnswer: (
        *("operation", "apiVersion=api_version", "kind", "direction", "answer", "*place"),
        *("example", "reasons", "items?", "bounded"),
    ),
}

_DIFF_MEANINGS: Final = {
    "looser": "admitted or less strictly judged by the new policies only",
    "stricter": "refused or more strictly judged by the new policies only",
    "not-decided": "whether the policies differ is not decided",
}


class DiffView(model.ReportView[DiffReport]):
    """A comparison."""

    command = "celadon diff"

    def text(self, look: model.ReportStyle) -> str:
        """Differences with their requests, what is not decided, what is proved; and the answer."""
        report = self.report
        differences = (_difference(group, look) for group in _alike(report.of(diff.DIFFERS)))
        others = [*_undecided_differences(report, look), *_proved_same(report)]
        return answers_text(report, look, differences, others)

    def data(self) -> JsonDict:
        """Return the document of kind DiffReport."""
        report = self.report
        return model.document(
            "DiffReport",
            _DIFF_SHAPES,
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
        """Yield a finding for each difference, and for what is not decided."""
        yield from map(model.error_finding, self.report.errors)
        for group in _alike(self.report.of(diff.DIFFERS)):
            yield _difference_finding(group)
        for answer in self.report.of(diff.UNDECIDED):
            message = f"{answer.endpoint}: not decided whether it is {answer.direction}"
            yield undecided_finding(answer, answer.endpoint, message)

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return what the groups stand for."""
        return meaning_rules(groups, _DIFF_MEANINGS)

    def cases(self) -> Iterator[model.ReportCase]:
        """Yield a case for each question."""
        yield from map(model.error_case, self.report.errors)
        for answer in self.report.answers:
            fault = _sides(answer) if answer.answer == diff.DIFFERS else ""
            name = f"{answer.endpoint} {answer.direction}"
            yield answer_case(answer, "diff", name, fault)


def _alike(answers: Sequence[DiffAnswer]) -> list[list[DiffAnswer]]:
    """Return the answers that are due to the same things, of which one request is enough."""
    groups: dict[object, list[DiffAnswer]] = {}
    for answer in answers:
        assert answer.example is not None
        key = answer.direction, *map(_cause, (answer.example.old, answer.example.new))
        groups.setdefault(key, []).append(answer)
    return list(groups.values())


def _cause(side: proof_report.SideVerdict) -> object:
    return side.verdict, tuple(
        (against.policy, against.binding, against.field) for against in side.against
    )


def _difference(group: Sequence[DiffAnswer], look: model.ReportStyle) -> list[str]:
    first = group[0]
    also = ", ".join(answer.endpoint for answer in group[1:])
    head = look.paint("bold", f"{first.direction}: {first.endpoint}")
    result = [f"{head} (also {also})" if also else head]
    result += (f"  {line}" for line in _side_lines(first, look))
    result += (f"    {line}" for line in _difference_example(first))
    return result


def _side_lines(answer: DiffAnswer, look: model.ReportStyle) -> Iterator[str]:
    assert answer.example is not None
    for name, side in (("old", answer.example.old), ("new", answer.example.new)):
        yield f"{name}  {look.paint(_STYLES[side.verdict], side.verdict)}"
        for against in side.against:
            place = f"{against.place}: " if against.place.file else ""
            yield f"       {model.one_line(f'{place}{against.policy}: {against.message}')}"


def _difference_example(answer: DiffAnswer) -> Iterator[str]:
    assert answer.example is not None
    return request_lines(answer.example.request)


def _sides(answer: DiffAnswer) -> str:
    assert answer.example is not None
    old, new = answer.example.old.verdict, answer.example.new.verdict
    return f"{old} by the old {_judges(answer)}, {new} by the new {_judges(answer, is_short=True)}"


def _judges(answer: DiffAnswer, *, is_short: bool = False) -> str:
    if answer.operation == diff.STORED:
        return "one" if is_short else "definition"
    return "ones" if is_short else "policies"


def _difference_finding(group: Sequence[DiffAnswer]) -> model.Finding:
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
        details=(*remarks, *_difference_example(first)),
    )


def _undecided_differences(report: DiffReport, look: model.ReportStyle) -> Iterator[str]:
    reasons: dict[proof_report.Reason, list[str]] = {}
    for answer in report.of(diff.UNDECIDED):
        for reason in answer.reasons:
            reasons.setdefault(reason, []).append(f"{answer.endpoint} {answer.direction}?")
    for reason in report.unseen:
        reasons.setdefault(reason, [])
    for reason, value in reasons.items():
        place = f"{reason.place}: " if reason.place.file else ""
        about = f" ({', '.join(dict.fromkeys(value))})" if value else ""
        yield f"{look.paint('notice', 'not decided')}: {model.lines(place + reason.message)}{about}"


def _proved_same(report: DiffReport) -> Iterator[str]:
    for answer, title in (
        (diff.SAME, "the same (proved)"),
        (diff.BOUNDED, diff.BOUNDED),
    ):
        ways: dict[str, list[DiffAnswer]] = {}
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
