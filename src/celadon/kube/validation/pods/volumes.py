"""The volumes of a pod: exactly one source each, and what each source needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonObject
from celadon.kube.quantity import parse_amounts
from celadon.kube.releases import wording
from celadon.kube.validation.field_checks import (
    Errors,
    broken_rules,
    dns_label,
    dns_subdomain,
    driver_name,
    in_range,
    items,
    present,
    supported,
)
from celadon.kube.validation.format_checks import selector
from celadon.kube.validation.object_meta import inherited_metadata
from celadon.kube.validation.pods import env_vars
from celadon.kube.validation.pods.resource_lists import positive_quantity, quantity_value
from celadon.late_patterns import late_pattern

# --- Remote volumes ----------------------------------------------------------
#
# Volumes that are elsewhere: disks of clouds, and file systems behind a network.
#
# Pods and PersistentVolumes have the same, save what `persistent_volumes` adds. As
# k8s.io/kubernetes `pkg/apis/core/validation`.

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
    "iqn": late_pattern(r"iqn\.[0-9]{4}-[0-9]{2}\.[a-zA-Z0-9.-]++(?::[^,;*&$|\t\n\f\r ]++(\Z)?)?"),
    "eui": late_pattern(r"\Aeui.[a-zA-Z0-9]{16}(\Z)"),
    "naa": late_pattern(r"\Anaa.[a-zA-Z0-9]{32}(\Z)"),
}
"""What targets and initiators are called, by the first letters of their names: with the end as a
group, where it is reached. So nothing is read twice; what is passed over could not reach it."""

Rule = Callable[[FieldPath, JsonObject], Errors]


def by_rules(type_: str) -> Rule:
    """Return the rule of a volume for which the rules of its type are all."""
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


def nfs(path: FieldPath, data: JsonObject) -> Errors:
    """Validate a server and an absolute path."""
    # As `validateNFSVolumeSource` of `pkg/apis/core/validation`.
    yield from present(data, path, "server", "path")
    value = data.get("path") or ""
    if not value.startswith("/"):
        yield fieldpath.invalid(path.child("path"), value, "must be an absolute path")


def gce_disk(path: FieldPath, value: JsonObject) -> Errors:
    """Yield what is wrong with a disk of Google Cloud, or one of its partitions."""
    # As `validateGCEPersistentDiskVolumeSource` of `pkg/apis/core/validation`.
    yield from present(value, path, "pdName")
    yield from _partition(path, value)


def aws_disk(path: FieldPath, value: JsonObject) -> Errors:
    """Yield what is wrong with a disk of AWS, or one of its partitions."""
    # As `validateAWSElasticBlockStoreVolumeSource` of `pkg/apis/core/validation`.
    yield from present(value, path, "volumeID")
    yield from _partition(path, value)


def _partition(path: FieldPath, value: JsonObject) -> Errors:
    """Validate a partition; 0 stands for none at all."""
    partition = value.get("partition") or 0
    if partition:
        yield from in_range(path.child("partition"), partition, 1, MAX_PARTITION)


def iscsi(path: FieldPath, value: JsonObject, *, lasting: bool = False, name: str = "") -> Errors:
    """Validate a volume of iSCSI. `lasting`: of a PersistentVolume, whose name is `name`."""
    # As `validateISCSIVolumeSource` of `pkg/apis/core/validation`.
    initiator = value.get("initiatorName")
    portal, target = value.get("targetPortal") or "", value.get("iqn") or ""
    yield from present(value, path, "targetPortal")
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
    yield from in_range(path.child("lun"), value.get("lun") or 0, 0, MAX_LUN)
    secret = value.get("secretRef")
    if (value.get("chapAuthDiscovery") or value.get("chapAuthSession")) and secret is None:
        yield fieldpath.required(path.child("secretRef"))
    if lasting:
        yield from named_secret(path, value)
    if initiator is not None:
        yield from _iscsi_name(path.child("initiatorname"), initiator, lasting=lasting)


def _iscsi_name(path: FieldPath, name: str, *, lasting: bool) -> Errors:
    pattern = _ISCSI_NAMES.get(name[:3])
    if pattern is None:
        detail = "must be valid format"
        starting = "" if lasting else " starting with iqn, eui, or naa"
        yield fieldpath.invalid(path, name, detail + starting)
    elif all(item[1] is None for item in pattern.finditer(name)):
        yield fieldpath.invalid(path, name, "must be valid format")


def named_secret(path: FieldPath, value: JsonObject, *, namespaced: bool = False) -> Errors:
    """Yield what is wrong with `secretRef`, if there is one; `namespaced`: it says in which
    namespace, too."""
    secret = value.get("secretRef")
    if secret is not None:
        fields = ("name", "namespace") if namespaced else ("name",)
        yield from present(secret, path.child("secretRef"), *fields)


def flocker(path: FieldPath, value: JsonObject) -> Errors:
    """Validate a dataset, by its name or its UUID."""
    # As `validateFlockerVolumeSource` of `pkg/apis/core/validation`.
    name, identity = value.get("datasetName") or "", value.get("datasetUUID") or ""
    if not name and not identity:
        yield fieldpath.required(path, "one of datasetName and datasetUUID is required")
    if name and identity:
        detail = "datasetName and datasetUUID can not be specified simultaneously"
        yield fieldpath.invalid(path, "resource", detail)
    if "/" in name:
        yield fieldpath.invalid(path.child("datasetName"), name, "must not contain '/'")


def cinder(path: FieldPath, value: JsonObject, *, lasting: bool = False) -> Errors:
    """Validate a disk of OpenStack."""
    # As `validateCinderVolumeSource` of `pkg/apis/core/validation`.
    yield from present(value, path, "volumeID")
    yield from named_secret(path, value, namespaced=lasting)


def quobyte(path: FieldPath, value: JsonObject) -> Errors:
    """Validate a volume in a registry at some addresses."""
    # As `validateQuobyteVolumeSource` of `pkg/apis/core/validation`.
    registry = value.get("registry") or ""
    if not registry:
        yield fieldpath.required(path.child("registry"), _PAIRS)
    elif len((value.get("tenant") or "").encode()) > TENANT_CHARACTERS:
        detail = f"must be a UUID and may not exceed a length of {TENANT_CHARACTERS} characters"
        yield fieldpath.required(path.child("tenant"), detail)
    else:
        for pair in registry.split(","):
            if _HOST_AND_PORT.fullmatch(pair) is None:
                yield fieldpath.invalid(path.child("registry"), registry, _PAIRS)
    yield from present(value, path, "volume")


def fibre_channel(path: FieldPath, value: JsonObject) -> Errors:
    """Validate disks by the names of their ports, or by their own."""
    # As `validateFCVolumeSource` of `pkg/apis/core/validation`.
    names, identities = value.get("targetWWNs") or [], value.get("wwids")
    target_ww_ns_path, lun = path.child("targetWWNs"), value.get("lun")
    if not names and not identities:
        yield fieldpath.required(
            target_ww_ns_path, "must specify either targetWWNs or wwids, but not both"
        )
    if names and identities:
        detail = "targetWWNs and wwids can not be specified simultaneously"
        yield fieldpath.invalid(target_ww_ns_path, names, detail)
    if names and lun is None:
        yield fieldpath.required(path.child("lun"), "lun is required if targetWWNs is specified")
    elif names:
        number: Any = lun
        yield from in_range(path.child("lun"), number, 0, MAX_LUN)


def flex_volume(path: FieldPath, value: JsonObject) -> Errors:
    """Validate whatever a driver takes, but no options that are Kubernetes' own."""
    # As `validateFlexVolumeSource` of `pkg/apis/core/validation`.
    yield from present(value, path, "driver")
    for key in sorted(value.get("options") or ()):
        if f".{key.partition('/')[0].lower()}".endswith(RESERVED_DOMAINS):
            detail = "kubernetes.io and k8s.io namespaces are reserved"
            yield fieldpath.invalid(path.child("options").key(key), key, detail)


