"""Where a webhook is: a URL or a service.

As k8s.io/apiserver `pkg/util/webhook/validation.go`. The host form, the name of the type of error
for an unreadable URL and the swapped names of a service are upstream's.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_url import URLError
from celadon.kube.go.go_url import parse as parse_url
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import wording

_FORM: Final = "; desired format: https://host[/path]"
_DEFAULT_PORT: Final = 443


def webhook_url_errors(text: str, path: FieldPath) -> list[FieldError]:
    """Yield what is wrong with the URL of a webhook."""
    try:
        url = parse_url(text)
    except URLError as error:
        return [fieldpath.required(path, f"url must be a valid URL: {error}{_FORM}")]
    errors = []
    if url.scheme != "https":
        detail = f"'https' is the only allowed URL scheme{_FORM}"
        errors.append(fieldpath.invalid(path, url.scheme, detail))
    if not url.host:
        errors.append(fieldpath.invalid(path, "", f"host must be specified{_FORM}"))
    if url.user is not None:
        written = url.user.written().decode("ascii")
        detail = "user information is not permitted in the URL"
        errors.append(fieldpath.invalid(path, written, detail))
    if url.fragment:
        shown = url.fragment.decode("utf-8", "replace")
        errors.append(fieldpath.invalid(path, shown, "fragments are not permitted in the URL"))
    if url.raw_query:
        shown = url.raw_query.decode("utf-8", "replace")
        detail = "query parameters are not permitted in the URL"
        errors.append(fieldpath.invalid(path, shown, detail))
    return errors


_NO_NAME: Final = wording("", v1_34="service name is required")
_NO_NAMESPACE: Final = wording("", v1_34="service namespace is required")


def webhook_service_errors(service: JsonObject, path: FieldPath) -> list[FieldError]:
    """Yield what is wrong with the service that a webhook is behind. Upstream hands name and
    namespace over in the wrong order."""
    errors = []
    if not service.get("namespace"):
        errors.append(fieldpath.required(path.child("name"), _NO_NAME.text))
    if not service.get("name"):
        errors.append(fieldpath.required(path.child("namespace"), _NO_NAMESPACE.text))
    port = service.get("port")
    port = _DEFAULT_PORT if port is None else port
    errors += [
        fieldpath.invalid(path.child("port"), port, f"port is not valid: {message}")
        for message in name_rules.port_number(port)
    ]
    if service.get("path") is not None:
        errors += _service_path(service["path"], path.child("path"))
    return errors


def _service_path(text: str, path: FieldPath) -> list[FieldError]:
    if text in {"", "/"}:
        return []
    errors = []
    if not text.startswith("/"):
        errors.append(fieldpath.invalid(path, text, "must start with a '/'"))
    for i, segment in enumerate(text[1:].removesuffix("/").split("/")):
        if not segment:
            errors.append(fieldpath.invalid(path, text, f"segment[{i}] may not be empty"))
            continue
        errors += [
            fieldpath.invalid(path, text, f"segment[{i}]: {message}")
            for message in name_rules.dns1123_subdomain(segment)
        ]
    return errors
