"""What does not fit the kinds that a policy is about."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.lint.linting import about, found, policy
from tests.kube.schemas.test_definition_schemas import definition

AT = "spec.validations[0].expression"


def rules(group: str, *resources: str, version: str = "v1") -> dict[str, Any]:
    rule = {"apiGroups": [group], "apiVersions": [version], "operations": ["CREATE"]}
    return {"resourceRules": [{**rule, "resources": list(resources)}]}


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("object.spec.replica == 1", 11),
        ("object.spec.replicas > 'x'", 21),
        ("object.spec.replicas.startsWith('x')", 31),
        ("object.spec.template.spec.containers.all(c, c.imag == 'x')", 45),
        ("object.metadata.creationTimestamp > timestamp('2024-01-01T00:00:00Z')", 34),
        ("object.spec.replicas && true", 11),
        ("object.spec.replicas.all(x, true)", 11),
        ("object.spec.__replicas__ == 1", 11),
    ],
)
def test_type_errors(text: str, offset: int) -> None:
    assert about("CEL011", text) == [(AT, offset)]


@pytest.mark.parametrize(
    "text",
    [
        "object.spec.replicas > 1.5",
        "object.spec.template.spec.containers.all(c, quantity(c.resources.limits['cpu'])"
        ".isLessThan(quantity('1')))",
        "timestamp(object.metadata.creationTimestamp) > timestamp('2024-01-01T00:00:00Z')",
        "object.spec['replicas'] == 1",
        "'replicas' in object.spec",
        "object.spec.all(k, k != '') && size(object.spec) > 1 && object.spec.size() > 1",
        "object.spec.template.spec.containers + object.spec.template.spec.initContainers != []",
        "object.spec.template == object.spec.selector",
        "(true ? object.spec.template : object.spec.selector) != null",
        "object.spec.selector == {'matchLabels': {}}",
        "[object.spec.replicas, object.metadata.name] != []",
        "{'a': object.spec.replicas, 'b': object.metadata.name}.size() == 2",
        "object.spec == oldObject.spec",
        "object.spec.template.spec.containers[0].ports[0].containerPort == 80",
        "object.spec.strategy.rollingUpdate.maxSurge == 1 || "
        "object.spec.strategy.rollingUpdate.maxSurge == '10%'",
        "request.foo == 1",
    ],
)
def test_what_works_on_data(text: str) -> None:
    assert about("CEL011", text) == []


def test_every_place_is_checked() -> None:
    given = policy(
        variables=[{"name": "v", "expression": "object.a"}],
        matchConditions=[{"name": "c", "expression": "object.b == 1"}],
        validations=[{"expression": "variables.v == 1", "messageExpression": "string(object.c)"}],
        auditAnnotations=[{"key": "k", "valueExpression": "string(object.d)"}],
    )
    assert {one.spot.field for one in found("CEL011", given)} == {
        "spec.variables[0].expression",
        "spec.matchConditions[0].expression",
        "spec.validations[0].messageExpression",
        "spec.auditAnnotations[0].valueExpression",
    }


def test_wildcards_and_many_kinds() -> None:
    everything = rules("*", "*", version="*")
    assert about("CEL011", "object.nowhere == 1", matchConstraints=everything) == [(AT, 6)]
    (one,) = found(
        "CEL011",
        policy(matchConstraints=everything, validations=[{"expression": "object.spec != {}"}]),
    )
    assert "and" in one.message
    assert "more" in one.message


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("object.spec.strategy.type == 'Recreate'", True),
        ("!has(object.spec.strategy) || object.spec.strategy.type == 'Recreate'", False),
        ("object.kind != 'Deployment' || object.spec.strategy.type == 'Recreate'", False),
        ("request.kind.kind != 'Deployment' || object.spec.strategy.type == 'Recreate'", False),
        ("has(object.spec.nowhere)", True),
    ],
)
def test_fields_of_some_kinds(text: str, speaks: bool) -> None:
    constraints = rules("apps", "deployments", "statefulsets")
    assert bool(about("CEL011", text, matchConstraints=constraints)) is speaks


def test_custom_kinds_and_params() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gizmos.example.com"},
        **definition({"type": "object", "properties": {"max": {"type": "integer"}}}),
    }
    given = policy(
        paramKind={"apiVersion": "example.com/v1", "kind": "Gizmo"},
        validations=[{"expression": "params.max > 'x'"}, {"expression": "params.min == 1"}],
    )
    assert [one.spot.offset for one in found("CEL011", given, crd)] == [11, 6]
    assert found("CEL011", given) == []
    about_gizmos = policy(
        matchConstraints=rules("example.com", "gizmos"),
        validations=[{"expression": "object.min == 1"}],
    )
    assert [one.spot.offset for one in found("CEL011", about_gizmos, crd)] == [6]


def test_a_definition_that_is_none() -> None:
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    for spec in (None, {}, {"group": "a", "names": {}}, {"group": "a", "versions": [1]}):
        assert (
            found("CEL011", policy(validations=[{"expression": "true"}]), {**crd, "spec": spec})
            == []
        )


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("object.spec.template.spec.containers.all(c, has(c.resources.limits))", True),
        ("object.metadata.creationTimestamp == 'x'", True),
        ("object.spec.replicas > 1", False),
        ("object.nowhere == 1", False),
    ],
)
def test_status_warnings(text: str, speaks: bool) -> None:
    assert bool(about("CEL010", text)) is speaks


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (rules("apps", "deployments"), ""),
        (rules("apps", "Deployments"), "there is no resource `Deployments` in apps/v1"),
        (rules("apps", "deployment"), "there is no resource `deployment`"),
        (rules("", "deployments"), "there is no resource `deployments` in core/v1"),
        (rules("apps", "deployments", version="v1beta1"), "there is no resource"),
        (rules("apps", "deployments/scale"), ""),
        (rules("apps", "deployments/*"), ""),
        (rules("apps", "deployments/scal"), "`deployments` has no subresource `scal`"),
        (rules("example.com", "gizmos"), ""),
        (rules("*", "nowhere"), ""),
        (rules("apps", "*"), ""),
        (rules("apps.k8s.io", "deployments"), "there is no resource"),
    ],
)
def test_unknown_resources(constraints: dict[str, Any], message: str) -> None:
    given = policy(matchConstraints=constraints, validations=[{"expression": "true"}])
    messages = [one.message for one in found("CEL012", given)]
    assert all(message in one for one in messages)
    assert bool(messages) is bool(message)
