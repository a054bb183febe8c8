"""The Validating- and the MutatingWebhookConfiguration that send a webhook what policies match."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.admission.registration import Rule
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, NAMESPACE_NAME
from celadon.webhook.installation.installation_settings import (
    CONFIGURATION_DOMAIN,
    Certificates,
    InstallationSettings,
)
from celadon.webhook.installation.policy_coverage import (
    REVIEW_GROUPS,
    Coverage,
    rule_document,
)
from celadon.webhook.installation.rule_unions import ANY
from celadon.webhook.installation.selector_unions import Selector, conjunction

EVERYTHING: Final = Coverage(
    "Fail", "Equivalent", (Rule((ANY,), (ANY,), (ANY,), ("*/*",), ANY),), {}, {}
)
"""For policies that are not known beforehand."""
PATHS: Final = {False: "/validate", True: "/mutate"}
"""Where the webhook is asked, by whether it is to change objects."""
INJECT: Final = "cert-manager.io/inject-ca-from"


def policy_configuration(
    coverages: Sequence[Coverage], settings: InstallationSettings, *, mutating: bool = False
) -> dict[str, Any]:
    """A webhook for each of the coverages; requests that no policy ever sees are left out."""
    meta: dict[str, Any] = {"name": settings.name, "labels": settings.labels}
    if settings.certificates is Certificates.CERT_MANAGER:
        meta["annotations"] = {INJECT: f"{settings.namespace}/{settings.name}"}
    return {
        "apiVersion": f"{ADMISSION_REGISTRATION}/v1",
        "kind": f"{'Mutating' if mutating else 'Validating'}WebhookConfiguration",
        "metadata": meta,
        "webhooks": [_webhook(one, settings, mutating=mutating) for one in coverages],
    }


def _webhook(
    coverage: Coverage, settings: InstallationSettings, *, mutating: bool
) -> dict[str, Any]:
    exact = "-exact" if coverage.match_policy == "Exact" else ""
    found: dict[str, Any] = {
        "name": f"{coverage.failure_policy.lower()}{exact}.{CONFIGURATION_DOMAIN}",
        "clientConfig": _client(settings, PATHS[mutating]),
        "rules": [rule_document(rule) for rule in coverage.rules],
        "failurePolicy": settings.failure_policy_of(coverage.failure_policy),
        "matchPolicy": coverage.match_policy,
        "namespaceSelector": _without(coverage.namespace_selector, settings.exclusions),
        "objectSelector": dict(coverage.object_selector),
        "sideEffects": "None",
        "timeoutSeconds": settings.timeout_seconds,
        "admissionReviewVersions": ["v1", "v1beta1"],
    }
    if mutating:
        found["reinvocationPolicy"] = coverage.reinvocation_policy
    if coverage.takes_reviews:
        groups = ", ".join(f'"{group}"' for group in REVIEW_GROUPS)
        expression = f"!(request.resource.group in [{groups}])"
        found["matchConditions"] = [{"name": "no-reviews", "expression": expression}]
    return found


def _client(settings: InstallationSettings, path: str) -> dict[str, Any]:
    service = {"namespace": settings.namespace, "name": settings.name, "path": path, "port": 443}
    found: dict[str, Any] = {"service": service}
    if settings.ca_bundle:
        found["caBundle"] = base64.b64encode(settings.ca_bundle.encode()).decode()
    return found


def _without(selector: Selector, namespaces: Sequence[str]) -> Mapping[str, Any]:
    if not namespaces:
        return dict(selector)
    outside = {"key": NAMESPACE_NAME, "operator": "NotIn", "values": list(namespaces)}
    return conjunction([selector, {"matchExpressions": [outside]}])
