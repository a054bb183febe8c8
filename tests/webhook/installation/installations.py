"""Ways to install a webhook, all of which are tested."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from celadon.admission import decode_binding, decode_policy
from celadon.webhook.installation import access_manifests, workload_manifests
from celadon.webhook.webhook_rules import (
    Certificates,
    Coverage,
    InstallationSettings,
    coverages,
    policy_configuration,
)

Json = dict[str, Any]

INSTALLATIONS = {
    "files": InstallationSettings(),
    "secret": InstallationSettings(
        certificates=Certificates.SECRET,
        ca_bundle="-----BEGIN CERTIFICATE-----\n",
        service_monitor=True,
    ),
    "cert-manager": InstallationSettings(
        name="rules",
        namespace="platform",
        certificates=Certificates.CERT_MANAGER,
        excludes_own_namespace=False,
    ),
    "own": InstallationSettings(
        certificates=Certificates.OWN, excluded_namespaces=(), audit_only=True, replicas=3
    ),
    "cluster": InstallationSettings(
        from_cluster=True,
        params=("configmaps", "limits.example.com"),
        events=True,
        certificates=Certificates.SECRET,
        ca_bundle="-----BEGIN CERTIFICATE-----\n",
        excluded_namespaces=(),
        excludes_own_namespace=False,
    ),
    "cluster, own": InstallationSettings(
        name="rules",
        from_cluster=True,
        certificates=Certificates.OWN,
        failure_policy="Ignore",
        timeout_seconds=30,
        excluded_namespaces=("kube-system", "other"),
    ),
}
FILES = {"policies.yaml": "apiVersion: v1\nkind: X\n"}
_STAGE = {"matchLabels": {"stage": "production"}}
_POLICY: Json = {
    "metadata": {"name": "p"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": ["*"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["*"],
                }
            ],
            "namespaceSelector": _STAGE,
            "objectSelector": _STAGE,
        },
        "validations": [{"expression": "true"}],
    },
}
_BINDING: Json = {
    "metadata": {"name": "b"},
    "spec": {"policyName": "p", "validationActions": ["Deny"]},
}


def covered() -> list[Coverage]:
    """What a policy of a small cluster is sent."""
    return coverages([decode_policy(_POLICY).value], [decode_binding(_BINDING).value])


def mutated() -> list[Coverage]:
    """What a mutating policy is sent that wants to be reinvoked."""
    (found,) = covered()
    return [replace(found, failure_policy="Ignore", reinvocation_policy="IfNeeded")]


def documents(settings: InstallationSettings) -> list[Json]:
    """All manifests of an installation."""
    return [
        *access_manifests(settings),
        *workload_manifests(settings, FILES),
        policy_configuration(covered(), settings),
        policy_configuration(mutated(), settings, mutating=True),
    ]


def by_name(found: list[Json]) -> dict[tuple[str, str], Json]:
    """By kind and name; no two have the same."""
    named = {(one["kind"], one["metadata"]["name"]): one for one in found}
    assert len(named) == len(found)
    return named
