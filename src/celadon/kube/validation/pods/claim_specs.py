"""What a PersistentVolumeClaim wants, also that of an ephemeral volume.

As k8s.io/kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.quantities.resource_amounts import parse
from celadon.kube.validation.field_checks import Errors, dns_subdomain, supported
from celadon.kube.validation.label_rules import selector
from celadon.kube.validation.pods.resource_lists import positive_quantity, quantity_value

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
ALONE: Final = "ReadWriteOncePod"
VOLUME_MODES: Final = ("Block", "Filesystem")
NOT_ALONE: Final = "may not use ReadWriteOncePod with other access modes"


def claim_spec(path: FieldPath, spec: JsonObject) -> Errors:
    """Also of the template of an ephemeral volume."""
    if not spec.get("accessModes"):
        detail = "at least 1 access mode is required"
        yield fieldpath.required(path.child("accessModes"), detail)
    yield from selector(path.child("selector"), spec.get("selector"))
    yield from access_modes(path, spec)
    at = path.child("resources").key("storage")
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is None:
        yield fieldpath.required(at)
    elif parse(size).sign <= 0:
        yield from positive_quantity(at, size)
    else:
        yield from quantity_value(at, "storage", size)
    if spec.get("storageClassName"):
        yield from dns_subdomain(path.child("storageClassName"), spec["storageClassName"])
    if spec.get("volumeMode") is not None:
        yield from supported(path.child("volumeMode"), spec["volumeMode"], VOLUME_MODES)
    yield from _data_sources(path, spec)
    name = spec.get("volumeAttributesClassName")
    if name:
        yield from dns_subdomain(path.child("volumeAttributesClassName"), name)


def access_modes(path: FieldPath, spec: JsonObject) -> Errors:
    """Of a claim or a volume: known ones, and the one that stands alone."""
    at, modes = path.child("accessModes"), spec.get("accessModes") or ()
    for mode in modes:
        yield from supported(at, mode, ACCESS_MODES)
    if ALONE in modes and any(mode in ACCESS_MODES and mode != ALONE for mode in modes):
        yield fieldpath.forbidden(at, NOT_ALONE)


def _data_sources(path: FieldPath, spec: JsonObject) -> Errors:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, given in (("dataSource", source), ("dataSourceRef", reference)):
        if given is not None:
            yield from _data_source(path.child(field), given)
    if source is None or reference is None:
        return
    if any(source.get(key) != reference.get(key) for key in ("apiGroup", "kind", "name")):
        yield fieldpath.invalid(path, {}, "must match dataSourceRef")


def _data_source(path: FieldPath, given: JsonObject) -> Errors:
    for field in ("name", "kind"):
        if not given.get(field):
            yield fieldpath.required(path.child(field))
    group = given.get("apiGroup") or ""
    if not group and given.get("kind") != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield fieldpath.invalid(path, given.get("kind") or "", detail)
    if group:
        yield from dns_subdomain(path.child("apiGroup"), group)
