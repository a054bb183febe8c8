"""Defaulting of policies, bindings and webhook configurations.

Only what is absent is filled in; an explicitly empty text stays and is refused by validation.
`matchConstraints` and `matchResources` themselves are never created. The functions work on the
decoder's own document and change it in place; `version` is that of the document, since the
versions differ in what they fill in.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.admission.registration.registration_types import DENY, EQUIVALENT, EXACT, FAIL, IGNORE
from celadon.kube.well_known_values import HTTPS_PORT

ALL_SCOPES: Final = "*"

_WEBHOOK: Final = {"failurePolicy": FAIL, "matchPolicy": EQUIVALENT, "timeoutSeconds": 10}
_WEBHOOK_V1BETA1: Final = {
    "failurePolicy": IGNORE,
    "matchPolicy": EXACT,
    "timeoutSeconds": 30,
    "sideEffects": "Unknown",
}


def default_policy(document: dict[str, Any], version: str = "v1") -> None:
    """A validating or mutating policy; the same in all versions."""
    spec = document["spec"]
    spec.setdefault("failurePolicy", FAIL)
    if "matchConstraints" in spec:
        _default_match_resources(spec["matchConstraints"])


def default_binding(document: dict[str, Any], version: str) -> None:
    """v1alpha1 has a default that the others have not."""
    spec = document["spec"]
    if "matchResources" in spec:
        _default_match_resources(spec["matchResources"])
    if version == "v1alpha1" and "paramRef" in spec:
        spec["paramRef"].setdefault("parameterNotFoundAction", DENY)


def _default_match_resources(match: dict[str, Any]) -> None:
    match.setdefault("matchPolicy", EQUIVALENT)
    _default_selectors(match)
    for rules in ("resourceRules", "excludeResourceRules"):
        _default_scopes(match, rules)


def _default_selectors(holder: dict[str, Any]) -> None:
    holder.setdefault("namespaceSelector", {})
    holder.setdefault("objectSelector", {})


def _default_scopes(holder: dict[str, Any], rules: str) -> None:
    for rule in holder.get(rules, ()):
        rule.setdefault("scope", ALL_SCOPES)


def default_validating_webhooks(document: dict[str, Any], version: str) -> None:
    for webhook in document.get("webhooks", ()):
        _default_webhook(webhook, version)


def default_mutating_webhooks(document: dict[str, Any], version: str) -> None:
    for webhook in document.get("webhooks", ()):
        _default_webhook(webhook, version)
        webhook.setdefault("reinvocationPolicy", "Never")


def _default_webhook(webhook: dict[str, Any], version: str) -> None:
    old = version == "v1beta1"
    for field, value in (_WEBHOOK_V1BETA1 if old else _WEBHOOK).items():
        if webhook.get(field) is None:
            webhook[field] = value
    if old and not webhook.get("admissionReviewVersions"):
        webhook["admissionReviewVersions"] = ["v1beta1"]
    _default_selectors(webhook)
    _default_scopes(webhook, "rules")
    service = webhook["clientConfig"].get("service")
    if service is not None:
        service.setdefault("port", HTTPS_PORT)
