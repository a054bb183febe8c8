"""Objects to begin a search with: small, and such as an API server takes."""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import GroupVersionKind

_NAME: Final = "example"
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
}
"""What objects of a kind need besides a name."""


def seed_object(kind: GroupVersionKind, labels: dict[str, str]) -> dict[str, Any]:
    """An object of a kind, with these labels."""
    found = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": _NAME}}
    if labels:
        found["metadata"] = {"name": _NAME, "labels": labels}
    return {**found, **_REST.get(kind.kind, {})}
