"""Putting a webhook into a cluster: what its API server has to send it, and everything it is made
of there.

Read `webhook_rules` (from policies to rules and selectors), then `policy_configuration`,
`workload_manifests` and `access_manifests`; `chart_values` is for the Helm chart of the same.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, AUTHORIZATION_GROUP, RBAC_GROUP
from celadon.webhook.webhook_rules import (
    EVERYTHING,
    PORT,
    Certificates,
    Coverage,
    InstallationSettings,
    coverages,
    policy_configuration,
)

__all__ = [
    "EVERYTHING",
    "Certificates",
    "Coverage",
    "InstallationSettings",
    "access_manifests",
    "chart_values",
    "coverages",
    "namespace_manifests",
    "policy_configuration",
    "workload_manifests",
]


# --- Access manifests --------------------------------------------------------
#
# Who the webhook is in the cluster, and the least it has to be allowed.
#
# With policies from files and a certificate from a Secret it asks the API server for nothing,
# and gets no token. Policies of the cluster need what they look up; a certificate of its own
# needs one Secret, one Lease and the `caBundle` of its configurations.

_FOLLOW: Final = ("list", "watch")
"""Of caches: what they do not know, only namespaces are asked for."""


def access_manifests(settings: InstallationSettings) -> Iterator[JsonDict]:
    """Return the ServiceAccount, roles and their bindings."""
    yield {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": _meta(settings, settings.namespace),
        "automountServiceAccountToken": False,
    }
    everywhere = [*_cluster_rules(settings), *_bundle_rules(settings)]
    at_home = [*_config_map_rules(settings), *_certificate_rules(settings)]
    if everywhere:
        yield from _granted(settings, everywhere, "")
    if at_home:
        yield from _granted(settings, at_home, settings.namespace)


def _meta(settings: InstallationSettings, namespace: str) -> JsonDict:
    result: JsonDict = {"name": settings.name, "labels": settings.labels}
    return {**result, "namespace": namespace} if namespace else result


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str], *names: str) -> JsonDict:
    result: JsonDict = {
        "apiGroups": [group],
        "resources": list(resources),
        "verbs": list(verbs),
    }
    return {**result, "resourceNames": list(names)} if names else result


def _cluster_rules(settings: InstallationSettings) -> Iterator[JsonDict]:
    """Yield what policies of the cluster are, and what they look up."""
    if not settings.from_cluster:
        return
    policies = [
        f"{kind}admissionpolic{plural}"
        for kind in ("validating", "mutating")
        for plural in ("ies", "ybindings")
    ]
    yield _rule(ADMISSION_REGISTRATION, policies, _FOLLOW)
    yield _rule("", ["namespaces"], ["get", *_FOLLOW])
    yield _rule("apiextensions.k8s.io", ["customresourcedefinitions"], _FOLLOW)
    yield _rule(AUTHORIZATION_GROUP, ["subjectaccessreviews"], ["create"])
    for param in settings.params:
        resource, _, group = param.partition(".")
        yield _rule(group, [resource], _FOLLOW)
    if settings.events:
        yield _rule("", ["events"], ["create", "patch"])


def _bundle_rules(settings: InstallationSettings) -> Iterator[JsonDict]:
    if settings.certificates is Certificates.OWN:
        kinds = ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"]
        yield _rule(ADMISSION_REGISTRATION, kinds, [*_FOLLOW, "patch"], settings.name)


def _config_map_rules(settings: InstallationSettings) -> Iterator[JsonDict]:
    """ConfigMaps with policies, for clusters that do not know the kinds."""
    if settings.from_cluster:
        yield _rule("", ["configmaps"], _FOLLOW)


def _certificate_rules(settings: InstallationSettings) -> Iterator[JsonDict]:
    """Yield the rules for certificates. A creation cannot be restricted to a name."""
    if settings.certificates is Certificates.OWN:
        yield _rule("", ["secrets"], ["create"])
        yield _rule("", ["secrets"], [*_FOLLOW, "update"], settings.secret)
        yield _rule("coordination.k8s.io", ["leases"], ["create"])
        yield _rule("coordination.k8s.io", ["leases"], ["get", "update"], settings.secret)


def _granted(
    settings: InstallationSettings, rules: Sequence[JsonDict], namespace: str
) -> Iterator[JsonDict]:
    kind = "Role" if namespace else "ClusterRole"
    head = {"apiVersion": f"{RBAC_GROUP}/v1", "metadata": _meta(settings, namespace)}
    account = {
        "kind": "ServiceAccount",
        "name": settings.name,
        "namespace": settings.namespace,
    }
    yield {**head, "kind": kind, "rules": list(rules)}
    yield {
        **head,
        "kind": f"{kind}Binding",
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": kind, "name": settings.name},
        "subjects": [account],
    }


# --- Chart values ------------------------------------------------------------
#
# The values with which the Helm chart (`deploy/helm/celadon`) makes the same installation.

_OF_THE_CHART: Final = frozenset({"clientConfig", "sideEffects", "admissionReviewVersions"})


def chart_values(
    settings: InstallationSettings,
    policies: Mapping[str, str],
    coverages: Sequence[Coverage],
    mutating: Sequence[Coverage] = (),
) -> JsonDict:
    """Return the values of the chart; `policies` are files by name. The namespace is not among
    them: it is that of the release, which the chart excludes."""
    everywhere = replace(settings, excluded_namespaces=(), excludes_own_namespace=False)
    return {
        "name": settings.name,
        "image": settings.image,
        "replicas": settings.replicas,
        "policies": {
            "files": {} if settings.from_cluster else dict(policies),
            "fromCluster": settings.from_cluster,
            "params": list(settings.params) if settings.from_cluster else [],
        },
        "certificates": {
            "source": settings.certificates.value,
            "caBundle": base64.b64encode(settings.ca_bundle.encode()).decode(),
        },
        "webhooks": _webhooks(policy_configuration(coverages, everywhere)),
        "mutatingWebhooks": _webhooks(policy_configuration(mutating, everywhere, mutating=True)),
        "excludedNamespaces": list(settings.excluded_namespaces),
        "excludeOwnNamespace": settings.excludes_own_namespace,
        "auditOnly": settings.audit_only,
        "events": settings.events,
        "serviceMonitor": {"enabled": settings.service_monitor},
    }


def _webhooks(configuration: JsonObject) -> list[JsonDict]:
    return [
        {key: value for key, value in webhook.items() if key not in _OF_THE_CHART}
        for webhook in configuration["webhooks"]
    ]


# --- Workload manifests ------------------------------------------------------
#
# The replicas of a webhook, and what is around them: Namespace, Deployment, Service,
# PodDisruptionBudget, NetworkPolicy, ServiceMonitor, and the ConfigMap and Certificate that
# they mount.
#
# The Pods are fit for namespaces with the Pod Security level `restricted`, and need no writable
# disk but a small one in memory.

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


def namespace_manifests(settings: InstallationSettings) -> Iterator[JsonDict]:
    """Yield what everything is in, and must be there before it; clusters have some of their own."""
    if settings.namespace not in _OF_EVERY_CLUSTER:
        meta = {"name": settings.namespace, "labels": {"app.kubernetes.io/name": "celadon"}}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def workload_manifests(
    settings: InstallationSettings, policies: Mapping[str, str]
) -> Iterator[JsonDict]:
    """Return the objects that run the webhook; `policies` are files by name, which it gets unless
    it reads the cluster's."""
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
) -> JsonDict:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": f"{settings.name}{suffix}",
            "namespace": settings.namespace,
            "labels": settings.labels,
        },
    }