def azure_disk(path: FieldPath, value: JsonObject) -> Errors:
    """Validate a disk whose address fits its kind."""
    # As `validateAzureDisk` of `pkg/apis/core/validation`.
    yield from present(value, path, "diskName", "diskURI")
    if value.get("cachingMode") is not None:
        yield from supported(path.child("cachingMode"), value["cachingMode"], CACHING_MODES)
    kind, uri = value.get("kind"), value.get("diskURI") or ""
    if kind is None:
        return
    yield from supported(path.child("kind"), kind, DISK_KINDS)
    if kind == MANAGED and not uri.startswith("/subscriptions/"):
        yield fieldpath.not_supported(path.child("diskURI"), uri, [MANAGED_DISK])
    if kind != MANAGED and not uri.startswith("https://"):
        yield fieldpath.not_supported(path.child("diskURI"), uri, [BLOB_DISK])


def storage_os(path: FieldPath, value: JsonObject, *, lasting: bool = False) -> Errors:
    """Validate a volume by its name and namespace."""
    name, namespace = value.get("volumeName") or "", value.get("volumeNamespace") or ""
    if name:
        yield from dns_label(path.child("volumeName"), name)
    else:
        yield fieldpath.required(path.child("volumeName"))
    if namespace:
        yield from dns_label(path.child("volumeNamespace"), namespace)
    yield from named_secret(path, value, namespaced=lasting)


