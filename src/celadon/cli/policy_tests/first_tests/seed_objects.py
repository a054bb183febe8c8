"""Objects to begin a search with: small, and such as an API server takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from celadon.kube import GroupVersionKind
from celadon.kube.schemas import Schema, decode_schema, schema_for

_NAME: Final = "example"
_ANYTHING: Final = Schema(preserve_unknown=True)
_POD: Final = {"containers": [{"name": "main", "image": "example.com/app:1"}]}
_LABELS: Final = {"app": _NAME}
_TEMPLATE: Final = {"metadata": {"labels": _LABELS}, "spec": _POD}
_WORKLOAD: Final = {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
_JOB: Final = {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}

_REST: Final[dict[str, dict[str, Any]]] = {
    "Pod": {"spec": _POD},
    "PodTemplate": {"template": _TEMPLATE},
    "ReplicationController": {"spec": {"selector": _LABELS, "template": _TEMPLATE}},
    "ReplicaSet": {"spec": _WORKLOAD},
    "Deployment": {"spec": _WORKLOAD},
    "DaemonSet": {"spec": _WORKLOAD},
    "StatefulSet": {"spec": {**_WORKLOAD, "serviceName": _NAME}},
    "Job": {"spec": _JOB},
    "CronJob": {"spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": _JOB}}},
    "Service": {"spec": {"ports": [{"port": 80}]}},
    "Ingress": {"spec": {"defaultBackend": {"service": {"name": _NAME, "port": {"number": 80}}}}},
    "PersistentVolumeClaim": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
    },
    "NetworkPolicy": {"spec": {"podSelector": {}}},
    "HorizontalPodAutoscaler": {
        "spec": {
            "maxReplicas": 2,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": _NAME},
        }
    },
    "PodDisruptionBudget": {"spec": {"minAvailable": 1, "selector": {}}},
    "RoleBinding": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": _NAME}
    },
    "ClusterRoleBinding": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _NAME}
    },
    "StorageClass": {"provisioner": "example.com/disk"},
    "PriorityClass": {"value": 1},
    "RuntimeClass": {"handler": _NAME},
    "EndpointSlice": {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}]},
    "PersistentVolume": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/mnt"},
        }
    },
    "CustomResourceDefinition": {
        "spec": {
            "group": "example.com",
            "names": {"kind": "Example", "plural": "examples"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        }
    },
}
"""What objects of a kind need besides a name."""


def seed_object(kind: GroupVersionKind, labels: Mapping[str, str]) -> dict[str, Any]:
    """An object of a built-in kind, with these labels."""
    return {**_head(kind, labels), **_REST.get(kind.kind, {})}


def with_own_name(obj: dict[str, Any]) -> dict[str, Any]:
    """A CustomResourceDefinition with the name that its group and its plural ask for; other
    objects as they are."""
    match obj:
        case {
            "kind": "CustomResourceDefinition",
            "metadata": {"name": str(name)},
            "spec": {"group": str(group), "names": {"plural": str(plural)}},
        } if name != f"{plural}.{group}":
            return {**obj, "metadata": {**obj["metadata"], "name": f"{plural}.{group}"}}
    return obj


_NAMES: Final = {"CustomResourceDefinition": "examples.example.com"}
"""Of kinds whose names follow from what is in them."""


def _head(kind: GroupVersionKind, labels: Mapping[str, str]) -> dict[str, Any]:
    about: dict[str, Any] = {"name": _NAMES.get(kind.kind, _NAME)}
    if labels:
        about["labels"] = dict(labels)
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": about}


class SeedObjects:
    """Makes them; kinds that `definitions` define are made of what their schemas require."""

    def __init__(self, definitions: Iterable[Mapping[str, Any]]) -> None:
        self._schemas = {
            GroupVersionKind(spec["group"], version["name"], spec["names"]["kind"]): (
                version.get("schema") or {}
            ).get("openAPIV3Schema", {})
            for spec in (one["spec"] for one in definitions)
            for version in spec["versions"]
        }

    def schema(self, kind: GroupVersionKind) -> Schema | None:
        """That of a kind, where one is known."""
        given = self._schemas.get(kind)
        if given is None:
            return schema_for(kind)
        found = decode_schema(given)
        about = dict.fromkeys(("apiVersion", "kind", "metadata"), _ANYTHING)
        return replace(found, properties={**about, **found.properties})

    def of(self, kind: GroupVersionKind, labels: Mapping[str, str]) -> dict[str, Any]:
        """An object of a kind, with these labels."""
        schema = self._schemas.get(kind)
        if schema is None:
            return seed_object(kind, labels)
        return {**_required(schema), **_head(kind, labels)}


def _required(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that a schema requires, and whole objects below it: they may require more."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    wanted = set(schema.get("required") or ())
    return {
        name: _value(below)
        for name, below in properties.items()
        if name in wanted or (name == "spec" and below.get("type") == "object")
    }


def _value(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON
    """Something small of a type."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return _required(schema)
        case "array":
            item = schema.get("items") or {}
            return [_value(item) for _ in range(schema.get("minItems", 0))]
        case "integer" | "number":
            return schema.get("minimum", schema.get("maximum", 1))
        case "boolean":
            return False
        case _:
            return "x" * max(1, schema.get("minLength", 1))
