"""The configuration around what policies cover."""

from __future__ import annotations

import base64

from celadon.webhook.webhook_rules import (
    EVERYTHING,
    Certificates,
    InstallationSettings,
    policy_configuration,
)
from tests.webhook.installation.installations import covered, mutated


def test_what_is_left_out() -> None:
    (found,) = policy_configuration(covered(), InstallationSettings())["webhooks"]
    assert found["namespaceSelector"] == {
        "matchLabels": {"stage": "production"},
        "matchExpressions": [
            {
                "key": "kubernetes.io/metadata.name",
                "operator": "NotIn",
                "values": ["celadon", "kube-system"],
            }
        ],
    }
    assert found["objectSelector"] == {"matchLabels": {"stage": "production"}}
    assert found["matchConditions"] == [
        {
            "name": "no-reviews",
            "expression": "!(request.resource.group in "
            '["authentication.k8s.io", "authorization.k8s.io"])',
        }
    ]
    nothing = InstallationSettings(excluded_namespaces=(), excludes_own_namespace=False)
    (found,) = policy_configuration(covered(), nothing)["webhooks"]
    assert found["namespaceSelector"] == {"matchLabels": {"stage": "production"}}


def test_settings() -> None:
    settings = InstallationSettings(
        name="n", namespace="ns", ca_bundle="PEM", failure_policy="Ignore", timeout_seconds=7
    )
    document = policy_configuration([EVERYTHING], settings)
    (found,) = document["webhooks"]
    assert found["name"] == "fail.policies.celadon.dev"
    assert found["failurePolicy"] == "Ignore"
    assert found["timeoutSeconds"] == 7
    assert found["clientConfig"] == {
        "service": {"namespace": "ns", "name": "n", "path": "/validate", "port": 443},
        "caBundle": base64.b64encode(b"PEM").decode(),
    }
    assert "annotations" not in document["metadata"]


def test_audit_only_denies_nothing_when_it_fails() -> None:
    settings = InstallationSettings(audit_only=True)
    (found,) = policy_configuration([EVERYTHING], settings)["webhooks"]
    assert found["failurePolicy"] == "Ignore"


def test_cert_manager_fills_in_the_authority() -> None:
    settings = InstallationSettings(certificates=Certificates.CERT_MANAGER)
    meta = policy_configuration([EVERYTHING], settings)["metadata"]
    assert meta["annotations"] == {"cert-manager.io/inject-ca-from": "celadon/celadon-webhook"}


def test_mutating_policies() -> None:
    settings = InstallationSettings()
    document = policy_configuration(mutated(), settings, mutating=True)
    assert document["kind"] == "MutatingWebhookConfiguration"
    (found,) = document["webhooks"]
    assert found["name"] == "ignore.policies.celadon.dev"
    assert found["clientConfig"]["service"]["path"] == "/mutate"
    assert found["reinvocationPolicy"] == "IfNeeded"
    validating = policy_configuration(covered(), settings)["webhooks"][0]
    assert "reinvocationPolicy" not in validating
