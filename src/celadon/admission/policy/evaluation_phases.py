"""The phases of one policy with one param on one request: what its expressions see, how they run.

A phase has `variables` of its own. Nothing is counted where the request is small enough for the
policy (`PolicyFrame.plain_size`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.admission import policy_limits
from celadon.admission.expressions.activation import RequestContext
from celadon.admission.expressions.lazy_variables import LazyVariables, Run
from celadon.admission.expressions.match_conditions import ConditionResult, evaluate
from celadon.admission.expressions.metering import Meter, run_plain
from celadon.admission.hits import Hit
from celadon.admission.policy.policy_frame import PolicyFrame
from celadon.kube import JsonObject


class Phases:
    """`base` are the variables that depend on the request alone; `plain` is whether nothing needs
    to be counted."""

    __slots__ = ("_base", "_context", "_hit", "_param", "_policy", "plain")

    def __init__(
        self,
        policy: PolicyFrame,
        hit: Hit,
        param: JsonObject | None,
        context: RequestContext,
        base: Mapping[str, Any],
        *,
        plain: bool,
    ) -> None:
        self._policy = policy
        self._hit = hit
        self._param = param
        self._context = context
        self._base = base
        self.plain = plain

    def condition_result(self) -> ConditionResult:
        """What the match conditions say. They know no namespace."""
        activation = self.activation(authorizer=True)
        activation["namespaceObject"] = None
        activation["request"] = self._context.conditions_request(self._hit)
        run = self.begin(
            activation, self._context.meter(policy_limits.MATCH_CONDITIONS_COST_BUDGET)
        )
        return evaluate(self._policy.conditions, run, activation)

    def activation(self, *, authorizer: bool) -> dict[str, Any]:
        """The variables of a phase, but for `variables`."""
        activation = dict(self._base)
        activation["params"] = self._param
        if authorizer and self._policy.uses_authorizer:
            activation.update(self._context.authorizer())
        return activation

    def begin(self, activation: dict[str, Any], meter: Meter) -> Run:
        """Puts a phase's `variables` into its activation; how to run its expressions."""
        plain = self.plain
        if self._policy.variables:
            run = run_plain if plain else meter.run_variable
            activation["variables"] = LazyVariables(self._policy.variables, activation, run)
        return run_plain if plain else meter.run
