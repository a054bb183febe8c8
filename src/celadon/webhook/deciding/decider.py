"""One review on its way to a verdict, in one go or with questions in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from celadon.admission import Cause, Decision, Request, Verdict
from celadon.webhook.deciding.original_requests import original_request
from celadon.webhook.deciding.rulebook import Rulebook
from celadon.webhook.deciding.unanswered import MOST_QUESTIONS, Unanswered


class TooManyQuestions(Exception):
    """A review whose policies never stop asking."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a policy had against a request; `failed` if something could not be evaluated, whatever
    the failure policy made of that."""

    policy: str
    decisions: Sequence[Decision]
    failed: bool


class Decider:
    """`findings` are those of the last verdict, of policies that were not content."""

    __slots__ = ("_engine", "_request", "_world", "findings")

    def __init__(self, request: Request, rules: Rulebook) -> None:
        self._engine = rules.engine
        self._world = rules.world()
        self._request = original_request(request, self._world)
        self.findings: list[Finding] = []

    def verdict(self) -> Verdict:
        """May raise Unanswered."""
        if self.findings:
            self.findings.clear()
        return self._engine.review(self._request, self._world, self)

    def judged(self, policy: str, decisions: Sequence[Decision], *, failed: bool) -> None:
        """Called by the engine, for every policy that matches."""
        if decisions or failed:
            failed = failed or any(one.cause is not Cause.VALIDATION for one in decisions)
            self.findings.append(Finding(policy, decisions, failed))

    async def settled(self, question: Unanswered) -> Verdict:
        """The verdict when all questions are answered, this one first. Raises what finding an
        answer raises, TooManyQuestions."""
        for _ in range(MOST_QUESTIONS):
            await question.find()
            try:
                return self.verdict()
            except Unanswered as another:
                question = another
        raise TooManyQuestions
