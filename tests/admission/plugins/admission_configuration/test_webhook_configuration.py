from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.admission_configuration import (
    BadConfiguration,
    plugin_settings,
    webhook_settings,
)
from celadon.admission.plugins.plugin_chain import WebhookSettings

V1 = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration"}
V1ALPHA1 = {"apiVersion": "apiserver.config.k8s.io/v1alpha1", "kind": "WebhookAdmission"}


@pytest.mark.parametrize("given", [V1, V1ALPHA1])
def test_a_kubeconfig(given: dict[str, Any]) -> None:
    assert webhook_settings(given) == WebhookSettings()
    told = {**given, "kubeConfigFile": "/etc/hooks", "staticManifestsDir": "/etc/static"}
    assert webhook_settings(told) == WebhookSettings("/etc/hooks", "/etc/static")


WRONG: dict[str, tuple[Any, str]] = {
    "a relative path": (
        {**V1, "kubeConfigFile": "hooks"},
        'kubeConfigFile: Invalid value: "hooks": must be an absolute file path',
    ),
    "an unknown field": ({**V1, "other": 1}, 'strict decoding error: unknown field "other"'),
    "no text": ({**V1, "staticManifestsDir": 1}, "staticManifestsDir: a text is expected"),
    "another kind": ({**V1, "kind": "Other"}, "WebhookAdmissionConfiguration of"),
    "nothing": (None, "no object of kind WebhookAdmissionConfiguration"),
}


@pytest.mark.parametrize("row", WRONG.values(), ids=WRONG)
def test_what_is_wrong(row: tuple[Any, str]) -> None:
    with pytest.raises(BadConfiguration) as caught:
        webhook_settings(row[0])
    assert row[1] in str(caught.value)


def test_each_plugin_has_its_own() -> None:
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [
            {
                "name": "ValidatingAdmissionWebhook",
                "configuration": {**V1, "kubeConfigFile": "/validating"},
            },
            {"name": "MutatingAdmissionWebhook", "path": "mutating.yaml"},
        ],
    }
    found = plugin_settings(document, lambda _: {**V1, "kubeConfigFile": "/mutating"})
    assert found.kubeconfigs == ("/validating", "/mutating")
