"""Claims to storage, and the classes they are served by."""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.quantities.resource_amounts import parse
from celadon.kube.validation.field_checks import (
    SPEC,
    Errors,
    dns_subdomain,
    immutable,
    items,
    qualified_name,
    required_choice,
    supported,
)
from celadon.kube.validation.label_rules import label_name, selector
from celadon.kube.validation.pods.pod_spec_diffs import claim_spec_diff, volume_source_diff
from celadon.kube.validation.pods.resource_lists import positive_quantity, quantity_value
from celadon.kube.validation.pods.scheduling import node_selector
from celadon.kube.validation.pods.volumes import ONE_TYPE, host_path, nfs

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
ALONE: Final = "ReadWriteOncePod"
VOLUME_MODES: Final = ("Block", "Filesystem")
RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
CLASS_RECLAIM_POLICIES: Final = ("Delete", "Retain")
BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")
NOT_ALONE: Final = "may not use ReadWriteOncePod with other access modes"


def claim(obj: JsonObject) -> Errors:
    """What is wrong with a PersistentVolumeClaim, besides its metadata."""
    yield from claim_spec(SPEC, obj.get("spec") or {})


def claim_spec(path: FieldPath, spec: JsonObject) -> Errors:
    """Also of the template of an ephemeral volume."""
    if not spec.get("accessModes"):
        detail = "at least 1 access mode is required"
        yield fieldpath.required(path.child("accessModes"), detail)
    yield from selector(path.child("selector"), spec.get("selector"))
    yield from _access_modes(path, spec)
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


def _access_modes(path: FieldPath, spec: JsonObject) -> Errors:
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


def claim_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The size may grow; whatever else changes is told by its difference."""
    yield from claim(obj)
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    bound = (obj.get("status") or old.get("status") or {}).get("phase") == "Bound"
    was, fixed = _compared(spec, before, bound=bound)
    if fixed != was:
        detail = (
            "spec is immutable after creation except resources.requests and "
            f"volumeAttributesClassName for bound claims\n{claim_spec_diff(was, fixed)}"
        )
        yield fieldpath.forbidden(SPEC, detail)
    yield from immutable(FieldPath("volumeMode"), spec.get("volumeMode"), before.get("volumeMode"))


def _compared(
    spec: JsonObject, before: JsonObject, *, bound: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The old and the new spec, the same where they may differ."""
    was, fixed = dict(before), dict(spec)
    if not was.get("volumeName"):
        _take(was, spec, "volumeName")
    if was.get("storageClassName") is None:
        _take(fixed, before, "storageClassName")
    requests = (spec.get("resources") or {}).get("requests")
    if bound:
        _take(fixed, before, "volumeAttributesClassName")
    if bound and requests:
        size = ((before.get("resources") or {}).get("requests") or {}).get("storage", "0")
        fixed["resources"] = {**spec["resources"], "requests": {**requests, "storage": size}}
    return was, fixed


def _take(spec: dict[str, Any], other: JsonObject, field: str) -> None:
    if other.get(field) is None:
        spec.pop(field, None)
    else:
        spec[field] = other[field]


def persistent_volume_update(obj: JsonObject, old: JsonObject) -> Errors:
    """What a volume is made of stays; a secret for growing may still come."""
    yield from persistent_volume(obj)
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    driver, was = spec.get("csi"), before.get("csi")
    if driver and was and was.get("controllerExpandSecretRef") is None:
        kept = {key: one for key, one in driver.items() if key != "controllerExpandSecretRef"}
        spec = {**spec, "csi": kept}
    difference = volume_source_diff(before, spec)
    if difference:
        detail = f"spec.persistentvolumesource is immutable after creation\n{difference}"
        yield fieldpath.forbidden(SPEC.child("persistentvolumesource"), detail)
    yield from immutable(FieldPath("volumeMode"), spec.get("volumeMode"), before.get("volumeMode"))


