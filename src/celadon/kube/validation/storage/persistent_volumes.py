"""PersistentVolumes: what they are made of, and what of it may change.

As k8s.io/kubernetes `pkg/apis/core/validation`; a volume that stands in a VolumeAttachment itself
(`inline_volume`) is one of a CSI driver and may say less.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from functools import partial
from itertools import zip_longest
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.quantities.resource_amounts import parse
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    SPEC,
    Errors,
    dns_label,
    dns_subdomain,
    driver_name,
    each,
    immutable,
    supported,
)
from celadon.kube.validation.pods import remote_volumes
from celadon.kube.validation.pods.claim_specs import VOLUME_MODES, access_modes
from celadon.kube.validation.pods.env_vars import no_backsteps
from celadon.kube.validation.pods.internal_pod_types import internal_value
from celadon.kube.validation.pods.pod_spec_diffs import volume_source_diff
from celadon.kube.validation.pods.resource_lists import positive_quantity
from celadon.kube.validation.pods.scheduling import node_selector
from celadon.kube.validation.pods.volumes import ONE_TYPE, host_path
from celadon.kube.validation.storage.storage_claims import attributes_class_kept

RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
SECRETS: Final = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
"""The secrets of a CSI volume that are looked at, in upstream's order; that for staging is not."""
INLINE: Final = "may not be specified in the context of inline volumes"


def persistent_volume(obj: JsonObject) -> Errors:
    """What is wrong with a PersistentVolume, besides its metadata."""
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield fieldpath.required(SPEC.child("accessModes"))
    yield from access_modes(SPEC, spec)
    capacity, at = spec.get("capacity") or {}, SPEC.child("capacity")
    if not capacity:
        yield fieldpath.required(at)
    if set(capacity) != {"storage"}:
        shown = dict(sorted(capacity.items())) or spec.get("capacity")
        yield fieldpath.not_supported(at, shown, ["storage"])
    for name, text in sorted(capacity.items()):
        amount = int(parse(text).as_decimal().to_integral_value("ROUND_UP"))
        if amount < 0:
            why = "must be a valid resource quantity"
            yield fieldpath.invalid(at.key(name), amount, why)
        yield from positive_quantity(at.key(name), text)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy:
        yield from supported(SPEC.child("persistentVolumeReclaimPolicy"), policy, RECLAIM_POLICIES)
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        yield from _volume_affinity(SPEC.child("nodeAffinity"), affinity)
    yield from _source(SPEC, spec, (obj.get("metadata") or {}).get("name") or "")
    if spec.get("storageClassName"):
        yield from dns_subdomain(SPEC.child("storageClassName"), spec["storageClassName"])
    if spec.get("volumeMode") is not None:
        yield from supported(SPEC.child("volumeMode"), spec["volumeMode"], VOLUME_MODES)
    yield from _attributes_class(spec)


def _volume_affinity(path: FieldPath, affinity: JsonObject) -> Errors:
    if affinity.get("required") is None:
        yield fieldpath.required(path.child("required"), "must specify required node constraints")
    else:
        yield from node_selector(path.child("required"), affinity["required"])


def _attributes_class(spec: JsonObject) -> Errors:
    name, at = spec.get("volumeAttributesClassName"), SPEC.child("volumeAttributesClassName")
    if name is None:
        return
    if name:
        yield from dns_subdomain(at, name)
    else:
        yield fieldpath.required(at, "an empty string is disallowed")
    if spec.get("csi") is None:
        detail = "has to be specified when using volumeAttributesClassName"
        yield fieldpath.required(SPEC.child("csi"), detail)


def inline_volume(path: FieldPath, spec: JsonObject) -> Errors:
    """Of a volume that has no object of its own."""
    if spec.get("claimRef") is not None:
        yield fieldpath.forbidden(path.child("claimRef"), INLINE)
    if spec.get("capacity"):
        yield fieldpath.forbidden(path.child("capacity"), INLINE)
    if spec.get("csi") is None:
        detail = "has to be specified in the context of inline volumes"
        yield fieldpath.required(path.child("csi"), detail)
    if not spec.get("accessModes"):
        yield fieldpath.required(path.child("accessModes"))
    yield from access_modes(path, spec)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy != "Retain":
        at = path.child("persistentVolumeReclaimPolicy")
        yield fieldpath.forbidden(at, "may only be Retain in the context of inline volumes")
    if spec.get("nodeAffinity") is not None:
        yield fieldpath.forbidden(path.child("nodeAffinity"), INLINE)
    yield from _source(path, spec, "")
    if spec.get("storageClassName"):
        yield fieldpath.forbidden(path.child("storageClassName"), INLINE)
    if spec.get("volumeMode") not in (None, "Filesystem"):
        detail = "may not specify volumeMode other than Filesystem in the context of inline volumes"
        yield fieldpath.forbidden(path.child("volumeMode"), detail)


def _source(path: FieldPath, spec: JsonObject, name: str) -> Errors:
    given = [kind for kind in SOURCES if spec.get(kind) is not None]
    for position, kind in enumerate(given):
        at = path.child(kind)
        if position and kind != FLEX:
            yield fieldpath.forbidden(path.child(SHOWN_AS.get(kind, kind)), ONE_TYPE)
        elif kind == "iscsi":
            yield from remote_volumes.iscsi(at, spec[kind], lasting=True, name=name)
        else:
            shown = "persistentDisk" if kind == "gcePersistentDisk" else kind
            yield from SOURCES[kind](path.child(shown), spec[kind])
        if kind == "local" and not position and spec.get("nodeAffinity") is None:
            detail = "Local volume requires node affinity"
            yield fieldpath.required(path.child("nodeAffinity"), detail)
    if not given:
        yield fieldpath.required(path, "must specify a volume type")
    host = spec.get("hostPath")
    recycled = spec.get("persistentVolumeReclaimPolicy") == "Recycle"
    if host is not None and recycled and _is_root(host.get("path") or ""):
        at = path.child("persistentVolumeReclaimPolicy")
        yield fieldpath.forbidden(at, "may not be 'recycle' for a hostPath mount of '/'")


