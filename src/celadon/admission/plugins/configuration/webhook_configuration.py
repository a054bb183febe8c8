"""WebhookAdmissionConfiguration: the kubeconfig that has the credentials for webhooks, and the
folder of static configurations.

As k8s.io/apiserver `pkg/admission/plugin/webhook/config`, which decodes strictly.
"""

from __future__ import annotations

from typing import Final

from celadon.admission.plugins.configuration.configuration_errors import (
    refuse,
    refuse_unknown,
    require_kind,
    text_in,
)
from celadon.admission.plugins.configuration.folder_configuration import STATIC_FOLDER
from celadon.admission.plugins.plugin_settings import WebhookSettings
from celadon.kube import fieldpath

KINDS: Final = {
    "apiserver.config.k8s.io/v1": "WebhookAdmissionConfiguration",
    "apiserver.config.k8s.io/v1alpha1": "WebhookAdmission",
}
KUBECONFIG: Final = "kubeConfigFile"


def webhook_settings(document: object) -> WebhookSettings:
    """Raises BadConfiguration. The folder is as it was given."""
    version = document.get("apiVersion") if isinstance(document, dict) else None
    kind = KINDS.get(str(version), "WebhookAdmissionConfiguration")
    given = require_kind(document, kind, tuple(KINDS))
    refuse_unknown(given, (KUBECONFIG, STATIC_FOLDER))
    path = text_in(given, KUBECONFIG)
    if path and not path.startswith("/"):
        at = fieldpath.ROOT.child(KUBECONFIG)
        refuse([fieldpath.invalid(at, path, "must be an absolute file path")])
    return WebhookSettings(path, text_in(given, STATIC_FOLDER))
