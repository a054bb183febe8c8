"""Validation of PersistentVolumes, what they are made of and what of it may change, and of claims
to them.

As k8s.io/kubernetes `pkg/apis/core/validation`; a volume that stands in a VolumeAttachment itself
(`inline_volume`) is one of a CSI driver and may say less.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from functools import partial
from itertools import zip_longest
from typing import Final

from celadon.kube import fieldpath, metadata, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.quantity import parse_amounts
from celadon.kube.releases import is_since
from celadon.kube.validation import field_checks
from celadon.kube.validation.object_meta import Naming, new_object_meta
from celadon.kube.validation.pods import volumes
from celadon.kube.validation.pods.env_vars import no_backsteps
from celadon.kube.validation.pods.internal_types import (
    claim_spec_diff,
    internal_value,
    volume_source_diff,
)
from celadon.kube.validation.pods.pod_placement import required_nodes
from celadon.kube.validation.pods.resource_lists import is_native, positive_quantity, quantity_value
from celadon.kube.well_known_values import MOUNT_OPTIONS, STORAGE_CLASS

# --- Storage claims ----------------------------------------------------------


def claim(obj: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a PersistentVolumeClaim, besides its metadata."""
    # As `ValidatePersistentVolumeClaim` of `pkg/apis/core/validation`.
    yield from volumes.claim_spec(field_checks.SPEC, obj.get("spec") or {})


