"""What is asked: the creation of the bench's Deployment, 7 kB, as an API server sends it."""

from __future__ import annotations

import json
from typing import Any, Final

from bench import engine
from bench.load import binding, policy
from bench.objects import ACTIVATIONS
from bench.server.connection import request

REGISTRY: Final = "registry.example.com/"
"""Where all images of the Deployment come from: what peers check."""

_REGISTRATION: Final = "admissionregistration.k8s.io/v1"
_KIND: Final = {"group": "apps", "version": "v1", "kind": "Deployment"}
_RESOURCE: Final = {"group": "apps", "version": "v1", "resource": "deployments"}


def policies() -> dict[str, Any]:
    """Twenty policies of one expression each, and their bindings, as a List."""
    items = []
    for number, text in enumerate(engine.expressions()):
        name = f"policy-{number:02}"
        for kind, given in (("", policy(name, [text])), ("Binding", binding(name))):
            kept = {"apiVersion": _REGISTRATION, "kind": f"ValidatingAdmissionPolicy{kind}"}
            items.append({**kept, **given})
    return {"apiVersion": "v1", "kind": "List", "items": items}


def review() -> dict[str, Any]:
    """The document. Managed fields make up for what the Deployment is short of 7 kB."""
    deployment = json.loads(json.dumps(ACTIVATIONS["Deployment"][0]["object"]))
    owned: dict[str, Any] = {f"f:{key}": {} for key in deployment["spec"]["template"]["spec"]}
    deployment["metadata"]["managedFields"] = [
        {
            "manager": "kubectl-client-side-apply",
            "operation": "Update",
            "apiVersion": "apps/v1",
            "time": "2026-01-02T03:04:05Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:template": {"f:spec": owned}}},
        }
    ]
    asked = {
        "uid": "00000000-0000-4000-8000-000000000001",
        "kind": _KIND,
        "resource": _RESOURCE,
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        "name": "shop-frontend",
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {
            "username": "system:serviceaccount:shop:deployer",
            "uid": "00000000-0000-4000-8000-000000000002",
            "groups": ["system:serviceaccounts", "system:authenticated"],
        },
        "object": deployment,
        "oldObject": None,
        "dryRun": False,
        "options": {
            "kind": "CreateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "fieldManager": "kubectl-client-side-apply",
            "fieldValidation": "Strict",
        },
    }
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": asked}


def body() -> bytes:
    """As Go writes it."""
    return json.dumps(review(), separators=(",", ":")).encode() + b"\n"


def call(path: str) -> bytes:
    """The bytes of a request."""
    return request("POST", f"{path}?timeout=10s", "none", body())