# --- Claim specs -------------------------------------------------------------
#
# What a PersistentVolumeClaim wants, also that of an ephemeral volume.
#
# As k8s.io/kubernetes `pkg/apis/core/validation`.

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
ALONE: Final = "ReadWriteOncePod"
VOLUME_MODES: Final = ("Block", "Filesystem")
NOT_ALONE: Final = "may not use ReadWriteOncePod with other access modes"


def claim_spec(path: FieldPath, spec: JsonObject, *, any_group: bool = False) -> Errors:
    """Validate the spec of a claim, also of the template of an ephemeral volume. Sources may be of
    `any_group`, if they were of one before."""
    # As `ValidatePersistentVolumeClaimSpec` of `pkg/apis/core/validation`.
    if not spec.get("accessModes"):
        detail = "at least 1 access mode is required"
        yield fieldpath.required(path.child("accessModes"), detail)
    yield from selector(path.child("selector"), spec.get("selector"))
    yield from access_modes(path, spec)
    field_path = path.child("resources").key("storage")
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is None:
        yield fieldpath.required(field_path)
    elif parse_amounts(size).sign <= 0:
        yield from positive_quantity(field_path, size)
    else:
        yield from quantity_value(field_path, "storage", size)
    if spec.get("storageClassName"):
        yield from dns_subdomain(path.child("storageClassName"), spec["storageClassName"])
    if spec.get("volumeMode") is not None:
        yield from supported(path.child("volumeMode"), spec["volumeMode"], VOLUME_MODES)
    yield from _data_sources(path, spec, any_group=any_group)
    name = spec.get("volumeAttributesClassName")
    if name:
        yield from dns_subdomain(path.child("volumeAttributesClassName"), name)


def access_modes(path: FieldPath, spec: JsonObject) -> Errors:
    """Yield what is wrong with the access modes of a claim or a volume: they must be known, and one
    of them stands alone."""
    access_modes_path, modes = path.child("accessModes"), spec.get("accessModes") or ()
    for mode in modes:
        yield from supported(access_modes_path, mode, ACCESS_MODES)
    if ALONE in modes and any(mode in ACCESS_MODES and mode != ALONE for mode in modes):
        yield fieldpath.forbidden(access_modes_path, NOT_ALONE)


def _data_sources(path: FieldPath, spec: JsonObject, *, any_group: bool) -> Errors:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, item in (("dataSource", source), ("dataSourceRef", reference)):
        if item is not None:
            yield from _data_source(path.child(field), item, any_group=any_group)
    if source is None or reference is None:
        return
    if reference.get("namespace"):
        detail = "may not be specified when dataSourceRef.namespace is specified"
        yield fieldpath.invalid(path, _SOURCE_PATH, detail)
    elif any(source.get(key) != reference.get(key) for key in ("apiGroup", "kind", "name")):
        yield fieldpath.invalid(path, _SOURCE_PATH, "must match dataSourceRef")


