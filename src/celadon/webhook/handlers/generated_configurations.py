"""Handlers as Validating- and MutatingWebhookConfigurations.

What is generated is decoded and validated as an API server would, so that a wrong selector or a
match condition that does not compile is known before anybody applies it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.admission.registration import (
    RegistrationError,
    WebhookConfiguration,
    decode_webhooks,
    validate_create,
    validate_object_meta,
)
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.webhook.handlers.decorated_handlers import Handler

API_VERSION: Final = f"{ADMISSION_REGISTRATION}/v1"


def configuration(
    name: str, handlers: Sequence[Handler], *, mutating: bool, client: Mapping[str, Any]
) -> dict[str, Any]:
    """The configuration with all handlers of one kind; `client` is the `clientConfig` of each but
    for the path of the handler. ValueError with what an API server would say against it."""
    kind = "MutatingWebhookConfiguration" if mutating else "ValidatingWebhookConfiguration"
    document = {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": [
            _webhook(name, handler, client) for handler in handlers if handler.mutating == mutating
        ],
    }
    decoded(document, mutating=mutating)
    return document


def decoded(document: Mapping[str, Any], *, mutating: bool) -> WebhookConfiguration:
    """The same as an API server reads it. Raises ValueError."""
    try:
        found = decode_webhooks(document, mutating=mutating).value
    except RegistrationError as error:
        raise ValueError(str(error)) from None
    errors = [*validate_object_meta(found.metadata), *validate_create(found)]
    if errors:
        raise ValueError("; ".join(f"{error.field}: {error.body}" for error in errors))
    return found


def client_config(service: str = "", url: str = "", ca_bundle: bytes | str = b"") -> dict[str, Any]:
    """Return where the application is: `service` is NAMESPACE/NAME[:PORT][/PATH], `url` its
    address, `ca_bundle` PEM. ValueError if neither is given, or both."""
    if bool(service) == bool(url):
        raise ValueError("say where the webhook is: either `service` or `url`")
    found: dict[str, Any] = {"url": url.rstrip("/")} if url else {"service": _service(service)}
    if ca_bundle:
        pem = ca_bundle.encode() if isinstance(ca_bundle, str) else ca_bundle
        found["caBundle"] = base64.b64encode(pem).decode()
    return found


def _service(text: str) -> dict[str, Any]:
    namespace, slash, rest = text.partition("/")
    full, slash_path, path = rest.partition("/")
    name, colon, port = full.partition(":")
    if not (namespace and slash and name) or (colon and not port.isdecimal()):
        raise ValueError(f"`{text}` is not NAMESPACE/NAME[:PORT]")
    found: dict[str, Any] = {"namespace": namespace, "name": name, "path": slash_path + path}
    if port:
        found["port"] = int(port)
    return found


def _webhook(name: str, handler: Handler, client: Mapping[str, Any]) -> dict[str, Any]:
    targets = handler.targets
    found: dict[str, Any] = {
        "name": f"{handler.name}.{name}",
        "clientConfig": _below(client, handler.path),
        "rules": [dict(rule) for rule in targets.rules],
        "failurePolicy": handler.failure_policy,
        "matchPolicy": targets.match_policy,
        "namespaceSelector": dict(targets.namespace_selector),
        "objectSelector": dict(targets.object_selector),
        "sideEffects": handler.side_effects,
        "timeoutSeconds": handler.timeout_seconds,
        "admissionReviewVersions": ["v1", "v1beta1"],
    }
    if targets.match_conditions:
        found["matchConditions"] = _conditions(targets.match_conditions.items())
    if handler.mutating:
        found["reinvocationPolicy"] = handler.reinvocation_policy
    return found


def _conditions(conditions: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "expression": expression} for name, expression in conditions]


def _below(client: Mapping[str, Any], path: str) -> dict[str, Any]:
    found = dict(client)
    if "url" in found:
        found["url"] += path
    else:
        service = dict(found["service"])
        service["path"] = service.get("path", "").rstrip("/") + path
        found["service"] = service
    return found
