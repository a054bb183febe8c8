"""Validation of `metadata`, as every strategy of a cluster-scoped kind does it first.

As `ValidateObjectMeta` in k8s.io/apimachinery `pkg/api/validation/objectmeta.go`, with names that
are DNS subdomains. Owner references are complained about without their index, and a label's value
without its key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.kube import FieldError, FieldPath, NamedText, fieldpath, name_rules

ANNOTATIONS_BYTES: Final = 256 * 1024
"""Keys and values of all annotations together."""

EVENT_API_VERSION: Final = "v1"
FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
_PATH: Final = FieldPath("metadata")

JsonObject = Mapping[str, Any]


def validate_object_meta(meta: JsonObject) -> list[FieldError]:
    """In upstream's order; the document has been decoded, so its values are of the right types."""
    return [
        *_names(meta),
        *_labels(meta.get("labels", {})),
        *_annotations(meta.get("annotations", {})),
        *_owners(meta.get("ownerReferences", ())),
        *_finalizers(meta.get("finalizers", ())),
    ]


def _names(meta: JsonObject) -> list[FieldError]:
    errors = []
    generate, name = meta.get("generateName", ""), meta.get("name", "")
    if generate:
        path = _PATH.child("generateName")
        messages = name_rules.dns1123_subdomain(name_rules.prefix_as_name(generate))
        errors += [fieldpath.invalid(path, generate, message) for message in messages]
    path = _PATH.child("name")
    if not name:
        errors.append(fieldpath.required(path, "name or generateName is required"))
    else:
        messages = name_rules.dns1123_subdomain(name)
        errors += [fieldpath.invalid(path, name, message) for message in messages]
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
    version = owner["apiVersion"].rpartition("/")[2]
    if not version:
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
