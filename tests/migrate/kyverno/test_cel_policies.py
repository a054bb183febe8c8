"""Policies of Kyverno that are written in CEL."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import Json
from celadon.migrate import Translation, shape_of, translate_document
from tests.migrate.kyverno.policy_documents import CATALOG, kyverno_policy, pod, result, rule
from tests.migrate.kyverno.policy_documents import translated as of_a_rule

HOST_NETWORK = "!object.spec.?hostNetwork.orValue(false)"


def validating_policy(
    expression: str = HOST_NETWORK,
    resource: str = "pods",
    kind: str = "ValidatingPolicy",
    **spec: Json,
) -> dict[str, Any]:
    """A policy for one resource of the core group."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": [resource],
    }
    return {
        "apiVersion": "policies.kyverno.io/v1",
        "kind": kind,
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression, "message": "no"}],
            **spec,
        },
    }


def translated(document: dict[str, Any]) -> Translation:
    """What became of the policy."""
    assert shape_of(document) is not None
    (found,) = translate_document(document, CATALOG)
    return found


def test_a_policy_for_pods_is_for_their_controllers() -> None:
    found = translated(validating_policy())
    assert [one["metadata"]["name"] for one in found.policies] == [
        "p",
        "p-controllers",
        "p-cronjobs",
    ]
    expressions = [one["spec"]["validations"][0]["expression"] for one in found.policies]
    assert expressions[1:] == [
        "!object.spec.template.spec.?hostNetwork.orValue(false)",
        "!object.spec.jobTemplate.spec.template.spec.?hostNetwork.orValue(false)",
    ]
    assert result(found, pod({"hostNetwork": True})) == "fail"
    assert result(found, pod()) == "pass"


def test_fields_at_the_beginning_of_a_line_are_those_of_templates() -> None:
    found = translated(validating_policy("true &&\nobject.spec.x &&\n\toldObject.metadata.y"))
    assert found.policies[1]["spec"]["validations"][0]["expression"] == (
        "true &&\nobject.spec.template.spec.x &&\n\toldObject.spec.template.metadata.y"
    )


@pytest.mark.parametrize(
    ("document", "names"),
    [
        (validating_policy("true", "configmaps"), ["p"]),
        (validating_policy(autogen={"podControllers": {"controllers": []}}), ["p"]),
        (
            validating_policy(autogen={"podControllers": {"controllers": ["cronjobs"]}}),
            ["p", "p-cronjobs"],
        ),
    ],
)
def test_controllers(document: dict[str, Any], names: list[str]) -> None:
    found = translated(document)
    assert [one["metadata"]["name"] for one in found.policies] == names


def test_the_namespace_of_an_object_is_not_that_of_its_template() -> None:
    found = translated(validating_policy("object.metadata.namespace != object.metadata.name"))
    (one,) = found.policies[1]["spec"]["validations"]
    assert one["expression"] == "object.metadata.namespace != object.spec.template.metadata.name"


def test_a_policy_of_a_namespace_stays_in_it() -> None:
    found = translated(validating_policy("false", kind="NamespacedValidatingPolicy"))
    assert result(found, pod()) == "skip"
    assert result(found, pod(namespace="shop")) == "fail"


def test_bindings_have_the_actions_of_the_policy() -> None:
    found = translated(validating_policy("false", "configmaps", validationActions=["Audit"]))
    assert found.documents[1]["spec"] == {"policyName": "p", "validationActions": ["Audit"]}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (
            validating_policy("resource.Get('v1', 'pods', 'a', 'b') != null"),
            "`resource`, a library of Kyverno's own",
        ),
        (
            validating_policy(evaluation={"mode": "JSON"}),
            "a policy for data that is no object of Kubernetes",
        ),
        (
            validating_policy(matchConstraints=None, evaluation={"mode": "HTTP"}, images=[]),
            "a policy for data that is no object of Kubernetes",
        ),
        (validating_policy(matchConstraints=None), "a policy that matches nothing"),
        (validating_policy(images=[]), "`images`"),
    ],
)
def test_what_has_no_equal_is_said(document: dict[str, Any], reason: str) -> None:
    found = translated(document)
    assert found.reason.startswith(reason)
    assert not found.documents


CEL = {"cel": {"expressions": [{"expression": HOST_NETWORK}]}}


def test_names_of_preconditions_become_those_of_match_conditions() -> None:
    given = [{"name": "Only for prod", "expression": "object.metadata.name == 'prod'"}]
    found = of_a_rule(kyverno_policy(rule(CEL, celPreconditions=given)))
    (policy,) = found.policies
    (condition,) = policy["spec"]["matchConditions"]
    assert condition["name"] == "Only-for-prod"
    assert result(found, pod({"hostNetwork": True}, name="prod")) == "fail"
    assert result(found, pod({"hostNetwork": True})) == "skip"


def test_preconditions_whose_names_become_one() -> None:
    given = [{"name": name, "expression": "true"} for name in ("a b", "a/ b")]
    found = of_a_rule(kyverno_policy(rule(CEL, celPreconditions=given)))
    assert found.reason == "several `celPreconditions` of one name"


@pytest.mark.parametrize(
    ("expression", "library"),
    [
        ("resource.List('v1', 'pods', 'a').items.size() == 0", "resource"),
        ("resource.get('v1', 'pods', 'a', 'b').spec.hostNetwork", "resource"),
        ("http.Get('https://a').b == 'c'", "http"),
        ("http.post('https://a', {}).b == 'c'", "http"),
        ("globalContext.Get('a', '') == 'b'", "globalContext"),
        ("image('nginx').registry() == 'a'", "images"),
        ("has(image.GetMetadata('nginx').config)", "images"),
        ("md5(object.metadata.name) == 'a'", "hash"),
        ("json.unmarshal(object.metadata.name).a == 'b'", "json and yaml"),
        ("time.now() > timestamp('2026-01-01T00:00:00Z')", "time"),
        ("true &&\ntime.now() > timestamp('2026-01-01T00:00:00Z')", "time"),
        ("parseServiceAccount(request.userInfo.username).Name == 'a'", "user"),
    ],
)
def test_libraries_of_kyverno_are_named(expression: str, library: str) -> None:
    (found,) = translate_document(validating_policy(expression), CATALOG)
    assert found.reason == f"`{library}`, a library of Kyverno's own"
    assert found.instead
