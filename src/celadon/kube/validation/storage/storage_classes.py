"""Classes of storage: who makes volumes, and what of.

As k8s.io/kubernetes `pkg/apis/storage/validation`.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import (
    Errors,
    items,
    qualified_name,
    required_choice,
    supported,
)
from celadon.kube.validation.field_rules import changed_fields
from celadon.kube.validation.label_rules import label_name
from celadon.kube.validation.storage.storage_drivers import map_size

CLASS_RECLAIM_POLICIES: Final = ("Delete", "Retain")
BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")
MAX_PARAMETERS: Final = 512


def storage_class(obj: JsonObject) -> Errors:
    """What is wrong with a StorageClass, besides its metadata."""
    root = FieldPath()
    yield from _maker(obj, "provisioner")
    yield from parameters(root.child("parameters"), obj.get("parameters"))
    policy = obj.get("reclaimPolicy")
    if policy:
        yield from supported(root.child("reclaimPolicy"), policy, CLASS_RECLAIM_POLICIES)
    mode = obj.get("volumeBindingMode")
    yield from required_choice(root.child("volumeBindingMode"), mode, BINDING_MODES)
    yield from _topologies(obj)


def _maker(obj: JsonObject, field: str) -> Errors:
    """Who makes or changes volumes; capitals count as small ones."""
    name, at = obj.get(field) or "", FieldPath(field)
    return qualified_name(at, name.lower()) if name else iter((fieldpath.required(at),))


def _topologies(obj: JsonObject) -> Errors:
    # Upstream begins with an empty one for each term there is: nothing chosen is a repetition.
    known = Counter({frozenset[object](): len(obj.get("allowedTopologies") or ())})
    for at, term in items(obj, "allowedTopologies", FieldPath()):
        chosen: dict[str, frozenset[str]] = {}
        for where, one in items(term, "matchLabelExpressions", at):
            key, values = one.get("key") or "", one.get("values") or ()
            if not values:
                yield fieldpath.required(where.child("values"))
            seen = set[str]()
            for index, value in enumerate(values):
                if value in seen:
                    yield fieldpath.duplicate(where.child("values").index(index), value)
                seen.add(value)
            yield from label_name(where.child("key"), key)
            if key in chosen:
                yield fieldpath.duplicate(where.child("key"), key)
            chosen[key] = frozenset(seen)
        selection = frozenset[object](chosen.items())
        for _ in range(known[selection]):
            yield fieldpath.duplicate(at.child("matchLabelExpressions"), "")
        known[selection] += 1


def storage_class_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Nothing of what volumes were made of may change."""
    yield from storage_class(obj)
    yield from changed_fields("storage.v1.StorageClass", obj, old, FieldPath())


def parameters(path: FieldPath, given: JsonObject | None, *, needed: bool = False) -> Errors:
    """Of a class of volumes: not too many, not too long, no empty keys."""
    found = given or {}
    if len(found) > MAX_PARAMETERS:
        yield fieldpath.too_long(path, MAX_PARAMETERS)
        return
    for key in sorted(found):
        if not key:
            yield fieldpath.invalid(path, key, "field can not be empty.")
    yield from map_size(path, found)
    if needed and not found:
        yield fieldpath.required(path, "must contain at least one key/value pair")


def attributes_class(obj: JsonObject) -> Errors:
    """What is wrong with a VolumeAttributesClass, besides its metadata."""
    yield from _maker(obj, "driverName")
    yield from parameters(FieldPath("parameters"), obj.get("parameters"), needed=True)


def attributes_class_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Neither the driver nor what it is told may change."""
    for field in ("driverName", "parameters"):
        if obj.get(field) != old.get(field):
            yield fieldpath.forbidden(FieldPath(field), f"updates to {field} are forbidden.")
    yield from attributes_class(obj)
