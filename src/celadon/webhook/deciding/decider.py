"""One review on its way to a verdict, in one go or with questions in between."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from celadon.admission import Action, Cause, Decision, Request, Verdict
from celadon.records import dataclass
from celadon.webhook.deciding.original_requests import original_request
from celadon.webhook.deciding.rulebook import Rulebook
from celadon.webhook.deciding.unanswered import Unanswered, settled


@dataclass(frozen=True, slots=True)
class Finding:
    """What a policy had against a request; `failed` if something could not be evaluated, whatever
    the failure policy made of that."""

    policy: str
    decisions: Sequence[Decision]
    failed: bool


class Decider:
    """`findings` are those of the last verdict, of policies that were not content; `times` are the
    seconds that each policy took, if they are to be known (`timed`)."""

    __slots__ = ("_engine", "_last", "_request", "_timed", "_world", "findings", "times")

    def __init__(self, request: Request, rules: Rulebook, *, timed: bool = False) -> None:
        self._engine = rules.engine
        self._world = rules.world()
        self._request = request
        self._timed = timed
        self._last = 0.0
        self.findings: list[Finding] = []
        self.times: list[tuple[str, float]] = []

    @property
    def hears_all(self) -> bool:
        """Policies that were content matter for their times only."""
        return self._timed

    def verdict(self) -> Verdict:
        """May raise Unanswered."""
        self.findings.clear()
        if self._timed:
            self.times.clear()
            self._last = perf_counter()
        request = original_request(self._request, self._world)
        return self._engine.review(request, self._world, self)

    def judged(self, policy: str, decisions: Sequence[Decision], *, failed: bool) -> None:
        """Called by the engine, for every policy that matches."""
        if decisions or failed:
            self._find(policy, decisions, failed=failed)
        if self._timed:
            now = perf_counter()
            self.times.append((policy, now - self._last))
            self._last = now

    def _find(self, policy: str, decisions: Sequence[Decision], *, failed: bool) -> None:
        errors = any(one.cause is not Cause.VALIDATION for one in decisions)
        told = [
            one
            for one in decisions
            if one.action is Action.DENY or one.cause is not Cause.VALIDATION
        ]
        if told or failed:
            self.findings.append(Finding(policy, told, failed or errors))

    async def settled(self, question: Unanswered) -> Verdict:
        """The verdict when all questions are answered, this one first. Raises what finding an
        answer raises, TooManyQuestions."""
        return await settled(self.verdict, question)
