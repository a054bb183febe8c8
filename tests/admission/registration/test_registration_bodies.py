"""Bodies of requests to registration objects, in every version."""

from __future__ import annotations

import json
from typing import Any

import pytest
from celadon.admission.registration.registration_bodies import (
    IGNORE,
    STRICT,
    WARN,
    read_body,
    require_version,
)

from celadon.admission.registration.decoding import converted, decode_object
from celadon.admission.registration.registration_types import GROUP
from celadon.kube import GroupVersionKind, StatusError

BINDING = GroupVersionKind(GROUP, "v1", "ValidatingAdmissionPolicyBinding")
TWICE = b'{"zap":1,"spec":{"policyName":"a","x":1,"policyName":"b"}}'
COMPLAINTS = ('unknown field "zap"', 'unknown field "spec.x"', 'duplicate field "spec.policyName"')


def test_field_validation() -> None:
    body = read_body(TWICE, BINDING, WARN)
    assert body.warnings == COMPLAINTS
    assert body.decoded.document["spec"] == {"policyName": "b"}
    assert read_body(TWICE, BINDING, IGNORE).warnings == ()
    with pytest.raises(StatusError) as caught:
        read_body(TWICE, BINDING, STRICT)
    assert caught.value.status.message == (
        'ValidatingAdmissionPolicyBinding in version "v1" cannot be handled as a '
        f"ValidatingAdmissionPolicyBinding: strict decoding error: {', '.join(COMPLAINTS)}"
    )


K = "ValidatingAdmissionPolicyBinding"
REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"apiVersion": f"{GROUP}/v1alpha1"},
        f"the API version in the data ({GROUP}/v1alpha1) does not match the expected API version "
        f"({GROUP}/v1)",
    ),
    (
        {"apiVersion": f"{GROUP}/v9"},
        f'{K} in version "v9" cannot be handled as a {K}: no kind "{K}" is registered for version '
        f'"{GROUP}/v9" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ),
    (
        {"apiVersion": "v1", "kind": "Pod"},
        f'Pod in version "v1" cannot be handled as a {K}: converting (v1.Pod) to '
        f"(admissionregistration.{K}): unknown conversion",
    ),
    (
        {"apiVersion": "v1", "kind": "Pod", "spec": []},
        f'Pod in version "v1" cannot be handled as a {K}: json: cannot unmarshal array into Go '
        "struct field Pod.spec of type v1.PodSpec",
    ),
    (
        {"spec": {"policyName": 5}},
        f'{K} in version "v1" cannot be handled as a {K}: json: cannot unmarshal number into Go '
        f"struct field {K}Spec.spec.policyName of type string",
    ),
]


@pytest.mark.parametrize(("document", "message"), REFUSED)
def test_refused(document: dict[str, Any], message: str) -> None:
    with pytest.raises(StatusError) as caught:
        require_version(read_body(json.dumps(document).encode(), BINDING), BINDING)
    assert caught.value.code == 400
    assert caught.value.status.message == message


def test_numbers_are_shown_as_they_were_written() -> None:
    kind = GroupVersionKind(GROUP, "v1", "ValidatingWebhookConfiguration")
    with pytest.raises(StatusError, match="cannot unmarshal number 1e1 into Go struct field "):
        read_body(b'{"webhooks":[{"timeoutSeconds":1e1}]}', kind)


def test_defaults_of_versions() -> None:
    hooks: dict[str, Any] = {"webhooks": [{"clientConfig": {"service": {}}}]}
    new = decode_object(hooks, "MutatingWebhookConfiguration").document["webhooks"][0]
    old = decode_object(hooks, "MutatingWebhookConfiguration", "v1beta1").document["webhooks"][0]
    assert new == {
        "name": "",
        "clientConfig": {"service": {"name": "", "namespace": "", "port": 443}},
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "timeoutSeconds": 10,
        "namespaceSelector": {},
        "objectSelector": {},
        "reinvocationPolicy": "Never",
        "sideEffects": None,
        "admissionReviewVersions": None,
    }
    assert old == new | {
        "failurePolicy": "Ignore",
        "matchPolicy": "Exact",
        "timeoutSeconds": 30,
        "sideEffects": "Unknown",
        "admissionReviewVersions": ["v1beta1"],
    }
    ref = {"spec": {"paramRef": {"name": "n"}}}
    for version, action in (("v1", None), ("v1beta1", None), ("v1alpha1", "Deny")):
        spec = decode_object(ref, "MutatingAdmissionPolicyBinding", version).document["spec"]
        assert spec["paramRef"].get("parameterNotFoundAction") == action


def test_conversion() -> None:
    document = decode_object({"metadata": {"name": "n"}}, "MutatingAdmissionPolicy").document
    assert converted(document, "v1beta1") == {**document, "apiVersion": f"{GROUP}/v1beta1"}
