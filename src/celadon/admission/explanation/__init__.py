"""Why a request was decided as it was: the engine, with somebody looking on.

    explained = explain(engine, request, world)          what validating policies did
    explain_hooks(hooks, request, world)                 which webhooks it goes to
    explained.verdict                                    the engine's own
    looking = MutationLook(engine, world)                what mutating policies did: made before
    engine.rounds(world, kinds, contexts=looking.context)
    looking.explained(notes, request)

The engine itself runs: the request's context hands out budgets that trace what is paid from them
(`looking_on`), and matching says why it does not match (`match_reasons`). What came of it is put
together as values (`explanations`), which others show. Nothing is decided here.
"""

from celadon.admission.explanation.every_expression import policy_expressions
from celadon.admission.explanation.explanation_making import MutationLook, explain
from celadon.admission.explanation.explanations import (
    BindingExplanation,
    Budget,
    CaseExplanation,
    Explanation,
    Part,
    PolicyExplanation,
    VariablePart,
)
from celadon.admission.explanation.hook_explanations import HookExplanation, explain_hooks
from celadon.admission.explanation.looking_on import ExpressionRun
from celadon.admission.explanation.match_reasons import MatchReason, RuleReason, SelectorReason
from celadon.admission.explanation.param_lookups import ParamLookup

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
