"""What `celadon prove` says of policies and definitions, as renderers see it.

For people: each validation with what is proved of it; of parts of policies and of rules of
definitions those that are at fault, or not decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.cli.claims.proof_report import PART, RULE, VALIDATION, ProofItem, ProofReport
from celadon.cli.report.report_model import (
    CaseState,
    Finding,
    FindingRule,
    Level,
    Look,
    ReportCase,
    ReportView,
    lines,
    one_line,
    yaml_text,
)
from celadon.kube.json_types import JsonDict

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
        """What is found, proved and not decided; and the counts."""
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
        """What the groups stand for."""
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
    return one.is_finding or one.is_undecided


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
