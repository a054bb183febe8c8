"""What an access review must be like to be answered.

As k8s.io/kubernetes `pkg/apis/authorization/validation` and k8s.io/apimachinery
`pkg/apis/meta/v1/validation` (selector requirements, unknown operators allowed).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import FieldError, FieldPath, JsonObject, fieldpath, metadata, name_rules
from celadon.kube.well_known_values import META_FIELDS

_SPEC: Final = FieldPath("spec")
_METADATA: Final = FieldPath("metadata")


def validate_self_review(review: JsonObject) -> list[FieldError]:
    """Of a SelfSubjectAccessReview."""
    spec = review.get("spec") or {}
    return [*_attributes(spec), *_selectors(spec), *_no_metadata(review, frozenset())]


def validate_subject_review(review: JsonObject) -> list[FieldError]:
    """Of a SubjectAccessReview."""
    return [*_subject_spec(review.get("spec") or {}), *_no_metadata(review, frozenset())]


def validate_local_review(review: JsonObject) -> list[FieldError]:
    """Of a LocalSubjectAccessReview."""
    spec = review.get("spec") or {}
    errors = [*_subject_spec(spec), *_no_metadata(review, frozenset({"namespace"}))]
    resource = spec.get("resourceAttributes")
    if resource is not None:
        given = resource.get("namespace") or ""
        if given != metadata.namespace(review):
            at = _SPEC.child("resourceAttributes", "namespace")
            errors.append(fieldpath.invalid(at, given, "must match metadata.namespace"))
    if spec.get("nonResourceAttributes") is not None:
        detail = "disallowed on this kind of request"
        errors.append(_path_error(spec, detail))
    return errors


def _subject_spec(spec: JsonObject) -> Iterator[FieldError]:
    yield from _attributes(spec)
    if not spec.get("user") and not spec.get("groups"):
        detail = "at least one of user or group must be specified"
        yield fieldpath.invalid(_SPEC.child("user"), "", detail)
    yield from _selectors(spec)


def _attributes(spec: JsonObject) -> Iterator[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        yield _path_error(spec, "cannot be specified in combination with resourceAttributes")
    if resource is None and path is None:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield fieldpath.invalid(_SPEC.child("resourceAttributes"), None, detail)


def _path_error(spec: JsonObject, detail: str) -> FieldError:
    """The value is shown with the names of upstream's internal type."""
    path = spec["nonResourceAttributes"]
    shown = {"Path": path.get("path") or "", "Verb": path.get("verb") or ""}
    return fieldpath.invalid(_SPEC.child("nonResourceAttributes"), shown, detail)


def _selectors(spec: JsonObject) -> Iterator[FieldError]:
    attributes = spec.get("resourceAttributes") or {}
    at = FieldPath("spec.resourceAttributes")
    yield from _selector(attributes.get("fieldSelector"), at.child("fieldSelector"), labels=False)
    yield from _selector(attributes.get("labelSelector"), at.child("labelSelector"), labels=True)


def _selector(given: JsonObject | None, at: FieldPath, *, labels: bool) -> Iterator[FieldError]:
    if given is None:
        return
    raw, requirements = given.get("rawSelector") or "", given.get("requirements") or ()
    if raw and requirements:
        detail = "may not specified at the same time as requirements"
        yield fieldpath.invalid(at.child("rawSelector"), raw, detail)
    if not raw and not requirements:
        detail = f"when {at} is specified, requirements or rawSelector is required"
        yield fieldpath.required(at.child("requirements"), detail)
    for position, one in enumerate(requirements):
        where = at.child("requirements").index(position)
        if not labels and not one.get("key"):
            yield fieldpath.required(where.child("key"), "must be specified")
        yield from _operator(one, where)
        if labels:
            yield from _label_texts(one, where)


def _operator(requirement: JsonObject, at: FieldPath) -> Iterator[FieldError]:
    operator, values = requirement.get("operator") or "", requirement.get("values") or ()
    if operator in {"In", "NotIn"} and not values:
        detail = "must be specified when `operator` is 'In' or 'NotIn'"
        yield fieldpath.required(at.child("values"), detail)
    if operator in {"Exists", "DoesNotExist"} and values:
        detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield fieldpath.forbidden(at.child("values"), detail)


def _label_texts(requirement: JsonObject, at: FieldPath) -> Iterator[FieldError]:
    key = requirement.get("key") or ""
    for message in name_rules.qualified_name(key):
        yield fieldpath.invalid(at.child("key"), key, message)
    for position, value in enumerate(requirement.get("values") or ()):
        for message in name_rules.label_value(value):
            yield fieldpath.invalid(at.child("values").index(position), value, message)


def _no_metadata(review: JsonObject, but: frozenset[str]) -> Iterator[FieldError]:
    given = {name: value for name, value in metadata.metadata(review).items() if value}
    if not set(given) - but - {"managedFields"}:
        return
    shown = {name: given[name] for name in META_FIELDS if name in given}
    exception = f" except for {', '.join(but)}" if but else ""
    yield fieldpath.invalid(_METADATA, shown, f"must be empty{exception}")
