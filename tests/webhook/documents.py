"""Reviews as documents, for tests."""

from __future__ import annotations

from typing import Any


def review_document(**request: Any) -> dict[str, Any]:
    """Of the creation of a ConfigMap, unless members of `request` say otherwise."""
    given: dict[str, Any] = {
        "uid": "u",
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "operation": "CREATE",
        "object": {"metadata": {"name": "c"}},
        "userInfo": {"username": "alice", "groups": ["devs"], "extra": {"k": ["v"]}},
    }
    given.update(request)
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": given}
