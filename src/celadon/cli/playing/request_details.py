"""Why a request was decided as it was, and what else is to be said of it.

The explanation is that of `celadon explain`, with the rules of custom resources beside policies and
webhooks; costs are those of its expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from celadon.admission.explanation import (
    Budget,
    CaseExplanation,
    Explanation,
)
from celadon.cel import EvaluationError
from celadon.cel.tracing import TraceRecorder
from celadon.cli.explaining.annotated_source import traced
from celadon.cli.explaining.explained_objects import ExplainedObject
from celadon.cli.explaining.outline import (
    Item,
    Style,
    budget_item,
    outline,
)
from celadon.cli.explaining.value_texts import brief
from celadon.cli.playing.item_trees import item_tree
from celadon.cli.report.json_form import filled
from celadon.cli.report.plain_text import diff_lines
from celadon.kube.custom import AskedRule
from celadon.kube.library import PER_CALL_COST, RUNTIME_COST_BUDGET

_MOST_RULES: Final = 200
"""Evaluations of rules of a custom resource that are shown: a long list has one for each item."""
_ROOM: Final = 80


def request_details(explained: Sequence[ExplainedObject]) -> dict[str, Any]:
    """Trees, costs and changes of each object of the request."""
    trees = []
    for one in explained:
        item = outline(one)
        trees.append(item_tree(replace(item, items=(*item.items, *_rules(one)))))
    return {
        "explanation": trees,
        "costs": [cost for one in explained for cost in _costs(one)],
        "mutations": [one for each in explained for one in _mutations(each)],
    }


# --- rules of custom resources ----------------------------------------------------------------


def _rules(one: ExplainedObject) -> Iterator[Item]:
    custom, request = one.judged.asked.target.custom, one.judged.asked.request
    if custom is None or request.object is None:
        return
    old = None if request.old_object is None else dict(request.old_object)
    asked = custom.asked_rules(dict(request.object), old)
    items, spent = list[Item](), 0
    for rule in islice(asked, _MOST_RULES):
        item, cost = _rule(rule)
        items.append(item)
        spent += cost
    if not items:
        return
    if len(asked) > _MOST_RULES:
        items.append(Item("rules", f"{len(asked) - _MOST_RULES:,} more", Style.IDLE))
    items.append(budget_item(Budget("x-kubernetes-validations", RUNTIME_COST_BUDGET, spent)))
    bad = any(item.style is Style.BAD for item in items)
    label = f"rules of {custom.gvk.kind}"
    yield Item(label, "", Style.BAD if bad else Style.GOOD, items=tuple(items))


def _rule(one: AskedRule) -> tuple[Item, int]:
    """The rule is asked again, with somebody looking on."""
    recorder = TraceRecorder()
    try:
        value, cost = one.program.evaluate_traced(one.activation, recorder, PER_CALL_COST)
    except EvaluationError as error:
        value, cost = error, error.cost or 0
    holds = value is True
    said = f"{brief(value, _ROOM)}, cost {cost:,} of at most {one.max_cost:,}"
    label = one.path.text or "the object"
    snippet = traced(one.program.checked.ast, recorder.frame)
    style = Style.GOOD if holds else Style.BAD
    return Item(label, said, style, snippet=snippet, opens=not holds), cost


# --- costs and changes ------------------------------------------------------------------------


def _costs(one: ExplainedObject) -> Iterator[dict[str, Any]]:
    for explanation in (one.mutation, one.validation):
        if explanation is not None:
            for policy, binding, case in _cases(explanation):
                about = filled(policy=policy, binding=binding, param=case.param)
                for budget in case.budgets:
                    yield about | _cost(budget.phase, budget.spent, budget.limit)
                for part in (*case.conditions, *case.validations, *case.mutations):
                    if part.run is not None:
                        cost = _cost(part.source.path.text, part.run.charged, PER_CALL_COST)
                        yield about | cost | {"expression": True}


def _cost(field: str, spent: int, limit: int) -> dict[str, Any]:
    return {"field": field, "spent": spent, "limit": limit}


def _cases(explanation: Explanation) -> Iterator[tuple[str, str, CaseExplanation]]:
    for policy in explanation.policies:
        for binding in policy.bindings:
            for case in binding.cases:
                yield policy.policy.name, binding.binding.name, case


def _mutations(one: ExplainedObject) -> Iterator[dict[str, Any]]:
    """What mutating policies have made of the object, line by line."""
    mutated = one.result.mutated
    if mutated is not None:
        yield {
            "object": one.result.title,
            "policies": list(mutated.policies),
            "diff": diff_lines(mutated.before, mutated.after),
        }
