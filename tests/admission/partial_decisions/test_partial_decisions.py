"""What is said about an incomplete request is true whatever is missing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.admission import (
    Action,
    Engine,
    ObjectWorld,
    Operation,
    Request,
    decode_binding,
    decode_policy,
)
from celadon.admission.partial_decisions import Missing, judged_partly
from celadon.kube import GroupVersionKind, GroupVersionResource
from tests.cli.files import binding, policy
from tests.examples import examples

EXPRESSIONS = (
    "object.data.x == 'a'",
    "oldObject == null || object.data.x == oldObject.data.x",
    "object.data.x == 'a' || oldObject.data.x == 'b'",
    "object.data.x == 'a' && oldObject.data.x == 'b'",
    "variables.same || object.data.x == 'a'",
    "variables.same ? object.data.x == 'a' : object.data.x == 'b'",
    "!has(oldObject.data) || object.data.x in ['a', 'b']",
    "['a', 'b'].exists(v, v == object.data.x || v == oldObject.data.x)",
)
SPECS: dict[str, Any] = {
    "plain": {},
    "with a condition": {
        "matchConditions": [{"name": "c", "expression": "oldObject.data.x != object.data.x"}]
    },
    "ignoring": {"failurePolicy": "Ignore"},
}
BINDINGS: dict[str, Any] = {
    "all": {},
    "some": {"matchResources": {"objectSelector": {"matchLabels": {"l": "a"}}}},
}
VALUES = st.sampled_from(["a", "b", "c"])
WORLD = ObjectWorld(implicit_namespaces=True)


def config_map(x: str, label: str) -> Any:
    metadata = {"name": "m", "namespace": "default", "labels": {"l": label}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"x": x}}


def engine(expression: str, spec: Any, bound: Any) -> Engine:
    variables = [{"name": "same", "expression": "object.data.x == oldObject.data.x"}]
    made = policy(expression=expression, **{"variables": variables, **spec})
    return Engine([decode_policy(made).value], [decode_binding(binding(**bound)).value])


def update(new: Any, old: Any) -> Request:
    return Request(
        operation=Operation.UPDATE,
        kind=GroupVersionKind("", "v1", "ConfigMap"),
        resource=GroupVersionResource("", "v1", "configmaps"),
        name="m",
        namespace="default",
        object=new,
        old_object=old,
    )


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("bound", BINDINGS)
@settings(max_examples=examples(30), deadline=None)
@given(new=VALUES, old=VALUES, new_label=VALUES, old_label=VALUES)
def test_decided_is_decided(
    expression: str, spec: str, bound: str, new: str, old: str, new_label: str, old_label: str
) -> None:
    judge = engine(expression, SPECS[spec], BINDINGS[bound])
    obj = config_map(new, new_label)
    whole = judge.review(update(obj, config_map(old, old_label)), WORLD)
    said = judged_partly(judge, update(obj, None), WORLD, [Missing.OLD_OBJECT])
    denied = any(one.denies for one in said.decisions)
    if denied:
        assert not whole.allowed
    elif not said.undecided:
        assert whole.allowed


@pytest.mark.parametrize("expression", EXPRESSIONS)
@settings(max_examples=examples(20), deadline=None)
@given(new=VALUES, old=VALUES)
def test_nothing_missing(expression: str, new: str, old: str) -> None:
    judge = engine(expression, {}, {})
    request = update(config_map(new, "a"), config_map(old, "a"))
    whole = judge.review(request, WORLD)
    said = judged_partly(judge, request, WORLD, [])
    assert said.undecided == set()
    assert said.matched == {"limit"}
    against = [one for one in said.decisions if one.action is Action.DENY]
    assert against == [one for one in whole.decisions if one.action is Action.DENY]


def test_much_is_decided() -> None:
    """Else nobody would need it: how often, of all values."""
    decided = total = 0
    for expression in EXPRESSIONS:
        judge = engine(expression, {}, {})
        for new in "abc":
            said = judged_partly(
                judge, update(config_map(new, "a"), None), WORLD, [Missing.OLD_OBJECT]
            )
            total += 1
            decided += not said.undecided
    assert (decided, total) == (11, 24)


def test_misconfigured_policies_deny() -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    ref = {"name": "gone", "namespace": "default", "parameterNotFoundAction": "Deny"}
    judge = engine("true", {"paramKind": kind}, {"paramRef": ref})
    request = update(config_map("a", "a"), None)
    said = judged_partly(judge, request, WORLD, [Missing.OLD_OBJECT])
    assert [one.message for one in said.decisions] == [
        one.message for one in judge.review(request, WORLD).decisions
    ]
