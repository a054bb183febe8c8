"""Which goals cases reach: for each expression, what is missing after some requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.cli.policytest.case_results import Coverage, ExpectedOutcome
from tests.cli.files import Json, binding, config_map, policy
from tests.cli.policytest.given_cases import report, written


def measured(
    folder: Path, documents: list[Json], *data: dict[str, str], cases: tuple[Json, ...] = ()
) -> Coverage:
    """Of a case for each ConfigMap, whatever is expected of it."""
    asked = [{"object": config_map(**one), "expect": "admit"} for one in data]
    path = written(folder, *asked, *cases, documents=documents)
    ran = report(path, coverage=True)
    assert not [problem for case in ran.cases for problem in case.problems]
    assert ran.coverage is not None
    return ran.coverage


def missing(found: Coverage) -> set[str]:
    """What no case reached, as `text: what`."""
    return {
        f"{goal.text or goal.field}: {goal.expected.value}"
        for goal, count in found.hits
        if goal.counts and not count
    }


X, Y = "object.data.x == '1'", "object.data.y == '1'"
YES, NO = "1", "0"


@pytest.mark.parametrize(
    ("expression", "data", "expected"),
    [
        pytest.param(X, [{"x": YES}, {"x": NO}], set(), id="both"),
        pytest.param(X, [{"x": YES}], {f"{X}: false"}, id="never false"),
        pytest.param(X, [{"x": NO}], {f"{X}: true"}, id="never true"),
        pytest.param(X, [{}], {f"{X}: true", f"{X}: false"}, id="an error is neither"),
        pytest.param(
            f"{X} && {Y}",
            [{"x": YES, "y": YES}, {"x": NO, "y": YES}],
            {f"{Y}: false", f"{Y}: decisive"},
            id="the right side of && never decides",
        ),
        pytest.param(
            f"{X} && {Y}",
            [{"x": NO, "y": YES}],
            {f"{X} && {Y}: true", f"{X}: true", *(f"{Y}: {w}" for w in ("true", "false"))}
            | {f"{Y}: decisive"},
            id="&& ends early",
        ),
        pytest.param(
            f"{X} && {Y}",
            [{"x": YES, "y": YES}, {"x": NO, "y": YES}, {"x": YES, "y": NO}],
            set(),
            id="all of &&",
        ),
        pytest.param(
            f"{X} || {Y}",
            [{"x": YES, "y": NO}, {"x": NO, "y": NO}],
            {f"{Y}: true", f"{Y}: decisive"},
            id="the right side of || never decides",
        ),
        pytest.param(
            f"{X} || {Y}",
            [{"x": YES, "y": NO}, {"x": NO, "y": YES}, {"x": NO, "y": NO}],
            set(),
            id="all of ||",
        ),
        pytest.param(
            f"has(object.data.x) && ({X} && {Y})",
            [{"x": YES, "y": YES}, {"x": NO}, {"x": YES, "y": NO}],
            {"has(object.data.x): false", "has(object.data.x): decisive"},
            id="a chain has operands only",
        ),
        pytest.param(
            f"{X} ? {Y} : true",
            [{"x": YES, "y": YES}, {"x": YES, "y": NO}],
            {f"{X}: false", "true: decisive"},
            id="a branch that is never taken",
        ),
        pytest.param(f"!({X})", [{"x": YES}], {f"{X}: false"}, id="what is negated"),
        pytest.param(
            "['1', '2'].all(i, object.data.x != i)",
            [{"x": "1"}],
            {"['1', '2'].all(i, object.data.x != i): true", "object.data.x != i: true"},
            id="what a macro asks",
        ),
        pytest.param(
            "['1', '2'].all(i, object.data.x != i)",
            [{"x": "2"}, {"x": "3"}],
            set(),
            id="true in one round, false in another",
        ),
    ],
)
def test_what_is_missing(
    expression: str, data: list[dict[str, str]], expected: set[str], tmp_path: Path
) -> None:
    found = measured(tmp_path, [policy(expression=expression), binding()], *data)
    assert missing(found) == expected


FIELDS: dict[str, Any] = {
    "matchConditions": [{"name": "asked", "expression": "object.data.asked == '1'"}],
    "variables": [{"name": "v", "expression": "object.data.x"}],
    "validations": [
        {"expression": "variables.v == '1'", "messageExpression": "'x is ' + string(variables.v)"}
    ],
    "auditAnnotations": [{"key": "k", "valueExpression": "string(object.data.x)"}],
}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            {"asked": NO},
            {"variables[0]", "validations[0]", "validations[0].messageExpression"}
            | {"auditAnnotations[0]"},
            id="the condition is false",
        ),
        pytest.param(
            {"asked": YES, "x": "1"}, {"validations[0].messageExpression"}, id="it is fine"
        ),
        pytest.param({"asked": YES, "x": "2"}, set(), id="it is not"),
    ],
)
def test_which_fields_are_evaluated(
    data: dict[str, str], expected: set[str], tmp_path: Path
) -> None:
    found = measured(tmp_path, [policy(**FIELDS), binding()], data)
    never = {
        goal.field
        for goal, count in found.hits
        if goal.expected is ExpectedOutcome.EVALUATED and not count
    }
    assert never == expected


def test_bindings_and_their_params(tmp_path: Path) -> None:
    ref = {"name": "settings", "parameterNotFoundAction": "Deny", "namespace": "default"}
    elsewhere = {"namespaceSelector": {"matchLabels": {"no": "where"}}}
    documents = [
        policy(paramKind={"apiVersion": "v1", "kind": "ConfigMap"}),
        binding("with", "limit", paramRef=ref),
        binding("other", "limit", matchResources=elsewhere),
    ]
    found = measured(tmp_path, documents, {"x": "ok"})
    bindings = {one for one in missing(found) if one.startswith("binding")}
    assert bindings == {"binding other: reached"}
    found = measured(tmp_path, [*documents, config_map("settings")], {"x": "ok"})
    bindings = {one for one in missing(found) if one.startswith("binding")}
    assert bindings == {"binding with: without params", "binding other: reached"}


def test_errors_are_told_but_not_missed(tmp_path: Path) -> None:
    documents = [policy(), binding()]
    assert measured(tmp_path, documents, {"x": "ok"}).errors == (0, 1)
    found = measured(tmp_path, documents, {"x": "ok"}, {"y": "ok"})
    assert found.errors == (1, 1)
    assert all(goal.expected is not ExpectedOutcome.ERROR for goal, _ in found.hits if goal.counts)


def test_mutations_are_measured(tmp_path: Path) -> None:
    mutating = policy(matchConditions=FIELDS["matchConditions"], variables=[])
    mutating["kind"] = "MutatingAdmissionPolicy"
    spec = mutating["spec"]
    del spec["validations"]
    spec["reinvocationPolicy"] = "Never"
    spec["matchConstraints"]["resourceRules"][0]["operations"] = ["CREATE"]
    text = "Object{data: {'x': object.data.x == '1' ? '2' : '3'}}"
    spec["mutations"] = [
        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}
    ]
    bound = {**binding(), "kind": "MutatingAdmissionPolicyBinding"}
    del bound["spec"]["validationActions"]
    found = measured(tmp_path, [mutating, bound], {"asked": YES, "x": YES})
    assert missing(found) == {
        "object.data.asked == '1': false",
        "object.data.x == '1': false",
        "'3': decisive",
    }


def test_only_policies_under_test(tmp_path: Path) -> None:
    documents = [policy("one"), binding("one"), policy("two"), binding("two")]
    case = {"object": config_map(x="ok"), "expect": "admit", "policy": "two"}
    found = measured(tmp_path, documents, cases=(case,))
    assert [one.name for one in found.of_policies()] == ["two"]
