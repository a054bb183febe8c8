"""Where static policies are, and what is asked of the folder."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.admission_configuration import (
    BadConfiguration,
    check_folder,
    mutating_folder,
    plugin_settings,
    validating_folder,
)

V1 = {"apiVersion": "apiserver.config.k8s.io/v1"}
VALIDATING = {**V1, "kind": "ValidatingAdmissionPolicyConfiguration"}
MUTATING = {**V1, "kind": "MutatingAdmissionPolicyConfiguration"}


def test_a_folder() -> None:
    assert validating_folder({**VALIDATING, "staticManifestsDir": "/d"}) == "/d"
    assert mutating_folder({**MUTATING, "staticManifestsDir": "/d"}) == "/d"
    assert validating_folder(VALIDATING) == ""


WRONG: dict[str, tuple[Any, str]] = {
    "that of the other plugin": (
        MUTATING,
        "unexpected type: *policyconfig.MutatingAdmissionPolicyConfiguration",
    ),
    "unknown fields": (
        {**VALIDATING, "a": 1, "b": 2},
        'strict decoding error: unknown field "a", unknown field "b"',
    ),
    "no text": ({**VALIDATING, "staticManifestsDir": []}, "staticManifestsDir: a text is expected"),
    "another kind": ({**V1, "kind": "Other"}, "ValidatingAdmissionPolicyConfiguration of"),
    "nothing": (None, "no object of kind ValidatingAdmissionPolicyConfiguration"),
}


@pytest.mark.parametrize("row", WRONG.values(), ids=WRONG)
def test_what_is_wrong(row: tuple[Any, str]) -> None:
    with pytest.raises(BadConfiguration) as caught:
        validating_folder(row[0])
    assert row[1] in str(caught.value)


@pytest.mark.parametrize(
    ("folder", "gated", "text"),
    [
        (
            "/d",
            False,
            "staticManifestsDir: Forbidden: staticManifestsDir requires the "
            "ManifestBasedAdmissionControlConfig feature gate to be enabled",
        ),
        ("d", True, 'staticManifestsDir: Invalid value: "d": must be an absolute file path'),
        ("/d", True, 'staticManifestsDir: Invalid value: "/d": must be a directory'),
    ],
)
def test_folders_that_are_refused(folder: str, gated: bool, text: str) -> None:
    with pytest.raises(BadConfiguration) as caught:
        check_folder(folder, gated=gated, problem=lambda _: "must be a directory")
    assert str(caught.value) == text
    check_folder("/d", gated=True, problem=lambda _: "")


def test_each_plugin_has_its_own() -> None:
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [
            {
                "name": "ValidatingAdmissionPolicy",
                "configuration": {**VALIDATING, "staticManifestsDir": "/v"},
            },
            {
                "name": "MutatingAdmissionWebhook",
                "configuration": {
                    **V1,
                    "kind": "WebhookAdmissionConfiguration",
                    "staticManifestsDir": "/w",
                },
            },
        ],
    }
    settings = plugin_settings(document, lambda _: None, gated=True)
    assert settings.static_folders == {
        "MutatingAdmissionWebhook": "/w",
        "ValidatingAdmissionPolicy": "/v",
    }
    with pytest.raises(BadConfiguration) as caught:
        plugin_settings(document, lambda _: None)
    assert str(caught.value).startswith("configuration of MutatingAdmissionWebhook: ")