_SOURCE_PATH: Final = GoValue({}, "field.Path", whole={"name": "dataSource", "parent": {}})
"""Upstream shows the path of the field in place of its value: as JSON, that is nothing."""


def _data_source(path: FieldPath, value: JsonObject, *, any_group: bool) -> Errors:
    # As `validateDataSource` of `pkg/apis/core/validation`.
    for field in ("name", "kind"):
        if not value.get(field):
            yield fieldpath.required(path.child(field))
    group = value.get("apiGroup") or ""
    if not group and value.get("kind") != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield fieldpath.invalid(path, value.get("kind") or "", detail)
    if group and not any_group:
        yield from dns_subdomain(path.child("apiGroup"), group)
    if value.get("namespace"):
        yield from dns_label(path.child("namespace"), value["namespace"])


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
_PER_SOURCE: Final = wording(" per source", v1_31="")
MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
MIN_TOKEN_SECONDS: Final = 600
MAX_TOKEN_SECONDS: Final = 1 << 32


def volumes(
    path: FieldPath, spec: JsonObject, pod_name: str, *, in_pod: bool
) -> tuple[dict[str, JsonObject], list[FieldError]]:
    """Return the usable volumes by name, and what is wrong with the others."""
    # As `ValidateVolumes` of `pkg/apis/core/validation`.
    created = {
        f"{pod_name}-{volume.get('name')}"
        for volume in spec.get("volumes") or ()
        if pod_name and volume.get("ephemeral") is not None
    }
    usable: dict[str, JsonObject] = {}
    errors: list[FieldError] = []
    for volume_path, volume in items(spec, "volumes", path):
        name = volume.get("name") or ""
        result = list(_volume(volume_path, volume, pod_name, in_pod=in_pod))
        if name in usable:
            result.append(fieldpath.duplicate(volume_path.child("name"), name))
        if not result:
            usable[name] = volume
        errors += result
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim and claim in created:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            claim_name_path = volume_path.child("persistentVolumeClaim", "claimName")
            errors.append(fieldpath.invalid(claim_name_path, claim, detail))
    return usable, errors


def _volume(path: FieldPath, volume: JsonObject, pod_name: str, *, in_pod: bool) -> Errors:
    # As `validateVolumeSource` of `pkg/apis/core/validation`.
    sources = [kind for kind in SOURCES if volume.get(kind) is not None]
    for position, kind in enumerate(sources):
        if position:
            yield fieldpath.forbidden(path.child(SHOWN_AS.get(kind, kind)), ONE_TYPE)
        else:
            if kind == "image" and in_pod:
                yield from present(volume["image"], path.child("image"), "reference")
            yield from SOURCES[kind](path.child(INSIDE.get(kind, kind)), volume[kind])
    name = volume.get("name") or ""
    if sources[:1] == ["ephemeral"] and pod_name and name:
        claim = f"{pod_name}-{name}"
        for message in name_rules.dns1123_subdomain(claim):
            detail = f"PVC name {quote(claim)}: {message}"
            yield fieldpath.invalid(path.child("name"), name, detail)
    if not sources:
        yield fieldpath.required(path, "must specify a volume type")
    if name:
        yield from dns_label(path.child("name"), name)
    else:
        yield fieldpath.required(path.child("name"))


def _mode(path: FieldPath, value: JsonObject, field: str) -> Errors:
    mode = value.get(field)
    if mode is not None and not 0 <= mode <= 0o777:
        yield fieldpath.invalid(path.child(field), mode, MODE)


def _key_to_path(path: FieldPath, value: JsonObject) -> Errors:
    # As `validateKeyToPath` of `pkg/apis/core/validation`.
    yield from present(value, path, "key", "path")
    yield from env_vars.local_path(path.child("path"), value.get("path") or "")
    yield from _mode(path, value, "mode")


