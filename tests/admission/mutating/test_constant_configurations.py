"""Configurations that are the same for all requests."""

from __future__ import annotations

import pytest

from celadon.admission.mutating.compiled_mutations import compile_mutating_policy
from celadon.kube import GroupVersionKind
from celadon.kube.apply import MutatedKinds
from celadon.kube.custom import custom_kinds
from tests.admission.mutating.altering import apply, label, patch, policy
from tests.kube.apply.test_mutated_kinds import DEFINITION, WIDGET

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
    assert (compiled.constant is not None) is wanted


def test_what_a_variable_would_cost_is_not_passed_over() -> None:
    endless = "[0,1,2,3,4,5,6,7,8,9]"
    for _ in range(5):
        endless = f"[0,1,2,3,4,5,6,7,8,9].map(x, {endless}.map(y, y))"
    variables = [{"name": "v", "expression": endless}]
    (compiled,) = compile_mutating_policy(policy("p", label("a"), variables=variables)).mutations
    assert compiled.constant is None


def test_it_is_read_once_for_each_kind() -> None:
    (compiled,) = compile_mutating_policy(policy("p", label("a"))).mutations
    assert compiled.constant is not None
    first = compiled.constant.fitting(MutatedKinds(), POD)
    assert first == {"metadata": {"labels": {"a": "set"}}}
    assert compiled.constant.fitting(MutatedKinds(), POD) is first


def test_a_definition_may_change() -> None:
    (compiled,) = compile_mutating_policy(
        policy("p", apply("Object{spec: Object.spec{size: 1}}"))
    ).mutations
    assert compiled.constant is not None
    assert compiled.constant.fitting(MutatedKinds(), WIDGET) is None
    kinds = MutatedKinds(custom=custom_kinds(DEFINITION).get)
    assert compiled.constant.fitting(kinds, WIDGET) == {"spec": {"size": 1}}
