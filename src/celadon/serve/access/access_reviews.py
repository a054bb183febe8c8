"""May I, may they: the reviews of authorization.k8s.io.

A review is answered, not stored. It comes decoded and defaulted; the answer is it with its
`status`. As k8s.io/kubernetes `pkg/registry/authorization` and `pkg/apis/authorization/validation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.kube import (
    Answer,
    Attributes,
    AuthorizerBackend,
    FieldError,
    GroupKind,
    JsonObject,
    Ruling,
    User,
    metadata,
    status,
)
from celadon.kube.roles import RbacAuthorizer, aggregated
from celadon.kube.selection import (
    FieldSelector,
    FieldTerm,
    LabelSelector,
    Requirement,
    SelectorError,
    label_selector,
    parse_field_selector,
    parse_label_selector,
)
from celadon.kube.well_known_values import AUTHORIZATION_GROUP
from celadon.serve.access.access_review_validation import (
    validate_local_review,
    validate_self_review,
    validate_subject_review,
)

_NAMELESS: Final = GroupKind(AUTHORIZATION_GROUP, "")
"""Upstream's refusals of reviews name no kind."""


def self_subject_access_review(
    review: JsonObject, user: User, authorizer: AuthorizerBackend
) -> dict[str, Any]:
    """May I. Raises StatusError (422)."""
    return _reviewed(review, user, validate_self_review(review), authorizer)


def subject_access_review(review: JsonObject, authorizer: AuthorizerBackend) -> dict[str, Any]:
    """May they. Raises StatusError (422)."""
    subject = _subject(review.get("spec") or {})
    return _reviewed(review, subject, validate_subject_review(review), authorizer)


def local_subject_access_review(
    review: JsonObject, namespace: str, authorizer: AuthorizerBackend
) -> dict[str, Any]:
    """May they, in the namespace of the path. Raises StatusError (400, 422)."""
    errors = validate_local_review(review)
    if not errors and metadata.namespace(review) != namespace:
        raise status.bad_request(
            f"spec.resourceAttributes.namespace must match namespace: {namespace}"
        )
    return _reviewed(review, _subject(review.get("spec") or {}), errors, authorizer)


def _subject(spec: JsonObject) -> User:
    return User(
        spec.get("user") or "",
        tuple(spec.get("groups") or ()),
        spec.get("uid") or "",
        spec.get("extra") or {},
    )


def _reviewed(
    review: JsonObject, user: User, errors: Sequence[FieldError], authorizer: AuthorizerBackend
) -> dict[str, Any]:
    if errors:
        raise status.invalid(_NAMELESS, "", errors)
    attributes = reviewed_attributes(review.get("spec") or {}, user)
    shown = _access_status(authorizer.authorize(attributes), attributes)
    return {**review, "status": shown}


def reviewed_attributes(spec: JsonObject, user: User) -> Attributes:
    """What a review asks."""
    path = spec.get("nonResourceAttributes")
    if path is not None:
        return Attributes(user, path.get("verb") or "", path=path.get("path") or "")
    given = spec.get("resourceAttributes") or {}
    named = ("group", "resource", "subresource", "namespace", "name")
    texts: dict[str, Any] = {field: given.get(field) or "" for field in named}
    asked = Attributes(
        user,
        given.get("verb") or "",
        resource_request=True,
        version=given.get("version") or "*",
        **texts,
    )
    if given.get("fieldSelector"):
        selector, error = _field_selector(given["fieldSelector"])
        asked = replace(asked, field_selector=selector, field_selector_error=error)
    if given.get("labelSelector"):
        chosen, error = _label_selector(given["labelSelector"])
        asked = replace(asked, label_selector=chosen, label_selector_error=error)
    return asked


def _field_selector(given: JsonObject) -> tuple[FieldSelector | None, str]:
    """What can be understood of it, and why the rest cannot."""
    if given.get("rawSelector"):
        try:
            return parse_field_selector(given["rawSelector"]), ""
        except SelectorError as error:
            return None, str(error)
    terms: list[FieldTerm] = []
    complaint = ""
    for one in given.get("requirements") or ():
        values: Sequence[str] = one.get("values") or ()
        if one.get("operator") in {"In", "NotIn"} and len(values) == 1:
            negated = one["operator"] == "NotIn"
            terms.append(FieldTerm(one.get("key") or "", values[0], negated))
        else:
            complaint = f"unsupported field selector requirement on {one.get('key')}"
    return (FieldSelector(tuple(terms)) if terms else None), complaint


def _label_selector(given: JsonObject) -> tuple[LabelSelector | None, str]:
    """As `_field_selector`."""
    if given.get("rawSelector"):
        try:
            return parse_label_selector(given["rawSelector"]), ""
        except SelectorError as error:
            return None, str(error)
    terms: list[Requirement] = []
    complaint = ""
    for one in given.get("requirements") or ():
        try:
            terms += label_selector({"matchExpressions": [one]}).requirements
        except SelectorError as error:
            complaint = str(error)
    return (LabelSelector(tuple(terms)) if terms else None), complaint


def _access_status(answer: Answer, attributes: Attributes) -> dict[str, Any]:
    ruling, reason, error = answer
    errors = [error] if error is not None else []
    errors += _selector_errors(attributes)
    shown: dict[str, Any] = {"allowed": ruling is Ruling.ALLOW}
    if ruling is Ruling.DENY:
        shown["denied"] = True
    if reason:
        shown["reason"] = reason
    if errors:
        shown["evaluationError"] = aggregated(errors)
    return shown


def _selector_errors(asked: Attributes) -> Iterator[str]:
    for name, selector, error in (
        ("fieldSelector", asked.field_selector, asked.field_selector_error),
        ("labelSelector", asked.label_selector, asked.label_selector_error),
    ):
        if error:
            how = "ignored" if selector is None else "partially ignored"
            yield f"spec.resourceAttributes.{name} {how} due to parse error"


def self_subject_rules_review(
    review: JsonObject, user: User, roles: RbacAuthorizer
) -> dict[str, Any]:
    """What may I, in a namespace. Nothing of the review comes back. Raises StatusError (400)."""
    namespace = (review.get("spec") or {}).get("namespace")
    if not namespace:
        raise status.bad_request("no namespace on request")
    rules, missing = roles.rules_for(user, namespace)
    shown = [rule.to_json() for rule in rules]
    answer: dict[str, Any] = {
        "resourceRules": [_without(one, "nonResourceURLs") for one in shown if "resources" in one],
        "nonResourceRules": [
            {"verbs": one["verbs"], "nonResourceURLs": one["nonResourceURLs"]}
            for one in shown
            if "nonResourceURLs" in one
        ],
        "incomplete": False,
    }
    if missing:
        answer["evaluationError"] = aggregated(ref.error for ref in missing)
    return {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": f"{AUTHORIZATION_GROUP}/v1",
        "metadata": {},
        "spec": {},
        "status": answer,
    }


def _without(members: JsonObject, name: str) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key != name}
