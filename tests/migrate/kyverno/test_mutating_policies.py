"""Policies of Kyverno that mutate and are written in CEL."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import Json, JsonObject
from celadon.migrate import Case, Translation, judged_by, shape_of, translate_document
from celadon.migrate.kyverno.cel_policies import shifted_patch
from tests.migrate.kyverno.policy_documents import CATALOG, pod

LABEL = "Object{metadata: Object.metadata{labels: {'team': 'a'}}}"
RUNTIME = "Object{spec: Object.spec{runtimeClassName: 'gvisor'}}"


def applying(expression: str) -> dict[str, Any]:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def patching(expression: str) -> dict[str, Any]:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def mutating_policy(
    *mutations: JsonObject, resource: str = "pods", kind: str = "MutatingPolicy", **spec: Json
) -> dict[str, Any]:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": [resource],
    }
    return {
        "apiVersion": "policies.kyverno.io/v1",
        "kind": kind,
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "mutations": list(mutations),
            **spec,
        },
    }


def translated(document: JsonObject) -> Translation:
    assert shape_of(document) is not None
    (found,) = translate_document(document, CATALOG)
    return found


def changed(found: Translation, obj: JsonObject, expected: JsonObject | None) -> tuple[str, str]:
    return judged_by(Case("p", "", obj, "pass", patched=expected), found.policies, CATALOG)


def test_a_policy_that_applies() -> None:
    found = translated(mutating_policy(applying(LABEL)))
    assert found.origin.does == "mutate"
    assert [one["kind"] for one in found.documents[:2]] == [
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
    ]
    assert found.policies[0]["spec"]["reinvocationPolicy"] == "Never"
    assert changed(found, pod(), pod(labels={"team": "a"})) == ("pass", "")
    # It is for the object, though nothing is left to do.
    assert changed(found, pod(labels={"team": "a"}), None)[0] == "pass"


def test_controllers_of_pods_are_changed_in_their_templates() -> None:
    found = translated(mutating_policy(applying(RUNTIME)))
    assert [one["metadata"]["name"] for one in found.policies] == [
        "p",
        "p-controllers",
        "p-cronjobs",
    ]
    (mutation,) = found.policies[1]["spec"]["mutations"]
    assert mutation["applyConfiguration"]["expression"] == (
        "Object{spec: Object.spec{template: Object.spec.template{"
        "spec: Object.spec.template.spec{runtimeClassName: 'gvisor'}}}}"
    )
    template = {"metadata": {}, "spec": pod()["spec"]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"selector": {}, "template": template},
    }
    after = {**template, "spec": {**template["spec"], "runtimeClassName": "gvisor"}}
    expected = {**deployment, "spec": {"selector": {}, "template": after}}
    assert changed(found, deployment, expected) == ("pass", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Object{metadata: Object.metadata {labels: {'a': 'b'}}}",
            "Object{spec: Object.spec{template: Object.spec.template{"
            "metadata: Object.spec.template.metadata {labels: {'a': 'b'}}}}}",
        ),
        (
            " Object {metadata: x} ",
            "Object{spec: Object.spec{template: Object.spec.template{metadata: x}}} ",
        ),
        ("has(object.spec.a) ? x : y", "has(object.spec.template.spec.a) ? x : y"),
        ("Object{", "Object{"),
        (
            "myObject.specs + object.metadata.labels.a",
            "myObject.specs + object.spec.template.metadata.labels.a",
        ),
    ],
)
def test_patches_below_a_template(text: str, expected: str) -> None:
    assert shifted_patch(text, ("spec", "template")) == expected


def test_match_conditions_have_no_variables() -> None:
    """Kyverno lets them have some."""
    variables: Json = [
        {"name": "labels", "expression": "object.metadata.?labels.orValue({})"},
        {"name": "wanted", "expression": "'team' in variables.labels"},
    ]
    conditions: Json = [
        {"name": "is it wanted?", "expression": "variables.wanted && 'variables.wanted' != ''"}
    ]
    found = translated(
        mutating_policy(
            applying(LABEL),
            resource="configmaps",
            variables=variables,
            matchConditions=conditions,
        )
    )
    assert found.policies[0]["spec"]["matchConditions"] == [
        {
            "name": "is-it-wanted",
            "expression": "('team' in (object.metadata.?labels.orValue({}))) "
            "&& 'variables.wanted' != ''",
        }
    ]


def test_variables_that_double_are_not_put_in() -> None:
    variables: Json = [
        {"name": "v0", "expression": "true"},
        *(
            {"name": f"v{n}", "expression": f"variables.v{n - 1} && variables.v{n - 1}"}
            for n in range(1, 40)
        ),
    ]
    found = translated(
        mutating_policy(
            applying(LABEL),
            variables=variables,
            matchConditions=[{"name": "c", "expression": "variables.v39"}],
        )
    )
    assert found.reason == "a match condition of more than 1000 variables"


def test_a_policy_of_a_namespace() -> None:
    found = translated(mutating_policy(applying(LABEL), kind="NamespacedMutatingPolicy"))
    assert changed(found, pod(labels={}), pod(labels={"team": "a"}))[0] == "pass"
    other = pod(labels={}, namespace="shop")
    assert changed(found, other, None)[0] == "skip"


EMPTY = "[JSONPatch{op: 'add', path: '/metadata/labels', value: {}}]"
FILLED = "[JSONPatch{op: 'add', path: '/metadata/labels/a', value: 'b'}]"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (mutating_policy(patching(EMPTY), patching(FILLED)), "an empty map or list"),
        (
            mutating_policy(applying(LABEL), targetMatchConstraints={"resourceRules": []}),
            "`targetMatchConstraints`",
        ),
        (
            mutating_policy(applying(LABEL), evaluation={"mutateExisting": {"enabled": True}}),
            "`mutateExisting`",
        ),
        (
            mutating_policy(applying(LABEL), evaluation={"useServerSideApply": True}),
            "atomic fields that are set",
        ),
        (
            mutating_policy(applying(LABEL), evaluation={"admission": {"enabled": False}}),
            "a policy that is not for admission",
        ),
        (mutating_policy(applying("http.Get('x')")), "`http`, a library of Kyverno's own"),
    ],
)
def test_what_is_not_translated(document: JsonObject, reason: str) -> None:
    assert translated(document).reason.startswith(reason)


def test_empty_maps_in_one_list_of_patches() -> None:
    found = translated(mutating_policy(patching(f"{EMPTY} + {FILLED}")))
    assert changed(found, pod(), pod(labels={"a": "b"})) == ("pass", "")
