"""Where the volumes of a pod appear in a container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors, items, supported
from celadon.kube.validation.pods.volumes import descending_path

PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
RECURSIVE_READ_ONLY: Final = ("Disabled", "Enabled", "IfPossible")


def mounts_and_devices(
    path: FieldPath, container: JsonObject, volumes: Mapping[str, JsonObject]
) -> Errors:
    """`volumeMounts` and `volumeDevices`; `volumes` are the pod's."""
    yield from _mounts(path, container, volumes)
    yield from _devices(path, container, volumes)


def _mounts(path: FieldPath, container: JsonObject, volumes: Mapping[str, JsonObject]) -> Errors:
    devices = container.get("volumeDevices") or ()
    device_names = {device.get("name") for device in devices}
    device_paths = {device.get("devicePath") for device in devices}
    taken: set[str] = set()
    for at, mount in items(container, "volumeMounts", path):
        name, where = mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            yield fieldpath.required(at.child("name"))
        if name not in volumes:
            yield fieldpath.not_found(at.child("name"), name)
        if not where:
            yield fieldpath.required(at.child("mountPath"))
        if where in taken:
            yield fieldpath.invalid(at.child("mountPath"), where, "must be unique")
        taken.add(where)
        if name in device_names:
            detail = "must not already exist in volumeDevices"
            yield fieldpath.invalid(at.child("name"), name, detail)
        if where in device_paths:
            detail = "must not already exist as a path in volumeDevices"
            yield fieldpath.invalid(at.child("mountPath"), where, detail)
        yield from _sub_paths(at, path.child("volumeMounts"), mount)
        yield from _propagation(path.child("volumeMounts"), mount, container)


def _sub_paths(path: FieldPath, whole: FieldPath, mount: JsonObject) -> Errors:
    """Complaints about a path itself name the list, not the mount, as upstream does."""
    sub_path, expression = mount.get("subPath") or "", mount.get("subPathExpr") or ""
    if sub_path:
        yield from descending_path(whole.child("subPath"), sub_path)
    if expression:
        if sub_path:
            detail = "subPathExpr and subPath are mutually exclusive"
            yield fieldpath.invalid(path.child("subPathExpr"), expression, detail)
        yield from descending_path(whole.child("subPathExpr"), expression)


def _propagation(path: FieldPath, mount: JsonObject, container: JsonObject) -> Errors:
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        at = path.child("mountPropagation")
        yield from supported(at, propagation, PROPAGATIONS)
        privileged = (container.get("securityContext") or {}).get("privileged")
        if propagation == "Bidirectional" and not privileged:
            detail = "Bidirectional mount propagation is available only to privileged containers"
            yield fieldpath.forbidden(at, detail)
    recursive = mount.get("recursiveReadOnly")
    if recursive is None or recursive == "Disabled":
        return
    at = path.child("recursiveReadOnly")
    if recursive not in RECURSIVE_READ_ONLY:
        yield from supported(at, recursive, RECURSIVE_READ_ONLY)
        return
    if not mount.get("readOnly"):
        yield fieldpath.forbidden(at, "may only be specified when readOnly is true")
    if propagation not in {None, "None"}:
        detail = "may only be specified when mountPropagation is None or not specified"
        yield fieldpath.forbidden(at, detail)


def _devices(path: FieldPath, container: JsonObject, volumes: Mapping[str, JsonObject]) -> Errors:
    mounts = container.get("volumeMounts") or ()
    mount_names = {mount.get("name") for mount in mounts}
    mount_paths = {mount.get("mountPath") for mount in mounts}
    names: set[str] = set()
    paths: set[str] = set()
    for at, device in items(container, "volumeDevices", path):
        name, where = device.get("name") or "", device.get("devicePath") or ""
        yield from _device_volume(at.child("name"), name, names, volumes)
        where_at = at.child("devicePath")
        if not where:
            yield fieldpath.required(where_at)
        if where in paths:
            yield fieldpath.invalid(where_at, where, "must be unique")
        if ".." in where.split("/"):
            yield fieldpath.invalid(where_at, where, "can not contain backsteps ('..')")
        else:
            paths.add(where)
        if name in mount_names:
            detail = "must not already exist in volumeMounts"
            yield fieldpath.invalid(at.child("name"), name, detail)
        if where in mount_paths:
            detail = "must not already exist as a path in volumeMounts"
            yield fieldpath.invalid(where_at, where, detail)
        if name:
            names.add(name)


def _device_volume(
    path: FieldPath, name: str, taken: set[str], volumes: Mapping[str, JsonObject]
) -> Errors:
    if not name:
        yield fieldpath.required(path)
    if name in taken:
        yield fieldpath.invalid(path, name, "must be unique")
    volume = volumes.get(name)
    if volume is None:
        yield fieldpath.not_found(path, name)
    elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
        detail = (
            "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        )
        yield fieldpath.invalid(path, name, detail)
