"""AdmissionReviews of both versions: bytes to a request, a verdict to bytes. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from celadon.admission import VALIDATION_FAILURE, Operation, Request, Verdict
from celadon.admission.webhooks import REVIEW_KIND, REVIEW_VERSIONS
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User, name_rules
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass

# --- Incoming reviews --------------------------------------------------------
#
# From an AdmissionReview to the request that it asks about.
#
# What comes in is parsed JSON of any shape; a `ReviewError` says what is wrong with it. Nothing
# is copied: objects of the request are those of the document. v1 and v1beta1 have the same
# fields; null is absent, and members nobody knows are passed over, as Go's decoder does.
#
# An API server sends the objects of a review in the version that a rule of the webhook's names,
# which is not always the one that its client used: `Request.request_kind` and
# `request_resource` say so.

T = TypeVar("T")
_OPERATIONS: Final = {operation.value: operation for operation in Operation}
_NAMES: Final = {dict: "an object", str: "a string", bool: "a boolean", list: "a list"}


class ReviewError(ValueError):
    """The document is not a review that can be answered."""


@dataclass(frozen=True, slots=True)
class Review:
    """A review asks about a request, in one version of the API. The `uid` of the request is
    repeated in the answer."""

    request: Request
    api_version: str


def decode_review(document: object, size: int | None = None) -> Review:
    """Return the review of a document, whose text was `size` bytes. Raises ReviewError."""
    review = _typed(document, dict, "the body")
    api_version = review.get("apiVersion")
    if api_version not in REVIEW_VERSIONS or review.get("kind") != REVIEW_KIND:
        raise ReviewError(f"its kind is not {REVIEW_KIND} of {' or '.join(REVIEW_VERSIONS)}")
    request = review.get("request")
    if request is None:
        raise ReviewError("`request` is missing")
    return Review(_request(_typed(request, dict, "`request`"), size), str(api_version))


def _request(request: JsonObject, size: int | None) -> Request:
    uid = _text(request, "uid")
    if not uid:
        raise ReviewError("`request.uid` is missing")
    kind, resource = request.get("kind"), request.get("resource")
    original_kind, original_resource = request.get("requestKind"), request.get("requestResource")
    own_kind, own_resource = _kind(kind, "kind"), _resource(resource, "resource")
    return Request(
        operation=_operation(request),
        kind=own_kind,
        resource=own_resource,
        subresource=_text(request, "subResource"),
        name=_text(request, "name"),
        namespace=_text(request, "namespace"),
        object=_object(request, "object"),
        old_object=_object(request, "oldObject"),
        user=_user(request.get("userInfo")),
        dry_run=_dry_run(request),
        options=_object(request, "options"),
        request_kind=own_kind
        if original_kind is None or original_kind == kind
        else _kind(original_kind, "requestKind"),
        request_resource=own_resource
        if original_resource is None or original_resource == resource
        else _resource(original_resource, "requestResource"),
        request_subresource=_text(request, "requestSubResource") or None,
        uid=uid,
        size=size,
    )


def _typed(value: object, expected: type[T], subject: str) -> T:
    if not isinstance(value, expected):
        raise ReviewError(f"{subject} must be {_NAMES[expected]}, not {_found(value)}")
    return value


def _found(value: object) -> str:
    if value is None:
        return "null"
    return _NAMES.get(value.__class__, "a number")


def _text(parent: JsonObject, key: str) -> str:
    value = parent.get(key)
    if isinstance(value, str):
        return value
    return "" if value is None else _typed(value, str, f"`{key}`")


def _object(parent: JsonObject, key: str) -> JsonObject | None:
    value = parent.get(key)
    return None if value is None else _typed(value, dict, f"`request.{key}`")


def _dry_run(request: JsonObject) -> bool:
    value = request.get("dryRun")
    return value is not None and _typed(value, bool, "`dryRun`")


def _operation(request: JsonObject) -> Operation:
    text = _text(request, "operation")
    operation = _OPERATIONS.get(text)
    if operation is None:
        raise ReviewError(f"`request.operation` is unknown: `{text}`")
    return operation


def _kind(value: object, key: str) -> GroupVersionKind:
    return GroupVersionKind(*_names(value, key, "kind"))


def _resource(value: object, key: str) -> GroupVersionResource:
    return GroupVersionResource(*_names(value, key, "resource"))


def _names(value: object, key: str, last: str) -> tuple[str, str, str]:
    parts = {} if value is None else _typed(value, dict, f"`{key}`")
    return _text(parts, "group"), _text(parts, "version"), _text(parts, last)


def _user(value: object) -> User:
    info: JsonObject = {} if value is None else _typed(value, dict, "`userInfo`")
    extra = info.get("extra")
    return User(
        name=_text(info, "username"),
        groups=_texts(info.get("groups"), "`groups`"),
        uid=_text(info, "uid"),
        extra={}
        if extra is None
        else {
            key: _texts(member, "`extra`") for key, member in _typed(extra, dict, "`extra`").items()
        },
    )


def _texts(value: object, subject: str) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(_typed(item, str, subject) for item in _typed(value, list, subject))


# --- Review answers ----------------------------------------------------------
#
# From a verdict to the AdmissionReview that answers.
#
# An API server publishes a webhook's audit annotations as `<webhook>/<key>`, and drops those
# whose key has a slash of its own or is longer than 63 characters. So what a policy publishes
# as `<policy>/<key>` in a cluster is called `<policy>_<key>` here (no policy's name has an
# underscore), and shortened, with a hash of the whole, where that is too long; the record of
# failed validations, `validation.policy.admission.k8s.io/validation_failure`, is called
# `validation_failure`.

FAILURE_KEY: Final = VALIDATION_FAILURE.rpartition("/")[2]
_HASH_CHARACTERS: Final = 10


def answer_review(review: Review, verdict: Verdict, patch: Sequence[JsonObject] = ()) -> JsonDict:
    """Return the review that answers, in the version of the one that asks; `patch` is a JSON
    patch."""
    response: JsonDict = {"uid": review.request.uid, "allowed": verdict.allowed}
    if verdict.status is not None:
        response["status"] = verdict.status
    if verdict.recorded:
        response["warnings"] = list(verdict.warnings)
    if verdict.audit_annotations:
        response["auditAnnotations"] = hook_annotations(verdict.audit_annotations)
    if patch and verdict.allowed:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
    return {"kind": REVIEW_KIND, "apiVersion": review.api_version, "response": response}


def hook_annotations(published: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations of a verdict under keys that an API server takes from a webhook."""
    return {_hook_key(name): text for name, text in published.items()}


def _hook_key(name: str) -> str:
    if name == VALIDATION_FAILURE:
        return FAILURE_KEY
    key = name.replace("/", "_")
    if key != FAILURE_KEY and len(key) <= name_rules.QUALIFIED_NAME_MAX_BYTES:
        return key
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH_CHARACTERS]
    return f"{key[: name_rules.QUALIFIED_NAME_MAX_BYTES - _HASH_CHARACTERS - 1]}-{digest}"