def claim_as_new(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Validate a changed claim as a new one; its source may be of any group, if it was of one."""
    before = old.get("spec") or {}
    sources = (before.get(field) or {} for field in ("dataSource", "dataSourceRef"))
    had_group = any(source.get("apiGroup") is not None for source in sources)
    return volumes.claim_spec(field_checks.SPEC, obj.get("spec") or {}, any_group=had_group)


def claim_update(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Validate an update of a claim: the size may grow; whatever else changes is told by its
    difference."""
    # As `ValidatePersistentVolumeClaimUpdate` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from claim_as_new(obj, old)
    bound = (obj.get("status") or old.get("status") or {}).get("phase") == "Bound"
    yield from _old_class(obj, old)
    was, fixed = _compared(spec, before, bound=bound)
    if _takes_class(obj, old):
        del fixed["storageClassName"]
    if fixed != was:
        detail = (
            "spec is immutable after creation except resources.requests and "
            f"volumeAttributesClassName for bound claims\n{claim_spec_diff(was, fixed)}"
        )
        yield fieldpath.forbidden(field_checks.SPEC, detail)
    yield from _size(obj, old)
    yield from field_checks.immutable(
        FieldPath("volumeMode"), spec.get("volumeMode"), before.get("volumeMode")
    )
    if is_since("1.34"):
        yield from _applied_class_kept(spec, old)
    else:
        yield from attributes_class_kept(spec, before, or_empty=True)


def _applied_class_kept(spec: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Check that a class that was applied gives way to another one only."""
    name = spec.get("volumeAttributesClassName")
    status, before = old.get("status") or {}, old.get("spec") or {}
    if name or name == before.get("volumeAttributesClassName"):
        return
    if status.get("currentVolumeAttributesClassName") is not None:
        subject = "nil" if name is None else "empty string"
        detail = (
            f"update to {subject} is forbidden when status.currentVolumeAttributesClassName is "
            "not nil"
        )
        yield fieldpath.forbidden(field_checks.SPEC.child("volumeAttributesClassName"), detail)


def _size(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Check the size. A claim that could not grow may take back what it has not got, since a gate
    is on."""
    new, was = (_requested(item.get("spec") or {}) for item in (obj, old))
    has = ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
    path = field_checks.SPEC.child("resources", "requests", "storage")
    if parse_amounts(new).compare(parse_amounts(was)) >= 0:
        return
    shrinks = [fieldpath.forbidden(path, "field can not be less than previous value")]
    lost = [fieldpath.forbidden(path, "field can not be less than status.capacity")]
    has_it = parse_amounts(new).compare(parse_amounts(has)) <= 0
    yield from field_checks.by_gate(field_checks.RECOVERED_CLAIMS, lost if has_it else (), shrinks)


def _requested(spec: JsonObject) -> str:
    text: str = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    return text


def _old_class(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Check that the annotation that was there before the field stays what it is."""
    path = FieldPath("metadata", "annotations", STORAGE_CLASS)
    new, was = (metadata.annotations(item).get(STORAGE_CLASS) for item in (obj, old))
    moved = _takes_class(obj, old) and was is not None and new in (None, was)
    if not moved:
        yield from field_checks.immutable(path, new or "", was or "")


def _takes_class(obj: JsonObject, old: JsonObject) -> bool:
    """Return whether a claim without a class gets one: only that which its annotation names, if it
    has one."""
    # As `validateStorageClassUpgradeFromNil` of `pkg/apis/core/validation`.
    named, before = ((item.get("spec") or {}).get("storageClassName") for item in (obj, old))
    noted = metadata.annotations(old).get(STORAGE_CLASS, named)
    return before is None and named is not None and named == noted


def attributes_class_kept(
    spec: JsonObject, before: JsonObject, *, or_empty: bool
) -> field_checks.Errors:
    """Yield an error if a VolumeAttributesClass is taken away; a claim that has one may get
    another. `or_empty`: the empty text is none as well."""
    name, was = (item.get("volumeAttributesClassName") for item in (spec, before))
    path = field_checks.SPEC.child("volumeAttributesClassName")
    if was is not None and name is None:
        yield fieldpath.forbidden(path, "update from non-nil value to nil is forbidden")
    elif or_empty and was is not None and name == "" != was:
        yield fieldpath.forbidden(path, "update from non-nil value to an empty string is forbidden")


def _compared(spec: JsonObject, before: JsonObject, *, bound: bool) -> tuple[JsonDict, JsonDict]:
    """Return the old and the new spec, the same where they may differ."""
    was, fixed = dict(before), dict(spec)
    if not was.get("volumeName"):
        _take(was, spec, "volumeName")
    requests = (spec.get("resources") or {}).get("requests")
    named = spec.get("volumeAttributesClassName") is not None or is_since("1.34")
    if (bound and named) or not is_since("1.31"):
        _take(fixed, before, "volumeAttributesClassName")
    if bound and requests is not None:
        size = ((before.get("resources") or {}).get("requests") or {}).get("storage", "0")
        fixed["resources"] = {**spec["resources"], "requests": {**requests, "storage": size}}
    return was, fixed


def _take(spec: JsonDict, other: JsonObject, field: str) -> None:
    if other.get(field) is None:
        spec.pop(field, None)
    else:
        spec[field] = other[field]


RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
SECRETS: Final = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
"""The secrets of a CSI volume that are looked at, in upstream's order; that for staging is not."""
INLINE: Final = "may not be specified in the context of inline volumes"

MOUNTED_WITH_OPTIONS = frozenset(
    {
        *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder"),
        *("gcePersistentDisk", "glusterfs", "iscsi", "nfs", "photonPersistentDisk"),
        *("quobyte", "rbd", "vsphereVolume"),
    }
)
"""The sources of volumes that may have the annotation for options of mounting them."""


def persistent_volume(obj: JsonObject, old: JsonObject | None = None) -> field_checks.Errors:
    """Yield what is wrong with a PersistentVolume, besides its metadata; `old` is what was
    changed."""
    yield from _volume(obj, old)
    # As `ValidatePersistentVolume` of `pkg/volume/validation`.
    can_have_options = MOUNTED_WITH_OPTIONS & set(obj.get("spec") or {})
    if MOUNT_OPTIONS in metadata.annotations(obj) and not can_have_options:
        path = FieldPath("metadata", "annotations").child(MOUNT_OPTIONS)
        yield fieldpath.forbidden(path, "may not specify mount options for this volume type")


def _volume(obj: JsonObject, old: JsonObject | None) -> field_checks.Errors:
    # As `ValidatePersistentVolume` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, (old or {}).get("spec") or {}
    if not spec.get("accessModes"):
        yield fieldpath.required(field_checks.SPEC.child("accessModes"))
    yield from volumes.access_modes(field_checks.SPEC, spec)
    capacity, path = spec.get("capacity") or {}, field_checks.SPEC.child("capacity")
    if not capacity:
        yield fieldpath.required(path)
    if set(capacity) != {"storage"}:
        printed = dict(sorted(capacity.items())) or spec.get("capacity")
        yield fieldpath.not_supported(path, GoValue(printed, "core.ResourceList"), ["storage"])
    for name, text in sorted(capacity.items()):
        amount = parse_amounts(text).int64_value()
        if amount < 0:
            detail = "must be a valid resource quantity"
            yield fieldpath.invalid(path.key(name), amount, detail)
        yield from positive_quantity(path.key(name), text)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy:
        yield from field_checks.supported(
            field_checks.SPEC.child("persistentVolumeReclaimPolicy"), policy, RECLAIM_POLICIES
        )
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        was = before.get("nodeAffinity") or {}
        yield from _volume_affinity(field_checks.SPEC.child("nodeAffinity"), affinity, was)
    yield from _source(field_checks.SPEC, spec, (obj.get("metadata") or {}).get("name") or "")
    if spec.get("storageClassName"):
        yield from field_checks.dns_subdomain(
            field_checks.SPEC.child("storageClassName"), spec["storageClassName"]
        )
    if spec.get("volumeMode") is not None:
        yield from field_checks.supported(
            field_checks.SPEC.child("volumeMode"), spec["volumeMode"], volumes.VOLUME_MODES
        )
    yield from _attributes_class(spec)


def _volume_affinity(path: FieldPath, affinity: JsonObject, was: JsonObject) -> field_checks.Errors:
    if affinity.get("required") is None:
        yield fieldpath.required(path.child("required"), "must specify required node constraints")
    else:
        yield from required_nodes(path.child("required"), affinity["required"], was.get("required"))


def _attributes_class(spec: JsonObject) -> field_checks.Errors:
    name, path = (
        spec.get("volumeAttributesClassName"),
        field_checks.SPEC.child("volumeAttributesClassName"),
    )
    if name is None:
        return
    if name:
        yield from field_checks.dns_subdomain(path, name)
    else:
        yield fieldpath.required(path, "an empty string is disallowed")
    if spec.get("csi") is None:
        detail = "has to be specified when using volumeAttributesClassName"
        yield fieldpath.required(field_checks.SPEC.child("csi"), detail)


def inline_volume(path: FieldPath, spec: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a volume that has no object of its own."""
    # As `ValidatePersistentVolumeSpec` of `pkg/apis/core/validation`.
    if spec.get("claimRef") is not None:
        yield fieldpath.forbidden(path.child("claimRef"), INLINE)
    if spec.get("capacity"):
        yield fieldpath.forbidden(path.child("capacity"), INLINE)
    if spec.get("csi") is None:
        detail = "has to be specified in the context of inline volumes"
        yield fieldpath.required(path.child("csi"), detail)
    if not spec.get("accessModes"):
        yield fieldpath.required(path.child("accessModes"))
    yield from volumes.access_modes(path, spec)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy != "Retain":
        persistent_volume_reclaim_policy_path = path.child("persistentVolumeReclaimPolicy")
        yield fieldpath.forbidden(
            persistent_volume_reclaim_policy_path,
            "may only be Retain in the context of inline volumes",
        )
    if spec.get("nodeAffinity") is not None:
        yield fieldpath.forbidden(path.child("nodeAffinity"), INLINE)
    yield from _source(path, spec, "")
    if spec.get("storageClassName"):
        yield fieldpath.forbidden(path.child("storageClassName"), INLINE)
    if spec.get("volumeMode") not in (None, "Filesystem"):
        detail = "may not specify volumeMode other than Filesystem in the context of inline volumes"
        yield fieldpath.forbidden(path.child("volumeMode"), detail)


def _source(path: FieldPath, spec: JsonObject, name: str) -> field_checks.Errors:
    sources = [kind for kind in SOURCES if spec.get(kind) is not None]
    for position, kind in enumerate(sources):
        field_path = path.child(kind)
        if position and kind != FLEX:
            yield fieldpath.forbidden(path.child(SHOWN_AS.get(kind, kind)), volumes.ONE_TYPE)
        elif kind == "iscsi":
            yield from volumes.iscsi(field_path, spec[kind], lasting=True, name=name)
        else:
            text = "persistentDisk" if kind == "gcePersistentDisk" else kind
            yield from SOURCES[kind](path.child(text), spec[kind])
        if kind == "local" and not position and spec.get("nodeAffinity") is None:
            detail = "Local volume requires node affinity"
            yield fieldpath.required(path.child("nodeAffinity"), detail)
    if not sources:
        yield fieldpath.required(path, "must specify a volume type")
    host = spec.get("hostPath")
    recycled = spec.get("persistentVolumeReclaimPolicy") == "Recycle"
    if host is not None and recycled and _is_root(host.get("path") or ""):
        field_path = path.child("persistentVolumeReclaimPolicy")
        yield fieldpath.forbidden(field_path, "may not be 'recycle' for a hostPath mount of '/'")


def _is_root(path: str) -> bool:
    return path.startswith("/") and posixpath.normpath(path) in {"/", "//"}


def _glusterfs(path: FieldPath, value: JsonObject) -> field_checks.Errors:
    # As `validateGlusterfsPersistentVolumeSource` of `pkg/apis/core/validation`.
    yield from volumes.GLUSTERFS(path, value)
    namespace, endpoints_namespace_path = (
        value.get("endpointsNamespace"),
        path.child("endpointsNamespace"),
    )
    if namespace == "":
        detail = "if the endpointnamespace is set, it must be a valid namespace name"
        yield fieldpath.invalid(endpoints_namespace_path, namespace, detail)
    elif namespace is not None:
        yield from field_checks.each(
            endpoints_namespace_path, namespace, name_rules.dns1123_label(namespace)
        )


def _azure_file(path: FieldPath, value: JsonObject) -> field_checks.Errors:
    # As `validateAzureFilePV` of `pkg/apis/core/validation`.
    yield from volumes.AZURE_FILE(path, value)
    if value.get("secretNamespace") == "":
        yield fieldpath.required(path.child("secretNamespace"))


def _local(path: FieldPath, value: JsonObject) -> field_checks.Errors:
    # As `validateLocalVolumeSource` of `pkg/apis/core/validation`.
    if value.get("path"):
        yield from no_backsteps(path.child("path"), value["path"])
    else:
        yield fieldpath.required(path.child("path"))


def _csi(path: FieldPath, value: JsonObject) -> field_checks.Errors:
    # As `validateCSIPersistentVolumeSource` of `pkg/apis/core/validation`.
    yield from field_checks.driver_name(path.child("driver"), value.get("driver") or "")
    if not value.get("volumeHandle"):
        yield fieldpath.required(path.child("volumeHandle"))
    for field in SECRETS:
        if value.get(field) is not None:
            yield from _secret(path.child(field), value[field])


def _secret(path: FieldPath, reference: JsonObject) -> field_checks.Errors:
    # As `validatePVSecretReference` of `pkg/apis/core/validation`.
    for field in ("name", "namespace"):
        value = reference.get(field) or ""
        if not value:
            yield fieldpath.required(path.child(field))
        elif field == "name":
            yield from field_checks.dns_subdomain(path.child(field), value)
        else:
            yield from field_checks.dns_label(path.child(field), value)


FLEX: Final = "flexVolume"
"""The kind of volume that is never one too many."""

SHOWN_AS: Final = {"cephfs": "cephFS"}
"""What upstream calls a second source where its own name is misspelt."""

SOURCES: Final[Mapping[str, Callable[[FieldPath, JsonObject], field_checks.Errors]]] = {
    "hostPath": volumes.host_path,
    "gcePersistentDisk": volumes.gce_disk,
    "awsElasticBlockStore": volumes.aws_disk,
    "glusterfs": _glusterfs,
    "flocker": volumes.flocker,
    "nfs": volumes.nfs,
    "rbd": volumes.RBD,
    "quobyte": volumes.quobyte,
    "cephfs": volumes.CEPHFS,
    "iscsi": volumes.iscsi,
    "cinder": partial(volumes.cinder, lasting=True),
    "fc": volumes.fibre_channel,
    FLEX: volumes.flex_volume,
    "azureFile": _azure_file,
    "vsphereVolume": volumes.VSPHERE,
    "photonPersistentDisk": volumes.PHOTON_DISK,
    "portworxVolume": volumes.PORTWORX,
    "azureDisk": volumes.azure_disk,
    "scaleIO": volumes.SCALE_IO,
    "local": _local,
    "storageos": partial(volumes.storage_os, lasting=True),
    "csi": _csi,
}
"""The kinds of volumes in upstream's order."""

LASTING_LABELS: Final[Mapping[str, str]] = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
"""What labels were called before."""


def persistent_volume_update(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Validate an update: the source of a volume stays; a secret for growing may come, and where it
    can be used."""
    # As `ValidatePersistentVolumeUpdate` of `pkg/apis/core/validation`, which looks at all of it
    # once more: causes come twice.
    yield from persistent_volume(obj, old)
    yield from new_object_meta(obj.get("metadata") or {}, Naming(namespaced=False))
    yield from _volume(obj, old)
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    difference = volume_source_diff(before, _without_new_secret(spec, before))
    if difference:
        detail = f"spec.persistentvolumesource is immutable after creation\n{difference}"
        yield fieldpath.forbidden(field_checks.SPEC.child("persistentvolumesource"), detail)
    yield from field_checks.immutable(
        FieldPath("volumeMode"), spec.get("volumeMode"), before.get("volumeMode")
    )
    affinity, was = spec.get("nodeAffinity"), before.get("nodeAffinity")
    if was is not None and affinity not in (was, _with_lasting_labels(was, affinity or {})):
        printed = (
            None if affinity is None else internal_value(affinity, "core.v1.VolumeNodeAffinity")
        )
        reason = f"{field_checks.IMMUTABLE}, except for updating from beta label to GA"
        shown = printed and GoValue(printed, "core.VolumeNodeAffinity")
        fixed = fieldpath.invalid(FieldPath("nodeAffinity"), shown, reason)
        yield from field_checks.only_with(f"!{field_checks.MUTABLE_AFFINITY}", [fixed])
    yield from attributes_class_kept(spec, before, or_empty=False)


def _with_lasting_labels(was: JsonObject, affinity: JsonObject) -> JsonDict:
    """Return the old affinity with the lasting name of each label that the new one has it for."""
    new = _terms(affinity)
    required = {
        **(was.get("required") or {}),
        "nodeSelectorTerms": [
            {**term, **_renamed(term, new[index] if index < len(new) else {})}
            for index, term in enumerate(_terms(was))
        ],
    }
    return {**was, "required": required}


def _terms(affinity: JsonObject) -> list[JsonObject]:
    node_selector_terms: list[JsonObject] = (affinity.get("required") or {}).get(
        "nodeSelectorTerms"
    ) or []
    return node_selector_terms


def _renamed(term: JsonObject, new: JsonObject) -> JsonDict:
    result: JsonDict = {}
    for field in ("matchExpressions", "matchFields"):
        if field not in term:
            continue
        keys = [expression.get("key") for expression in new.get(field) or ()]
        result[field] = [
            {**item, "key": key}
            if LASTING_LABELS.get(item.get("key") or "", "") == (key or "")
            else item
            for item, key in zip_longest(term[field] or (), keys[: len(term[field] or ())])
        ]
    return result


def _without_new_secret(spec: JsonObject, before: JsonObject) -> JsonObject:
    driver, was = spec.get("csi"), before.get("csi")
    if not driver or not was or was.get("controllerExpandSecretRef") is not None:
        return spec
    result = {key: member for key, member in driver.items() if key != "controllerExpandSecretRef"}
    return {**spec, "csi": result}


# --- Statuses of claims ------------------------------------------------------

RESIZE_STATUSES: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)
_GROWTH: Final = "allocatedResourceStatuses"
_STATUS: Final = FieldPath("status")


def claim_status(obj: JsonObject, _: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with the status of a PersistentVolumeClaim: what it got, and how far a
    change of its size is."""
    # As `ValidatePersistentVolumeClaimStatusUpdate` of `pkg/apis/core/validation`.
    status = obj.get("status") or {}
    if not (obj.get("spec") or {}).get("accessModes"):
        yield fieldpath.required(FieldPath("Spec", "accessModes"))
    for name, amount in field_checks.entries(status, "capacity"):
        yield from _claim_amount(_STATUS.child("capacity").key(name), amount)
    yield from field_checks.only_with(field_checks.RECOVERED_CLAIMS, _growth(status))


def _growth(status: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with the amounts that were allocated, and with how far each is."""
    path = _STATUS.child("allocatedResourceStatus" if not is_since("1.34") else _GROWTH)
    resize_statuses = [
        resize_status if is_since("1.31") else resize_status.replace("Infeasible", "Failed")
        for resize_status in RESIZE_STATUSES
    ]
    for name, progress in field_checks.entries(status, _GROWTH):
        yield from _claim_resource(path, name)
        if progress not in resize_statuses:
            go_value = GoValue(name, "core.ResourceName")
            yield fieldpath.not_supported(path, go_value, sorted(resize_statuses))
    path = _STATUS.child("allocatedResources")
    for name, amount in field_checks.entries(status, "allocatedResources"):
        wrong = [*_claim_resource(path, name)] or [*_claim_amount(path.key(name), amount)]
        yield from wrong or quantity_value(path.key(name), "storage", amount)


def _claim_amount(path: FieldPath, text: str) -> field_checks.Errors:
    amount = parse_amounts(text)
    if amount.sign < 0:
        detail = "must be a valid resource quantity"
        yield fieldpath.invalid(path, amount.as_int64(), detail)


def _claim_resource(path: FieldPath, name: str) -> field_checks.Errors:
    """Yield what is wrong with the name of a resource. Of Kubernetes' own, a claim has storage
    alone."""
    # As `validatePersistentVolumeClaimResourceKey` of `pkg/apis/core/validation`.
    wrong = [*field_checks.qualified_name(path, name)]
    yield from wrong
    if not wrong and is_native(name) and name != "storage":
        yield fieldpath.not_supported(path, name, ["storage"])
