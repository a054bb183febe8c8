"""The cells of volumes, claims, and the classes and drivers behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from celadon.kube import JsonObject, metadata
from celadon.kube.well_known_values import DEFAULT_STORAGE_CLASS, STORAGE_CLASS
from celadon.serve.tables.cell_texts import (
    NONE,
    UNSET,
    Cell,
    CellsOf,
    age,
    at,
    items,
    quantity_text,
    size,
    text,
    texts,
)

ACCESS_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
"""In the order in which they are shown."""


def _access_modes(modes: Sequence[str]) -> str:
    return ",".join(short for mode, short in ACCESS_MODES.items() if mode in modes)


def _phase(obj: JsonObject) -> str:
    return "Terminating" if metadata.deletion_timestamp(obj) else text(obj, "status", "phase")


def _storage_class_name(obj: JsonObject) -> str:
    annotations = metadata.annotations(obj)
    if STORAGE_CLASS in annotations:
        return annotations[STORAGE_CLASS]
    return text(obj, "spec", "storageClassName")


def _or_unset(obj: JsonObject, member: str) -> str:
    found = at(obj, "spec", member)
    return UNSET if found is None else str(found)


def _volume(obj: JsonObject, now: float) -> list[Cell]:
    claim = at(obj, "spec", "claimRef")
    return [
        metadata.name(obj),
        quantity_text(at(obj, "spec", "capacity", "storage")),
        _access_modes(items(obj, "spec", "accessModes")),
        text(obj, "spec", "persistentVolumeReclaimPolicy"),
        _phase(obj),
        "" if claim is None else f"{text(claim, 'namespace')}/{text(claim, 'name')}",
        _storage_class_name(obj),
        _or_unset(obj, "volumeAttributesClassName"),
        text(obj, "status", "reason"),
        age(obj, now),
        _or_unset(obj, "volumeMode"),
    ]


def _claim(obj: JsonObject, now: float) -> list[Cell]:
    volume = text(obj, "spec", "volumeName")
    capacity = quantity_text(at(obj, "status", "capacity", "storage"))
    return [
        metadata.name(obj),
        _phase(obj),
        volume,
        capacity if volume else "",
        _access_modes(items(obj, "status", "accessModes")) if volume else "",
        _storage_class_name(obj),
        _or_unset(obj, "volumeAttributesClassName"),
        age(obj, now),
        _or_unset(obj, "volumeMode"),
    ]


def _storage_class(obj: JsonObject, now: float) -> list[Cell]:
    annotations = metadata.annotations(obj)
    default = any(annotations.get(name) == "true" for name in DEFAULT_STORAGE_CLASS)
    return [
        metadata.name(obj) + (" (default)" if default else ""),
        text(obj, "provisioner"),
        text(obj, "reclaimPolicy") or "Delete",
        text(obj, "volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


def _attributes_class(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), text(obj, "driverName"), age(obj, now)]


def _attachment(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        text(obj, "spec", "attacher"),
        text(obj, "spec", "source", "persistentVolumeName"),
        text(obj, "spec", "nodeName"),
        bool(at(obj, "status", "attached")),
        age(obj, now),
    ]


def _driver(obj: JsonObject, now: float) -> list[Cell]:
    required = at(obj, "spec", "attachRequired")
    requests = at(obj, "spec", "tokenRequests")
    return [
        metadata.name(obj),
        True if required is None else bool(required),
        bool(at(obj, "spec", "podInfoOnMount")),
        bool(at(obj, "spec", "storageCapacity")),
        UNSET if requests is None else ",".join(texts(requests, "audience")),
        bool(at(obj, "spec", "requiresRepublish")),
        ",".join(items(obj, "spec", "volumeLifecycleModes")) or NONE,
        age(obj, now),
    ]


def _driver_node(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), size(obj, "spec", "drivers"), age(obj, now)]


STORAGE: Final[Mapping[str, CellsOf]] = {
    "csidrivers.storage.k8s.io": _driver,
    "csinodes.storage.k8s.io": _driver_node,
    "persistentvolumeclaims": _claim,
    "persistentvolumes": _volume,
    "storageclasses.storage.k8s.io": _storage_class,
    "volumeattachments.storage.k8s.io": _attachment,
    "volumeattributesclasses.storage.k8s.io": _attributes_class,
}
"""By the resource's name with its group."""