def _certificate(settings: InstallationSettings) -> Iterator[JsonDict]:
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


def _deployment(settings: InstallationSettings) -> JsonDict:
    return {
        "replicas": settings.replicas,
        "selector": {"matchLabels": settings.selector},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}},
        "template": {"metadata": {"labels": settings.labels}, "spec": _pod(settings)},
    }


def _pod(settings: InstallationSettings) -> JsonDict:
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


def _spread(settings: InstallationSettings, key: str) -> JsonDict:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": settings.selector},
    }


def _container(settings: InstallationSettings) -> JsonDict:
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
    """Return what the container's command is told."""
    result = ["webhook"]
    result += ["--from-cluster"] if settings.from_cluster else ["--filename", POLICIES]
    if settings.certificates is Certificates.OWN:
        result += ["--self-signed-secret", f"{settings.namespace}/{settings.secret}"]
        result += ["--tls-names", f"{settings.name}.{settings.namespace}.svc"]
        result += ["--webhook-configuration", settings.name]
    else:
        result += ["--tls-cert-file", f"{TLS}/tls.crt", "--tls-private-key-file", f"{TLS}/tls.key"]
    if settings.events:
        result.append("--events")
    if settings.audit_only:
        result.append("--audit-only")
    return result


def _probe(path: str) -> JsonDict:
    return {"httpGet": {"path": path, "port": "https", "scheme": "HTTPS"}}


def _mounts(settings: InstallationSettings) -> list[JsonDict]:
    result = [{"name": "tmp", "mountPath": "/tmp"}]
    if settings.certificates is not Certificates.OWN:
        result.append({"name": "tls", "mountPath": TLS})
    if not settings.from_cluster:
        result.append({"name": "policies", "mountPath": POLICIES})
    return [{**item, "readOnly": item["name"] != "tmp"} for item in result]


def _volumes(settings: InstallationSettings) -> list[JsonDict]:
    result: list[JsonDict] = [
        {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}}
    ]
    if settings.certificates is not Certificates.OWN:
        result.append({"name": "tls", "secret": {"secretName": settings.secret}})
    if not settings.from_cluster:
        result.append({"name": "policies", "configMap": {"name": f"{settings.name}-policies"}})
    return result


def _service(settings: InstallationSettings) -> JsonDict:
    return {
        "selector": settings.selector,
        "ports": [{"name": "https", "port": 443, "targetPort": "https"}],
    }


def _network_policy(settings: InstallationSettings) -> JsonDict:
    """Return the policy of the network. API servers are outside of the Pods' network, so anybody
    may ask; but the webhook itself talks to nobody but the API server and whoever knows its
    address."""
    outwards: list[JsonDict] = []
    if settings.asks_cluster:
        ports = [("UDP", 53), ("TCP", 53), ("TCP", 443), ("TCP", 6443)]
        outwards = [{"ports": [{"protocol": name, "port": number} for name, number in ports]}]
    return {
        "podSelector": {"matchLabels": settings.selector},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"ports": [{"protocol": "TCP", "port": "https"}]}],
        "egress": outwards,
    }


def _service_monitor(settings: InstallationSettings) -> JsonDict:
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
