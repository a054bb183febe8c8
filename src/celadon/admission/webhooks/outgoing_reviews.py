"""The AdmissionReview that a webhook is sent, and where it is sent to.

As k8s.io/apiserver `pkg/admission/plugin/webhook/request` and `pkg/util/webhook/client.go`.
"""

from __future__ import annotations

import posixpath
from typing import Any, Final

from celadon.admission.expressions.activation import RequestContext, request_value
from celadon.admission.webhooks import hook_refusals
from celadon.admission.webhooks.call_results import CallError
from celadon.admission.webhooks.hooks import Hook, Selected
from celadon.admission.webhooks.review_versions import API_VERSIONS, GROUP, KIND
from celadon.kube.go import json_text
from celadon.kube.well_known_values import HTTPS_PORT
from celadon.records import dataclass

DEFAULT_TIMEOUT_SECONDS: Final = 10
KNOWN_VERSIONS: Final = tuple(version.removeprefix(f"{GROUP}/") for version in API_VERSIONS)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a webhook. `document` is the review; `body` its text as it is sent."""

    hook: Hook
    api_version: str
    uid: str
    document: dict[str, Any]

    @property
    def body(self) -> bytes:
        """The text of the review, with the line end that Go's encoder writes."""
        return f"{json_text(self.document)}\n".encode("utf-8", "surrogatepass")

    @property
    def timeout_seconds(self) -> int:
        """How long the webhook may take."""
        return self.hook.webhook.timeout_seconds or DEFAULT_TIMEOUT_SECONDS


def begin_call(selected: Selected, context: RequestContext, uid: str) -> Call:
    """The call of a hook that was selected. StatusError for a dry run that the webhook does not
    support, CallError where no version of the review would do, ConversionError."""
    hook, hit = selected.hook, selected.hit
    request = context.request
    if request.dry_run and hook.webhook.side_effects not in hook_refusals.WITHOUT_SIDE_EFFECTS:
        raise hook_refusals.dry_run_unsupported(hook)
    accepted = hook.webhook.admission_review_versions
    version = next((one for one in accepted if one in KNOWN_VERSIONS), None)
    if version is None:
        known = ", ".join(KNOWN_VERSIONS)
        raise CallError(
            "could not create admission objects: webhook does not accept known AdmissionReview "
            f"versions ({known})",
            400,
        )
    obj, old = context.objects(hit.kind)
    asked = {
        **request_value(request, hit.kind, hit.resource),
        "uid": uid,
        "object": obj,
        "oldObject": old,
    }
    api_version = f"{GROUP}/{version}"
    return Call(hook, api_version, uid, {"kind": KIND, "apiVersion": api_version, "request": asked})


def call_url(hook: Hook, timeout_seconds: int | None) -> str:
    """The URL of a call; `timeout_seconds` is what is left of the time, None for no limit."""
    config = hook.webhook.client_config
    if config.service is not None:
        service = config.service
        port = HTTPS_PORT if service.port is None else service.port
        base, path = f"https://{service.name}.{service.namespace}.svc:{port}", service.path or ""
    else:
        scheme, _, rest = (config.url or "").partition("://")
        host, slash, path = rest.partition("/")
        base, path = f"{scheme}://{host}", slash + path
    query = "" if timeout_seconds is None else f"?timeout={timeout_seconds}s"
    return f"{base}{_clean(path)}{query}"


def _clean(path: str) -> str:
    """As Go's `path.Join`, which knows no double slash at the start."""
    return "/" + posixpath.normpath(f"/{path}").lstrip("/")
