"""What is shared by kinds is what a check of each finds."""

from __future__ import annotations

import pytest

from celadon.admission.compiled_expressions import (
    OBJECT_TYPES,
    VARIABLES,
    variable_types,
    variables_object,
)
from celadon.admission.lint.kind_typecheck import SharedChecks, SharedTypes
from celadon.cel import Environment, types
from celadon.kube import GroupVersionKind
from celadon.kube.library import environment
from celadon.kube.schemas import View, schema_for, schema_type
from tests.admission.lint.linting import about

KINDS = (
    GroupVersionKind("", "v1", "Pod"),
    GroupVersionKind("", "v1", "Service"),
    GroupVersionKind("", "v1", "ConfigMap"),
    GroupVersionKind("", "v1", "Secret"),
    GroupVersionKind("apps", "v1", "Deployment"),
    GroupVersionKind("", "v1", "Event"),
    GroupVersionKind("events.k8s.io", "v1", "Event"),
)
RELEASE = "1.36"


def _environment(kind: GroupVersionKind, variable: types.Type) -> Environment:
    schema = schema_for(kind)
    assert schema is not None
    known = schema_type(schema, kind.kind, View.ACTUAL)
    assert known is not None
    names = variable_types(known.type, params=None, authorizer=True) | {"variables": VARIABLES}
    variables = variables_object({"v": variable, "w": types.INT})
    return environment(RELEASE).extend(names, (*OBJECT_TYPES, *known.objects, variables))


EVERYWHERE = [_environment(kind, types.INT) for kind in KINDS]


@pytest.mark.parametrize(
    ("expression", "different"),
    [
        ("1 + 1", 1),
        ("variables.v + variables.w", 1),
        ("variables.v == 'a'", 1),
        ("object.kind + 1", 1),
        ("has(object.metadata.labels) && object.metadata.labels.a == 'b'", 1),
        ("object.metadata.finalizers.all(f, f > 1)", 1),
        ("unknown.name == 1", 1),
        ("[1].all(object, object.x > 0)", len(KINDS)),
        ("object", len(KINDS)),
        ("object.nothing", len(KINDS)),
        ("variables.nothing", len(KINDS)),
        ("object.metadata", len(KINDS)),
        ("Pod{}", len(KINDS)),
        ("authorizer.requestResource.check('get').allowed()", len(KINDS)),
    ],
)
def test_checks_are_shared(expression: str, different: int) -> None:
    tree, _ = EVERYWHERE[0].parse(expression)
    assert tree is not None
    checks = SharedChecks(tree, SharedTypes())
    assert len({id(one) for one in [checks.check(env) for env in EVERYWHERE]}) == different


@pytest.mark.parametrize(
    "expression",
    [
        "object.data",
        "object.data.a",
        "object.data.a == b'x'",
        "object.spec.replicas > 1",
        "object.spec.selector.app == 'a'",
        "object.spec.selector.matchLabels.app == 'a'",
        "object.spec.selector",
        "object.type == 'x' || object.immutable",
        "has(object.spec.selector.app)",
        "has(object.metadata.labels).a",
        "object.metadata.creationTimestamp",
        "object.note == object.message",
        "object.?data.?a.orValue('x') == 'a'",
        "oldObject.data == object.data",
        "[object, oldObject].map(o, o.metadata.name)",
        "object.metadata.ownerReferences.map(variables, variables.name + 1)",
        "type(Pod)",
        "Pod.spec",
        "Event",
        "[1].map(Pod, Pod + 1)",
        "variables.v",
        "variables.v.a",
        "[variables.v] + ['a']",
        "request.userInfo.groups.exists(g, g == 1)",
    ],
)
def test_verdicts_are_those_of_each_check(expression: str) -> None:
    environments = [
        *EVERYWHERE,
        *(_environment(kind, types.map_of(types.STRING, types.BOOL)) for kind in KINDS[:2]),
        *(_environment(kind, types.list_of(types.STRING)) for kind in KINDS[:2]),
    ]
    tree, _ = EVERYWHERE[0].parse(expression)
    assert tree is not None
    shared = SharedChecks(tree, SharedTypes())
    for env in environments:
        alone = SharedChecks(tree, SharedTypes()).check(env)
        found = shared.check(env)
        assert found.variable_type == alone.variable_type
        assert [(str(i), i.types, n) for i, n in found.issues] == [
            (str(i), i.types, n) for i, n in alone.issues
        ]


def test_each_of_the_expressions_with_one_text_has_its_mistake() -> None:
    spots = about("CEL011", "object.spec.nothing == 1", "true", "object.spec.nothing == 1")
    assert [field for field, _ in spots] == [
        "spec.validations[0].expression",
        "spec.validations[2].expression",
    ]


def test_a_variable_with_the_text_of_another_knows_what_stands_before_it() -> None:
    """What a type check of one finds is not said of the other."""
    variables = [
        {"name": "a", "expression": "1"},
        {"name": "b", "expression": "variables.a"},
        {"name": "a", "expression": "'x'"},
        {"name": "c", "expression": "variables.a"},
    ]
    given = {"variables": variables}
    assert about("CEL010", "variables.b + 1 == 2", "variables.c + 'y' == 'xy'", **given) == []
