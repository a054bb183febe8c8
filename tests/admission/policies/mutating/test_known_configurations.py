"""Configurations that are known before a request comes."""

from __future__ import annotations

import pytest

from celadon.admission import policy_limits
from celadon.admission.policies.compiled_mutations import compile_mutating_policy
from celadon.kube import GroupVersionKind
from celadon.kube.crd import custom_kinds
from celadon.kube.fieldmanager import MutatedKinds, Unplanned
from tests.admission.policies.mutating.altering import apply, label, patch, policy
from tests.kube.fieldmanager.test_mutated_kinds import DEFINITION, WIDGET

POD = GroupVersionKind("", "v1", "Pod")


@pytest.mark.parametrize(
    ("mutation", "wanted"),
    [
        (label("a"), True),
        (apply("Object{spec: Object.spec{priority: 1 + 2}}"), True),
        (apply("true ? Object{} : Object{spec: Object.spec{}}"), True),
        (label("a", "object.metadata.name"), False),
        (apply("Object{metadata: Object.metadata{finalizers: ['a'].map(x, x)}}"), False),
        (apply("Object{spec: Object.spec{priority: 1 / 0}}"), False),
        (apply("[Object{}][1]"), False),
        (apply("Objekt{}"), False),
        (patch("[JSONPatch{op: 'remove', path: '/spec'}]"), False),
    ],
)
def test_what_is_constant(mutation: object, wanted: bool) -> None:
    (compiled,) = compile_mutating_policy(policy("p", mutation)).mutations
    assert (compiled.known_configuration is not None) is wanted


def test_what_a_variable_would_cost_is_not_passed_over() -> None:
    endless = "[0,1,2,3,4,5,6,7,8,9]"
    for _ in range(5):
        endless = f"[0,1,2,3,4,5,6,7,8,9].map(x, {endless}.map(y, y))"
    variables = [{"name": "v", "expression": endless}]
    (compiled,) = compile_mutating_policy(policy("p", label("a"), variables=variables)).mutations
    assert compiled.known_configuration is None


def test_it_is_read_once_for_each_kind() -> None:
    (compiled,) = compile_mutating_policy(policy("p", label("a"))).mutations
    assert compiled.known_configuration is not None
    first = compiled.known_configuration.fitting(MutatedKinds(), POD)
    assert first == {"metadata": {"labels": {"a": "set"}}}
    assert compiled.known_configuration.fitting(MutatedKinds(), POD) is first


def test_a_definition_may_change() -> None:
    (compiled,) = compile_mutating_policy(
        policy("p", apply("Object{spec: Object.spec{size: 1}}"))
    ).mutations
    assert compiled.known_configuration is not None
    assert compiled.known_configuration.fitting(MutatedKinds(), WIDGET) is None
    kinds = MutatedKinds(custom=custom_kinds(DEFINITION).get)
    assert compiled.known_configuration.fitting(kinds, WIDGET) == {"spec": {"size": 1}}


ITEM = "Object.spec.containers{name: c.name, tty: true}"
EACH = f"Object{{spec: Object.spec{{containers: object.spec.containers.map(c, {ITEM})}}}}"


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        (EACH, True),
        (EACH.replace("c.name", "c.name + ''"), False),
        (EACH.replace("c.name", "c.image"), False),
        (EACH.replace("c.name", "object.metadata.name"), False),
        (EACH.replace("tty: true", "tty: c.tty"), True),
        (EACH.replace("tty: true", "?tty: c.?tty"), False),
        (EACH.replace("tty: true", "tty: has(c.tty)"), False),
        (EACH.replace("map(c, ", "map(c, c.tty, "), False),
        (EACH.replace("object.spec.containers.", "object.spec.initContainers."), False),
        (EACH.replace("object.spec.containers.", "oldObject.spec.containers."), False),
        (EACH.replace("object.spec.containers.", "object.?spec.containers."), False),
        (EACH.replace("(c, ", "(object, ").replace("c.name", "object.name"), True),
        (EACH.replace("Object.spec{", "Object.spec{priority: 1, "), True),
        (EACH.replace("Object.spec{", "Object.spec{hostname: object.metadata.name, "), False),
    ],
)
def test_what_is_known_but_for_the_keys_of_items(expression: str, wanted: bool) -> None:
    (compiled,) = compile_mutating_policy(policy("p", apply(expression))).mutations
    assert (compiled.known_configuration is not None) is wanted


def test_variables_are_not_looked_into() -> None:
    variables = [{"name": "v", "expression": "1"}]
    compiled = compile_mutating_policy(policy("p", apply(EACH), variables=variables))
    assert not compiled.known_configurations


def test_limits_on_costs_are_kept() -> None:
    """An item that is known costs as much as one that is evaluated."""
    (compiled,) = compile_mutating_policy(policy("p", apply(EACH))).mutations
    planner = MutatedKinds().planner(POD)
    assert compiled.known_configuration is not None
    assert planner is not None
    plan = compiled.known_configuration.plan(planner)
    assert plan is not None
    cost = 0
    for names in (10_000, 20_000):
        live = {"spec": {"containers": [{"name": f"c{i}"} for i in range(names)]}}
        program = compiled.expression.program
        assert program is not None
        cost = program.evaluate_metered({"object": live})[1]
        if cost <= policy_limits.PER_CALL_COST:
            assert len(plan(live)["spec"]["containers"]) == names
        else:
            with pytest.raises(Unplanned):
                plan(live)
    assert cost > policy_limits.PER_CALL_COST
