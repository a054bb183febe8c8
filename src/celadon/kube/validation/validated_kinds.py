"""Which kind is validated by what, and the ways to ask.

All take objects as validating admission sees them, and the feature gates that are on; None is those
of the current release. A kind that is not in the table has no complaints here: custom resources,
and kinds that other rooms validate.
"""

from __future__ import annotations

import itertools

from celadon.kube.fieldpath import FieldError
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import is_since
from celadon.kube.validation.built_in_validations import subresource_rule, validation_of
from celadon.kube.validation.field_checks import METADATA, Errors, each, holding
from celadon.kube.validation.object_meta import (
    IN_PATHS,
    Naming,
    standard_finalizers,
    validate_meta_of_update,
    validate_object_meta,
    validate_object_meta_update,
)
from celadon.kube.validation.validation_rows import Revisit


def validate_create(
    obj: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with a new object."""
    validation = validation_of(kind.group_kind)
    if validation is None:
        return []
    meta = obj.get("metadata") or {}
    naming = validation.naming_of(obj)
    of_meta = iter(()) if naming is None else _metadata(meta, naming)
    errors = itertools.chain(of_meta, validation.create(obj))
    return holding(errors, gates) or _for_all_kinds(meta, is_done=naming is not None)


def _for_all_kinds(meta: JsonObject, *, is_done: bool) -> list[FieldError]:
    """What a server itself looks at behind all strategies: metadata, with names that fit into
    paths. Where a strategy has found nothing wrong with the rest, it `is_done`."""
    if not is_done:
        return list(validate_object_meta(meta, IN_PATHS))
    name, prefix = meta.get("name") or "", meta.get("generateName") or ""
    found = [*each(METADATA.child("name"), name, IN_PATHS.rule(name))]
    if prefix:
        found += each(METADATA.child("generateName"), prefix, IN_PATHS.of_prefix(prefix))
    return found


def _metadata(meta: JsonObject, naming: Naming) -> Errors:
    yield from validate_object_meta(meta, naming)
    yield from standard_finalizers(meta, naming)


def validate_update(
    obj: JsonObject, old: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with a changed object. Subresources are not validated here."""
    validation = validation_of(kind.group_kind)
    if validation is None:
        return []
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    errors = [validate_meta_of_update(meta, before)]
    naming = validation.naming_of(obj)
    if validation.repeated_until and not is_since(validation.repeated_until):
        errors += [iter(()) if naming is None else _metadata(meta, naming), validation.create(obj)]
    if naming is not None:
        revisit = validation.revisits
        if Revisit.AS_CHANGED in revisit:
            errors.append(validate_object_meta_update(meta, before))
            errors.append(standard_finalizers(meta, naming))
        if Revisit.AS_NEW in revisit:
            errors.append(_metadata(meta, naming))
    errors.append(validation.of_update(obj, old))
    return holding(itertools.chain.from_iterable(errors), gates)


def validate_status_update(
    obj: JsonObject, old: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """What is wrong with an object whose status was changed."""
    validation = validation_of(kind.group_kind)
    if validation is not None and validation.status is validation.update is not None:
        return validate_update(obj, old, kind, gates)
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    errors = list(validate_meta_of_update(meta, before))
    if validation is None or validation.status is None:
        return errors
    if Revisit.AS_CHANGED in validation.revisit:
        errors += validate_object_meta_update(meta, before)
    return holding(itertools.chain(errors, validation.status(obj, old)), gates)


def validate_subresource_update(
    obj: JsonObject,
    old: JsonObject,
    kind: GroupVersionKind,
    subresource: str,
    gates: frozenset[str] | None = None,
) -> list[FieldError]:
    """What is wrong with an object changed through a subresource other than its status."""
    errors = list(validate_meta_of_update(obj.get("metadata") or {}, old.get("metadata") or {}))
    check = subresource_rule(kind.group_kind, subresource)
    return errors if check is None else holding(itertools.chain(errors, check(obj, old)), gates)
