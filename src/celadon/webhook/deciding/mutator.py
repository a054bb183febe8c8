"""One review on its way through the policies that change objects.

The patch leads from the object as the API server has sent it to what policies have made of it. They
see it in the version of the client's request, as in the server; what they have made is converted to
the version of the review again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.admission import Request, Verdict, World
from celadon.admission.chain import Admitters, Chain
from celadon.admission.mutating import MutationNotes, PolicyRounds
from celadon.kube import JsonObject, StatusError
from celadon.kube.apply import MutatedKinds
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Draft, patch_between
from celadon.webhook.deciding.decider import Finding
from celadon.webhook.deciding.original_requests import original_request
from celadon.webhook.deciding.rulebook import MutationRules
from celadon.webhook.deciding.unanswered import Unanswered, settled

ALLOWED: Final = Verdict()


class Mutator(Admitters):
    """Drives the half of the chain that changes objects; of the `Admitters` a webhook has only the
    policies. `patch` is what comes of it, when there is a verdict that allows; `notes` are what
    policies did, or failed to do. `findings` and `times` are those of validating policies, of which
    there are none here."""

    __slots__ = ("_request", "_rules", "_world", "findings", "notes", "patch", "times")

    def __init__(self, request: Request, rules: MutationRules, world: World) -> None:
        self._request = request
        self._rules = rules
        self._world = world
        self.patch: Sequence[JsonObject] = ()
        self.notes = MutationNotes()
        self.findings: list[Finding] = []
        self.times: list[tuple[str, float]] = []

    def verdict(self) -> Verdict:
        """May raise Unanswered."""
        world = self._world
        asked = original_request(self._request, world)
        chain = Chain(asked, None, self)
        try:
            for _ in chain.mutation():
                pass  # nothing here waits for anybody
        except StatusError as refused:
            return Verdict(allowed=False, code=refused.code, status=refused.status.to_json())
        made = chain.request.object
        if made is not None and made is not asked.object:
            if asked is not self._request:
                made = world.convert(made, self._request.kind)
            self.patch = patch_between(self._request.object, made)
        return ALLOWED

    def mutating_policies(self, request: Request, draft: Draft | None) -> PolicyRounds | None:
        """Those of the rules."""
        engine, world = self._rules.engine, self._world
        if not engine.concerns(request, world):
            return None
        context = DefaultingContext(user=request.user, cluster=world)
        rounds = engine.rounds(world, MutatedKinds(context, self._rules.custom))
        self.notes = rounds.notes
        return rounds

    async def settled(self, question: Unanswered) -> Verdict:
        """As `Decider.settled`."""
        return await settled(self.verdict, question)
