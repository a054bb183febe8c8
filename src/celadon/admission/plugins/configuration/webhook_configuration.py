"""WebhookAdmissionConfiguration: the kubeconfig that has the credentials for webhooks.

As k8s.io/apiserver `pkg/admission/plugin/webhook/config`, which decodes strictly.
"""

from __future__ import annotations

from typing import Final

from celadon.admission.plugins.configuration.configuration_errors import (
    BadConfiguration,
    refuse,
    require_kind,
)
from celadon.kube import fieldpath

KINDS: Final = {
    "apiserver.config.k8s.io/v1": "WebhookAdmissionConfiguration",
    "apiserver.config.k8s.io/v1alpha1": "WebhookAdmission",
}
FIELDS: Final = frozenset({"apiVersion", "kind", "kubeConfigFile"})


def webhook_kubeconfig(document: object) -> str:
    """The path; empty if there is none. Raises BadConfiguration."""
    version = document.get("apiVersion") if isinstance(document, dict) else None
    kind = KINDS.get(str(version), "WebhookAdmissionConfiguration")
    given = require_kind(document, kind, tuple(KINDS))
    unknown = sorted(given.keys() - FIELDS)
    if unknown:
        raise BadConfiguration(f'strict decoding error: unknown field "{unknown[0]}"')
    path = given.get("kubeConfigFile") or ""
    if not isinstance(path, str) or (path and not path.startswith("/")):
        at = fieldpath.ROOT.child("kubeConfigFile")
        refuse([fieldpath.invalid(at, path, "must be an absolute file path")])
    return str(path)
