"""What a rule looks up: values of its own, its namespace, and a ConfigMap that is asked for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from celadon.kube import JsonObject
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, result, rule, translated

NAME = "request.object.metadata.name"


def _rule(entry: JsonObject, key: str, operator: str, value: object) -> dict[str, Any]:
    condition = {"key": key, "operator": operator, "value": value}
    denied = {"deny": {"conditions": {"all": [condition]}}}
    return kyverno_policy(rule(denied, context=[{"name": "known", **entry}]))


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"variable": {"value": "a"}}, "{{ known }}"),
        ({"variable": {"value": {"x": ["b", "a"]}, "jmesPath": "x[1]"}}, "{{ known }}"),
        ({"variable": {"value": {"x": ["b", "a"]}}}, "{{ known.x }}"),
        ({"variable": {"value": {"x": "{{ request.object.metadata.name }}"}}}, "{{ known.x }}"),
        ({"variable": {"value": {"x": "b"}, "jmesPath": "y", "default": "a"}}, "{{ known }}"),
    ],
)
def test_values(entry: JsonObject, value: str) -> None:
    found = translated(_rule(entry, f"{{{{ {NAME} }}}}", "AnyIn", value))
    assert not found.reason
    assert result(found, pod()) == "fail"


def test_variables_that_double_are_not_written() -> None:
    """Each is made of two of the one before."""
    names = [NAME, *(f"v{number}" for number in range(14))]
    context: Any = [
        {"name": name, "variable": {"value": f"{{{{{before}}}}}{{{{{before}}}}}"}}
        for before, name in pairwise(names)
    ]
    condition = {"key": f"{{{{ {names[-1]} }}}}", "operator": "Equals", "value": "a"}
    denied = {"deny": {"conditions": {"all": [condition]}}}
    found = translated(kyverno_policy(rule(denied, context=context)))
    assert found.reason == "a text of variables that is longer than an expression may be"


@pytest.mark.parametrize("name", ["request.namespace", "request.object.metadata.namespace"])
def test_the_namespace_of_a_request(name: str) -> None:
    call = {"urlPath": f"/api/v1/namespaces/{{{{ {name} }}}}", "jmesPath": "metadata.labels.team"}
    found = translated(_rule({"apiCall": call}, "{{ known }}", "Equals", "a"))
    assert not found.reason
    assert result(found, pod(), namespaces={"default": {"team": "a"}}) == "fail"
    assert result(found, pod(), namespaces={"default": {"team": "b"}}) == "pass"


def test_a_config_map_that_is_asked_for() -> None:
    call = {"urlPath": "/api/v1/namespaces/kyverno/configmaps/names", "jmesPath": "data.first"}
    found = translated(_rule({"apiCall": call}, f"{{{{ {NAME} }}}}", "Equals", "{{ known }}"))
    policy, binding = found.documents
    assert policy["spec"]["paramKind"] == {"apiVersion": "v1", "kind": "ConfigMap"}
    assert binding["spec"]["paramRef"] == {
        "name": "names",
        "namespace": "kyverno",
        "parameterNotFoundAction": "Deny",
    }
    (one,) = policy["spec"]["validations"]
    assert one["expression"] == "object.metadata.name != params.data['first']"


def test_a_config_map_in_the_namespace_of_a_request() -> None:
    entry = {"configMap": {"name": "names", "namespace": "{{request.namespace}}"}}
    found = translated(_rule(entry, f"{{{{ {NAME} }}}}", "Equals", "{{ known.data.first }}"))
    binding = found.documents[1]
    assert binding["spec"]["paramRef"] == {"name": "names", "parameterNotFoundAction": "Deny"}


@pytest.mark.parametrize(
    "call",
    [
        {"urlPath": "/api/v1/pods"},
        {"urlPath": "/api/v1/namespaces/{{request.namespace}}/pods"},
        {"urlPath": "/api/v1/namespaces/{{request.namespace}}", "method": "POST"},
        {"service": {"url": "http://other"}, "method": "POST"},
    ],
)
def test_other_calls_are_not_translated(call: JsonObject) -> None:
    found = translated(_rule({"apiCall": call}, "{{ known }}", "Equals", "a"))
    assert found.reason == "values that are looked up (`apiCall`)"
    assert found.instead


def test_a_text_of_the_namespace_may_be_a_pattern() -> None:
    path = "/api/v1/namespaces/{{ request.namespace }}"
    context: list[JsonObject] = [
        {"name": "a", "apiCall": {"urlPath": path, "jmesPath": "metadata.annotations.a || ''"}}
    ]
    condition = {"key": "{{ request.name }}", "operator": "Equals", "value": "{{ a }}"}
    validate = {"message": "no", "deny": {"conditions": {"all": [condition]}}}
    found = translated(kyverno_policy(rule(validate, context=context)))
    assert found.reason == "a comparison of values that are no single values"
