"""The AdmissionReview that a webhook is sent, and where it is sent to.

As k8s.io/apiserver `pkg/admission/plugin/webhook/request` and `pkg/util/webhook/client.go`.
"""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from celadon.admission.activation import RequestContext, request_value
from celadon.admission.registration.registration_types import JSON_PATCH, WebhookClientConfig
from celadon.admission.webhooks import hooks
from celadon.kube import GroupVersionKind, JsonObject, StatusError, parse_api_version
from celadon.kube.go import URL, URLError, go_json, json_text, parse_url, quote
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import request_bodies
from celadon.kube.schemas import DecodeError, may_have_raw, round_trip
from celadon.kube.well_known_values import HTTPS_PORT
from celadon.records import dataclass, field

# --- Review versions ---------------------------------------------------------
#
# AdmissionReview: the envelope in which an API server asks a webhook, and gets its answer.

GROUP: Final = "admission.k8s.io"
API_VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
"""Both have the same fields."""

KIND: Final = "AdmissionReview"
"""Of questions and of answers."""

DEFAULT_TIMEOUT_SECONDS: Final = 10
KNOWN_VERSIONS: Final = tuple(version.removeprefix(f"{GROUP}/") for version in API_VERSIONS)


class WebhookCall(Protocol):
    """Holds what is sent to a webhook, of admission or of conversion, and where it is sent."""

    @property
    def client_config(self) -> WebhookClientConfig:
        """Return where the webhook is, and who vouches for it."""
        ...

    @property
    def timeout_seconds(self) -> int:
        """Return how long it may take."""
        ...

    @property
    def body(self) -> bytes:
        """Return the text of the review."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """Holds one call of an admission webhook. `document` is the review; `body` its text as it is
    sent."""

    hook: hooks.Hook
    api_version: str
    uid: str
    document: JsonDict

    @property
    def body(self) -> bytes:
        """Return the text of the review, with the line end that Go's encoder writes."""
        request = self.document.get("request") or {}
        objects = filter(None, (request.get("object"), request.get("oldObject")))
        has_raw = any(map(may_have_raw, objects))
        write = go_json.json_with_raw if has_raw else json_text
        return f"{write(self.document)}\n".encode("utf-8", "surrogatepass")

    @property
    def timeout_seconds(self) -> int:
        """Return how long the webhook may take."""
        return self.hook.webhook.timeout_seconds or DEFAULT_TIMEOUT_SECONDS

    @property
    def client_config(self) -> WebhookClientConfig:
        """Return where the webhook is, and who vouches for it."""
        return self.hook.webhook.client_config


def begin_call(selected: hooks.Selected, context: RequestContext, uid: str) -> Call:
    """Return the call of a hook that was selected. StatusError for a dry run that the webhook does
    not support, CallError where no version of the review would do, ConversionError."""
    hook, hit = selected.hook, selected.hit
    request = context.request
    if request.dry_run and hook.webhook.side_effects not in hooks.WITHOUT_SIDE_EFFECTS:
        raise hooks.dry_run_unsupported(hook)
    accepted = hook.webhook.admission_review_versions
    version = next((candidate for candidate in accepted if candidate in KNOWN_VERSIONS), None)
    if version is None:
        known_versions = ", ".join(KNOWN_VERSIONS)
        raise hooks.CallError(
            "could not create admission objects: webhook does not accept known AdmissionReview "
            f"versions ({known_versions})",
            400,
        )
    obj, old = context.objects(hit.kind)
    review_request = {
        **request_value(request, hit.kind, hit.resource),
        "uid": uid,
        "object": obj,
        "oldObject": old,
    }
    api_version = f"{GROUP}/{version}"
    return Call(
        hook, api_version, uid, {"kind": KIND, "apiVersion": api_version, "request": review_request}
    )


def call_url(config: WebhookClientConfig, timeout_seconds: int | None) -> str:
    """Return the URL of a call; `timeout_seconds` is what is left of the time, None for no
    limit."""
    if config.service is not None:
        service = config.service
        port = HTTPS_PORT if service.port is None else service.port
        base, path = f"https://{service.name}.{service.namespace}.svc:{port}", service.path or ""
    else:
        scheme, _, rest = (config.url or "").partition("://")
        base, path = f"{scheme}://{rest.partition('/')[0]}", _path_of(config.url or "")
    query = "" if timeout_seconds is None else f"?timeout={timeout_seconds}s"
    return f"{base}{URL(path=_clean(path).encode()).escaped_path}{query}"


def _path_of(url: str) -> str:
    """Return the path of a URL with nothing escaped; client-go escapes it again."""
    try:
        return parse_url(url).path.decode("utf-8", "replace")
    except URLError:
        return "/" + url.partition("://")[2].partition("/")[2]


def _clean(path: str) -> str:
    """Work as Go's `path.Join`, which knows no double slash at the start."""
    return "/" + posixpath.normpath(f"/{path}").lstrip("/")


# --- Incoming answers --------------------------------------------------------
#
# What a webhook has answered: the body of its reply, decoded and verified.
#
# The order of complaints is the API server's; none of what an answer says beside counts before
# it is verified. As k8s.io/apiserver `pkg/admission/plugin/webhook/request/admissionreview.go`.