def _empty_dir(path: FieldPath, value: JsonObject) -> Errors:
    limit = value.get("sizeLimit")
    if limit is not None and parse_amounts(limit).sign < 0:
        detail = "SizeLimit field must be a valid resource quantity"
        yield fieldpath.forbidden(path.child("sizeLimit"), detail)


def host_path(path: FieldPath, data: JsonObject) -> Errors:
    """Validate a path on the node, without backsteps, of a known type."""
    # As `validateHostPathVolumeSource` of `pkg/apis/core/validation`.
    value = data.get("path") or ""
    if not value:
        yield fieldpath.required(path.child("path"))
        return
    yield from env_vars.no_backsteps(path.child("path"), value)
    yield from supported(path.child("type"), data.get("type") or "", HOST_PATH_TYPES)


def _git_repo(path: FieldPath, value: JsonObject) -> Errors:
    # As `validateGitRepoVolumeSource` of `pkg/apis/core/validation`.
    yield from present(value, path, "repository")
    yield from env_vars.descending_path(path.child("directory"), value.get("directory") or "")


def _keys(name_field: str) -> Callable[[FieldPath, JsonObject], Errors]:
    def source(path: FieldPath, value: JsonObject) -> Errors:
        yield from present(value, path, name_field)
        yield from _mode(path, value, "defaultMode")
        for item_path, item in items(value, "items", path):
            yield from _key_to_path(item_path, item)

    return source


def _downward(path: FieldPath, value: JsonObject) -> Errors:
    # As `validateDownwardAPIVolumeSource` of `pkg/apis/core/validation`.
    yield from _mode(path, value, "defaultMode")
    for item in value.get("items") or ():
        yield from _downward_file(path, item)


def _downward_file(path: FieldPath, value: JsonObject) -> Errors:
    # As `validateDownwardAPIVolumeFile` of `pkg/apis/core/validation`.
    yield from present(value, path, "path")
    yield from env_vars.local_path(path.child("path"), value.get("path") or "")
    field, resource = value.get("fieldRef"), value.get("resourceFieldRef")
    if field is not None:
        yield from env_vars.field_selector(path.child("fieldRef"), field, VOLUME_FIELDS)
        if resource is not None:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield fieldpath.invalid(path, "resource", detail)
    elif resource is not None:
        yield from env_vars.resource_selector(
            path.child("resourceFieldRef"), resource, in_volume=True
        )
    else:
        yield fieldpath.required(path, "one of fieldRef and resourceFieldRef is required")
    yield from _mode(path, value, "mode")


def _projected(path: FieldPath, value: JsonObject) -> Errors:
    # As `validateProjectedVolumeSource` of `pkg/apis/core/validation`.
    yield from _mode(path, value, "defaultMode")
    taken: set[str] = set()
    for source_path, source in items(value, "sources", path):
        for kind in ("secret", "configMap"):
            if source.get(kind) is not None:
                yield from _projected_keys(source_path.child(kind), path, source[kind], taken)
        for file in (source.get("downwardAPI") or {}).get("items") or ():
            yield from _downward_file(source_path.child("downwardAPI"), file)
            yield from _free_path(path, file, file.get("path"), taken)
        if source.get("serviceAccountToken") is not None:
            yield from _token(
                source_path.child("serviceAccountToken"), path, source["serviceAccountToken"]
            )
        if _OF_CERTIFICATES & source.keys():
            yield from _of_certificates(source_path, path, source, taken)
        kinds = [kind for kind in source if source[kind] is not None]
        if len(kinds) > 1:
            yield fieldpath.forbidden(source_path, f"{ONE_TYPE}{_PER_SOURCE.text}")


_OF_CERTIFICATES: Final = frozenset({"clusterTrustBundle", "podCertificate"})


