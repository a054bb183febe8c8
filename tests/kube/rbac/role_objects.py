"""Roles and bindings for tests."""

from __future__ import annotations

from typing import Any

GROUP = "rbac.authorization.k8s.io"


def role(name: str, *rules: dict[str, Any], namespace: str = "", **more: Any) -> dict[str, Any]:
    metadata = {"name": name, **more.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    kind = "Role" if namespace else "ClusterRole"
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, "rules": rules, **more}


def bound(
    name: str, kind: str, to: str, subject: dict[str, Any], namespace: str = ""
) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": to},
        "subjects": [subject],
    }
