"""Fields that a kind does not have, or that come twice."""

from __future__ import annotations

import pytest

from celadon.kube.go.go_json import Document, read_json
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.struct_decoding import MOST, strict_field_errors

BINDING = GroupVersionKind("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding")

ROWS = [
    ('{"spec": {"policyName": "a"}}', []),
    (
        '{"zap":1,"spec":{"policyName":"a","x":1,"policyName":"b"},"zap":2}',
        ['unknown field "zap"', 'unknown field "spec.x"', 'duplicate field "spec.policyName"'],
    ),
    (
        '{"metadata":{"labels":{"a":"1","a":"2","a":"3"}}}',
        ['duplicate field "metadata.labels.a"'],
    ),
    (
        '{"spec":{"matchResources":{"resourceRules":[{},{"Scope":"*","x":{"x":1,"x":2}}]}}}',
        [
            'unknown field "spec.matchResources.resourceRules[1].Scope"',
            'unknown field "spec.matchResources.resourceRules[1].x"',
        ],
    ),
    (
        '{"spec":{"x":1},"spec":{"y":1}}',
        [
            'unknown field "spec.x"',
            'duplicate field "spec"',
            'unknown field "spec.y"',
        ],
    ),
]


@pytest.mark.parametrize(("text", "messages"), ROWS)
def test_messages(text: str, messages: list[str]) -> None:
    found = strict_field_errors(read_json(text, merge=True), BINDING)
    assert [one.text for one in found] == messages


def test_not_without_end() -> None:
    text = "{" + ",".join(f'"x{i}":1' for i in range(MOST + 5)) + "}"
    assert len(strict_field_errors(read_json(text), BINDING)) == MOST


def test_kinds_that_are_not_built_in() -> None:
    document = read_json('{"x":1}')
    assert strict_field_errors(document, GroupVersionKind("a.b", "v1", "C")) == []


def test_where_they_are() -> None:
    obj = {
        "spec": {"template": {"spec": {"containers": [{"name": "c"}, {"zap": 1}]}}, "x": 3},
        "metadata": {"labels": {"any": "thing"}, "managedFields": [{"fieldsV1": {"f:x": {}}}]},
        "y": 2,
    }
    found = strict_field_errors(Document(obj), GroupVersionKind("apps", "v1", "Deployment"))
    steps = ("spec", "template", "spec", "containers", 1, "zap")
    assert [one.steps for one in found] == [steps, ("spec", "x"), ("y",)]


@pytest.mark.parametrize(
    ("field", "likely"),
    [
        ("policyname", "policyName"),
        ("validationAction", "validationActions"),
        ("paramsRef", "paramRef"),
        ("rules", ""),
        ("x", ""),
    ],
)
def test_what_was_meant(field: str, likely: str) -> None:
    (found,) = strict_field_errors(Document({"spec": {field: 1}}), BINDING)
    assert found.likely == likely
