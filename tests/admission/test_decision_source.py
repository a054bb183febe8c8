"""Every decision knows the field it comes from."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.decision_source import (
    MATCH_CONSTRAINTS,
    MATCH_RESOURCES,
    PARAM_KIND,
    PARAM_REF,
    Source,
    annotation,
    condition,
    message,
    validation,
    variable,
)
from celadon.admission.policies.validating import Engine
from celadon.admission.verdict import Cause, Outcome
from celadon.kube import FieldPath
from tests.admission.building import RULE, WORLD, binding, config_map, judge, policy, request

CHECK = "authorizer.path('/').check('get').allowed()"
DEAR = "object.data.l.split(',').all(x, !object.data.t.contains('zz'))"
ASKED = request(config_map(data={"l": ",".join("x" * 2400), "t": "y" * 4000}))
BROKEN = "object.nope.x"
CONFIG_MAP_PARAM = {"apiVersion": "v1", "kind": "ConfigMap"}


def conditions(*expressions: str) -> list[dict[str, str]]:
    return [{"name": f"c{i}", "expression": text} for i, text in enumerate(expressions)]


def validations(*expressions: str) -> list[dict[str, str]]:
    return [{"expression": text} for text in expressions]


def variables(**expressions: str) -> list[dict[str, str]]:
    return [{"name": name, "expression": text} for name, text in expressions.items()]


DECISIONS: list[tuple[str, dict[str, Any], list[tuple[Cause, int, Source]]]] = [
    ("a false validation", {"validations": validations("true", "false")},
     [(Cause.VALIDATION, 1, validation(1))]),
    ("a broken validation", {"validations": validations("true", "true", f"{BROKEN} == 1")},
     [(Cause.ERROR, 2, validation(2))]),
    ("a validation that does not compile", {"validations": validations("true", "1 +")},
     [(Cause.ERROR, 1, validation(1))]),
    ("the budget of validations", {"validations": validations(*[CHECK] * 30)},
     [(Cause.ERROR, 0, validation(28))]),
    ("a match condition", {"matchConditions": conditions("true", f"{BROKEN} == 1")},
     [(Cause.CONDITION, 0, condition(1))]),
    ("match conditions",
     {"matchConditions": conditions("true", f"{BROKEN} == 1", f"{BROKEN} == 2")},
     [(Cause.CONDITION, 0, condition(1))]),
    ("the budget of match conditions", {"matchConditions": conditions(*[CHECK] * 9)},
     [(Cause.CONDITION, 0, condition(7))]),
    ("a variable in a match condition",
     {"variables": variables(a="1", b=BROKEN), "matchConditions": conditions("variables.b == 1")},
     [(Cause.CONDITION, 0, variable(1))]),
    ("a variable",
     {"variables": variables(a="1", b=BROKEN),
      "validations": validations("variables.a == 1", "variables.b == 1", "variables.b == 2")},
     [(Cause.ERROR, 1, variable(1)), (Cause.ERROR, 2, variable(1))]),
    ("a variable in a variable",
     {"variables": variables(a=BROKEN, b="variables.a", c="variables.b"),
      "validations": validations("variables.c == 1")},
     [(Cause.ERROR, 0, variable(0))]),
    ("a variable that does not compile",
     {"variables": variables(a="1", b="1 +"), "validations": validations("variables.b == 1")},
     [(Cause.ERROR, 0, variable(1))]),
    ("a variable next to something else",
     {"variables": variables(a=BROKEN),
      "validations": validations(f"{BROKEN} == 1 || variables.a == 1")},
     [(Cause.ERROR, 0, validation(0))]),
    ("a variable within something else",
     {"variables": variables(a=BROKEN),
      "validations": validations("[1, 2].all(i, i == variables.a || object.nope == i)",
                                 "has(variables.a.b) && string(variables.a) == ''")},
     [(Cause.ERROR, 0, variable(0)), (Cause.ERROR, 1, variable(0))]),
    ("the budget of messages",
     {"validations": [
         *({"expression": DEAR, "messageExpression": f"{DEAR} ? 'a' : 'b'"} for _ in range(6)),
         {"expression": "false", "message": "no"}]},
     [*((Cause.ERROR, i, message(i)) for i in range(6)), (Cause.ERROR, 6, validation(6))]),
    ("an audit annotation",
     {"auditAnnotations": [{"key": "a", "valueExpression": "'x'"},
                           {"key": "b", "valueExpression": f"string({BROKEN})"}]},
     [(Cause.ANNOTATION, 1, annotation(1))]),
    ("a variable in an audit annotation",
     {"variables": variables(a=BROKEN),
      "auditAnnotations": [{"key": "b", "valueExpression": "string(variables.a)"}]},
     [(Cause.ANNOTATION, 0, variable(0))]),
    ("the budget of audit annotations",
     {"auditAnnotations": [
         {"key": f"k{i}", "valueExpression": f"{DEAR} ? 'a' : 'b'"} for i in range(11)]},
     [(Cause.ERROR, 0, annotation(10))]),
    ("the kind of params", {"paramKind": {"apiVersion": "x.io/v1", "kind": "Nothing"}},
     [(Cause.CONFIGURATION, 0, PARAM_KIND)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "expected"), [pytest.param(*row[1:], id=row[0]) for row in DECISIONS]
)
def test_decisions(spec: dict[str, Any], expected: list[tuple[Cause, int, Source]]) -> None:
    verdict = judge(policy(**spec), asked=ASKED)
    assert [(d.cause, d.index, d.source) for d in verdict.decisions] == expected
    assert verdict.denial == verdict.decisions[0]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}}, PARAM_REF),
        ({"matchResources": {"namespaceSelector": {"matchLabels": {"a": "b"}}}},
         MATCH_RESOURCES.below(FieldPath("namespaceSelector"))),
    ],
)  # fmt: skip
def test_errors_of_bindings(spec: dict[str, Any], expected: Source) -> None:
    spec.setdefault("paramRef", {"name": "p", "parameterNotFoundAction": "Allow"})
    (decision,) = judge(
        policy(paramKind=CONFIG_MAP_PARAM), binding(**spec), world=ObjectWorld()
    ).decisions
    assert (decision.cause, decision.source) == (Cause.CONFIGURATION, expected)
    assert expected.in_binding


def test_errors_of_match_constraints() -> None:
    constraints = {
        "resourceRules": [RULE],
        "objectSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]},
    }
    (decision,) = judge(policy(matchConstraints=constraints)).decisions
    assert decision.source == MATCH_CONSTRAINTS.below(FieldPath("objectSelector"))


@pytest.mark.parametrize(
    ("spec", "outcome", "source"),
    [
        ({"matchConditions": conditions("true", f"{BROKEN} == 1")},
         Outcome.CONDITION_ERROR_IGNORED, condition(1)),
        ({"paramKind": {"apiVersion": "x.io/v1", "kind": "Nothing"}},
         Outcome.CONFIGURATION_ERROR_IGNORED, PARAM_KIND),
        ({}, Outcome.EVALUATED, None),
    ],
)  # fmt: skip
def test_notes_on_ignored_errors(
    spec: dict[str, Any], outcome: Outcome, source: Source | None
) -> None:
    engine = Engine([policy(failurePolicy="Ignore", **spec)], [binding()])
    (note,) = engine.explain(request(), WORLD).notes
    assert (note.outcome, note.source) == (outcome, source)


def test_warnings_keep_the_decisions_they_came_from() -> None:
    spec = [{"expression": "false", "message": text} for text in ("same", "same", "third")]
    verdict = judge(policy(validations=spec), binding("b", "p", "Warn"))
    assert [[d.source for d in warning.decisions] for warning in verdict.recorded] == [
        [validation(0), validation(1)],
        [validation(2)],
    ]
    assert verdict.warnings == tuple(
        f"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': {text}"
        for text in ("same", "third")
    )
    assert verdict.denial is None


def test_cut_warnings_keep_their_decisions() -> None:
    spec = [{"expression": "false", "message": f"{i}" + "x" * 3000} for i in range(2)]
    verdict = judge(policy(validations=spec), binding("b", "p", "Warn"))
    assert [len(text) for text in verdict.warnings] == [256, 256]
    assert [[d.index for d in warning.decisions] for warning in verdict.recorded] == [[0], [1]]


def test_the_first_decision_that_denies_is_the_denial() -> None:
    """Not the first error: this one's binding only warns."""
    verdict = judge(
        policy("a", validations=validations(f"{BROKEN} == 1")),
        policy("b", validations=validations("true", "false")),
        binding("ba", "a", "Warn"),
        binding("bb", "b"),
    )
    assert verdict.denial is not None
    assert (verdict.denial.policy, verdict.denial.source) == ("b", validation(1))
