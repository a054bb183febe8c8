"""Validation of `metadata`: by every strategy of a cluster-scoped kind, and once more on update.

`validate_object_meta` is what a strategy does first, with names that are DNS subdomains.
`validate_meta_update` is what a server does before it asks the strategy about an update: names that
fit into a path, and what must not change. So a bad label is found three times on update. As
k8s.io/apimachinery `pkg/api/validation/objectmeta.go`. Owner references are complained about
without their index, and a label's value without its key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celadon.kube import (
    ApiVersionError,
    FieldError,
    FieldPath,
    NamedText,
    fieldpath,
    name_rules,
    parse_api_version,
    quote,
)

ANNOTATIONS_BYTES: Final = 256 * 1024
"""Keys and values of all annotations together."""

EVENT_API_VERSION: Final = "v1"
FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
IMMUTABLE: Final = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_PATH: Final = FieldPath("metadata")

JsonObject = Mapping[str, Any]
NameCheck = Callable[[str, bool], list[str]]
"""A name, and whether it is only the prefix of one, to what is wrong with it."""


def validate_object_meta(meta: JsonObject) -> list[FieldError]:
    """In upstream's order; the document has been decoded, so its values are of the right types."""
    return _validate(meta, _subdomain_names)


def _validate(meta: JsonObject, check_names: NameCheck) -> list[FieldError]:
    return [
        *_names(meta, check_names),
        *_labels(meta.get("labels", {})),
        *_annotations(meta.get("annotations", {})),
        *_owners(meta.get("ownerReferences", ())),
        *_finalizers(meta.get("finalizers", ())),
    ]


def _subdomain_names(name: str, is_prefix: bool) -> list[str]:
    return name_rules.dns1123_subdomain(name_rules.prefix_as_name(name) if is_prefix else name)


def _path_names(name: str, is_prefix: bool) -> list[str]:
    found = name_rules.path_segment_name(name)
    return [message for message in found if not (is_prefix and message.startswith("may not be"))]


def validate_meta_update(meta: JsonObject, old: JsonObject) -> list[FieldError]:
    """Both decoded, with the fields of a stored object that a client cannot touch carried over."""
    errors = _validate(meta, _path_names)
    if old.get("deletionTimestamp"):
        errors += _no_new_finalizers(meta.get("finalizers", ()), old.get("finalizers", ()))
    if not meta.get("resourceVersion"):
        path = _PATH.child("resourceVersion")
        errors.append(fieldpath.invalid(path, "", "must be specified for an update"))
    for field in IMMUTABLE:
        value = meta.get(field)
        if value != old.get(field):
            shown = NamedText(value) if field == "uid" else value
            errors.append(fieldpath.invalid(_PATH.child(field), shown, "field is immutable"))
    return [
        *errors,
        *_labels(meta.get("labels", {})),
        *_annotations(meta.get("annotations", {})),
        *_owners(meta.get("ownerReferences", ())),
    ]


def _no_new_finalizers(new: Sequence[str], old: Sequence[str]) -> list[FieldError]:
    added = sorted(set(new) - set(old))
    if not added:
        return []
    listed = ", ".join(map(quote, added))
    detail = (
        "no new finalizers can be added if the object is being deleted, found new finalizers "
        f"[]string{{{listed}}}"
    )
    return [fieldpath.forbidden(_PATH.child("finalizers"), detail)]


def _names(meta: JsonObject, check: NameCheck) -> list[FieldError]:
    errors = []
    generate, name = meta.get("generateName", ""), meta.get("name", "")
    if generate:
        path = _PATH.child("generateName")
        errors += [fieldpath.invalid(path, generate, message) for message in check(generate, True)]
    path = _PATH.child("name")
    if not name:
        errors.append(fieldpath.required(path, "name or generateName is required"))
    else:
        errors += [fieldpath.invalid(path, name, message) for message in check(name, False)]
    return errors


def _labels(labels: Mapping[str, str]) -> list[FieldError]:
    path = _PATH.child("labels")
    errors = []
    for key, value in labels.items():
        errors += [fieldpath.invalid(path, key, m) for m in name_rules.qualified_name(key)]
        errors += [fieldpath.invalid(path, value, m) for m in name_rules.label_value(value)]
    return errors


def _annotations(annotations: Mapping[str, str]) -> list[FieldError]:
    path = _PATH.child("annotations")
    errors = []
    total = 0
    for key, value in annotations.items():
        messages = name_rules.qualified_name(key.lower())
        errors += [fieldpath.invalid(path, key, message) for message in messages]
        total += sum(len(text.encode("utf-8", "surrogatepass")) for text in (key, value))
    if total > ANNOTATIONS_BYTES:
        errors.append(fieldpath.too_long(path, ANNOTATIONS_BYTES))
    return errors


def _owners(owners: Sequence[JsonObject]) -> list[FieldError]:
    path = _PATH.child("ownerReferences")
    errors: list[FieldError] = []
    controllers: list[JsonObject] = []
    for owner in owners:
        errors += _owner(owner, path)
        if not owner.get("controller"):
            continue
        controllers.append(owner)
        if len(controllers) > 1:
            named = " and ".join(f"{one['kind']}/{one['name']}" for one in controllers[-2:])
            detail = (
                'Only one reference can have Controller set to true. Found "true" in references '
                f"for {named}"
            )
            errors.append(fieldpath.invalid(path, list(owners), detail))
    return errors


def _owner(owner: JsonObject, path: FieldPath) -> list[FieldError]:
    errors = []
    if not _version(owner["apiVersion"]):
        at = path.child("apiVersion")
        errors.append(fieldpath.invalid(at, owner["apiVersion"], "version must not be empty"))
    for member in ("kind", "name"):
        if not owner[member]:
            errors.append(fieldpath.invalid(path.child(member), "", "must not be empty"))
    if not owner["uid"]:
        errors.append(fieldpath.invalid(path.child("uid"), NamedText(""), "must not be empty"))
    if owner["apiVersion"] == EVENT_API_VERSION and owner["kind"] == "Event":
        detail = "/v1, Kind=Event is disallowed from being an owner"
        errors.append(fieldpath.invalid(path, dict(owner), detail))
    return errors


def _version(api_version: str) -> str:
    """Empty for what is no API version at all."""
    try:
        return parse_api_version(api_version).version
    except ApiVersionError:
        return ""


def _finalizers(finalizers: Sequence[str]) -> list[FieldError]:
    path = _PATH.child("finalizers")
    errors = []
    for finalizer in finalizers:
        messages = name_rules.qualified_name(finalizer)
        errors += [fieldpath.invalid(path, finalizer, message) for message in messages]
    if FOREGROUND in finalizers and ORPHAN in finalizers:
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(fieldpath.invalid(path, list(finalizers), detail))
    return errors
