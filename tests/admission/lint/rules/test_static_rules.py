"""What a server could not load from its files, beyond the example of the rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.lint.linting import binding, found, policy
from tests.admission.webhooks.hooking import webhook

NAME = "p.static.k8s.io"


def hooks(name: str, **client: Any) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook(clientConfig=client)],
    }


SERVICE = {"service": {"namespace": "n", "name": "s"}}
CASES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "all is well": ([policy(NAME), binding("b.static.k8s.io", NAME)], []),
    "a service": (
        [hooks("w.static.k8s.io", **SERVICE)],
        [
            'webhook "a.hooks.example.com" in "w.static.k8s.io": clientConfig.service '
            "is not supported for static manifests; use clientConfig.url instead"
        ],
    ),
    "a service for an object": ([hooks("w", **SERVICE)], []),
    "an older version": (
        [{**policy(NAME), "apiVersion": "admissionregistration.k8s.io/v1beta1"}],
        ["unsupported resource type *v1beta1.ValidatingAdmissionPolicy"],
    ),
}


@pytest.mark.parametrize(("documents", "texts"), CASES.values(), ids=list(CASES))
def test_findings(documents: list[dict[str, Any]], texts: list[str]) -> None:
    assert [one.message for one in found("CEL090", *documents)] == texts
