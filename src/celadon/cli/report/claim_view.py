"""What came of claims about policies, as renderers see it.

For people: counterexamples first, then what is not decided, then what is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.cli.claims.claim_report import (
    BOUNDED,
    COUNTEREXAMPLE,
    PROVED,
    UNDECIDED,
    ClaimAnswer,
    ClaimExample,
    ClaimReport,
)
from celadon.cli.diff.diff_run import Against, Reason
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
    plural,
    policy_error_lines,
)
from celadon.kube.json_types import JsonDict

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
        """What the groups stand for."""
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
