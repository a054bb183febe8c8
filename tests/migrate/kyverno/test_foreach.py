"""Lists that are gone through: in each other, with several patterns, and made of other values."""

from __future__ import annotations

import pytest

from celadon.kube import JsonObject
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, result, rule, translated

ON_HOST = pod(
    {
        "containers": [
            {"name": "a", "image": "b", "ports": [{"containerPort": 1}]},
            {"name": "b", "image": "b", "ports": [{"containerPort": 2, "hostPort": 2}]},
        ]
    },
    labels={"x": "1", "y": "2"},
    annotations={"list": "a,b"},
)


def _denied(key: str, operator: str = "Equals", value: object = "x") -> JsonObject:
    condition = {"key": f"{{{{ {key} }}}}", "operator": operator, "value": value}
    return {"deny": {"conditions": {"any": [condition]}}}


@pytest.mark.parametrize(
    "entry",
    [
        {
            "list": "request.object.spec.containers",
            "foreach": [{"list": "element.ports", **_denied("element.hostPort", "GreaterThan", 0)}],
        },
        {
            "list": "request.object.spec.containers",
            "foreach": [
                {
                    "list": "element.ports",
                    "deny": {
                        "conditions": {
                            "all": [
                                *_denied("element0.name", "Equals", "b")["deny"]["conditions"][
                                    "any"
                                ],
                                *_denied("element1.hostPort", "Equals", 2)["deny"]["conditions"][
                                    "any"
                                ],
                            ]
                        }
                    },
                }
            ],
        },
        {
            "list": "request.object.spec.containers",
            "anyPattern": [{"name": "a"}, {"name": "c"}],
        },
        {"list": "keys(request.object.metadata.labels)", **_denied("element")},
        {"list": "values(request.object.metadata.labels)", **_denied("element", value="1")},
        {
            "list": "items(request.object.metadata.labels, 'key', 'value')",
            **_denied("element.key"),
        },
        {
            "list": "split(request.object.metadata.annotations.list, ',')",
            **_denied("element", value="b"),
        },
        {
            "list": "request.object.spec.containers[].to_upper(name)",
            **_denied("element", value="B"),
        },
    ],
)
def test_elements(entry: JsonObject) -> None:
    found = translated(kyverno_policy(rule({"foreach": [entry]})))
    assert not found.reason
    assert result(found, ON_HOST) == "fail"
    assert result(found, pod()) == "pass"


def test_patterns_are_for_what_stands_in_an_object() -> None:
    entry = {"list": "keys(request.object.metadata.labels)", "pattern": {"a": "b"}}
    found = translated(kyverno_policy(rule({"foreach": [entry]})))
    assert found.reason == "a pattern for elements that are made of others"


def test_a_rule_is_skipped_whose_inner_lists_have_no_element_that_is_meant() -> None:
    inner = {
        "list": "element.ports",
        "preconditions": {
            "all": _denied("element.hostPort", "GreaterThan", 0)["deny"]["conditions"]["any"]
        },
        **_denied("element.hostPort", "Equals", 2),
    }
    entry = {"list": "request.object.spec.containers", "foreach": [inner]}
    found = translated(kyverno_policy(rule({"foreach": [entry]})))
    assert result(found, ON_HOST) == "fail"
    assert result(found, pod()) == "skip"
