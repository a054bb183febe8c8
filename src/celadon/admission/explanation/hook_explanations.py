"""Why a webhook gets a request, or does not: rules, selectors, match conditions.

Nobody is called. Each hook is asked as if it were alone, since a broken condition of one of them
keeps a server from asking any.
"""

from __future__ import annotations

from celadon.admission.endpoint_memory import target_of
from celadon.admission.explanation.explanations import Budget, Part
from celadon.admission.explanation.looking_on import LookingOn
from celadon.admission.explanation.match_reasons import MatchReason, match_reason
from celadon.admission.request import Request
from celadon.admission.webhooks.hooks import Excluded, Hook, HookSet, resources_of
from celadon.admission.world import World
from celadon.kube import StatusError
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class HookExplanation:
    """`asked` says whether it gets the request. `ignored` is the error of a condition that its
    failure policy makes nothing of, `refusal` what the client is told instead of asking anyone."""

    hook: Hook
    match: MatchReason
    asked: bool
    conditions: tuple[Part, ...] = ()
    budgets: tuple[Budget, ...] = ()
    ignored: str = ""
    refusal: StatusError | None = None


def explain_hooks(hooks: HookSet, request: Request, world: World) -> tuple[HookExplanation, ...]:
    """All of them, in the order in which they are asked."""
    return tuple(_explained(hooks, one, LookingOn(request, world)) for one in hooks.hooks)


def _explained(hooks: HookSet, hook: Hook, context: LookingOn) -> HookExplanation:
    if not hook.webhook.rules:
        return HookExplanation(hook, MatchReason(None, "rules"), asked=False)
    match = match_reason(resources_of(hook.webhook), target_of(context.request), context)
    if match.hit is None:
        return HookExplanation(hook, match, asked=False)
    context.begin("", hook.name, "", match.hit)
    refusal, ignored, found = None, "", None
    try:
        found = hooks.select(hook, context)
    except StatusError as error:
        refusal = error
    if isinstance(found, Excluded) and found.result.failure is not None:
        ignored = found.result.failure.text
    asked = found is not None and not isinstance(found, Excluded)
    meters = context.cases[0].meters
    runs = {run.expression.source: run for meter in meters for run in meter.runs}
    conditions = tuple(
        Part(
            one.expression.source,
            one.expression.text,
            runs.get(one.expression.source),
            one.name,
            one.expression.detail,
        )
        for one in hook.conditions
    )
    budgets = tuple(
        Budget("matchConditions", meter.budget, sum(run.charged for run in meter.runs))
        for meter in meters
        if meter.runs
    )
    return HookExplanation(hook, match, asked, conditions, budgets, ignored, refusal)
