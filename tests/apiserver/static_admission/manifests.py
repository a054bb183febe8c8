"""Manifests of static policies and webhooks, as short as they can be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GROUP = "admissionregistration.k8s.io/v1"
GATES = {"ManifestBasedAdmissionControlConfig": True}


def rule(*resources: str, group: str = "", operations: str = "*") -> dict[str, Any]:
    return {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": [operations],
        "resources": list(resources),
    }


def bound(kind: str, name: str, spec: dict[str, Any], **binding: Any) -> list[dict[str, Any]]:
    """A policy and a binding of its name."""
    meta = {"name": name}
    policy = {"apiVersion": GROUP, "kind": kind, "metadata": meta, "spec": spec}
    spec = {"policyName": name, **binding}
    return [policy, {**policy, "kind": f"{kind}Binding", "spec": spec}]


def refusing(name: str, given: dict[str, Any], message: str = "no") -> list[dict[str, Any]]:
    """A validating policy that refuses all that it sees."""
    spec = {
        "matchConstraints": {"resourceRules": [given]},
        "validations": [{"expression": "false", "message": message}],
    }
    return bound("ValidatingAdmissionPolicy", name, spec, validationActions=["Deny"])


def labelling(name: str, given: dict[str, Any], label: str) -> list[dict[str, Any]]:
    """A mutating policy that sets a label; its value says which labels there were before."""
    labels = "Object.metadata{labels: {'%s': has(object.metadata.labels) ? 'late' : 'first'}}"
    text = f"Object{{metadata: {labels % label}}}"
    spec = {
        "matchConstraints": {"resourceRules": [given]},
        "mutations": [
            {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}
        ],
        "reinvocationPolicy": "Never",
    }
    return bound("MutatingAdmissionPolicy", name, spec)


def calling(kind: str, name: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Webhooks that nobody answers."""
    webhook = {
        "name": "w.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [given],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    meta = {"name": name}
    return [{"apiVersion": GROUP, "kind": kind, "metadata": meta, "webhooks": [webhook]}]


def write(folder: Path, name: str, *groups: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    documents = [json.dumps(one) for group in groups for one in group]
    (folder / name).write_text("\n---\n".join(documents))
