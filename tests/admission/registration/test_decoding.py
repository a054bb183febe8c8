"""Registration objects in every version: what is filled in, what conversion changes."""

from __future__ import annotations

from typing import Any

from celadon.admission.registration.decoding import converted, decode_object
from celadon.kube.well_known_values import ADMISSION_REGISTRATION


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
    assert converted(document, "v1beta1") == {
        **document,
        "apiVersion": f"{ADMISSION_REGISTRATION}/v1beta1",
    }
