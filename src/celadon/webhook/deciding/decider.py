"""One review on its way to a verdict, in one go or with questions in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from celadon.admission import Action, Cause, Decision, Request, Verdict
from celadon.kube import StatusError
from celadon.kube.apply import MutatedKinds
from celadon.kube.writes import patch_between
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
    """`findings` are those of the last verdict, of policies that were not content; `times` are the
    seconds that each policy took, if they are to be known (`timed`). With `mutates`, the policies
    that change objects are asked, and `patch` is what they have changed."""

    __slots__ = (
        "_engine",
        "_last",
        "_mutates",
        "_request",
        "_rules",
        "_timed",
        "_world",
        "findings",
        "patch",
        "times",
    )

    def __init__(
        self, request: Request, rules: Rulebook, *, timed: bool = False, mutates: bool = False
    ) -> None:
        self.patch: Sequence[Mapping[str, Any]] = ()
        self._mutates = mutates
        self._rules = rules
        self._engine = rules.engine
        self._world = rules.world()
        self._request = request
        self._timed = timed
        self._last = 0.0
        self.findings: list[Finding] = []
        self.times: list[tuple[str, float]] = []

    def verdict(self) -> Verdict:
        """May raise Unanswered."""
        self.findings.clear()
        if self._timed:
            self.times.clear()
            self._last = perf_counter()
        request = original_request(self._request, self._world)
        if self._mutates:
            return self._mutated(request)
        return self._engine.review(request, self._world, self)

    def _mutated(self, request: Request) -> Verdict:
        """Both rounds at once: what else an API server asks in between, it asks by itself."""
        rules = self._rules
        if not rules.mutating.concerns(request, self._world):
            return Verdict()
        kinds = MutatedKinds(custom=rules.custom)
        rounds = rules.mutating.rounds(self._world, kinds)
        try:
            made = rounds.run(request, 0)
            if rounds.wants_another:
                made = rounds.run(replace(request, object=made, size=None), 1)
        except StatusError as refusal:
            status = refusal.status
            return Verdict(allowed=False, code=status.code, status=status.to_json())
        finally:
            failed = dict.fromkeys(one.policy for one in rounds.notes.failures)
            self.findings += [Finding(policy, (), failed=True) for policy in failed]
        self.patch = patch_between(request.object, made)
        return Verdict()

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
        for _ in range(MOST_QUESTIONS):
            await question.find()
            try:
                return self.verdict()
            except Unanswered as another:
                question = another
        raise TooManyQuestions
