"""Members come out in the order of upstream's structs, whatever order they came in."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.protobuf import in_message_order

REGISTRATION = "admissionregistration.k8s.io/v1"
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
    ("ValidatingWebhookConfiguration", "webhooks.rules", RULE.removeprefix("resourceNames ")),
    ("ValidatingWebhookConfiguration", "webhooks.clientConfig", "url service caBundle"),
    ("ValidatingWebhookConfiguration", "webhooks.clientConfig.service", "namespace name path port"),
]

OTHERS: list[tuple[str, str, str, str]] = [
    ("v1", "Pod", "spec", "volumes initContainers containers nodeSelector serviceAccountName"),
    ("v1", "Pod", "spec.containers", "name image ports env livenessProbe imagePullPolicy stdin"),
    ("v1", "Pod", "spec.containers.volumeMounts", "name readOnly mountPath"),
    ("v1", "Pod", "spec.containers.livenessProbe", "exec httpGet grpc initialDelaySeconds"),
    ("v1", "Pod", "spec.volumes", "name hostPath emptyDir secret configMap projected"),
    ("v1", "Pod", "metadata.ownerReferences", "apiVersion kind name uid"),
    ("v1", "Pod", "status.conditions", "type observedGeneration status reason message"),
    ("v1", "Service", "spec.ports", "name protocol appProtocol port targetPort nodePort"),
    ("apps/v1", "Deployment", "status", "replicas readyReplicas availableReplicas conditions"),
    ("apps/v1", "StatefulSet", "spec.volumeClaimTemplates", "kind apiVersion metadata spec"),
    (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "spec.behavior.scaleUp",
        "stabilizationWindowSeconds selectPolicy policies",
    ),
]


@pytest.mark.parametrize(
    ("version", "kind", "path", "names"),
    [*((REGISTRATION, *row) for row in ROWS), *OTHERS],
)
def test_members(version: str, kind: str, path: str, names: str) -> None:
    """What is inside comes backwards, and some of it in a list."""
    members = names.split() if path else names.split()[2:]
    inside: Any = dict.fromkeys(reversed(members), 0)
    steps = path.split(".") if path else []
    for step in reversed(steps):
        inside = {step: [inside] if holds_list(step) else inside}
    ordered: Any = in_message_order({**inside, "apiVersion": version, "kind": kind})
    for step in steps:
        ordered = ordered[step][0] if holds_list(step) else ordered[step]
    assert list(ordered) == names.split()


def holds_list(step: str) -> bool:
    return step.endswith("s") and step not in {"status", "matchConstraints", "matchResources"}


def test_unknown_members_come_last() -> None:
    given = {"kind": "Pod", "apiVersion": "v1", "zoo": 1, "metadata": {}}
    assert list(in_message_order(given)) == ["kind", "apiVersion", "metadata", "zoo"]


def test_maps_are_sorted_and_raw_json_is_left() -> None:
    managed = [{"time": "t", "manager": "m", "fieldsV1": {"b": {}, "a": {}}}]
    labels = {"b": "1", "a": "2"}
    meta = {"managedFields": managed, "labels": labels}
    given = {"kind": "Pod", "apiVersion": "v1", "metadata": meta}
    made = in_message_order(given)["metadata"]
    assert list(made) == ["labels", "managedFields"]
    assert list(made["labels"]) == ["a", "b"]
    assert list(made["managedFields"][0]) == ["manager", "time", "fieldsV1"]
    assert list(made["managedFields"][0]["fieldsV1"]) == ["b", "a"]


def test_custom_resources_stay() -> None:
    given = {"spec": {"b": 1, "a": 2}, "kind": "Widget", "apiVersion": "example.com/v1"}
    assert list(in_message_order(given)) == ["spec", "kind", "apiVersion"]
    assert list(in_message_order(given)["spec"]) == ["b", "a"]


def test_schemas_in_places_for_schemas_or_something_else() -> None:
    given = {"required": ["a"], "type": "object"}
    lists = {"items": [given, given], "type": "array", "dependencies": {"b": ["c"], "a": given}}
    schema = {"additionalProperties": given, "items": given, "properties": {"a": lists}}
    version = {"schema": {"openAPIV3Schema": {**schema, "additionalItems": False}}, "name": "v1"}
    definition = {"kind": "CustomResourceDefinition", "spec": {"versions": [version]}}
    made = in_message_order({**definition, "apiVersion": "apiextensions.k8s.io/v1"})
    ordered = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert list(ordered) == ["items", "properties", "additionalProperties", "additionalItems"]
    assert list(ordered["items"]) == list(ordered["additionalProperties"]) == ["type", "required"]
    inside = ordered["properties"]["a"]
    assert list(inside) == ["type", "items", "dependencies"]
    assert [list(item) for item in inside["items"]] == [["type", "required"]] * 2
    assert list(inside["dependencies"]) == ["a", "b"]
    assert list(inside["dependencies"]["a"]) == ["type", "required"]
    assert ordered["additionalItems"] is False
