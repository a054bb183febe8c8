"""The mutating policies of a server, at their place in the chain: after the built-in plugins."""

from __future__ import annotations

from celadon.admission import Request, World
from celadon.admission.mutating import MutatingEngine, PolicyRounds
from celadon.kube import JsonObject
from celadon.kube.apply import MutatedKinds
from celadon.kube.defaulting import DefaultingContext
from celadon.serve.operation.policy_timer import MutationTimer
from celadon.serve.views.policy_view import PolicyView
from celadon.serve.views.served_resources import ServedResources
from celadon.serve.workers.request_work import Pace


class MutatingPolicies:
    """`view` is None where the plugin is switched off."""

    def __init__(
        self,
        view: PolicyView[MutatingEngine] | None,
        served: ServedResources,
        world: World,
        timer: MutationTimer,
    ) -> None:
        self._timer = timer
        self._view = view
        self._served = served
        self._world = world
        self.pace = Pace()
        self.rules: object = None
        """Changes when the policies do."""

    def rounds(self, request: Request, context: DefaultingContext) -> PolicyRounds | None:
        """For one request; None where no policy could have a say."""
        if self._view is None:
            return None
        engine = self.rules = self._view.engine()
        if not engine.concerns(request, self._world):
            return None
        kinds = MutatedKinds(context, self._served.current().custom.get)
        return engine.rounds(self._world, kinds, self._timer)

    def run(self, policies: PolicyRounds, request: Request, number: int) -> JsonObject | None:
        """The object as a round leaves it. Raises StatusError."""
        began, rejected = self._timer.begin(), True
        try:
            made = policies.run(request, number)
            rejected = False
        finally:
            self._timer.ended(began, request.operation.value, rejected=rejected)
        return made
