"""Validation of where a webhook is: a URL or a service."""

from __future__ import annotations

from celadon.admission.registration.registration_types import ServiceReference, WebhookClientConfig
from celadon.kube import FieldError, FieldPath, fieldpath
from celadon.kube.validation import webhook_service_errors, webhook_url_errors


def validate_client_config(config: WebhookClientConfig, path: FieldPath) -> list[FieldError]:
    if (config.url is None) == (config.service is None):
        return [fieldpath.required(path, "exactly one of url or service is required")]
    if config.url is not None:
        return webhook_url_errors(config.url, path.child("url"))
    assert config.service is not None
    return webhook_service_errors(_as_json(config.service), path.child("service"))


def _as_json(service: ServiceReference) -> dict[str, str | int | None]:
    return {
        "name": service.name,
        "namespace": service.namespace,
        "path": service.path,
        "port": service.port,
    }
