"""Webhook configurations and recorded answers, as files of a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def configuration(*webhooks: Json, name: str = "hooks", kind: str = "Validating") -> Json:
    """A configuration with these webhooks."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": list(webhooks),
    }


def webhook(name: str = "a.hooks.example.com", **more: Any) -> Json:
    """A webhook about ConfigMaps."""
    return {
        "name": name,
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["*"],
                "resources": ["configmaps"],
            }
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


def review(*, request: Json | None = None, **response: Any) -> Json:
    """A review with an answer, which allows unless told otherwise."""
    found: Json = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    if request is not None:
        found["request"] = request
    return {**found, "response": {"allowed": True, **response}}


def record(path: str, *documents: Json) -> None:
    """Answers as a file below `answers`."""
    file = Path("answers") / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(json.dumps(one) for one in documents), encoding="utf-8")