def persistent_volume(obj: JsonObject) -> Errors:
    """What is wrong with a PersistentVolume, besides its metadata."""
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield fieldpath.required(SPEC.child("accessModes"))
    yield from _access_modes(SPEC, spec)
    capacity, at = spec.get("capacity") or {}, SPEC.child("capacity")
    if not capacity:
        yield fieldpath.required(at)
    if set(capacity) != {"storage"}:
        yield fieldpath.not_supported(at, dict(sorted(capacity.items())) or None, ["storage"])
    for name, text in sorted(capacity.items()):
        yield from positive_quantity(at.key(name), text)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy:
        yield from supported(SPEC.child("persistentVolumeReclaimPolicy"), policy, RECLAIM_POLICIES)
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        yield from _volume_affinity(SPEC.child("nodeAffinity"), affinity)
    yield from _volume_source(obj, spec)
    if spec.get("storageClassName"):
        yield from dns_subdomain(SPEC.child("storageClassName"), spec["storageClassName"])
    if spec.get("volumeMode") is not None:
        yield from supported(SPEC.child("volumeMode"), spec["volumeMode"], VOLUME_MODES)


def _volume_affinity(path: FieldPath, affinity: JsonObject) -> Errors:
    if affinity.get("required") is None:
        yield fieldpath.required(path.child("required"), "must specify required node constraints")
    else:
        yield from node_selector(path.child("required"), affinity["required"])


VOLUME_SOURCES: Final = (
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
)


def _volume_source(obj: JsonObject, spec: JsonObject) -> Errors:
    given = [kind for kind in VOLUME_SOURCES if spec.get(kind) is not None]
    if not given:
        yield fieldpath.required(SPEC, "must specify a volume type")
        return
    kind = given[0]
    at, source = SPEC.child(kind), spec[kind]
    if kind == "hostPath":
        yield from host_path(at, source)
    elif kind == "nfs":
        yield from nfs(at, source)
    elif kind == "local":
        if not source.get("path"):
            yield fieldpath.required(at.child("path"))
        if spec.get("nodeAffinity") is None:
            notes = FieldPath("metadata", "annotations")
            yield fieldpath.required(notes, "Local volume requires node affinity")
    elif kind == "csi":
        for field in ("driver", "volumeHandle"):
            if not source.get(field):
                yield fieldpath.required(at.child(field))
    for other in given[1:]:
        yield fieldpath.forbidden(SPEC.child(other), ONE_TYPE)


def storage_class(obj: JsonObject) -> Errors:
    """What is wrong with a StorageClass, besides its metadata."""
    root = FieldPath()
    provisioner = obj.get("provisioner") or ""
    if provisioner:
        yield from qualified_name(root.child("provisioner"), provisioner.lower())
    else:
        yield fieldpath.required(root.child("provisioner"))
    for key in sorted(obj.get("parameters") or ()):
        if not key:
            at = root.child("parameters")
            yield fieldpath.invalid(at, "", "field can not be empty.")
    policy = obj.get("reclaimPolicy")
    if policy:
        yield from supported(root.child("reclaimPolicy"), policy, CLASS_RECLAIM_POLICIES)
    mode = obj.get("volumeBindingMode")
    yield from required_choice(root.child("volumeBindingMode"), mode, BINDING_MODES)
    for at, term in items(obj, "allowedTopologies", root):
        for where, one in items(term, "matchLabelExpressions", at):
            if not one.get("values"):
                yield fieldpath.required(where.child("values"))
            yield from label_name(where.child("key"), one.get("key") or "")


def storage_class_update(obj: JsonObject, old: JsonObject) -> Errors:
    for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        if obj.get(field) != old.get(field):
            if field in {"parameters", "provisioner"}:
                detail = f"updates to {field} are forbidden."
                yield fieldpath.forbidden(FieldPath(field), detail)
            else:
                at = FieldPath(field)
                yield from immutable(at, NamedText(obj.get(field) or ""), old.get(field))
