"""The answers of `celadon prove` about policies and definitions, and about claims, as renderers see
them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.cli.claims import (
    BOUNDED,
    COUNTEREXAMPLE,
    PROVED,
    UNDECIDED,
    ClaimAnswer,
    ClaimExample,
    ClaimReport,
)
from celadon.cli.diff import Against, Reason
from celadon.cli.proofs import OPEN, PART, RULE, VALIDATION, ProofItem, ProofReport
from celadon.cli.report.diff_view import request_lines
from celadon.cli.report.report_model import (
    SHAPES,
    CaseState,
    Finding,
    FindingRule,
    Level,
    Look,
    ReportCase,
    ReportView,
    Shapes,
    document,
    error_case,
    error_finding,
    joined,
    lines,
    one_line,
    plural,
    policy_error_lines,
    yaml_text,
)
from celadon.kube.json_types import JsonDict

# --- Proofs ------------------------------------------------------------------

# What `celadon prove` says of policies and definitions, as renderers see it.
#
# For people: each validation with what is proved of it; of parts of policies and of rules of
# definitions those that are at fault, would be if a bound were none, or are not decided.

_COUNTED: Final = {
    VALIDATION: "validations",
    PART: "parts of policies",
    RULE: "questions about rules of definitions",
}
_UNDECIDED: Final = "not decided"


class ProofView(ReportView[ProofReport]):
    """Answers about policies and definitions."""

    command = "celadon prove"

    def text(self, look: Look) -> str:
        """Return what is found, proved and not decided; and the counts."""
        told = [one for one in self.report.items if one.sort == VALIDATION or _is_told(one)]
        found = ["\n".join(_lines(one, look)) for one in told]
        counts = [
            _count(name, items) for sort, name in _COUNTED.items() if (items := self._counted(sort))
        ]
        return "".join(f"{one}\n" for one in (*found, *(["", *counts] if counts else [])))

    def _counted(self, sort: str) -> list[ProofItem]:
        items = self.report.of(sort)
        return items if sort != PART or any(map(_is_told, items)) else []

    def data(self) -> list[JsonDict]:
        """All answers, each with its place."""
        return [
            {
                "definition" if one.sort == RULE else "policy": one.subject,
                "field": one.field,
                "position": str(one.place),
                **one.data,
            }
            for one in self.report.items
        ]

    def findings(self) -> Iterator[Finding]:
        """A finding for each fault, and for what is not decided."""
        for one in self.report.items:
            name = f"{one.subject} {one.field}"
            for remark in one.remarks:
                is_undecided = remark.title == _UNDECIDED
                if not (remark.is_fault or is_undecided):
                    continue
                yield Finding(
                    Level.WARNING if is_undecided else Level.ERROR,
                    one.place,
                    remark.title,
                    f"{name}: {remark.title}{f': {remark.text}' if remark.text else ''}",
                    _group(remark.title),
                    name,
                    details=tuple(_example_lines(one)) if remark.is_fault else (),
                )

    def rules(self, groups: Sequence[str]) -> Sequence[FindingRule]:
        """Return what the groups stand for."""
        return [FindingRule(one, one, one.replace("-", " ")) for one in groups]

    def cases(self) -> Iterator[ReportCase]:
        """A case for each place."""
        for one in self.report.items:
            state = CaseState.SKIPPED if one.is_undecided else CaseState.PASSED
            told = [
                f"{each.title}: {each.text}".removesuffix(": ")
                for each in one.remarks
                if each.is_fault or each.title == _UNDECIDED
            ]
            yield ReportCase(
                "prove",
                f"{one.subject} {one.field}",
                one.place,
                CaseState.FAILED if one.is_finding else state,
                "; ".join(told),
                "\n".join((*told, *_example_lines(one))),
            )


def _is_told(one: ProofItem) -> bool:
    is_open = any(remark.title == OPEN for remark in one.remarks)
    return one.is_finding or one.is_undecided or is_open


def _group(title: str) -> str:
    return title.removesuffix(" (proved)").replace(" ", "-")


def _count(name: str, items: Sequence[ProofItem]) -> str:
    found = sum(one.is_finding for one in items)
    undecided = sum(one.is_undecided and not one.is_finding for one in items)
    return f"{len(items)} {name}, {found} with findings, {undecided} not decided"


def _lines(one: ProofItem, look: Look) -> Iterator[str]:
    yield look.paint("bold", lines(f"{one.place}: {one.subject} {one.field}"))
    for remark in one.remarks:
        title = look.paint("error", remark.title) if remark.is_fault else remark.title
        yield f"  {title}: {one_line(remark.text)}" if remark.text else f"  {title}"
    if one.examples:
        yield "  for instance:"
        yield from (f"    {line}" for line in _example_lines(one))


def _example_lines(one: ProofItem) -> Iterator[str]:
    for number, example in enumerate(one.examples):
        if number:
            yield "---"
        if example.title:
            yield f"# {example.title}"
        yield from lines(yaml_text(example.manifest)).splitlines()


# --- Claims ------------------------------------------------------------------

# What came of claims about policies, as renderers see it.
#
# For people: counterexamples first, then what is not decided, then what is proved.

_SHAPES: Final[Shapes] = {
    **SHAPES,
    Against: ("policy", "binding", "param", "field", "*place", "message"),
    Reason: ("message", "*place"),
    ClaimExample: (
        *("verdict=verdict.verdict", "against=verdict.against", "object=manifest"),
        *("oldObject=old_manifest", "around", "user", "groups", "remark"),
    ),
    ClaimAnswer: (
        *("name", "claim", "operation", "apiVersion=api_version", "kind", "answer", "*place"),
        *("example", "reasons", "items?", "bounded"),
    ),
}

_MEANT: Final = {
    COUNTEREXAMPLE: "a request is against what is claimed of the policies",
    UNDECIDED: "whether the policies are as claimed is not decided",
}
_STYLES: Final = {"denied": "denied", "admitted": "admitted"}


class ClaimView(ReportView[ClaimReport]):
    """Claims and their answers."""

    command = "celadon prove"

    def text(self, look: Look) -> str:
        """Counterexamples, what is not decided, what is proved; and the counts."""
        report = self.report
        blocks = [*policy_error_lines(report.errors, look)]
        blocks += (_counterexample(one, look) for one in report.of(COUNTEREXAMPLE))
        blocks += ([lines(f"notice: {one}")] for one in report.notices)
        rest = [*_undecided(report, look), *_proved(report)]
        blocks += [rest] if rest else []
        blocks.append([look.paint("bold", report.summary)])
        return joined(blocks)

    def data(self) -> JsonDict:
        """The document of kind ProofReport."""
        report = self.report
        return document(
            "ProofReport",
            _SHAPES,
            summary={"answer": report.summary, "exitCode": int(report.exit)},
            answers=report.answers,
            notices=report.notices,
            policyErrors=report.errors,
            problems=report.problems,
        )

    def findings(self) -> Iterator[Finding]:
        """A finding for each counterexample, and for what is not decided."""
        yield from map(error_finding, self.report.errors)
        for one in self.report.of(COUNTEREXAMPLE):
            assert one.example is not None
            message = f"{one.name}: {one.endpoint} {one.example.verdict.verdict}: {one.claim}"
            details = (*_against(one), *request_lines(one.example))
            yield Finding(
                Level.ERROR, one.place, COUNTEREXAMPLE, message, COUNTEREXAMPLE, one.name,
                details=details,
            )  # fmt: skip
        for one in self.report.of(UNDECIDED):
            reasons = tuple(reason.message for reason in one.reasons)
            message = f"{one.name}: {one.endpoint}: {UNDECIDED}"
            place = one.place if one.place.file else one.reasons[0].place
            yield Finding(
                Level.WARNING, place, UNDECIDED, message, "not-decided", one.name, details=reasons
            )

    def rules(self, groups: Sequence[str]) -> Sequence[FindingRule]:
        """Return what the groups stand for."""
        meant = {one.replace(" ", "-"): text for one, text in _MEANT.items()}
        return [FindingRule(one, one, meant.get(one, one.replace("-", " "))) for one in groups]

    def cases(self) -> Iterator[ReportCase]:
        """A case for each question."""
        yield from map(error_case, self.report.errors)
        for one in self.report.answers:
            state, text = CaseState.PASSED, one.answer
            if one.answer == COUNTEREXAMPLE:
                state, text = CaseState.FAILED, f"{one.answer}: {one.claim}"
            elif one.answer == UNDECIDED:
                state = CaseState.SKIPPED
                text = "; ".join(reason.message for reason in one.reasons)
            details = "\n".join(request_lines(one.example)) if one.example else ""
            yield ReportCase("prove", f"{one.name} {one.endpoint}", one.place, state, text, details)


def _counterexample(one: ClaimAnswer, look: Look) -> list[str]:
    assert one.example is not None
    verdict = one.example.verdict.verdict
    place = f"{one.place}: " if one.place.file else ""
    head = look.paint("bold", f"{COUNTEREXAMPLE}: {one.name}: {one.endpoint}")
    found = [head, f"  {lines(place)}{lines(one.claim)}"]
    found.append(f"  but this is {look.paint(_STYLES[verdict], verdict)}:")
    found += (f"    {line}" for line in (*_against(one), *request_lines(one.example)))
    return found


def _against(one: ClaimAnswer) -> Iterator[str]:
    assert one.example is not None
    for by in one.example.verdict.against:
        place = f"{by.place}: " if by.place.file else ""
        yield lines(f"# {place}{by.policy}: {by.message}")


def _undecided(report: ClaimReport, look: Look) -> Iterator[str]:
    title = look.paint("notice", UNDECIDED)
    for one in report.of(UNDECIDED):
        for reason in one.reasons:
            place = f"{reason.place}: " if reason.place.file else ""
            yield lines(f"{title}: {one.name}: {one.endpoint}: {place}{reason.message}")


def _proved(report: ClaimReport) -> Iterator[str]:
    ways: dict[tuple[str, str, int, tuple[str, ...]], list[str]] = {}
    for one in report.answers:
        if one.answer in (PROVED, BOUNDED):
            ways.setdefault((one.name, one.answer, one.items, one.bounded), []).append(one.endpoint)
    for (name, answer, items, bounded), endpoints in ways.items():
        bound = f" with at most {plural(items, 'item')} in {', '.join(bounded)}" if items else ""
        yield lines(f"{answer}: {name}: {', '.join(endpoints)}{bound}")
