"""The values with which the Helm chart (`deploy/helm/celadon`) makes the same installation."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.webhook.installation.installation_settings import InstallationSettings
from celadon.webhook.installation.policy_configuration import policy_configuration
from celadon.webhook.installation.policy_coverage import Coverage

_OF_THE_CHART: Final = frozenset({"clientConfig", "sideEffects", "admissionReviewVersions"})


def chart_values(
    settings: InstallationSettings,
    policies: Mapping[str, str],
    coverages: Sequence[Coverage],
    mutating: Sequence[Coverage] = (),
) -> dict[str, Any]:
    """`policies` are files by name. The namespace is not among the values: it is that of the
    release, which the chart excludes."""
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


def _webhooks(configuration: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in one.items() if key not in _OF_THE_CHART}
        for one in configuration["webhooks"]
    ]
