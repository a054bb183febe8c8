"""What an API server remarks about volumes, claims, and those who provide them.

As k8s.io/kubernetes `pkg/api/{persistentvolume,persistentvolumeclaim,storage}/util.go` and
`pkg/registry/storage/csidriver/strategy.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import metadata
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.warnings.deprecated_node_labels import (
    DEPRECATED,
    selector_warnings,
    term_warnings,
)
from celadon.kube.warnings.fractional_bytes import claim_spec_warnings
from celadon.kube.well_known_values import STORAGE_CLASS

MOUNT_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"

DEPRECATED_SOURCES: Final = (
    ("cephfs", "cephfs", "v1.28, non-functional in v1.31+"),
    ("photonPersistentDisk", "photonPersistentDisk", "v1.11, non-functional in v1.16+"),
    ("scaleIO", "scaleIO", "v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "v1.28, non-functional in v1.31+"),
)
"""Fields of PersistentVolumes, their names in warnings, and since when they are deprecated."""

_SPEC: Final = FieldPath("spec")
_NOTES: Final = FieldPath("metadata", "annotations")
_OLD_CLASS: Final = 'deprecated since v1.8; use "storageClassName" attribute instead'


def volume_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a PersistentVolume."""
    spec, notes = obj.get("spec") or {}, metadata.annotations(obj)
    if STORAGE_CLASS in notes:
        yield f"{_NOTES.key(STORAGE_CLASS)}: {_OLD_CLASS}"
    if MOUNT_OPTIONS in notes:
        why = 'deprecated since v1.31; use "mountOptions" attribute instead'
        yield f"{_NOTES.key(MOUNT_OPTIONS)}: {why}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning."
        )
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        at = _SPEC.child("nodeAffinity", "required", "nodeSelectorTerms").index(index)
        yield from term_warnings(term, at)
    for field, shown, since in DEPRECATED_SOURCES:
        if spec.get(field) is not None:
            yield f"{_SPEC.child(shown)}: deprecated in {since}"


def claim_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a PersistentVolumeClaim."""
    if STORAGE_CLASS in metadata.annotations(obj):
        yield f"{_NOTES.key(STORAGE_CLASS)}: {_OLD_CLASS}"
    yield from claim_spec_warnings(obj.get("spec") or {}, _SPEC)


def storage_class_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a StorageClass."""
    for index, term in enumerate(obj.get("allowedTopologies") or ()):
        at = FieldPath("allowedTopologies").index(index).child("matchLabelExpressions")
        for number, expression in enumerate(term.get("matchLabelExpressions") or ()):
            key = expression.get("key", "")
            if key in DEPRECATED:
                yield f"{at.index(number)}: {DEPRECATED[key]}"


def storage_capacity_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a CSIStorageCapacity."""
    yield from selector_warnings(obj.get("nodeTopology"), FieldPath("nodeTopology"))


def driver_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Of a CSIDriver that wants tokens, or others than before, and does not say where to."""
    spec = obj.get("spec") or {}
    if old is not None and _tokens(old) == _tokens(obj):
        return
    if spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None:
        yield (
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to "
            "true to prevent possible logging of tokens in volume attributes"
        )


def _tokens(driver: JsonObject) -> object:
    return (driver.get("spec") or {}).get("tokenRequests") or []
