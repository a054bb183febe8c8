"""Policies that change objects, and the patch that comes of it."""

from __future__ import annotations

import json
from typing import Any

from celadon.admission import ObjectWorld
from celadon.admission.policies.mutating import MutatingEngine
from celadon.admission.registration import decode_object
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.webhook.review_decisions import MutationRules, Mutator
from tests.admission.building import RULE, config_map, request

API = "admissionregistration.k8s.io/v1"
APPLY = "Object{data: {'added': 'yes'}}"


def rules(
    expression: str = APPLY, rule: dict[str, Any] | None = None, **spec: Any
) -> MutationRules:
    """One policy with a binding."""
    policy = {
        "apiVersion": API,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule or RULE]},
            "reinvocationPolicy": "Never",
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": expression},
                }
            ],
            **spec,
        },
    }
    binding = {
        "apiVersion": API,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": "b"},
        "spec": {"policyName": "p"},
    }
    decoded: list[Any] = [decode_object(one, str(one["kind"])).value for one in (policy, binding)]
    return MutationRules(MutatingEngine([decoded[0]], [decoded[1]]), lambda _: None)


def mutator(given: MutationRules, **attributes: Any) -> Mutator:
    return Mutator(request(**attributes), given, ObjectWorld(implicit_namespaces=True))


def test_a_patch_leads_to_what_policies_have_made() -> None:
    one = mutator(rules(), obj=config_map(data={"kept": "1"}))
    assert one.verdict().allowed
    assert one.patch == [{"op": "add", "path": "/data/added", "value": "yes"}]


def test_nothing_is_changed_where_no_policy_matches() -> None:
    one = mutator(rules(rule={**RULE, "resources": ["secrets"]}))
    assert one.verdict().allowed
    assert not one.patch


def test_failures_refuse_or_are_ignored() -> None:
    broken = "Object{data: {'added': string(1/0)}}"
    refused = mutator(rules(broken)).verdict()
    assert not refused.allowed
    assert "division by zero" in refused.message
    ignored = mutator(rules(broken, failurePolicy="Ignore"))
    assert ignored.verdict().allowed
    assert not ignored.patch


def test_patches_are_for_the_version_of_the_review() -> None:
    """The client used v2, the rule of the webhook says v1, the policy says v2."""
    hpa = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "namespace": "ns"},
        "spec": {
            "maxReplicas": 3,
            "minReplicas": 1,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        },
        "status": {"currentReplicas": 0, "desiredReplicas": 0},
    }
    rule = {
        "apiGroups": ["autoscaling"],
        "apiVersions": ["v2"],
        "operations": ["*"],
        "resources": ["horizontalpodautoscalers"],
    }
    resource = ("autoscaling", "horizontalpodautoscalers")
    one = mutator(
        rules("Object{spec: Object.spec{minReplicas: 2}}", rule),
        obj=hpa,
        kind=GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler"),
        resource=GroupVersionResource(resource[0], "v1", resource[1]),
        request_kind=GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
        request_resource=GroupVersionResource(resource[0], "v2", resource[1]),
    )
    assert one.verdict().allowed
    assert {"op": "replace", "path": "/spec/minReplicas", "value": 2} in one.patch
    assert "/apiVersion" not in json.dumps(one.patch)
