"""AdmissionReview: the envelope in which an API server asks a webhook, and gets its answer.

`decode` turns a review's request into a `Request`, `encode` a `Verdict` into the response. Both
versions of `admission.k8s.io` have the same fields. Nothing is read or sent here; what comes in is
parsed JSON of any shape, and `ReviewError` says what is wrong with it.

The API server puts the webhook's name and a slash in front of each audit annotation's key, and
drops keys that then have two slashes. So a response names them `<policy>_<key>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from celadon.admission.request import Operation, Request
from celadon.admission.verdict import VALIDATION_FAILURE, Verdict
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User, name_rules

GROUP: Final = "admission.k8s.io"
API_VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
KIND: Final = "AdmissionReview"
FAILURE_ANNOTATION: Final = "validation_failure"

T = TypeVar("T")


class ReviewError(ValueError):
    """The document is not a review that can be answered."""


def decode(document: object) -> Request:
    """The request of a review."""
    review = _typed(document, dict, "the body")
    api_version = _member(review, "apiVersion", str, "")
    if api_version not in API_VERSIONS or _member(review, "kind", str, "") != KIND:
        raise ReviewError(f"not an {KIND} of {' or '.join(API_VERSIONS)}")
    if review.get("request") is None:
        raise ReviewError("`request` is missing")
    request = _typed(review["request"], dict, "`request`")
    if not _member(request, "uid", str, ""):
        raise ReviewError("`request.uid` is missing")
    kind, resource = _kind(request, "kind"), _resource(request, "resource")
    return Request(
        operation=_operation(_member(request, "operation", str, "")),
        kind=kind,
        resource=resource,
        subresource=_member(request, "subResource", str, ""),
        name=_member(request, "name", str, ""),
        namespace=_member(request, "namespace", str, ""),
        object=_optional_object(request, "object"),
        old_object=_optional_object(request, "oldObject"),
        user=_user(_member(request, "userInfo", dict, {})),
        dry_run=_member(request, "dryRun", bool, default=False),
        options=_optional_object(request, "options"),
        request_kind=_kind(request, "requestKind") if request.get("requestKind") else None,
        request_resource=_resource(request, "requestResource")
        if request.get("requestResource")
        else None,
        request_subresource=_member(request, "requestSubResource", str, "") or None,
        uid=request["uid"],
    )


def encode(verdict: Verdict, uid: str, api_version: str = API_VERSIONS[0]) -> dict[str, Any]:
    """The review that answers; `api_version` is that of the question."""
    response: dict[str, Any] = {"uid": uid, "allowed": verdict.allowed}
    if verdict.status is not None:
        response["status"] = dict(verdict.status)
    if verdict.warnings:
        response["warnings"] = list(verdict.warnings)
    annotations = {
        key: text
        for name, text in verdict.audit_annotations.items()
        if not name_rules.qualified_name(key := _annotation_key(name))
    }
    if annotations:
        response["auditAnnotations"] = annotations
    return {"apiVersion": api_version, "kind": KIND, "response": response}


def _annotation_key(name: str) -> str:
    return FAILURE_ANNOTATION if name == VALIDATION_FAILURE else name.replace("/", "_")


def _typed(value: object, wanted: type[T], what: str) -> T:
    if value.__class__ is not wanted:
        raise ReviewError(f"{what} must be {_NAMES[wanted]}, not {_found(value)}")
    found: T = value
    return found


_NAMES: Final = {dict: "an object", str: "a string", bool: "a boolean", list: "a list"}


def _found(value: object) -> str:
    if value is None:
        return "null"
    return _NAMES.get(value.__class__, "a number")


def _member(parent: Mapping[str, Any], key: str, wanted: type[T], default: T) -> T:
    """A member of the request; null is absent."""
    value = parent.get(key)
    return default if value is None else _typed(value, wanted, f"`{key}`")


def _optional_object(request: Mapping[str, Any], key: str) -> JsonObject | None:
    value = request.get(key)
    return None if value is None else _typed(value, dict, f"`request.{key}`")


def _operation(text: str) -> Operation:
    try:
        return Operation(text)
    except ValueError:
        raise ReviewError(f"`request.operation` is unknown: `{text}`") from None


def _kind(request: Mapping[str, Any], key: str) -> GroupVersionKind:
    value: dict[str, Any] = _member(request, key, dict, {})
    return GroupVersionKind(
        _member(value, "group", str, ""),
        _member(value, "version", str, ""),
        _member(value, "kind", str, ""),
    )


def _resource(request: Mapping[str, Any], key: str) -> GroupVersionResource:
    value: dict[str, Any] = _member(request, key, dict, {})
    return GroupVersionResource(
        _member(value, "group", str, ""),
        _member(value, "version", str, ""),
        _member(value, "resource", str, ""),
    )


def _user(info: Mapping[str, Any]) -> User:
    extra: dict[str, Any] = _member(info, "extra", dict, {})
    return User(
        name=_member(info, "username", str, ""),
        groups=_texts(info.get("groups"), "`groups`"),
        uid=_member(info, "uid", str, ""),
        extra={key: _texts(values, "`extra`") for key, values in extra.items()},
    )


def _texts(value: object, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(_typed(item, str, what) for item in _typed(value, list, what))