def _of_certificates(
    field_path: FieldPath, path: FieldPath, source: JsonObject, taken: set[str]
) -> Errors:
    from celadon.kube.validation.pods import signers  # late: few pods have any

    bundle, pod_certificate = source.get("clusterTrustBundle"), source.get("podCertificate")
    if bundle is not None:
        where = field_path.child("clusterTrustBundle")
        yield from signers.bundle_projection(where, path, bundle, taken)
    if pod_certificate is not None:
        where = field_path.child("podCertificate")
        yield from signers.certificate_projection(where, path, pod_certificate, taken)


def _projected_keys(
    path: FieldPath, whole: FieldPath, value: JsonObject, taken: set[str]
) -> Errors:
    yield from present(value, path, "name")
    for item_path, item in items(value, "items", path):
        yield from _key_to_path(item_path, item)
        yield from _free_path(whole, item, value.get("name") or "", taken)


def _free_path(path: FieldPath, item: JsonObject, printed: object, taken: set[str]) -> Errors:
    value = item.get("path")
    if value and value in taken:
        yield fieldpath.invalid(path, printed, "conflicting duplicate paths")
    elif value:
        taken.add(value)


def _token(path: FieldPath, whole: FieldPath, value: JsonObject) -> Errors:
    yield from token_lifetime(path.child("expirationSeconds"), value.get("expirationSeconds", 0))
    if value.get("path"):
        yield from env_vars.local_path(whole.child("path"), value["path"])
    else:
        yield fieldpath.required(whole.child("path"))


def token_lifetime(path: FieldPath, seconds: int) -> Errors:
    """Yield an error if a token of a service account would be good for too short or too long."""
    if seconds < MIN_TOKEN_SECONDS:
        yield fieldpath.invalid(path, seconds, "may not specify a duration less than 10 minutes")
    if seconds > MAX_TOKEN_SECONDS:
        detail = "may not specify a duration larger than 2^32 seconds"
        yield fieldpath.invalid(path, seconds, detail)


def _csi(path: FieldPath, value: JsonObject) -> Errors:
    yield from driver_name(path.child("driver"), value.get("driver") or "")
    reference = value.get("nodePublishSecretRef")
    if reference is not None:
        name = reference.get("name") or ""
        if name:
            yield from dns_subdomain(path.child("name"), name)
        else:
            yield fieldpath.required(path.child("nodePublishSecretRef", "name"))


def _ephemeral(path: FieldPath, value: JsonObject) -> Errors:
    # As `validateEphemeralVolumeSource` of `pkg/apis/core/validation`.
    template, volume_claim_template_path = (
        value.get("volumeClaimTemplate"),
        path.child("volumeClaimTemplate"),
    )
    if template is None:
        yield fieldpath.required(volume_claim_template_path)
        return
    yield from inherited_metadata(
        volume_claim_template_path.child("metadata"), template.get("metadata") or {}
    )
    yield from claim_spec(volume_claim_template_path.child("spec"), template.get("spec") or {})


SOURCES: Final[Mapping[str, Callable[[FieldPath, JsonObject], Errors]]] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": gce_disk,
    "awsElasticBlockStore": aws_disk,
    "secret": _keys("secretName"),
    "nfs": nfs,
    "iscsi": iscsi,
    "glusterfs": GLUSTERFS,
    "flocker": flocker,
    "persistentVolumeClaim": CLAIM,
    "rbd": RBD,
    "cinder": cinder,
    "cephfs": CEPHFS,
    "quobyte": quobyte,
    "downwardAPI": _downward,
    "fc": fibre_channel,
    "flexVolume": flex_volume,
    "configMap": _keys("name"),
    "azureFile": AZURE_FILE,
    "vsphereVolume": VSPHERE,
    "photonPersistentDisk": PHOTON_DISK,
    "portworxVolume": PORTWORX,
    "azureDisk": azure_disk,
    "storageos": storage_os,
    "projected": _projected,
    "scaleIO": SCALE_IO,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": IMAGE,
}
"""The kinds of volumes in upstream's order."""

INSIDE: Final = {"gcePersistentDisk": "persistentDisk"}
"""What upstream calls a source where it tells what is wrong inside, if not by its name."""
SHOWN_AS: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""What upstream calls a second source where its own name is misspelt."""