SCHEME: Final = "k8s.io/apiserver/pkg/util/webhook/client.go:71"
_META_KINDS: Final = frozenset(
    f"{name}Options" for name in ("List", "Get", "Delete", "Create", "Update", "Patch")
) | {"WatchEvent"}
"""Kinds that every version of every group has."""
_CORE_KINDS: Final = frozenset(
    ["Status", "APIVersions", "APIGroupList", "APIGroup", "APIResourceList"]
)


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """Holds what a webhook has answered. `patch` is the text of the patch; `patch_type` None when
    none was given."""

    allowed: bool
    patch: bytes = b""
    patch_type: str | None = None
    status: JsonObject | None = None
    warnings: Sequence[str] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)


def read_answer(
    call: Call, reply: hooks.Reply | hooks.NoReply, as_json: hooks.AsJson, *, mutating: bool
) -> HookAnswer:
    """Return the answer to a call; CallError where there is none, or one that must not be
    trusted."""
    if isinstance(reply, hooks.NoReply):
        raise hooks.CallError(f"{reply.stage}: {reply.text}", hooks.code_of_failure(reply.code))
    hooks.require_success(reply, as_json)
    try:
        review, decoded = _decoded(as_json(reply.body), call)
    except StatusError as error:
        raise hooks.failed_call(_cause(error)) from None
    except hooks.UnreadableBody as error:
        raise hooks.failed_call(str(error)) from None
    return _verified(call, review, decoded, mutating=mutating)


def _cause(error: StatusError) -> str:
    """Return of the texts about request bodies only what is wrong with the document."""
    text = str(error).removeprefix("the object provided is unrecognized (must be of type ")
    return text.removeprefix(f"{KIND}): ").rpartition(" (")[0]


def _decoded(body: bytes, call: Call) -> tuple[JsonObject, JsonObject]:
    """Return the document of an answer as it is, and decoded as its type."""
    expected = GroupVersionKind(GROUP, call.api_version.rpartition("/")[2], KIND)
    answer_kind, document = request_bodies.interpret(body, expected)
    if (
        answer_kind.group != GROUP
        or answer_kind.version not in KNOWN_VERSIONS
        or answer_kind.kind != KIND
    ):
        raise hooks.failed_call(other_kind(answer_kind, expected))
    try:
        decoded = round_trip(document.value, answer_kind)
    except DecodeError as error:
        raise hooks.failed_call(str(error)) from None
    if answer_kind != expected:
        raise hooks.failed_call(unknown_conversion(answer_kind, expected))
    assert decoded is not None, f"{answer_kind} is built in"
    return document.value, decoded


def other_kind(kind: GroupVersionKind, expected: GroupVersionKind) -> str:
    """Return why an answer of another kind than a review is none."""
    registered = (kind.group == expected.group and kind.kind in _META_KINDS) or (
        kind.group_version == ("", "v1") and kind.kind in _CORE_KINDS
    )
    if registered:
        return unknown_conversion(kind, expected)
    return request_bodies.unregistered(kind, scheme=SCHEME)


def unknown_conversion(kind: GroupVersionKind, expected: GroupVersionKind) -> str:
    """Return why a kind that is known, but another one, is none."""
    return (
        f"converting ({kind.version}.{kind.kind}) to "
        f"({expected.version}.{expected.kind}): unknown conversion"
    )


def _verified(call: Call, review: JsonObject, decoded: JsonObject, *, mutating: bool) -> HookAnswer:
    response = decoded.get("response")
    if response is None:
        raise _invalid("webhook response was absent")
    patch, patch_type = response.get("patch", ""), response.get("patchType")
    if call.api_version == f"{GROUP}/v1":
        _verify_identity(call, review, response)
        _verify_patch(patch, patch_type, mutating=mutating)
    elif patch:
        patch_type = JSON_PATCH
    return HookAnswer(
        response["allowed"],
        base64.b64decode(patch) if mutating else b"",
        patch_type if mutating else None,
        response.get("status"),
        response.get("warnings", ()),
        response.get("auditAnnotations", {}),
    )


def _verify_identity(call: Call, review: JsonObject, response: JsonObject) -> None:
    if response["uid"] != call.uid:
        got = quote(response["uid"])
        raise _invalid(f"expected response.uid={quote(call.uid)}, got {got}")
    group, version = parse_api_version(review.get("apiVersion") or "")
    kind = review.get("kind") or ""
    if (group, version, kind) != (GROUP, "v1", KIND):
        raise _invalid(
            f"expected webhook response of {GROUP}/v1, Kind={KIND}, got {group}/{version}, "
            f"Kind={kind}"
        )


def _verify_patch(patch: str, patch_type: str | None, *, mutating: bool) -> None:
    if not mutating:
        if patch:
            raise _invalid("validating webhook may not return response.patch")
        if patch_type is not None:
            raise _invalid("validating webhook may not return response.patchType")
    elif patch and patch_type is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    elif not patch and patch_type is not None:
        raise _invalid("webhook returned response.patchType but not response.patch")
    elif patch_type == "":
        raise _invalid('webhook returned invalid response.patchType of ""')


def _invalid(reason: str) -> hooks.CallError:
    return hooks.CallError(f"received invalid webhook response: {reason}")
