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
