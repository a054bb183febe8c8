"""Members come out in the order of upstream's structs, whatever order they came in."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.registration.member_order import ordered

METADATA = "name generateName namespace selfLink uid resourceVersion generation creationTimestamp "
METADATA += "deletionTimestamp deletionGracePeriodSeconds labels annotations ownerReferences "
METADATA += "finalizers managedFields"
MATCH = "namespaceSelector objectSelector resourceRules excludeResourceRules matchPolicy"
RULE = "resourceNames operations apiGroups apiVersions resources scope"
CONDITION = "type status observedGeneration lastTransitionTime reason message"
WEBHOOK = "name clientConfig rules failurePolicy matchPolicy namespaceSelector objectSelector "
WEBHOOK += "sideEffects timeoutSeconds admissionReviewVersions reinvocationPolicy matchConditions"
SPEC = "paramKind matchConstraints validations failurePolicy auditAnnotations matchConditions "
SPEC += "variables"
MUTATING = "paramKind matchConstraints variables mutations failurePolicy matchConditions "
MUTATING += "reinvocationPolicy"
BINDING = "policyName paramRef matchResources validationActions"
POLICY = "ValidatingAdmissionPolicy"

ROWS: list[tuple[str, str, str]] = [
    (POLICY, "", "kind apiVersion metadata spec status"),
    (POLICY, "metadata", METADATA),
    (POLICY, "metadata.ownerReferences", "apiVersion kind name uid controller blockOwnerDeletion"),
    (POLICY, "spec", SPEC),
    (POLICY, "spec.paramKind", "apiVersion kind"),
    (POLICY, "spec.matchConstraints", MATCH),
    (POLICY, "spec.matchConstraints.resourceRules", RULE),
    (POLICY, "spec.matchConstraints.excludeResourceRules", RULE),
    (POLICY, "spec.matchConstraints.namespaceSelector", "matchLabels matchExpressions"),
    (POLICY, "spec.matchConstraints.objectSelector", "matchLabels matchExpressions"),
    (POLICY, "spec.matchConstraints.objectSelector.matchExpressions", "key operator values"),
    (POLICY, "spec.validations", "expression message reason messageExpression"),
    (POLICY, "spec.auditAnnotations", "key valueExpression"),
    (POLICY, "spec.matchConditions", "name expression"),
    (POLICY, "spec.variables", "name expression"),
    (POLICY, "status", "observedGeneration typeChecking conditions"),
    (POLICY, "status.typeChecking.expressionWarnings", "fieldRef warning"),
    (POLICY, "status.conditions", CONDITION),
    ("MutatingAdmissionPolicy", "spec", MUTATING),
    ("MutatingAdmissionPolicy", "spec.mutations", "patchType applyConfiguration jsonPatch"),
    ("ValidatingAdmissionPolicyBinding", "spec", BINDING),
    ("MutatingAdmissionPolicyBinding", "spec", BINDING),
    ("MutatingAdmissionPolicyBinding", "spec.matchResources", MATCH),
    (
        "ValidatingAdmissionPolicyBinding",
        "spec.paramRef",
        "name namespace selector parameterNotFoundAction",
    ),
    ("ValidatingAdmissionPolicyBinding", "spec.paramRef.selector", "matchLabels matchExpressions"),
    ("MutatingWebhookConfiguration", "", "kind apiVersion metadata webhooks"),
    ("MutatingWebhookConfiguration", "webhooks", WEBHOOK),
    ("ValidatingWebhookConfiguration", "webhooks.rules", RULE),
    ("ValidatingWebhookConfiguration", "webhooks.clientConfig", "url service caBundle"),
    ("ValidatingWebhookConfiguration", "webhooks.clientConfig.service", "namespace name path port"),
]


@pytest.mark.parametrize(("kind", "path", "names"), ROWS)
def test_members(kind: str, path: str, names: str) -> None:
    """What is inside comes backwards, and some of it in a list."""
    inside: Any = dict.fromkeys(reversed(names.split()), 0)
    steps = path.split(".") if path else []
    for step in reversed(steps):
        inside = {step: [inside] if step.endswith("s") else inside}
    found: Any = ordered({**inside, "kind": kind})
    for step in steps:
        found = found[step][0] if step.endswith("s") else found[step]
    assert list(found) == names.split()


def test_unknown_members_come_last_by_name() -> None:
    given = {"kind": POLICY, "spec": {"zoo": 1, "aaa": 2, "validations": []}}
    assert list(ordered(given)["spec"]) == ["validations", "aaa", "zoo"]


def test_texts_are_sorted_and_managed_fields_left() -> None:
    managed = [{"time": 1, "manager": 2, "fieldsV1": {"b": {}, "a": {}}}]
    labels = {"b": "1", "a": "2"}
    given = {"kind": POLICY, "metadata": {"managedFields": managed, "labels": labels}}
    made = ordered(given)["metadata"]
    assert list(made) == ["labels", "managedFields"]
    assert list(made["labels"]) == ["a", "b"]
    assert list(made["managedFields"][0]) == ["time", "manager", "fieldsV1"]
    assert list(made["managedFields"][0]["fieldsV1"]) == ["b", "a"]


def test_other_kinds_stay() -> None:
    given = {"spec": {"b": 1, "a": 2}, "kind": "Deployment"}
    assert list(ordered(given)) == ["spec", "kind"]
    assert list(ordered(given)["spec"]) == ["b", "a"]
