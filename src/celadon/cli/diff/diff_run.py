"""Questions to answers: both sides compared, and every answer put into the words of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from celadon.admission import Cause
from celadon.cli.check.check_report import Place
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
from celadon.cli.diff.sides import Given
from celadon.kube import JsonObject
from celadon.kube.resources import Catalog, known_resources
from celadon.prove import Comparison, Differences, Direction, Example, Finding, Gap, Judgement
from celadon.records import dataclass

_ANSWERS = {
    Finding.SAME: SAME,
    Finding.BOUNDED: BOUNDED,
    Finding.DIFFERS: DIFFERS,
    Finding.UNDECIDED: UNDECIDED,
}


@dataclass(frozen=True, slots=True)
class DiffSettings:
    """How much is asked, and for how long."""

    directions: tuple[Direction, ...] = tuple(Direction)
    items: int = 2
    seconds: float = 10


def compared(old: Given, new: Given, settings: DiffSettings) -> DiffReport:
    """The report about two sides."""
    unbound = _unbound(old, new)
    notices = [
        f"`{name}` has no binding: compared as if one denies everywhere" for name in sorted(unbound)
    ]
    differences = Differences(
        old.side(unbound),
        new.side(unbound),
        settings.items,
        settings.seconds,
        served_kinds([*old.objects, *new.objects]),
    )
    wording = _Wording(old, new)
    answers = tuple(map(wording.answer, differences.comparisons(settings.directions)))
    unseen = [
        Reason(f"{one.endpoint}: not looked at ({', '.join(one.policies)})")
        for one in differences.unseen
    ]
    if old.mutations != new.mutations:
        unseen.append(Reason("mutating policies differ: not looked at"))
    return DiffReport(
        old.label,
        new.label,
        answers,
        tuple(notices),
        tuple(unseen),
        tuple(dict.fromkeys((*old.errors, *new.errors))),
        tuple(dict.fromkeys((*old.problems, *new.problems))),
    )


def _unbound(old: Given, new: Given) -> frozenset[str]:
    """Those that no binding of either side puts to work: without one nothing would be compared."""
    names = [frozenset(one.sets.validating.policies) for one in (old, new)]
    unbound = [(names[0] - old.unbound), (names[1] - new.unbound)]
    return (names[0] | names[1]) - unbound[0] - unbound[1]


def served_kinds(objects: Sequence[JsonObject]) -> Catalog:
    """The built-in kinds, and those that CustomResourceDefinitions define."""
    definitions = [one for one in objects if one.get("kind") == "CustomResourceDefinition"]
    return known_resources().with_crds(definitions) if definitions else known_resources()


@dataclass(frozen=True, slots=True)
class _Wording:
    """Answers in the words of the report."""

    old: Given
    new: Given

    def answer(self, found: Comparison) -> DiffAnswer:
        endpoint = found.endpoint
        example = None if found.example is None else self._example(found.example)
        place, subject = Place(), ""
        if found.example is not None:
            place, subject = self._spot(found)
        return DiffAnswer(
            endpoint.operation.value,
            endpoint.kind.api_version,
            endpoint.kind.kind,
            found.direction.value,
            _ANSWERS[found.finding],
            example,
            place,
            subject,
            tuple(self._reasons(found)) if found.finding is Finding.UNDECIDED else (),
            found.items if found.bounded else 0,
            found.bounded,
        )

    def _spot(self, found: Comparison) -> tuple[Place, str]:
        """Where the change is to be looked at: in the new files, if what decides is there."""
        assert found.example is not None
        sides = (self.new, self.old)
        judgements = (found.example.new, found.example.old)
        for judgement in judgements:
            for one in judgement.decisions:
                for given in sides:
                    place = given.place(one.source, one.policy, one.binding)
                    if place is not None:
                        return place, f"ValidatingAdmissionPolicy {one.policy}"
        return Place(), ""

    def _example(self, found: Example) -> RequestExample:
        request = found.request
        return RequestExample(
            _verdict(self.old, found.old),
            _verdict(self.new, found.new),
            found.manifest,
            found.old_manifest,
            found.around,
            request.user.name if found.is_about_user else "",
            request.user.groups if found.is_about_user else (),
            f"refused for another reason, too: {found.complaint}" if found.complaint else "",
        )

    def _reasons(self, found: Comparison) -> Iterator[Reason]:
        for gap in found.gaps:
            yield Reason(gap.reason, self._gap_place(gap))
        if not found.gaps:
            yield Reason(found.reason)

    def _gap_place(self, gap: Gap) -> Place:
        for given in (self.new, self.old):
            place = given.place(gap.source, gap.policy, "")
            if place is not None:
                return place
        return Place()


def _verdict(given: Given, judgement: Judgement) -> SideVerdict:
    words = ("denied", judgement.denied), ("warned", judgement.warned)
    verdict = next((word for word, holds in words if holds), "")
    verdict = verdict or ("audited" if judgement.audited else "admitted")
    against = [
        Against(
            one.policy,
            one.binding,
            str(one.source.path),
            given.place(one.source, one.policy, one.binding) or Place(),
            one.message,
            one.param,
            one.cause is not Cause.VALIDATION,
        )
        for one in judgement.decisions
    ]
    return SideVerdict(verdict, tuple(dict.fromkeys(against)))
