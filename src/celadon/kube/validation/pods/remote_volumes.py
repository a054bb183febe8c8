"""Volumes that are elsewhere: disks of clouds, and file systems behind a network.

Pods and PersistentVolumes have the same, save what `storage.persistent_volumes` adds. As
k8s.io/kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors, dns_label, in_range, present, supported
from celadon.kube.validation.field_rules import broken_rules
from celadon.patterns import late_pattern

CACHING_MODES: Final = ("None", "ReadOnly", "ReadWrite")
DISK_KINDS: Final = ("Dedicated", "Managed", "Shared")
MANAGED: Final = "Managed"
MANAGED_DISK: Final = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
    "{disk-id}"
)
BLOB_DISK: Final = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
MAX_LUN: Final = 255
MAX_PARTITION: Final = 255
TENANT_CHARACTERS: Final = 64
RESERVED_DOMAINS: Final = (".kubernetes.io", ".k8s.io")
_PAIRS: Final = "must be a host:port pair or multiple pairs separated by commas"
_HOST_AND_PORT: Final = late_pattern(r"(?:[^\[\]:]*|\[[^\[\]]*\]):[^\[\]:]*")
_ISCSI_NAMES: Final = {
    "iqn": late_pattern(r"iqn\.[0-9]{4}-[0-9]{2}\.[a-zA-Z0-9.-]+:[^,;*&$|\t\n\f\r ]+\Z"),
    "eui": late_pattern(r"\Aeui.[a-zA-Z0-9]{16}\Z"),
    "naa": late_pattern(r"\Anaa.[a-zA-Z0-9]{32}\Z"),
}
"""What targets and initiators are called, by the first letters of their names."""


Rule = Callable[[FieldPath, JsonObject], Errors]


def by_rules(type_: str) -> Rule:
    """The rule of a volume for which the rules of its type are all."""
    return lambda path, source: iter(broken_rules(type_, source, path))


GLUSTERFS: Final = by_rules("core.v1.GlusterfsVolumeSource")
RBD: Final = by_rules("core.v1.RBDVolumeSource")
CEPHFS: Final = by_rules("core.v1.CephFSVolumeSource")
AZURE_FILE: Final = by_rules("core.v1.AzureFileVolumeSource")
VSPHERE: Final = by_rules("core.v1.VsphereVirtualDiskVolumeSource")
PHOTON_DISK: Final = by_rules("core.v1.PhotonPersistentDiskVolumeSource")
PORTWORX: Final = by_rules("core.v1.PortworxVolumeSource")
SCALE_IO: Final = by_rules("core.v1.ScaleIOVolumeSource")
CLAIM: Final = by_rules("core.v1.PersistentVolumeClaimVolumeSource")
IMAGE: Final = by_rules("core.v1.ImageVolumeSource")


def nfs(path: FieldPath, given: JsonObject) -> Errors:
    """A server and an absolute path."""
    yield from present(given, path, "server", "path")
    value = given.get("path") or ""
    if not value.startswith("/"):
        yield fieldpath.invalid(path.child("path"), value, "must be an absolute path")


def gce_disk(path: FieldPath, given: JsonObject) -> Errors:
    """A disk, or one of its partitions."""
    yield from present(given, path, "pdName")
    yield from _partition(path, given)


def aws_disk(path: FieldPath, given: JsonObject) -> Errors:
    """The same of another cloud."""
    yield from present(given, path, "volumeID")
    yield from _partition(path, given)


def _partition(path: FieldPath, given: JsonObject) -> Errors:
    """0 stands for none at all."""
    partition = given.get("partition") or 0
    if partition:
        yield from in_range(path.child("partition"), partition, 1, MAX_PARTITION)


def iscsi(path: FieldPath, given: JsonObject, *, lasting: bool = False, name: str = "") -> Errors:
    """`lasting`: of a PersistentVolume, whose name is `name`."""
    initiator = given.get("initiatorName")
    portal, target = given.get("targetPortal") or "", given.get("iqn") or ""
    yield from present(given, path, "targetPortal")
    if lasting and initiator is not None and len(f"{name}:{portal}".encode()) > 64:
        detail = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
            "iscsi.initiatorName is specified."
        )
        yield fieldpath.invalid(path.child("targetportal"), portal, detail)
    if target:
        yield from _iscsi_name(path.child("iqn"), target, lasting=lasting)
    else:
        yield fieldpath.required(path.child("iqn"))
    yield from in_range(path.child("lun"), given.get("lun") or 0, 0, MAX_LUN)
    secret = given.get("secretRef")
    if (given.get("chapAuthDiscovery") or given.get("chapAuthSession")) and secret is None:
        yield fieldpath.required(path.child("secretRef"))
    if lasting:
        yield from named_secret(path, given)
    if initiator is not None:
        yield from _iscsi_name(path.child("initiatorname"), initiator, lasting=lasting)


def _iscsi_name(path: FieldPath, name: str, *, lasting: bool) -> Errors:
    pattern = _ISCSI_NAMES.get(name[:3])
    if pattern is None:
        detail = "must be valid format"
        starting = "" if lasting else " starting with iqn, eui, or naa"
        yield fieldpath.invalid(path, name, detail + starting)
    elif pattern.search(name) is None:
        yield fieldpath.invalid(path, name, "must be valid format")


def named_secret(path: FieldPath, given: JsonObject, *, namespaced: bool = False) -> Errors:
    """What `secretRef` says, if there is one; `namespaced`: of which namespace, too."""
    secret = given.get("secretRef")
    if secret is not None:
        fields = ("name", "namespace") if namespaced else ("name",)
        yield from present(secret, path.child("secretRef"), *fields)


def flocker(path: FieldPath, given: JsonObject) -> Errors:
    """A dataset, by its name or its UUID."""
    name, identity = given.get("datasetName") or "", given.get("datasetUUID") or ""
    if not name and not identity:
        yield fieldpath.required(path, "one of datasetName and datasetUUID is required")
    if name and identity:
        detail = "datasetName and datasetUUID can not be specified simultaneously"
        yield fieldpath.invalid(path, "resource", detail)
    if "/" in name:
        yield fieldpath.invalid(path.child("datasetName"), name, "must not contain '/'")


def cinder(path: FieldPath, given: JsonObject, *, lasting: bool = False) -> Errors:
    """A disk of OpenStack."""
    yield from present(given, path, "volumeID")
    yield from named_secret(path, given, namespaced=lasting)


def quobyte(path: FieldPath, given: JsonObject) -> Errors:
    """A volume in a registry at some addresses."""
    registry = given.get("registry") or ""
    if not registry:
        yield fieldpath.required(path.child("registry"), _PAIRS)
    elif len((given.get("tenant") or "").encode()) > TENANT_CHARACTERS:
        detail = f"must be a UUID and may not exceed a length of {TENANT_CHARACTERS} characters"
        yield fieldpath.required(path.child("tenant"), detail)
    else:
        for pair in registry.split(","):
            if _HOST_AND_PORT.fullmatch(pair) is None:
                yield fieldpath.invalid(path.child("registry"), registry, _PAIRS)
    yield from present(given, path, "volume")


def fibre_channel(path: FieldPath, given: JsonObject) -> Errors:
    """Disks by the names of their ports, or by their own."""
    names, identities = given.get("targetWWNs") or [], given.get("wwids")
    at, lun = path.child("targetWWNs"), given.get("lun")
    if not names and not identities:
        yield fieldpath.required(at, "must specify either targetWWNs or wwids, but not both")
    if names and identities:
        detail = "targetWWNs and wwids can not be specified simultaneously"
        yield fieldpath.invalid(at, names, detail)
    if names and lun is None:
        yield fieldpath.required(path.child("lun"), "lun is required if targetWWNs is specified")
    elif names:
        number: Any = lun
        yield from in_range(path.child("lun"), number, 0, MAX_LUN)


def flex_volume(path: FieldPath, given: JsonObject) -> Errors:
    """Whatever a driver takes, but no options that are Kubernetes' own."""
    yield from present(given, path, "driver")
    for key in sorted(given.get("options") or ()):
        if f".{key.partition('/')[0].lower()}".endswith(RESERVED_DOMAINS):
            detail = "kubernetes.io and k8s.io namespaces are reserved"
            yield fieldpath.invalid(path.child("options").key(key), key, detail)


