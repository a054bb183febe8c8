"""Why a request was decided as it was: the engine, with somebody looking on.

    explained = explain(engine, request, world)          what validating policies did
    explain_hooks(hooks, request, world)                 which webhooks it goes to
    explained.verdict                                    the engine's own
    looking = MutationLook(engine, world)                what mutating policies did: made before
    engine.rounds(world, kinds, contexts=looking.context)
    looking.explained(notes, request)

The engine itself runs (`explanation_making`): the request's context hands out budgets that trace
what is paid from them, and matching says why it does not match. What came of it is put together as
values (`explanations`), which others show. Nothing is decided here.
"""

from celadon.admission.explain.explanation_making import (
    HookExplanation,
    MutationLook,
    explain,
    explain_hooks,
    policy_expressions,
)
from celadon.admission.explain.explanations import (
    BindingExplanation,
    Budget,
    CaseExplanation,
    Explanation,
    ExpressionRun,
    MatchReason,
    ParamLookup,
    Part,
    PolicyExplanation,
    RuleReason,
    SelectorReason,
    VariablePart,
)

__all__ = [
    "BindingExplanation",
    "Budget",
    "CaseExplanation",
    "Explanation",
    "ExpressionRun",
    "HookExplanation",
    "MatchReason",
    "MutationLook",
    "ParamLookup",
    "Part",
    "PolicyExplanation",
    "RuleReason",
    "SelectorReason",
    "VariablePart",
    "explain",
    "explain_hooks",
    "policy_expressions",
]
