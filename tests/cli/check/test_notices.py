"""What is remembered of the verdicts about a stream of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from celadon.admission import Engine, Note, Outcome, Request, Verdict, World
from celadon.cli.check.document_requests import DocumentRequest
from celadon.cli.check.notices import Coverage


class Answers:
    """An engine that has a verdict for each request, and one note about what concerns nobody."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.verdicts = list(verdicts)
        self.nothing = (Note(Outcome.POLICY_UNMATCHED, "other", ""),)

    def noted(self, request: Request, world: World) -> Verdict:
        return self.verdicts.pop(0)

    def unconcerned(self, request: Request, world: World) -> tuple[Note, ...]:
        return self.nothing


class Object:
    title = "Pod a"
    request = None


def evaluated() -> Verdict:
    return Verdict(notes=(Note(Outcome.EVALUATED, "p", "b"),))


def test_the_verdicts_of_a_stream_are_not_kept() -> None:
    coverage, engine = Coverage(), Answers([evaluated() for _ in range(1_000)])
    for _ in range(1_000):
        _, count = coverage.judge(
            cast(Engine, engine), cast(World, None), cast(DocumentRequest, Object())
        )
        assert count == 1
    assert len(coverage.known) < 500
    assert coverage.outcomes == {"p": {Outcome.EVALUATED}, "other": {Outcome.POLICY_UNMATCHED}}


def test_one_verdict_for_all_is_taken_in_once() -> None:
    coverage, same = Coverage(), evaluated()
    engine = Answers([same, same])
    for _ in range(2):
        coverage.judge(cast(Engine, engine), cast(World, None), cast(DocumentRequest, Object()))
    assert len(coverage.known) == 2
