"""The objects that are judged: a Pod, a Deployment, an Ingress, a custom resource.

Each has the fields a real one has. `ACTIVATIONS` holds, for each kind, what expressions see: the
first entry is the one that is measured, and it is admitted by most expressions; the others differ
in what policies look at, and show that the functions written by hand answer like the expressions.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final

JsonObject = dict[str, Any]
Activation = dict[str, JsonObject]

_DIGEST: Final = "4bc453b53cb3d914b45f4b250294236adba2c0e09ff6f03793949e7e39fd4cc1"


def _container(name: str, image: str, port: int) -> JsonObject:
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["--listen", f":{port}", "--log-format=json"],
        "ports": [
            {"name": "http", "containerPort": port, "protocol": "TCP"},
            {"name": "metrics", "containerPort": port + 1, "protocol": "TCP"},
        ],
        "env": [
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {
                "name": "DB_PASSWORD",
                "valueFrom": {"secretKeyRef": {"name": "database", "key": "password"}},
            },
        ],
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"cpu": "500m", "memory": "512Mi"},
        },
        "livenessProbe": {"httpGet": {"path": "/livez", "port": port}, "periodSeconds": 10},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": port}, "periodSeconds": 5},
        "securityContext": {
            "runAsNonRoot": True,
            "privileged": False,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }


def _pod_spec() -> JsonObject:
    return {
        "serviceAccountName": "shop-frontend",
        "automountServiceAccountToken": False,
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "initContainers": [_container("migrate", "registry.example.com/shop/migrate:v2.4.1", 9000)],
        "containers": [
            _container("app", "registry.example.com/shop/frontend:v2.4.1", 8080),
            _container("proxy", "registry.example.com/mesh/proxy:v1.29.0", 15000),
            _container(
                "exporter", f"registry.example.com/metrics/exporter:v0.18.2@sha256:{_DIGEST}", 9100
            ),
        ],
        "volumes": [
            {"name": "tmp", "emptyDir": {}},
            {"name": "config", "configMap": {"name": "shop-frontend", "defaultMode": 420}},
        ],
        "tolerations": [
            {"key": "dedicated", "operator": "Equal", "value": "shop", "effect": "NoSchedule"}
        ],
    }


def _labels() -> dict[str, str]:
    return {
        "app": "shop-frontend",
        "team": "storefront",
        "env": "prod",
        "app.kubernetes.io/name": "shop-frontend",
        "app.kubernetes.io/version": "2.4.1",
    }


def _pod() -> Activation:
    pod: JsonObject = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "shop-frontend-6d4cf56db6-x7k2p",
            "namespace": "shop",
            "uid": "0d9f7c3e-6f6c-4f9d-8b1e-2f6f1f1c9b11",
            "labels": _labels(),
            "annotations": {"example.com/owner": "storefront@example.com"},
        },
        "spec": _pod_spec(),
    }
    return {"object": pod}


def _deployment() -> Activation:
    deployment: JsonObject = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "shop-frontend",
            "namespace": "shop",
            "uid": "b7a7e1f2-3a4d-45e9-9a57-9d1a5c1f8a02",
            "generation": 4,
            "labels": _labels(),
            "annotations": {
                "example.com/owner": "storefront@example.com",
                "example.com/tier": "gold",
            },
        },
        "spec": {
            "replicas": 3,
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
            },
            "selector": {"matchLabels": {"app": "shop-frontend", "team": "storefront"}},
            "template": {"metadata": {"labels": _labels()}, "spec": _pod_spec()},
        },
    }
    params = {
        "apiVersion": "policies.example.com/v1",
        "kind": "DeploymentLimits",
        "metadata": {"name": "limits", "namespace": "shop"},
        "spec": {"minReplicas": 2, "maxReplicas": 10, "environments": ["dev", "staging", "prod"]},
    }
    return {"object": deployment, "oldObject": copy.deepcopy(deployment), "params": params}


def _ingress() -> Activation:
    def rule(host: str, *services: str) -> JsonObject:
        return {
            "host": host,
            "http": {
                "paths": [
                    {
                        "path": f"/{service}",
                        "pathType": "Prefix",
                        "backend": {"service": {"name": service, "port": {"number": 80}}},
                    }
                    for service in services
                ]
            },
        }

    ingress: JsonObject = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            "name": "shop",
            "namespace": "shop",
            "labels": _labels(),
            "annotations": {
                "example.com/callback": "https://hooks.example.com:8443/shop?from=ingress",
                "example.com/rewrite": "none",
            },
        },
        "spec": {
            "ingressClassName": "public",
            "tls": [
                {"hosts": ["shop.example.com", "www.shop.example.com"], "secretName": "shop-tls"},
                {"hosts": ["api.shop.example.com"], "secretName": "shop-api-tls"},
            ],
            "rules": [
                rule("shop.example.com", "frontend", "static"),
                rule("www.shop.example.com", "frontend"),
                rule("api.shop.example.com", "orders", "stock", "users"),
            ],
        },
    }
    return {"object": ingress}


def _database() -> Activation:
    database: JsonObject = {
        "apiVersion": "databases.example.com/v1",
        "kind": "PostgresCluster",
        "metadata": {
            "name": "orders",
            "namespace": "shop",
            "labels": _labels(),
            "finalizers": ["databases.example.com/backup", "databases.example.com/volumes"],
        },
        "spec": {
            "version": "16.4.0",
            "storage": {"size": "80Gi", "className": "fast", "growth": "1.5Gi"},
            "shards": [
                {"name": "a", "replicas": 3, "zone": "eu-1"},
                {"name": "b", "replicas": 3, "zone": "eu-2"},
                {"name": "c", "replicas": 2, "zone": "eu-3"},
            ],
            "extensions": ["pg_stat_statements", "postgis"],
            "network": {
                "endpoint": "10.20.30.40",
                "allowedCIDRs": ["10.0.0.0/8", "192.168.16.0/20", "172.16.0.0/12"],
            },
            "backup": {"schedule": "0 3 * * *", "retentionDays": 30},
        },
    }
    return {"object": database}


Edit = Callable[[Activation], None]


def _without(*path: str) -> Edit:
    def edit(activation: Activation) -> None:
        *parents, last = path
        place: Any = activation
        for key in parents:
            place = place[int(key)] if isinstance(place, list) else place[key]
        del place[last]

    return edit


def _with(value: object, *path: str) -> Edit:
    def edit(activation: Activation) -> None:
        *parents, last = path
        place: Any = activation
        for key in parents:
            place = place[int(key)] if isinstance(place, list) else place[key]
        place[last] = value

    return edit


def _variants(make: Callable[[], Activation], *edits: Edit) -> tuple[Activation, ...]:
    made = [make()]
    for edit in edits:
        activation = make()
        edit(activation)
        made.append(activation)
    return tuple(made)


def _pod_edits(*spec: str) -> tuple[Edit, ...]:
    """What can be said about a pod spec at the path."""
    container = (*spec, "containers", "1")
    return (
        _without("object", "metadata", "labels"),
        _with({}, "object", "metadata", "labels"),
        _with("backend", "object", "metadata", "labels", "app"),
        _with("test", "object", "metadata", "labels", "env"),
        _with("", "object", "metadata", "labels", "team"),
        _without("object", "metadata", "annotations"),
        _with("Shop_Frontend", "object", "metadata", "name"),
        _with("s" * 70, "object", "metadata", "name"),
        _with("kube-system", "object", "metadata", "namespace"),
        _with(True, *spec, "hostNetwork"),
        _with(False, *spec, "hostPID"),
        _without(*spec, "serviceAccountName"),
        _with("default", *spec, "serviceAccountName"),
        _without(*spec, "automountServiceAccountToken"),
        _without(*spec, "initContainers"),
        _without(*spec, "volumes"),
        _with([{"name": "root", "hostPath": {"path": "/"}}], *spec, "volumes"),
        _without(*spec, "securityContext"),
        _with(False, *spec, "securityContext", "runAsNonRoot"),
        _with([], *spec, "containers"),
        _with("nginx", *container, "image"),
        _with("quay.io/nginx:latest", *container, "image"),
        _with("mirror.example.com/library/nginx:v1.2.3", *container, "image"),
        _with("registry.example.com/shop/app:v2.4.1-rc.1", *container, "image"),
        _without(*container, "securityContext"),
        _without(*container, "securityContext", "runAsNonRoot"),
        _with(False, *container, "securityContext", "runAsNonRoot"),
        _with(True, *container, "securityContext", "privileged"),
        _without(*container, "securityContext", "capabilities"),
        _with(["SYS_ADMIN"], *container, "securityContext", "capabilities", "add"),
        _with([], *container, "securityContext", "capabilities", "drop"),
        _without(*container, "resources"),
        _without(*container, "resources", "limits"),
        _without(*container, "resources", "limits", "memory"),
        _with("3Gi", *container, "resources", "limits", "memory"),
        _with("2", *container, "resources", "requests", "cpu"),
        _with("lots", *container, "resources", "limits", "cpu"),
        _without(*container, "livenessProbe"),
        _without(*container, "ports"),
        _with(8080, *container, "ports", "0", "hostPort"),
        _with(0, *container, "ports", "1", "hostPort"),
        _without(*container, "env"),
        _with("hunter2", *container, "env", "2", "value"),
        _with("App", *container, "name"),
        _with("app", *container, "name"),
    )


ACTIVATIONS: Final[dict[str, tuple[Activation, ...]]] = {
    "Pod": _variants(_pod, *_pod_edits("object", "spec")),
    "Deployment": _variants(
        _deployment,
        *_pod_edits("object", "spec", "template", "spec"),
        _with(1, "object", "spec", "replicas"),
        _with(40, "object", "spec", "replicas"),
        _without("object", "spec", "replicas"),
        _with("Recreate", "object", "spec", "strategy", "type"),
        _with("60%", "object", "spec", "strategy", "rollingUpdate", "maxUnavailable"),
        _with("some", "object", "spec", "strategy", "rollingUpdate", "maxUnavailable"),
        _with({"app": "shop"}, "object", "spec", "selector", "matchLabels"),
        _with({}, "object", "spec", "template", "metadata", "labels"),
        _with("silver", "object", "metadata", "annotations", "example.com/tier"),
        _with(2, "params", "spec", "maxReplicas"),
    ),
    "Ingress": _variants(
        _ingress,
        _without("object", "metadata", "annotations"),
        _with("http://hooks.test/", "object", "metadata", "annotations", "example.com/callback"),
        _with("https://hooks.test/", "object", "metadata", "annotations", "example.com/callback"),
        _without("object", "spec", "ingressClassName"),
        _with("private", "object", "spec", "ingressClassName"),
        _with([], "object", "spec", "tls"),
        _without("object", "spec", "tls"),
        _without("object", "spec", "rules", "1", "host"),
        _with("shop.test", "object", "spec", "rules", "1", "host"),
        _with("Exact", "object", "spec", "rules", "2", "http", "paths", "2", "pathType"),
        _with("*", "object", "spec", "rules", "2", "http", "paths", "2", "path"),
        _with("shop.example.com", "object", "spec", "rules", "1", "host"),
    ),
    "PostgresCluster": _variants(
        _database,
        _with("13.9.1", "object", "spec", "version"),
        _with("14.0.0-rc.1", "object", "spec", "version"),
        _with("16.4.0+build.7", "object", "spec", "version"),
        _with("sixteen", "object", "spec", "version"),
        _with("200Gi", "object", "spec", "storage", "size"),
        _with("107374182400", "object", "spec", "storage", "size"),
        _with("big", "object", "spec", "storage", "size"),
        _with([], "object", "spec", "shards"),
        _with(20, "object", "spec", "shards", "1", "replicas"),
        _with("eu-1", "object", "spec", "shards", "2", "zone"),
        _with(["postgis", "plpython3u"], "object", "spec", "extensions"),
        _with([], "object", "spec", "extensions"),
        _without("object", "metadata", "finalizers"),
        _with(["other"], "object", "metadata", "finalizers"),
        _with("192.0.2.7", "object", "spec", "network", "endpoint"),
        _with("2001:db8::7", "object", "spec", "network", "endpoint"),
        _with("10.20.30", "object", "spec", "network", "endpoint"),
        _with(["0.0.0.0/0"], "object", "spec", "network", "allowedCIDRs"),
        _with(["10.0.0.0/33"], "object", "spec", "network", "allowedCIDRs"),
        _without("object", "spec", "backup"),
        _with(3, "object", "spec", "backup", "retentionDays"),
    ),
}