def azure_disk(path: FieldPath, given: JsonObject) -> Errors:
    """A disk whose address fits its kind."""
    yield from present(given, path, "diskName", "diskURI")
    if given.get("cachingMode") is not None:
        yield from supported(path.child("cachingMode"), given["cachingMode"], CACHING_MODES)
    kind, uri = given.get("kind"), given.get("diskURI") or ""
    if kind is None:
        return
    yield from supported(path.child("kind"), kind, DISK_KINDS)
    if kind == MANAGED and not uri.startswith("/subscriptions/"):
        yield fieldpath.not_supported(path.child("diskURI"), uri, [MANAGED_DISK])
    if kind != MANAGED and not uri.startswith("https://"):
        yield fieldpath.not_supported(path.child("diskURI"), uri, [BLOB_DISK])


def storage_os(path: FieldPath, given: JsonObject, *, lasting: bool = False) -> Errors:
    """A volume by its name and namespace."""
    name, namespace = given.get("volumeName") or "", given.get("volumeNamespace") or ""
    if name:
        yield from dns_label(path.child("volumeName"), name)
    else:
        yield fieldpath.required(path.child("volumeName"))
    if namespace:
        yield from dns_label(path.child("volumeNamespace"), namespace)
    yield from named_secret(path, given, namespaced=lasting)
