"""What is said against the scopes of quotas."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.validation.objects import complaints, obj

Json = dict[str, Any]
SCOPES = "spec.scopes: Invalid value: "


def quota(hard: Json, *scopes: str, **spec: Any) -> Json:
    return obj("v1", "ResourceQuota", spec={"hard": hard, "scopes": list(scopes), **spec})


def selected(scope: str, operator: str = "Exists", *values: str) -> Json:
    one = {"scopeName": scope, "operator": operator, "values": list(values)}
    return {"scopeSelector": {"matchExpressions": [one]}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (quota({"pods": "1"}, "BestEffort"), []),
        (quota({"pods": "1", "limits.cpu": "1", "a.b/c": "1"}, "NotTerminating"), []),
        (quota({"requests.storage": "1"}, **selected("VolumeAttributesClass")), []),
        (
            quota({"cpu": "1", "secrets": "1"}, "BestEffort"),
            [f'{SCOPES}["BestEffort"]: unsupported scope applied to resource'] * 2,
        ),
        (
            quota({"services": "1"}, **selected("PriorityClass", "In", "a")),
            [
                "spec.scopeSelector.matchExpressions: Invalid value: "
                '{"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"In",'
                '"Values":["a"]}]}: unsupported scope applied to resource'
            ],
        ),
        (
            quota({}, "BestEffort", "NotBestEffort", "x"),
            [
                f'{SCOPES}["BestEffort","NotBestEffort","x"]: unsupported scope',
                f'{SCOPES}["BestEffort","NotBestEffort","x"]: conflicting scopes',
            ],
        ),
    ],
)
def test_scopes(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


@pytest.mark.parametrize(
    ("name", "fields", "fault"),
    [
        ("system-x", {}, "system-x is not a known system priority class"),
        (
            "system-node-critical",
            {"value": 1},
            "value of system-node-critical PriorityClass must be 2000001000",
        ),
        (
            "system-node-critical",
            {"value": 2000001000, "globalDefault": True},
            "globalDefault of system-node-critical PriorityClass must be false",
        ),
    ],
)
def test_priorities_of_the_system(name: str, fields: dict[str, Any], fault: str) -> None:
    value = obj("scheduling.k8s.io/v1", "PriorityClass", meta={"name": name}, **fields)
    assert complaints(value) == [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
        f"system use only. error: {fault}"
    ]


def test_conflicting_scopes_of_a_selector() -> None:
    chosen = [{"scopeName": one, "operator": "Exists"} for one in ("BestEffort", "NotBestEffort")]
    value = obj("v1", "ResourceQuota", spec={"scopeSelector": {"matchExpressions": chosen}})
    assert complaints(value) == [
        "spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes"
    ]


def test_a_budget_of_both_kinds_shows_its_selector_as_a_struct() -> None:
    chosen = {"matchExpressions": [{"operator": "Exists", "key": "a"}], "matchLabels": {}}
    spec = {"minAvailable": 1, "maxUnavailable": 1, "selector": chosen}
    assert complaints(obj("policy/v1", "PodDisruptionBudget", spec=spec)) == [
        'spec: Invalid value: {"MinAvailable":1,"Selector":{"matchExpressions":[{"key":"a",'
        '"operator":"Exists"}]},"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: '
        "minAvailable and maxUnavailable cannot be both set"
    ]


def test_huge_pages_of_quotas() -> None:
    hard = {"requests.hugepages-2Mi": "2Mi", "hugepages-1Gi": "1Gi"}
    assert complaints(quota(hard)) == []
    assert (
        complaints(quota(hard, "BestEffort"))
        == [f'{SCOPES}["BestEffort"]: unsupported scope applied to resource'] * 2
    )
