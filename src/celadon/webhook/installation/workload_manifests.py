"""The replicas of a webhook, and what is around them: Namespace, Deployment, Service,
PodDisruptionBudget, NetworkPolicy, ServiceMonitor, and the ConfigMap and Certificate that they
mount.

The Pods are fit for namespaces with the Pod Security level `restricted`, and need no writable disk
but a small one in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.webhook.installation.installation_settings import (
    PORT,
    Certificates,
    InstallationSettings,
)

USER: Final = 65532
"""The user without a name of minimal images."""
CONTAINER: Final = "webhook"
POLICIES: Final = "/etc/celadon/policies"
TLS: Final = "/etc/celadon/tls"
END_SECONDS: Final = 60
"""From SIGTERM to SIGKILL: the delay before the webhook stops listening, and what was begun."""
CERT_MANAGER: Final = "cert-manager.io/v1"
_OF_EVERY_CLUSTER: Final = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
_SPREAD: Final = ("kubernetes.io/hostname", "topology.kubernetes.io/zone")


def namespace_manifests(settings: InstallationSettings) -> Iterator[dict[str, Any]]:
    """What everything is in, and must be there before it; clusters have some of their own."""
    if settings.namespace not in _OF_EVERY_CLUSTER:
        meta = {"name": settings.namespace, "labels": {"app.kubernetes.io/name": "celadon"}}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def workload_manifests(
    settings: InstallationSettings, policies: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """`policies` are files by name, which the webhook gets unless it reads the cluster's."""
    if not settings.from_cluster:
        yield {**_head(settings, "v1", "ConfigMap", "-policies"), "data": dict(policies)}
    if settings.certificates is Certificates.CERT_MANAGER:
        yield from _certificate(settings)
    yield {**_head(settings, "apps/v1", "Deployment"), "spec": _deployment(settings)}
    yield {**_head(settings, "v1", "Service"), "spec": _service(settings)}
    yield {
        **_head(settings, "policy/v1", "PodDisruptionBudget"),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": settings.selector}},
    }
    yield {
        **_head(settings, "networking.k8s.io/v1", "NetworkPolicy"),
        "spec": _network_policy(settings),
    }
    if settings.service_monitor:
        yield {
            **_head(settings, "monitoring.coreos.com/v1", "ServiceMonitor"),
            "spec": _service_monitor(settings),
        }


def _head(
    settings: InstallationSettings, api_version: str, kind: str, suffix: str = ""
) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": f"{settings.name}{suffix}",
            "namespace": settings.namespace,
            "labels": settings.labels,
        },
    }


def _certificate(settings: InstallationSettings) -> Iterator[dict[str, Any]]:
    yield {**_head(settings, CERT_MANAGER, "Issuer"), "spec": {"selfSigned": {}}}
    host = f"{settings.name}.{settings.namespace}.svc"
    yield {
        **_head(settings, CERT_MANAGER, "Certificate"),
        "spec": {
            "secretName": settings.secret,
            "dnsNames": [host],
            "issuerRef": {"kind": "Issuer", "name": settings.name},
            "privateKey": {"algorithm": "ECDSA", "rotationPolicy": "Always"},
        },
    }


def _deployment(settings: InstallationSettings) -> dict[str, Any]:
    return {
        "replicas": settings.replicas,
        "selector": {"matchLabels": settings.selector},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}},
        "template": {"metadata": {"labels": settings.labels}, "spec": _pod(settings)},
    }


def _pod(settings: InstallationSettings) -> dict[str, Any]:
    return {
        "serviceAccountName": settings.name,
        "automountServiceAccountToken": settings.asks_cluster,
        "terminationGracePeriodSeconds": END_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [_spread(settings, key) for key in _SPREAD],
        "containers": [_container(settings)],
        "volumes": _volumes(settings),
    }


def _spread(settings: InstallationSettings, key: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": settings.selector},
    }


def _container(settings: InstallationSettings) -> dict[str, Any]:
    return {
        "name": CONTAINER,
        "image": settings.image,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(settings),
        "ports": [{"name": "https", "containerPort": PORT}],
        "readinessProbe": {**_probe("/readyz"), "periodSeconds": 5},
        "livenessProbe": {**_probe("/livez"), "periodSeconds": 10, "failureThreshold": 6},
        "startupProbe": {**_probe("/livez"), "periodSeconds": 2, "failureThreshold": 60},
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "512Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": _mounts(settings),
    }


def arguments(settings: InstallationSettings) -> list[str]:
    """What the container's command is told."""
    found = ["webhook"]
    found += ["--from-cluster"] if settings.from_cluster else ["--filename", POLICIES]
    if settings.certificates is Certificates.OWN:
        found += ["--self-signed-secret", f"{settings.namespace}/{settings.secret}"]
        found += ["--tls-names", f"{settings.name}.{settings.namespace}.svc"]
        found += ["--webhook-configuration", settings.name]
    else:
        found += ["--tls-cert-file", f"{TLS}/tls.crt", "--tls-private-key-file", f"{TLS}/tls.key"]
    if settings.events:
        found.append("--events")
    if settings.audit_only:
        found.append("--audit-only")
    return found


def _probe(path: str) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "https", "scheme": "HTTPS"}}


def _mounts(settings: InstallationSettings) -> list[dict[str, Any]]:
    found = [{"name": "tmp", "mountPath": "/tmp"}]
    if settings.certificates is not Certificates.OWN:
        found.append({"name": "tls", "mountPath": TLS})
    if not settings.from_cluster:
        found.append({"name": "policies", "mountPath": POLICIES})
    return [{**one, "readOnly": one["name"] != "tmp"} for one in found]


def _volumes(settings: InstallationSettings) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}}
    ]
    if settings.certificates is not Certificates.OWN:
        found.append({"name": "tls", "secret": {"secretName": settings.secret}})
    if not settings.from_cluster:
        found.append({"name": "policies", "configMap": {"name": f"{settings.name}-policies"}})
    return found


def _service(settings: InstallationSettings) -> dict[str, Any]:
    return {
        "selector": settings.selector,
        "ports": [{"name": "https", "port": 443, "targetPort": "https"}],
    }


def _network_policy(settings: InstallationSettings) -> dict[str, Any]:
    """API servers are outside of the Pods' network, so anybody may ask; but the webhook itself
    talks to nobody but the API server and whoever knows its address."""
    outwards: list[dict[str, Any]] = []
    if settings.asks_cluster:
        ports = [("UDP", 53), ("TCP", 53), ("TCP", 443), ("TCP", 6443)]
        outwards = [{"ports": [{"protocol": name, "port": number} for name, number in ports]}]
    return {
        "podSelector": {"matchLabels": settings.selector},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"ports": [{"protocol": "TCP", "port": "https"}]}],
        "egress": outwards,
    }


def _service_monitor(settings: InstallationSettings) -> dict[str, Any]:
    return {
        "selector": {"matchLabels": settings.selector},
        "endpoints": [
            {
                "port": "https",
                "scheme": "https",
                "path": "/metrics",
                "tlsConfig": {
                    "serverName": f"{settings.name}.{settings.namespace}.svc",
                    "ca": {"secret": {"name": settings.secret, "key": "ca.crt"}},
                },
            }
        ],
    }
