"""From an AdmissionReview to the request that it asks about.

What comes in is parsed JSON of any shape; a `ReviewError` says what is wrong with it. Nothing is
copied: objects of the request are those of the document. v1 and v1beta1 have the same fields; null
is absent, and members nobody knows are passed over, as Go's decoder does.

An API server sends the objects of a review in the version that a rule of the webhook's names, which
is not always the one that its client used: `Request.request_kind` and `request_resource` say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from celadon.admission import Operation, Request
from celadon.admission.webhooks import REVIEW_KIND, REVIEW_VERSIONS
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User
from celadon.records import dataclass

T = TypeVar("T")
_OPERATIONS: Final = {one.value: one for one in Operation}
_NAMES: Final = {dict: "an object", str: "a string", bool: "a boolean", list: "a list"}


class ReviewError(ValueError):
    """The document is not a review that can be answered."""


@dataclass(frozen=True, slots=True)
class Review:
    """What is asked (its `uid` is to be repeated in the answer), in which version of the API."""

    request: Request
    api_version: str


def decode_review(document: object, size: int | None = None) -> Review:
    """The review of a document, whose text was `size` bytes. Raises ReviewError."""
    review = _typed(document, dict, "the body")
    api_version = review.get("apiVersion")
    if api_version not in REVIEW_VERSIONS or review.get("kind") != REVIEW_KIND:
        raise ReviewError(f"its kind is not {REVIEW_KIND} of {' or '.join(REVIEW_VERSIONS)}")
    asked = review.get("request")
    if asked is None:
        raise ReviewError("`request` is missing")
    return Review(_request(_typed(asked, dict, "`request`"), size), str(api_version))


def _request(asked: Mapping[str, Any], size: int | None) -> Request:
    uid = _text(asked, "uid")
    if not uid:
        raise ReviewError("`request.uid` is missing")
    kind, resource = asked.get("kind"), asked.get("resource")
    original_kind, original_resource = asked.get("requestKind"), asked.get("requestResource")
    own_kind, own_resource = _kind(kind, "kind"), _resource(resource, "resource")
    return Request(
        operation=_operation(asked),
        kind=own_kind,
        resource=own_resource,
        subresource=_text(asked, "subResource"),
        name=_text(asked, "name"),
        namespace=_text(asked, "namespace"),
        object=_object(asked, "object"),
        old_object=_object(asked, "oldObject"),
        user=_user(asked.get("userInfo")),
        dry_run=_dry_run(asked),
        options=_object(asked, "options"),
        request_kind=own_kind
        if original_kind is None or original_kind == kind
        else _kind(original_kind, "requestKind"),
        request_resource=own_resource
        if original_resource is None or original_resource == resource
        else _resource(original_resource, "requestResource"),
        request_subresource=_text(asked, "requestSubResource") or None,
        uid=uid,
        size=size,
    )


def _typed(value: object, wanted: type[T], what: str) -> T:
    if not isinstance(value, wanted):
        raise ReviewError(f"{what} must be {_NAMES[wanted]}, not {_found(value)}")
    return value


def _found(value: object) -> str:
    if value is None:
        return "null"
    return _NAMES.get(value.__class__, "a number")


def _text(parent: Mapping[str, Any], key: str) -> str:
    value = parent.get(key)
    if isinstance(value, str):
        return value
    return "" if value is None else _typed(value, str, f"`{key}`")


def _object(parent: Mapping[str, Any], key: str) -> JsonObject | None:
    value = parent.get(key)
    return None if value is None else _typed(value, dict, f"`request.{key}`")


def _dry_run(asked: Mapping[str, Any]) -> bool:
    value = asked.get("dryRun")
    return value is not None and _typed(value, bool, "`dryRun`")


def _operation(asked: Mapping[str, Any]) -> Operation:
    text = _text(asked, "operation")
    found = _OPERATIONS.get(text)
    if found is None:
        raise ReviewError(f"`request.operation` is unknown: `{text}`")
    return found


def _kind(value: object, key: str) -> GroupVersionKind:
    return GroupVersionKind(*_names(value, key, "kind"))


def _resource(value: object, key: str) -> GroupVersionResource:
    return GroupVersionResource(*_names(value, key, "resource"))


def _names(value: object, key: str, last: str) -> tuple[str, str, str]:
    parts = {} if value is None else _typed(value, dict, f"`{key}`")
    return _text(parts, "group"), _text(parts, "version"), _text(parts, last)


def _user(value: object) -> User:
    info: Mapping[str, Any] = {} if value is None else _typed(value, dict, "`userInfo`")
    extra = info.get("extra")
    return User(
        name=_text(info, "username"),
        groups=_texts(info.get("groups"), "`groups`"),
        uid=_text(info, "uid"),
        extra={}
        if extra is None
        else {key: _texts(one, "`extra`") for key, one in _typed(extra, dict, "`extra`").items()},
    )


def _texts(value: object, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(_typed(item, str, what) for item in _typed(value, list, what))
