"""Which of the requests that are not known a policy or a binding matches.

Rules have become a plan for the endpoint already (`celadon.admission`): what is left are names,
selectors, and rules that exclude. As `hit_or_miss` of `celadon.admission.policies.matching`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from celadon.admission import Operation
from celadon.admission.policies.matching import MatchPlan
from celadon.kube.selectors import LabelSelector, Operator, Requirement
from celadon.kube.well_known_values import NAMESPACE_NAME, NAMESPACES
from celadon.prove.evaluator import optional_member
from celadon.prove.functions import equal, literal
from celadon.prove.logic import FALSE, TRUE, Formula, both, either, negated, text
from celadon.prove.requests import SymbolicRequest
from celadon.prove.values import (
    Case,
    Maybe,
    NotModelled,
    Null,
    Outcome,
    Text,
    certain,
    mapped,
    outcome,
)

_HAS: Final = frozenset({Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS})
_HAS_NOT: Final = frozenset({Operator.NOT_IN, Operator.NOT_EQUALS})


def matched(plan: MatchPlan, request: SymbolicRequest) -> Formula:
    """Where a plan matches. Raises NotModelled."""
    if plan.direct is not None:
        return _as_itself(plan, request)
    selected = TRUE
    for selector, are_selected in (
        (plan.namespace_selector, namespace_selected),
        (plan.object_selector, object_selected),
    ):
        if selector is None:
            continue
        if selector.error is not None or selector.selector is None:
            raise NotModelled("a selector that is not right")
        selected = both(selected, are_selected(selector.selector, request))
    excluded = either(request.named(hit.names) for hit in plan.excludes)
    return both(selected, negated(excluded), _as_itself(plan, request))


def _as_itself(plan: MatchPlan, request: SymbolicRequest) -> Formula:
    """Where one of the rules takes the request; as another version of its kind it would be
    converted."""
    endpoint = request.endpoint
    own = [
        hit
        for hit in plan.hits
        if hit.kind == endpoint.kind and hit.resource == endpoint.resource.gvr
    ]
    if len(own) < len(plan.hits):
        raise NotModelled("a rule for another version of the kind")
    return either(request.named(hit.names) for hit in own)


def namespace_selected(selector: LabelSelector, request: SymbolicRequest) -> Formula:
    """Where a namespace selector takes the request: always if it is in no namespace."""
    endpoint = request.endpoint
    if endpoint.resource.gvr == NAMESPACES:
        is_written = endpoint.operation in (Operation.CREATE, Operation.UPDATE)
        return satisfied(selector, request.object if is_written else request.old_object)
    if not endpoint.resource.namespaced:
        return TRUE
    return satisfied(selector, request.namespace, request.namespace_name)


def object_selected(selector: LabelSelector, request: SymbolicRequest) -> Formula:
    """Where an object selector takes the new object or the old one."""
    given = [made for made in (request.object, request.old_object) if not _is_null(made)]
    return either(satisfied(selector, made) for made in given)


def _is_null(made: Outcome) -> bool:
    return all(isinstance(case.value, Null) for case in made.cases)


def satisfied(selector: LabelSelector, made: Outcome, namespace: Text | None = None) -> Formula:
    """Where the labels of an object are as a selector demands. `namespace` is the name if it is a
    namespace, which is a label, too."""
    if selector.nothing:
        return FALSE
    return both(*(_holds(one, made, namespace) for one in selector.requirements))


def _holds(requirement: Requirement, made: Outcome, namespace: Text | None) -> Formula:
    if namespace is not None and requirement.key == NAMESPACE_NAME:
        there, values = TRUE, certain(namespace)
    else:
        there, values = _label(made, requirement.key)
    wanted = _one_of(values, requirement.values)
    operator = requirement.operator
    if operator in _HAS:
        return both(there, wanted)
    if operator in _HAS_NOT:
        return either((negated(there), negated(wanted)))
    if operator is Operator.EXISTS:
        return there
    if operator is Operator.DOES_NOT_EXIST:
        return negated(there)
    raise NotModelled("a selector that compares numbers")


def _one_of(made: Outcome, texts: Sequence[str]) -> Formula:
    return either(
        both(case.guard, equal(case.value, literal(one))) for case in made.cases for one in texts
    )


def _label(made: Outcome, key: str) -> tuple[Formula, Outcome]:
    """Whether there is a label, and its value."""
    for name in ("metadata", "labels", key):
        made = mapped(made, functools.partial(optional_member, key=Text(text(name))))
    there: list[Formula] = []
    values: list[Case] = []
    for case in made.cases:
        if isinstance(case.value, Maybe):
            there.append(both(case.guard, case.value.there))
            values += (
                Case(both(case.guard, one.guard), one.value) for one in case.value.value.cases
            )
    return either(there), outcome(values)