def _is_root(path: str) -> bool:
    return path.startswith("/") and posixpath.normpath(path) in {"/", "//"}


def _glusterfs(path: FieldPath, given: JsonObject) -> Errors:
    yield from remote_volumes.GLUSTERFS(path, given)
    namespace, at = given.get("endpointsNamespace"), path.child("endpointsNamespace")
    if namespace == "":
        detail = "if the endpointnamespace is set, it must be a valid namespace name"
        yield fieldpath.invalid(at, namespace, detail)
    elif namespace is not None:
        yield from each(at, namespace, name_rules.dns1123_label(namespace))


def _azure_file(path: FieldPath, given: JsonObject) -> Errors:
    yield from remote_volumes.AZURE_FILE(path, given)
    if given.get("secretNamespace") == "":
        at = path.child("secretNamespace")
        yield fieldpath.invalid(at, "", "secretNamespace must be nil or non-empty")


def _local(path: FieldPath, given: JsonObject) -> Errors:
    if given.get("path"):
        yield from no_backsteps(path.child("path"), given["path"])
    else:
        yield fieldpath.required(path.child("path"))


def _csi(path: FieldPath, given: JsonObject) -> Errors:
    yield from driver_name(path.child("driver"), given.get("driver") or "")
    if not given.get("volumeHandle"):
        yield fieldpath.required(path.child("volumeHandle"))
    for field in SECRETS:
        if given.get(field) is not None:
            yield from _secret(path.child(field), given[field])


def _secret(path: FieldPath, reference: JsonObject) -> Errors:
    for field in ("name", "namespace"):
        value = reference.get(field) or ""
        if not value:
            yield fieldpath.required(path.child(field))
        elif field == "name":
            yield from dns_subdomain(path.child(field), value)
        else:
            yield from dns_label(path.child(field), value)


FLEX: Final = "flexVolume"
"""The kind of volume that is never one too many."""

SHOWN_AS: Final = {"cephfs": "cephFS"}
"""What upstream calls a second source where its own name is misspelt."""

SOURCES: Final[Mapping[str, Callable[[FieldPath, JsonObject], Errors]]] = {
    "hostPath": host_path,
    "gcePersistentDisk": remote_volumes.gce_disk,
    "awsElasticBlockStore": remote_volumes.aws_disk,
    "glusterfs": _glusterfs,
    "flocker": remote_volumes.flocker,
    "nfs": remote_volumes.nfs,
    "rbd": remote_volumes.RBD,
    "quobyte": remote_volumes.quobyte,
    "cephfs": remote_volumes.CEPHFS,
    "iscsi": remote_volumes.iscsi,
    "cinder": partial(remote_volumes.cinder, lasting=True),
    "fc": remote_volumes.fibre_channel,
    FLEX: remote_volumes.flex_volume,
    "azureFile": _azure_file,
    "vsphereVolume": remote_volumes.VSPHERE,
    "photonPersistentDisk": remote_volumes.PHOTON_DISK,
    "portworxVolume": remote_volumes.PORTWORX,
    "azureDisk": remote_volumes.azure_disk,
    "scaleIO": remote_volumes.SCALE_IO,
    "local": _local,
    "storageos": partial(remote_volumes.storage_os, lasting=True),
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


def persistent_volume_update(obj: JsonObject, old: JsonObject) -> Errors:
    """What a volume is made of stays; a secret for growing may still come, and where it can be
    used."""
    yield from persistent_volume(obj)
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    difference = volume_source_diff(before, _without_new_secret(spec, before))
    if difference:
        detail = f"spec.persistentvolumesource is immutable after creation\n{difference}"
        yield fieldpath.forbidden(SPEC.child("persistentvolumesource"), detail)
    yield from immutable(FieldPath("volumeMode"), spec.get("volumeMode"), before.get("volumeMode"))
    affinity, was = spec.get("nodeAffinity"), before.get("nodeAffinity")
    if was is not None and affinity not in (was, _with_lasting_labels(was, affinity or {})):
        shown = None if affinity is None else internal_value(affinity, "core.v1.VolumeNodeAffinity")
        why = f"{IMMUTABLE}, except for updating from beta label to GA"
        yield fieldpath.invalid(FieldPath("nodeAffinity"), shown, why)
    yield from attributes_class_kept(spec, before, or_empty=False)


def _with_lasting_labels(was: JsonObject, affinity: JsonObject) -> dict[str, Any]:
    """The old affinity with the lasting name of each label that the new one has it for."""
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
    found: list[JsonObject] = (affinity.get("required") or {}).get("nodeSelectorTerms") or []
    return found


def _renamed(term: JsonObject, new: JsonObject) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for field in ("matchExpressions", "matchFields"):
        if field not in term:
            continue
        keys = [one.get("key") for one in new.get(field) or ()]
        made[field] = [
            {**one, "key": key} if key and LASTING_LABELS.get(one.get("key") or "") == key else one
            for one, key in zip_longest(term[field] or (), keys[: len(term[field] or ())])
        ]
    return made


def _without_new_secret(spec: JsonObject, before: JsonObject) -> JsonObject:
    driver, was = spec.get("csi"), before.get("csi")
    if not driver or not was or was.get("controllerExpandSecretRef") is not None:
        return spec
    kept = {key: one for key, one in driver.items() if key != "controllerExpandSecretRef"}
    return {**spec, "csi": kept}
