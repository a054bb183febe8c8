"""Where the backend for images is, and for how long its answers hold."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.admission_configuration import (
    BadConfiguration,
    image_policy,
    plugin_settings,
)
from celadon.admission.plugins.plugin_chain import ImagePolicySettings


def given(**more: Any) -> dict[str, Any]:
    return {"imagePolicy": {"kubeConfigFile": "/k", **more}}


def test_numbers_and_what_they_are_by_default() -> None:
    usual = ImagePolicySettings("/k", 300.0, 30.0, 0.5, default_allow=False)
    assert image_policy(given()) == image_policy(given(allowTTL=0)) == usual
    told = given(allowTTL=50, denyTTL=-1, retryBackoff=20, defaultAllow=True)
    assert image_policy(told) == ImagePolicySettings("/k", 50.0, 0.0, 0.02, default_allow=True)


WRONG: dict[str, tuple[Any, str]] = {
    "nothing": (None, "no object `imagePolicy`"),
    "no kubeconfig": ({"imagePolicy": {}}, "kubeConfigFile: it is needed"),
    "too short": (given(allowTTL=1), "valid value is between 1s and 30m0s, got 1s"),
    "too long": (given(denyTTL=3600), "valid value is between 1s and 30m0s, got 1h0m0s"),
    "a long pause": (given(retryBackoff=300_001), "between 1ns and 5m0s, got 5m0.001s"),
    "a negative one": (given(retryBackoff=-2), "valid value is between 1ns and 5m0s, got -2ms"),
    "no number": (given(allowTTL="5m"), "allowTTL: a whole number is expected"),
    "no choice": (given(defaultAllow="yes"), "defaultAllow: true or false is expected"),
}


@pytest.mark.parametrize("row", WRONG.values(), ids=WRONG)
def test_what_is_wrong(row: tuple[Any, str]) -> None:
    with pytest.raises(BadConfiguration) as caught:
        image_policy(row[0])
    assert row[1] in str(caught.value)


def test_a_plugin_that_is_told_can_run() -> None:
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": "ImagePolicyWebhook", "configuration": given()}],
    }
    assert plugin_settings(document, lambda _: None).configured == {"ImagePolicyWebhook"}
