"""The volumes of a pod: exactly one source each, and what each source needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.quantities.resource_amounts import parse
from celadon.kube.validation.field_checks import (
    Errors,
    dns_label,
    dns_subdomain,
    driver_name,
    items,
    present,
    supported,
)
from celadon.kube.validation.label_rules import labels
from celadon.kube.validation.object_meta import validate_annotations
from celadon.kube.validation.pods import remote_volumes
from celadon.kube.validation.pods.claim_specs import claim_spec
from celadon.kube.validation.pods.env_vars import (
    field_selector,
    no_backsteps,
    resource_selector,
)

VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
ONE_TYPE: Final = "may not specify more than 1 volume type"
MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
MIN_TOKEN_SECONDS: Final = 600
MAX_TOKEN_SECONDS: Final = 1 << 32


def volumes(
    path: FieldPath, spec: JsonObject, pod_name: str, *, in_pod: bool
) -> tuple[dict[str, JsonObject], list[FieldError]]:
    """The usable volumes by name, and what is wrong with the others."""
    created = {
        f"{pod_name}-{volume.get('name')}"
        for volume in spec.get("volumes") or ()
        if pod_name and volume.get("ephemeral") is not None
    }
    usable: dict[str, JsonObject] = {}
    errors: list[FieldError] = []
    for at, volume in items(spec, "volumes", path):
        name = volume.get("name") or ""
        found = list(_volume(at, volume, pod_name, in_pod=in_pod))
        if name in usable:
            found.append(fieldpath.duplicate(at.child("name"), name))
        if not found:
            usable[name] = volume
        errors += found
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim and claim in created:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            where = at.child("persistentVolumeClaim", "claimName")
            errors.append(fieldpath.invalid(where, claim, detail))
    return usable, errors


def _volume(path: FieldPath, volume: JsonObject, pod_name: str, *, in_pod: bool) -> Errors:
    given = [kind for kind in SOURCES if volume.get(kind) is not None]
    for position, kind in enumerate(given):
        if position:
            yield fieldpath.forbidden(path.child(SHOWN_AS.get(kind, kind)), ONE_TYPE)
        else:
            if kind == "image" and in_pod:
                yield from present(volume["image"], path.child("image"), "reference")
            yield from SOURCES[kind](path.child(INSIDE.get(kind, kind)), volume[kind])
    name = volume.get("name") or ""
    if given[:1] == ["ephemeral"] and pod_name and name:
        claim = f"{pod_name}-{name}"
        for message in name_rules.dns1123_subdomain(claim):
            detail = f"PVC name {quote(claim)}: {message}"
            yield fieldpath.invalid(path.child("name"), name, detail)
    if not given:
        yield fieldpath.required(path, "must specify a volume type")
    if name:
        yield from dns_label(path.child("name"), name)
    else:
        yield fieldpath.required(path.child("name"))


def descending_path(path: FieldPath, value: str) -> Errors:
    """Relative, and never upwards."""
    if value.startswith("/"):
        yield fieldpath.invalid(path, value, "must be a relative path")
    yield from no_backsteps(path, value)


def local_path(path: FieldPath, value: str) -> Errors:
    """Descending, with a first part that is not reserved."""
    yield from descending_path(path, value)
    if value.startswith("..") and not value.startswith("../"):
        yield fieldpath.invalid(path, value, "must not start with '..'")


def _mode(path: FieldPath, given: JsonObject, field: str) -> Errors:
    mode = given.get(field)
    if mode is not None and not 0 <= mode <= 0o777:
        yield fieldpath.invalid(path.child(field), mode, MODE)


def _key_to_path(path: FieldPath, given: JsonObject) -> Errors:
    yield from present(given, path, "key", "path")
    yield from local_path(path.child("path"), given.get("path") or "")
    yield from _mode(path, given, "mode")


def _empty_dir(path: FieldPath, given: JsonObject) -> Errors:
    limit = given.get("sizeLimit")
    if limit is not None and parse(limit).sign < 0:
        detail = "SizeLimit field must be a valid resource quantity"
        yield fieldpath.forbidden(path.child("sizeLimit"), detail)


def host_path(path: FieldPath, given: JsonObject) -> Errors:
    """A path on the node, without backsteps, of a known type."""
    value = given.get("path") or ""
    if not value:
        yield fieldpath.required(path.child("path"))
        return
    yield from no_backsteps(path.child("path"), value)
    yield from supported(path.child("type"), given.get("type") or "", HOST_PATH_TYPES)


def _git_repo(path: FieldPath, given: JsonObject) -> Errors:
    yield from present(given, path, "repository")
    yield from descending_path(path.child("directory"), given.get("directory") or "")


def _keys(name_field: str) -> Callable[[FieldPath, JsonObject], Errors]:
    def source(path: FieldPath, given: JsonObject) -> Errors:
        yield from present(given, path, name_field)
        yield from _mode(path, given, "defaultMode")
        for at, item in items(given, "items", path):
            yield from _key_to_path(at, item)

    return source


def _downward(path: FieldPath, given: JsonObject) -> Errors:
    yield from _mode(path, given, "defaultMode")
    for item in given.get("items") or ():
        yield from _downward_file(path, item)


def _downward_file(path: FieldPath, given: JsonObject) -> Errors:
    yield from present(given, path, "path")
    yield from local_path(path.child("path"), given.get("path") or "")
    field, resource = given.get("fieldRef"), given.get("resourceFieldRef")
    if field is not None:
        yield from field_selector(path.child("fieldRef"), field, VOLUME_FIELDS)
        if resource is not None:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield fieldpath.invalid(path, "resource", detail)
    elif resource is not None:
        yield from resource_selector(path.child("resourceFieldRef"), resource, in_volume=True)
    else:
        yield fieldpath.required(path, "one of fieldRef and resourceFieldRef is required")
    yield from _mode(path, given, "mode")


def _projected(path: FieldPath, given: JsonObject) -> Errors:
    yield from _mode(path, given, "defaultMode")
    taken: set[str] = set()
    for at, source in items(given, "sources", path):
        for kind in ("secret", "configMap"):
            if source.get(kind) is not None:
                yield from _projected_keys(at.child(kind), path, source[kind], taken)
        for file in (source.get("downwardAPI") or {}).get("items") or ():
            yield from _downward_file(at.child("downwardAPI"), file)
            yield from _free_path(path, file, file.get("path"), taken)
        if source.get("serviceAccountToken") is not None:
            yield from _token(at.child("serviceAccountToken"), path, source["serviceAccountToken"])
        kinds = [kind for kind in source if source[kind] is not None]
        if len(kinds) > 1:
            yield fieldpath.forbidden(at, "may not specify more than 1 volume type per source")


def _projected_keys(
    path: FieldPath, whole: FieldPath, given: JsonObject, taken: set[str]
) -> Errors:
    yield from present(given, path, "name")
    for at, item in items(given, "items", path):
        yield from _key_to_path(at, item)
        yield from _free_path(whole, item, given.get("name") or "", taken)


def _free_path(path: FieldPath, item: JsonObject, shown: object, taken: set[str]) -> Errors:
    value = item.get("path")
    if value and value in taken:
        yield fieldpath.invalid(path, shown, "conflicting duplicate paths")
    elif value:
        taken.add(value)


def _token(path: FieldPath, whole: FieldPath, given: JsonObject) -> Errors:
    yield from token_lifetime(path.child("expirationSeconds"), given.get("expirationSeconds", 0))
    if given.get("path"):
        yield from local_path(whole.child("path"), given["path"])
    else:
        yield fieldpath.required(whole.child("path"))


def token_lifetime(path: FieldPath, seconds: int) -> Errors:
    """How long a token of a service account may be good for."""
    if seconds < MIN_TOKEN_SECONDS:
        yield fieldpath.invalid(path, seconds, "may not specify a duration less than 10 minutes")
    if seconds > MAX_TOKEN_SECONDS:
        detail = "may not specify a duration larger than 2^32 seconds"
        yield fieldpath.invalid(path, seconds, detail)


def _csi(path: FieldPath, given: JsonObject) -> Errors:
    yield from driver_name(path.child("driver"), given.get("driver") or "")
    reference = given.get("nodePublishSecretRef")
    if reference is not None:
        name = reference.get("name") or ""
        if name:
            yield from dns_subdomain(path.child("name"), name)
        else:
            yield fieldpath.required(path.child("nodePublishSecretRef", "name"))


def _ephemeral(path: FieldPath, given: JsonObject) -> Errors:
    template, at = given.get("volumeClaimTemplate"), path.child("volumeClaimTemplate")
    if template is None:
        yield fieldpath.required(at)
        return
    meta, where = template.get("metadata") or {}, at.child("metadata")
    yield from validate_annotations(where.child("annotations"), meta.get("annotations"))
    yield from labels(where.child("labels"), meta.get("labels"))
    for field in meta:
        if field not in {"annotations", "labels"}:
            yield fieldpath.forbidden(where.child(field), "cannot be set for an ephemeral volume")
    yield from claim_spec(at.child("spec"), template.get("spec") or {})


SOURCES: Final[Mapping[str, Callable[[FieldPath, JsonObject], Errors]]] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": remote_volumes.gce_disk,
    "awsElasticBlockStore": remote_volumes.aws_disk,
    "secret": _keys("secretName"),
    "nfs": remote_volumes.nfs,
    "iscsi": remote_volumes.iscsi,
    "glusterfs": remote_volumes.GLUSTERFS,
    "flocker": remote_volumes.flocker,
    "persistentVolumeClaim": remote_volumes.CLAIM,
    "rbd": remote_volumes.RBD,
    "cinder": remote_volumes.cinder,
    "cephfs": remote_volumes.CEPHFS,
    "quobyte": remote_volumes.quobyte,
    "downwardAPI": _downward,
    "fc": remote_volumes.fibre_channel,
    "flexVolume": remote_volumes.flex_volume,
    "configMap": _keys("name"),
    "azureFile": remote_volumes.AZURE_FILE,
    "vsphereVolume": remote_volumes.VSPHERE,
    "photonPersistentDisk": remote_volumes.PHOTON_DISK,
    "portworxVolume": remote_volumes.PORTWORX,
    "azureDisk": remote_volumes.azure_disk,
    "storageos": remote_volumes.storage_os,
    "projected": _projected,
    "scaleIO": remote_volumes.SCALE_IO,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": remote_volumes.IMAGE,
}
"""The kinds of volumes in upstream's order."""

INSIDE: Final = {"gcePersistentDisk": "persistentDisk"}
"""What upstream calls a source where it tells what is wrong inside, if not by its name."""
SHOWN_AS: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""What upstream calls a second source where its own name is misspelt."""
