"""Validation of `metadata`: of a new object, and of a changed one against the stored one.

As k8s.io/apimachinery `pkg/api/validation/objectmeta.go`. Owner references are complained about
without their index, and a label's value without its key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.validation.fields import (
    METADATA,
    Errors,
    Messages,
    Object,
    dns_label,
    each,
    immutable,
    items,
)
from celadon.kube.validation.labels import labels

ANNOTATIONS_BYTES: Final = 256 * 1024
"""Keys and values of all annotations together."""

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
STANDARD_FINALIZERS: Final = frozenset({"kubernetes", ORPHAN, FOREGROUND})
"""The finalizers that need no domain."""

FIXED: Final = ("name", "namespace", "uid", "creationTimestamp")
_EVENT: Final = ("v1", "Event")


@dataclass(frozen=True, slots=True)
class Naming:
    """What the names of a kind may look like, and whether its objects live in namespaces.

    `masks_prefix`: a dash at the end of `generateName` is no fault.
    """

    rule: Messages = name_rules.dns1123_subdomain
    namespaced: bool = True
    masks_prefix: bool = True


def validate_object_meta(meta: Object, naming: Naming) -> Errors:
    """Of a new object, in upstream's order."""
    yield from _names(meta, naming)
    if naming.namespaced:
        namespace = meta.get("namespace")
        if namespace:
            yield from dns_label(METADATA.child("namespace"), namespace)
        else:
            yield fieldpath.required(METADATA.child("namespace"))
    yield from labels(METADATA.child("labels"), meta.get("labels"))
    yield from validate_annotations(METADATA.child("annotations"), meta.get("annotations"))
    yield from _owners(meta.get("ownerReferences") or ())
    yield from _finalizers(meta)


def validate_object_meta_update(meta: Object, old: Object) -> Errors:
    """Of a changed object. A missing resource version is a matter of the store."""
    if old.get("deletionTimestamp"):
        yield from _no_new_finalizers(meta, old)
    for field in FIXED:
        yield from immutable(METADATA.child(field), meta.get(field), old.get(field))
    yield from labels(METADATA.child("labels"), meta.get("labels"))
    yield from validate_annotations(METADATA.child("annotations"), meta.get("annotations"))
    yield from _owners(meta.get("ownerReferences") or ())
    yield from _standard_finalizers(meta)


def _no_new_finalizers(meta: Object, old: Object) -> Errors:
    known = set(old.get("finalizers") or ())
    added = [one for one in meta.get("finalizers") or () if one not in known]
    if added:
        shown = ", ".join(f'"{one}"' for one in added)
        detail = (
            "no new finalizers can be added if the object is being deleted, found new finalizers "
            f"[]string{{{shown}}}"
        )
        yield fieldpath.forbidden(METADATA.child("finalizers"), detail)


def _names(meta: Object, naming: Naming) -> Errors:
    generate, name = meta.get("generateName") or "", meta.get("name") or ""
    if generate:
        checked = name_rules.prefix_as_name(generate) if naming.masks_prefix else generate
        yield from each(METADATA.child("generateName"), generate, naming.rule(checked))
    if name:
        yield from each(METADATA.child("name"), name, naming.rule(name))
    else:
        yield fieldpath.required(METADATA.child("name"), "name or generateName is required")


def validate_annotations(path: FieldPath, given: Mapping[str, str] | None) -> Errors:
    """Keys one by one, and the size of all."""
    total = 0
    for key, value in sorted((given or {}).items()):
        yield from each(path, key, name_rules.qualified_name(key.lower()))
        total += sum(len(text.encode("utf-8", "surrogatepass")) for text in (key, value))
    if total > ANNOTATIONS_BYTES:
        yield fieldpath.too_long(path, ANNOTATIONS_BYTES)


def _owners(owners: Sequence[Object]) -> Errors:
    path = METADATA.child("ownerReferences")
    controllers: list[Object] = []
    for owner in owners:
        yield from _owner(owner, path)
        if not owner.get("controller"):
            continue
        controllers.append(owner)
        if len(controllers) > 1:
            named = " and ".join(f"{one['kind']}/{one['name']}" for one in controllers[-2:])
            detail = (
                'Only one reference can have Controller set to true. Found "true" in references '
                f"for {named}"
            )
            yield fieldpath.invalid(path, list(owners), detail)


def _owner(owner: Object, path: FieldPath) -> Errors:
    version: Any = owner["apiVersion"]
    if not version.rpartition("/")[2]:
        yield fieldpath.invalid(path.child("apiVersion"), version, "version must not be empty")
    for member in ("kind", "name"):
        if not owner[member]:
            yield fieldpath.invalid(path.child(member), "", "must not be empty")
    if not owner["uid"]:
        yield fieldpath.invalid(path.child("uid"), NamedText(""), "must not be empty")
    if (version, owner["kind"]) == _EVENT:
        detail = "/v1, Kind=Event is disallowed from being an owner"
        yield fieldpath.invalid(path, dict(owner), detail)


def _finalizers(meta: Object) -> Errors:
    path = METADATA.child("finalizers")
    finalizers = list(meta.get("finalizers") or ())
    for finalizer in finalizers:
        yield from each(path, finalizer, name_rules.qualified_name(finalizer))
    if FOREGROUND in finalizers and ORPHAN in finalizers:
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        yield fieldpath.invalid(path, finalizers, detail)
    yield from _standard_finalizers(meta)


def _standard_finalizers(meta: Object) -> Errors:
    for path, finalizer in items(meta, "finalizers", METADATA):
        yield from standard_finalizer(path, finalizer)


def standard_finalizer(path: FieldPath, finalizer: str) -> Errors:
    """A finalizer without a domain must be one of Kubernetes' own."""
    if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
        detail = "name is neither a standard finalizer name nor is it fully qualified"
        yield fieldpath.invalid(path, finalizer, detail)
