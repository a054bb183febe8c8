"""Templates and constraints as policies, bindings and params."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import Json, JsonObject
from celadon.migrate import exempt_namespaces, left_behind, translate_constraints
from tests.migrate.gatekeeper.gatekeeper_documents import (
    CATALOG,
    SCHEMA,
    constraint,
    of_kind,
    pod,
    refusal,
    review,
    says,
    template,
    translated,
)

AT_MOST = template(
    says(
        "size(variables.anyObject.spec.containers) <= variables.params.most",
        messageExpression="'at most ' + string(variables.params.most)",
    ),
    SCHEMA,
)


def test_a_template_its_parameters_and_its_constraint() -> None:
    source = {
        "variables": [{"name": "count", "expression": "size(variables.anyObject.spec.containers)"}],
        "validations": [
            {
                "expression": "variables.count <= variables.params.most",
                "messageExpression": "'at most ' + string(variables.params.most)",
            }
        ],
        "matchCondition": [{"name": "no-hosts", "expression": "!object.spec.?hostPID.hasValue()"}],
        "failurePolicy": "Ignore",
        "generateVAP": False,
    }
    (found,) = translated(template(source, SCHEMA), constraint(parameters={"most": 1}))
    policy = of_kind(found, "Policy")
    assert policy["metadata"]["annotations"] == {"description": "Demands."}
    spec = policy["spec"]
    assert spec["failurePolicy"] == "Ignore"
    assert spec["variables"] == [{"name": "count", "expression": "size(object.spec.containers)"}]
    assert spec["validations"] == [
        {
            "expression": "variables.count <= params.spec.most",
            "messageExpression": "'at most ' + string(params.spec.most)",
        }
    ]
    assert [one["name"] for one in spec["matchConditions"]] == ["no-hosts"]
    kind = {"apiVersion": "constraints.policy.internal/v1", "kind": "Demand"}
    assert spec["paramKind"] == kind
    assert of_kind(found, "Demand") == {
        **kind,
        "metadata": {"name": "all"},
        "spec": {"most": 1},
    }
    definition = of_kind(found, "CustomResourceDefinition")
    assert definition["metadata"]["name"] == "demand.constraints.policy.internal"
    assert of_kind(found, "PolicyBinding")["spec"] == {
        "policyName": "demand",
        "paramRef": {"name": "all", "parameterNotFoundAction": "Deny"},
        "validationActions": ["Deny"],
    }
    assert refusal(found, pod()) == ""
    assert refusal(found, pod({"name": "a"}, {"name": "b"})) == "at most 1"
    assert refusal(found, pod({"name": "a"}, {"name": "b"}, hostPID=True)) == ""


def test_without_parameters_nothing_but_a_policy_and_its_binding() -> None:
    (found,) = translated(template(says("false")), constraint())
    assert [one["kind"] for one in found.documents] == [
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ]


def test_a_template_alone_is_a_policy_for_whatever_will_be_bound_to_it() -> None:
    (found,) = translated(template(says("false"), SCHEMA))
    assert [one["kind"] for one in found.documents] == [
        "CustomResourceDefinition",
        "ValidatingAdmissionPolicy",
    ]


@pytest.mark.parametrize(
    ("operations", "request_", "refused"),
    [
        (["CREATE"], review("UPDATE", pod(), pod()), False),
        (["CREATE", "DELETE"], review("DELETE", None, pod()), True),
        (["*"], review("DELETE", None, pod()), True),
        ([], review("DELETE", None, pod()), False),
        ([], review("UPDATE", pod(), pod()), True),
        ([], review("CREATE", pod()), True),
    ],
)
def test_operations(operations: list[Json], request_: JsonObject, refused: bool) -> None:
    demand = template(says("variables.anyObject.kind != 'Pod'"), operations=operations)
    (found,) = translated(demand, constraint())
    assert bool(refusal(found, request_)) is refused


@pytest.mark.parametrize(
    ("spec", "actions"),
    [
        ({}, ["Deny"]),
        ({"enforcementAction": "deny"}, ["Deny"]),
        ({"enforcementAction": "warn"}, ["Warn"]),
        ({"enforcementAction": "dryrun"}, ["Audit"]),
        (
            {
                "enforcementAction": "scoped",
                "scopedEnforcementActions": [
                    {"action": "deny", "enforcementPoints": [{"name": "audit.gatekeeper.sh"}]},
                    {"action": "warn", "enforcementPoints": [{"name": "vap.k8s.io"}]},
                    {"action": "dryrun", "enforcementPoints": [{"name": "*"}]},
                ],
            },
            ["Warn", "Audit"],
        ),
        (
            {
                "enforcementAction": "scoped",
                "scopedEnforcementActions": [
                    {"action": "deny", "enforcementPoints": [{"name": "*"}]},
                    {"action": "warn", "enforcementPoints": [{"name": "*"}]},
                ],
            },
            ["Deny"],
        ),
    ],
)
def test_actions(spec: dict[str, Any], actions: list[str]) -> None:
    (found,) = translated(template(says("true")), constraint(**spec))
    assert of_kind(found, "PolicyBinding")["spec"]["validationActions"] == actions


@pytest.mark.parametrize(
    ("demand", "given", "reason"),
    [
        (template(rego="package x"), constraint(), "Rego that is not known"),
        (
            template(rego="package x\nviolation { data.inventory.cluster }"),
            constraint(),
            "objects that are looked up (`data.inventory`)",
        ),
        (template(says("true")), constraint(enforcementAction="shout"), "the enforcement action"),
        (
            template(says("true")),
            constraint(
                enforcementAction="scoped",
                scopedEnforcementActions=[
                    {"action": "deny", "enforcementPoints": [{"name": "audit.gatekeeper.sh"}]}
                ],
            ),
            "a constraint that is for audits only",
        ),
        (template(says("true")), constraint({"source": "Generated"}), "a constraint for Pods that"),
        (template(says("nope")), constraint(), "what an API server would refuse, in spec.valid"),
    ],
)
def test_what_is_not_translated_says_why(
    demand: JsonObject, given: JsonObject, reason: str
) -> None:
    (found,) = translated(demand, given)
    assert found.reason.startswith(reason)
    assert not found.documents


def test_a_template_of_several_targets() -> None:
    demand = template(says("true"))
    demand["spec"]["targets"] *= 2
    (found,) = translated(demand, constraint())
    assert found.reason == "a template that has not exactly one target"


def test_one_lost_constraint_loses_no_other() -> None:
    lost, kept = translated(
        template(says("false")), constraint({"source": "Generated"}), constraint(name="kept")
    )
    assert lost.reason
    assert of_kind(kept, "Policy")["metadata"]["name"] == "demand"


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"properties": {"a": {"type": "string"}}}, None),
        ({"type": "object"}, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        (
            {"properties": {"a": {"items": {"type": "string"}}, "b": {}}},
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": {"type": "string"}},
                    "b": {"x-kubernetes-preserve-unknown-fields": True},
                },
            },
        ),
        (
            {"additionalProperties": {"type": "string"}},
            {"type": "object", "additionalProperties": {"type": "string"}},
        ),
        (
            {"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": True}}},
            None,
        ),
    ],
)
def test_schemas_of_parameters_become_structural(
    schema: JsonObject, found: JsonObject | None
) -> None:
    (made,) = translated(template(says("true"), schema), constraint())
    definition = of_kind(made, "CustomResourceDefinition")
    (version,) = definition["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec == (found or {"type": "object", **schema})


def test_configurations_exempt_namespaces() -> None:
    config = {
        "apiVersion": "config.gatekeeper.sh/v1alpha1",
        "kind": "Config",
        "metadata": {"name": "config"},
        "spec": {
            "match": [
                {"excludedNamespaces": ["shop"], "processes": ["webhook"]},
                {"excludedNamespaces": ["bar"], "processes": ["audit"]},
            ]
        },
    }
    exempt = exempt_namespaces([config])
    assert exempt == ["shop"]
    (found,) = translate_constraints(
        template(says("false")), [constraint({"excludedNamespaces": ["x"]})], CATALOG, exempt
    )
    assert refusal(found, pod()) == ""


def alone(api_version: str) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": "Any", "metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (constraint(), "a constraint without its template"),
        (alone("expansion.gatekeeper.sh/v1beta1"), "it expects Pods of their controllers"),
        (alone("externaldata.gatekeeper.sh/v1beta1"), "it asks a service"),
        (
            alone("syncset.gatekeeper.sh/v1alpha1"),
            "it copies objects for templates that look them up",
        ),
    ],
)
def test_what_stands_alone(document: JsonObject, reason: str) -> None:
    (lost,) = left_behind(document)
    assert lost.reason == reason


@pytest.mark.parametrize(
    ("version", "legacy", "is_kept"),
    [("v1beta1", None, True), ("v1beta1", False, False), ("v1", None, False), ("v1", True, True)],
)
def test_parameters_that_the_schema_does_not_have(
    version: str, legacy: bool | None, is_kept: bool
) -> None:
    """Old templates take them (`legacySchema`), and Rego reads them."""
    demand = template(says("true"), SCHEMA)
    demand["apiVersion"] = f"templates.gatekeeper.sh/{version}"
    if legacy is not None:
        demand["spec"]["crd"]["spec"]["validation"]["legacySchema"] = legacy
    (found,) = translated(demand, constraint(None, {"most": 1, "other": 2}))
    (definition,) = (one for one in found.documents if one["kind"] == "CustomResourceDefinition")
    (served,) = definition["spec"]["versions"]
    schema = served["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert schema.get("x-kubernetes-preserve-unknown-fields", False) is is_kept
