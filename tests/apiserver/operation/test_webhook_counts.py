from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.operation.metric_table import exposition
from celadon.apiserver.operation.webhook_counts import WebhookCounts
from celadon.testing import KubeApi, RequestRefused

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def configuration(kind: str, *hooks: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": kind.lower()},
        "webhooks": [
            {
                "name": "hook.example.com",
                "clientConfig": {"url": "https://127.0.0.1:1"},
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "rules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["configmaps"],
                        "operations": ["CREATE"],
                    }
                ],
                **hook,
            }
            for hook in hooks
        ],
    }


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    """Whose webhooks are not there."""
    never = [{"name": "never", "expression": "false"}]
    with KubeApi(
        [
            configuration(
                "MutatingWebhookConfiguration",
                {"name": "a.example.com", "failurePolicy": "Ignore"},
                {"name": "b.example.com", "matchConditions": never},
            ),
            configuration(
                "ValidatingWebhookConfiguration",
                {"name": "c.example.com", "matchConditions": never},
                {"name": "d.example.com", "failurePolicy": "Fail"},
            ),
        ]
    ) as started:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
        with pytest.raises(RequestRefused, match="failed calling webhook"):
            started.request("POST", CONFIG_MAPS, body)
        yield started


LINES = [
    'request_total{code="503",name="a.example.com",operation="CREATE",'
    'rejected="false",type="admit"} 1',
    'request_total{code="503",name="d.example.com",operation="CREATE",'
    'rejected="true",type="validating"} 1',
    'fail_open_count{name="a.example.com",type="admit"} 1',
    'rejection_count{error_type="calling_webhook_error",name="d.example.com",operation="CREATE",'
    'rejection_code="503",type="validating"} 1',
    'admission_duration_seconds_count{name="a.example.com",operation="CREATE",'
    'rejected="false",type="admit"} 1',
    'admission_duration_seconds_count{name="d.example.com",operation="CREATE",'
    'rejected="true",type="validating"} 1',
]


def test_calls_are_counted(api: KubeApi) -> None:
    text = api.request("GET", "/metrics")
    found = [line for line in text.splitlines() if line.startswith("apiserver_admission_webhook_")]
    for line in LINES:
        assert f"apiserver_admission_webhook_{line}" in found
    assert not any("b.example.com" in line or "c.example.com" in line for line in found)


def test_conditions_are_counted(api: KubeApi) -> None:
    text = api.request("GET", "/metrics")
    name = "apiserver_admission_match_condition_exclusions_total"
    for hook, type_ in (("b", "admit"), ("c", "validate")):
        labels = f'kind="webhook",name="{hook}.example.com",operation="CREATE",type="{type_}"'
        assert f"{name}{{{labels}}} 1" in text


def test_before_any_call_nothing_is_shown() -> None:
    assert "{" not in exposition(WebhookCounts().families())
