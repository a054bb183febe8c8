"""PersistentVolumes: what they are made of, and what of it may change.

As k8s.io/kubernetes `pkg/apis/core/validation`; a volume that stands in a VolumeAttachment itself
(`inline_volume`) is one of a CSI driver and may say less.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from itertools import zip_longest
from typing import Final

from celadon.kube import fieldpath, metadata, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.name_rules import qualified_name
from celadon.kube.quantity import parse_amounts
from celadon.kube.releases import is_since
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    MUTABLE_AFFINITY,
    MUTABLE_ALLOCATABLE,
    NEGATIVE,
    RECOVERED_CLAIMS,
    SPEC,
    Errors,
    by_gate,
    changed_fields,
    dns_label,
    dns_subdomain,
    driver_name,
    each,
    immutable,
    in_range,
    items,
    not_negative,
    only_with,
    required_choice,
    supported,
)
from celadon.kube.validation.field_checks import qualified_name as checked_qualified_name
from celadon.kube.validation.object_meta import Naming, new_object_meta, validate_object_meta
from celadon.kube.validation.pods import volumes
from celadon.kube.validation.pods.env_vars import no_backsteps
from celadon.kube.validation.pods.internal_types import (
    claim_spec_diff,
    internal_value,
    volume_source_diff,
)
from celadon.kube.validation.pods.resource_lists import positive_quantity
from celadon.kube.validation.pods.scheduling import required_nodes
from celadon.kube.validation.pods.volumes import (
    ONE_TYPE,
    VOLUME_MODES,
    access_modes,
    claim_spec,
    host_path,
    token_lifetime,
)
from celadon.kube.validation.text_rules import label_name, same_selector, selector
from celadon.kube.well_known_values import MOUNT_OPTIONS, STORAGE_CLASS

# --- Storage claims ----------------------------------------------------------
#
# Claims to storage, new and changed.


def claim(obj: JsonObject) -> Errors:
    """Yield what is wrong with a PersistentVolumeClaim, besides its metadata."""
    # As `ValidatePersistentVolumeClaim` of `pkg/apis/core/validation`.
    yield from claim_spec(SPEC, obj.get("spec") or {})


def claim_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The size may grow; whatever else changes is told by its difference."""
    # As `ValidatePersistentVolumeClaimUpdate` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    sources = (before.get(field) or {} for field in ("dataSource", "dataSourceRef"))
    had_group = any(one.get("apiGroup") is not None for one in sources)
    yield from claim_spec(SPEC, spec, any_group=had_group)
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
        yield fieldpath.forbidden(SPEC, detail)
    yield from _size(obj, old)
    yield from immutable(FieldPath("volumeMode"), spec.get("volumeMode"), before.get("volumeMode"))
    if is_since("1.34"):
        yield from _applied_class_kept(spec, old)
    else:
        yield from attributes_class_kept(spec, before, or_empty=True)


def _applied_class_kept(spec: JsonObject, old: JsonObject) -> Errors:
    """A class that was applied gives way to another one only."""
    name = spec.get("volumeAttributesClassName")
    status, before = old.get("status") or {}, old.get("spec") or {}
    if name or name == before.get("volumeAttributesClassName"):
        return
    if status.get("currentVolumeAttributesClassName") is not None:
        what = "nil" if name is None else "empty string"
        why = (
            f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
        )
        yield fieldpath.forbidden(SPEC.child("volumeAttributesClassName"), why)


def _size(obj: JsonObject, old: JsonObject) -> Errors:
    """A claim that could not grow may take back what it has not got, since a gate is on."""
    new, was = (_requested(one.get("spec") or {}) for one in (obj, old))
    has = ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
    at = SPEC.child("resources", "requests", "storage")
    if parse_amounts(new).compare(parse_amounts(was)) >= 0:
        return
    shrinks = [fieldpath.forbidden(at, "field can not be less than previous value")]
    lost = [fieldpath.forbidden(at, "field can not be less than status.capacity")]
    has_it = parse_amounts(new).compare(parse_amounts(has)) <= 0
    yield from by_gate(RECOVERED_CLAIMS, lost if has_it else (), shrinks)


def _requested(spec: JsonObject) -> str:
    text: str = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    return text


def _old_class(obj: JsonObject, old: JsonObject) -> Errors:
    """The annotation that was there before the field stays what it is."""
    at = FieldPath("metadata", "annotations", STORAGE_CLASS)
    new, was = (metadata.annotations(one).get(STORAGE_CLASS) for one in (obj, old))
    moved = _takes_class(obj, old) and was is not None and new in (None, was)
    if not moved:
        yield from immutable(at, new or "", was or "")


def _takes_class(obj: JsonObject, old: JsonObject) -> bool:
    """Return whether a claim without a class gets one: only that which its annotation names, if it
    has one."""
    # As `validateStorageClassUpgradeFromNil` of `pkg/apis/core/validation`.
    named, before = ((one.get("spec") or {}).get("storageClassName") for one in (obj, old))
    noted = metadata.annotations(old).get(STORAGE_CLASS, named)
    return before is None and named is not None and named == noted


def attributes_class_kept(spec: JsonObject, before: JsonObject, *, or_empty: bool) -> Errors:
    """Yield an error if a VolumeAttributesClass is taken away; a claim that has one may get
    another. `or_empty`: the empty text is none as well."""
    name, was = (one.get("volumeAttributesClassName") for one in (spec, before))
    at = SPEC.child("volumeAttributesClassName")
    if was is not None and name is None:
        yield fieldpath.forbidden(at, "update from non-nil value to nil is forbidden")
    elif or_empty and was is not None and name == "" != was:
        yield fieldpath.forbidden(at, "update from non-nil value to an empty string is forbidden")


def _compared(spec: JsonObject, before: JsonObject, *, bound: bool) -> tuple[JsonDict, JsonDict]:
    """The old and the new spec, the same where they may differ."""
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


def persistent_volume(obj: JsonObject, old: JsonObject | None = None) -> Errors:
    """Yield what is wrong with a PersistentVolume, besides its metadata; `old` is what was
    changed."""
    yield from _volume(obj, old)
    # As `ValidatePersistentVolume` of `pkg/volume/validation`.
    can_have_options = MOUNTED_WITH_OPTIONS & set(obj.get("spec") or {})
    if MOUNT_OPTIONS in metadata.annotations(obj) and not can_have_options:
        at = FieldPath("metadata", "annotations").child(MOUNT_OPTIONS)
        yield fieldpath.forbidden(at, "may not specify mount options for this volume type")


def _volume(obj: JsonObject, old: JsonObject | None) -> Errors:
    # As `ValidatePersistentVolume` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, (old or {}).get("spec") or {}
    if not spec.get("accessModes"):
        yield fieldpath.required(SPEC.child("accessModes"))
    yield from access_modes(SPEC, spec)
    capacity, at = spec.get("capacity") or {}, SPEC.child("capacity")
    if not capacity:
        yield fieldpath.required(at)
    if set(capacity) != {"storage"}:
        shown = dict(sorted(capacity.items())) or spec.get("capacity")
        yield fieldpath.not_supported(at, GoValue(shown, "core.ResourceList"), ["storage"])
    for name, text in sorted(capacity.items()):
        amount = parse_amounts(text).int64_value()
        if amount < 0:
            why = "must be a valid resource quantity"
            yield fieldpath.invalid(at.key(name), amount, why)
        yield from positive_quantity(at.key(name), text)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy:
        yield from supported(SPEC.child("persistentVolumeReclaimPolicy"), policy, RECLAIM_POLICIES)
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        was = before.get("nodeAffinity") or {}
        yield from _volume_affinity(SPEC.child("nodeAffinity"), affinity, was)
    yield from _source(SPEC, spec, (obj.get("metadata") or {}).get("name") or "")
    if spec.get("storageClassName"):
        yield from dns_subdomain(SPEC.child("storageClassName"), spec["storageClassName"])
    if spec.get("volumeMode") is not None:
        yield from supported(SPEC.child("volumeMode"), spec["volumeMode"], VOLUME_MODES)
    yield from _attributes_class(spec)


def _volume_affinity(path: FieldPath, affinity: JsonObject, was: JsonObject) -> Errors:
    if affinity.get("required") is None:
        yield fieldpath.required(path.child("required"), "must specify required node constraints")
    else:
        yield from required_nodes(path.child("required"), affinity["required"], was.get("required"))


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
            yield from volumes.iscsi(at, spec[kind], lasting=True, name=name)
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
    # As `validateGlusterfsPersistentVolumeSource` of `pkg/apis/core/validation`.
    yield from volumes.GLUSTERFS(path, given)
    namespace, at = given.get("endpointsNamespace"), path.child("endpointsNamespace")
    if namespace == "":
        detail = "if the endpointnamespace is set, it must be a valid namespace name"
        yield fieldpath.invalid(at, namespace, detail)
    elif namespace is not None:
        yield from each(at, namespace, name_rules.dns1123_label(namespace))


def _azure_file(path: FieldPath, given: JsonObject) -> Errors:
    # As `validateAzureFilePV` of `pkg/apis/core/validation`.
    yield from volumes.AZURE_FILE(path, given)
    if given.get("secretNamespace") == "":
        at = path.child("secretNamespace")
        yield fieldpath.invalid(at, "", "secretNamespace must be nil or non-empty")


def _local(path: FieldPath, given: JsonObject) -> Errors:
    # As `validateLocalVolumeSource` of `pkg/apis/core/validation`.
    if given.get("path"):
        yield from no_backsteps(path.child("path"), given["path"])
    else:
        yield fieldpath.required(path.child("path"))


def _csi(path: FieldPath, given: JsonObject) -> Errors:
    # As `validateCSIPersistentVolumeSource` of `pkg/apis/core/validation`.
    yield from driver_name(path.child("driver"), given.get("driver") or "")
    if not given.get("volumeHandle"):
        yield fieldpath.required(path.child("volumeHandle"))
    for field in SECRETS:
        if given.get(field) is not None:
            yield from _secret(path.child(field), given[field])


def _secret(path: FieldPath, reference: JsonObject) -> Errors:
    # As `validatePVSecretReference` of `pkg/apis/core/validation`.
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


def persistent_volume_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The source of a volume stays; a secret for growing may come, and where it can be used."""
    # As `ValidatePersistentVolumeUpdate` of `pkg/apis/core/validation`, which looks at all of it
    # once more: causes come twice.
    yield from persistent_volume(obj, old)
    yield from new_object_meta(obj.get("metadata") or {}, Naming(namespaced=False))
    yield from _volume(obj, old)
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
        fixed = fieldpath.invalid(FieldPath("nodeAffinity"), shown, why)
        yield from only_with(f"!{MUTABLE_AFFINITY}", [fixed])
    yield from attributes_class_kept(spec, before, or_empty=False)


def _with_lasting_labels(was: JsonObject, affinity: JsonObject) -> JsonDict:
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


def _renamed(term: JsonObject, new: JsonObject) -> JsonDict:
    made: JsonDict = {}
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


# --- Storage drivers ---------------------------------------------------------
#
# Drivers of storage, the nodes they run on, what they have room for, and what they attach.
#
# As k8s.io/kubernetes `pkg/apis/storage/validation`. Some paths are upstream's slips:
# `attachedRequired`, and the keys of topologies, which are complained about at their driver.


LIFECYCLE_MODES: Final = ("Persistent", "Ephemeral")
GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
NODE_ID_BYTES: Final = 256
METADATA_BYTES: Final = 256 * 1024
"""Keys and values of what an attached volume says of itself, and of parameters of classes."""
MESSAGE_BYTES: Final = 1024
SHORTEST_UPDATE: Final = 10
"""Seconds between two looks at what a driver has room for."""
_IN_SECRETS: Final = "serviceAccountTokenInSecrets"
_NO_TOKENS: Final = "no tokenRequests are specified"
_SOURCES: Final = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_CLASS: Final = FieldPath("storageClassName")
_TOPOLOGY: Final = FieldPath("nodeTopology")


def driver(obj: JsonObject) -> Errors:
    """Yield what is wrong with a new CSIDriver, besides its metadata."""
    # As `ValidateCSIDriver` of `pkg/apis/storage/validation`.
    return _driver(obj.get("spec") or {})


def _driver(spec: JsonObject) -> Errors:
    # As `validateCSIDriverSpec` of `pkg/apis/storage/validation`.
    if spec.get("attachRequired") is None:
        yield fieldpath.required(SPEC.child("attachedRequired"))
    for field in ("podInfoOnMount", "storageCapacity"):
        if spec.get(field) is None:
            yield fieldpath.required(SPEC.child(field))
    if spec.get("fsGroupPolicy") is not None:
        yield from supported(SPEC.child("fsGroupPolicy"), spec["fsGroupPolicy"], GROUP_POLICIES)
    yield from _token_requests(spec)
    for mode in spec.get("volumeLifecycleModes") or ():
        yield from supported(SPEC.child("volumeLifecycleModes"), mode, LIFECYCLE_MODES)
    if spec.get("seLinuxMount") is None:
        yield fieldpath.required(SPEC.child("seLinuxMount"))
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < SHORTEST_UPDATE:
        at = SPEC.child("nodeAllocatableUpdatePeriodSeconds")
        why = f"must be greater than or equal to {SHORTEST_UPDATE} seconds"
        yield fieldpath.invalid(at, period, why)
    in_secrets, at = spec.get(_IN_SECRETS), SPEC.child(_IN_SECRETS)
    if in_secrets is not None and not spec.get("tokenRequests"):
        yield fieldpath.invalid(at, in_secrets, f"{_IN_SECRETS} is set but {_NO_TOKENS}")


def _token_requests(spec: JsonObject) -> Errors:
    # As `validateTokenRequests` of `pkg/apis/storage/validation`.
    audiences: set[str] = set()
    for at, request in items(spec, "tokenRequests", SPEC):
        audience, seconds = request.get("audience") or "", request.get("expirationSeconds")
        if audience in audiences:
            yield fieldpath.duplicate(at.child("audience"), audience)
            continue
        audiences.add(audience)
        if seconds is None:
            continue
        yield from token_lifetime(at.child("expirationSeconds"), seconds)


def driver_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Some of what a driver says of itself is for good."""
    # As `ValidateCSIDriverUpdate` of `pkg/apis/storage/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _driver(spec)
    for field, shown in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "")):
        at = SPEC.child(shown or field)
        yield from immutable(at, spec.get(field), before.get(field))


def node(obj: JsonObject) -> Errors:
    """Yield what is wrong with a CSINode, besides its metadata."""
    # As `ValidateCSINode` of `pkg/apis/storage/validation`.
    seen: set[str] = set()
    for at, one in items(obj.get("spec") or {}, "drivers", SPEC):
        name, identity = one.get("name") or "", one.get("nodeID") or ""
        yield from driver_name(at.child("name"), name)
        if not identity:
            yield fieldpath.required(at.child("nodeID"))
        if len(identity.encode()) > NODE_ID_BYTES:
            why = f"must be {NODE_ID_BYTES} characters or less"
            yield fieldpath.invalid(at.child("nodeID"), identity, why)
        yield from not_negative(one.get("allocatable") or {}, at.child("allocatable"), "count")
        if name in seen:
            yield fieldpath.duplicate(at.child("name"), name)
        seen.add(name)
        yield from _topology_keys(at, one)


def _topology_keys(path: FieldPath, one: JsonObject) -> Errors:
    seen = set[str]()
    for key in one.get("topologyKeys") or ():
        if not key:
            yield fieldpath.required(path)
        if key in seen:
            yield fieldpath.duplicate(path, key)
        seen.add(key)
        yield from each(path, key, qualified_name(key))


def node_update(obj: JsonObject, old: JsonObject) -> Errors:
    """A driver of a node may come and go, but stays what it is."""
    # As `ValidateCSINodeUpdate` of `pkg/apis/storage/validation`.
    yield from node(obj)
    named: dict[object, list[JsonObject]] = {}
    for one in (obj.get("spec") or {}).get("drivers") or ():
        named.setdefault(one.get("name"), []).append(one)
    for before in (old.get("spec") or {}).get("drivers") or ():
        for one in named.get(before.get("name"), ()):
            yield from only_with(MUTABLE_ALLOCATABLE, _same_driver(_lasting(one), _lasting(before)))
            yield from only_with(f"!{MUTABLE_ALLOCATABLE}", _same_driver(one, before))


def _same_driver(driver: JsonObject, before: JsonObject) -> Errors:
    new, old = (internal_value(one, "storage.v1.CSINodeDriver") for one in (driver, before))
    keys = "TopologyKeys"
    if {**new, keys: new[keys] or None} != {**old, keys: old[keys] or None}:
        at = SPEC.child("drivers") if is_since("1.33") else FieldPath("CSINodeDriver")
        yield fieldpath.invalid(at, GoValue(new, "storage.CSINodeDriver"), IMMUTABLE)


def _lasting(one: JsonObject) -> JsonObject:
    """Without what a driver has room for, which it may find out later."""
    return {key: value for key, value in one.items() if key != "allocatable"}


def capacity(obj: JsonObject) -> Errors:
    """Yield what is wrong with a CSIStorageCapacity, besides its metadata."""
    # As `ValidateCSIStorageCapacity` of `pkg/apis/storage/validation`.
    yield from selector(_TOPOLOGY, obj.get("nodeTopology"))
    yield from dns_subdomain(_CLASS, obj.get("storageClassName") or "")
    text = obj.get("capacity")
    if text is not None and parse_amounts(text).sign < 0:
        yield fieldpath.invalid(FieldPath("capacity"), str(parse_amounts(text)), NEGATIVE)


def capacity_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if the question that a driver answered has changed."""
    # As `ValidateCSIStorageCapacityUpdate` of `pkg/apis/storage/validation`.
    yield from same_selector(_TOPOLOGY, obj.get("nodeTopology"), old.get("nodeTopology"))
    yield from changed_fields("storage.v1.CSIStorageCapacity", obj, old, FieldPath())


def attachment(obj: JsonObject) -> Errors:
    """Yield what is wrong with a new VolumeAttachment, besides its metadata."""
    # As `ValidateVolumeAttachment` of `pkg/apis/storage/validation`.
    yield from _attachment(obj)
    if not is_since("1.36"):
        yield from _names(obj.get("spec") or {})


def _attachment(obj: JsonObject) -> Errors:
    """The same of any. Before 1.36, only the names of new ones were looked at, and last."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    attacher, at = spec.get("attacher") or "", SPEC.child("attacher")
    if is_since("1.36"):
        yield from driver_name(at, attacher)
    elif not attacher:
        yield fieldpath.required(at)
    yield from _attached_source(SPEC.child("source"), spec.get("source") or {})
    yield from dns_subdomain(SPEC.child("nodeName"), spec.get("nodeName") or "")
    at = FieldPath("status")
    yield from map_size(at.child("attachmentMetadata"), status.get("attachmentMetadata"))
    for field in ("attachError", "detachError"):
        error = status.get(field) or {}
        if len((error.get("message") or "").encode()) > MESSAGE_BYTES:
            # Upstream names the limit of the metadata.
            yield fieldpath.too_long(at.child(field, "message"), METADATA_BYTES)
        code = error.get("errorCode")
        if code is not None:
            yield from in_range(at.child(field, "errorCode"), code, 0, 2**31 - 1)
    if is_since("1.36"):
        yield from _attached_name(spec)


def _names(spec: JsonObject) -> Errors:
    yield from driver_name(SPEC.child("attacher"), spec.get("attacher") or "")
    yield from _attached_name(spec)


def _attached_name(spec: JsonObject) -> Errors:
    name = (spec.get("source") or {}).get("persistentVolumeName")
    if name is not None:
        yield from dns_subdomain(FieldPath("spec.source.persistentVolumeName"), name)


def _attached_source(path: FieldPath, source: JsonObject) -> Errors:
    # As `validateVolumeAttachmentSource` of `pkg/apis/storage/validation`.
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and name is None:
        yield fieldpath.required(path, _SOURCES)
    elif inline is not None and name is not None:
        yield fieldpath.forbidden(path, _SOURCES)
    elif name is not None:
        if not name:
            at = path.child("persistentVolumeName")
            yield fieldpath.required(at, "must specify non empty persistentVolumeName")
    elif inline is not None:
        yield from inline_volume(path.child("inlineVolumeSpec"), inline)


def map_size(path: FieldPath, given: JsonObject | None) -> Errors:
    """Keys and values of a map of texts may be long, but not all together."""
    texts = [text for pair in (given or {}).items() for text in pair]
    if sum(len(text.encode()) for text in texts) > METADATA_BYTES:
        yield fieldpath.too_long(path, METADATA_BYTES)


def attachment_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if what is attached where has changed. Before 1.35, everything was said
    twice."""
    # As `ValidateVolumeAttachmentUpdate` of `pkg/apis/storage/validation`.
    yield from _attachment(obj)
    if not is_since("1.35"):
        yield from validate_object_meta(obj.get("metadata") or {}, Naming(namespaced=False))
        yield from _attachment(obj)
    if obj.get("spec") != old.get("spec"):
        shown = internal_value(obj.get("spec") or {}, "storage.v1.VolumeAttachmentSpec")
        yield fieldpath.invalid(SPEC, shown, IMMUTABLE)


# --- Storage classes ---------------------------------------------------------
#
# Classes of storage: who makes volumes, and what of.
#
# As k8s.io/kubernetes `pkg/apis/storage/validation`.


CLASS_RECLAIM_POLICIES: Final = ("Delete", "Retain")
BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")
MAX_PARAMETERS: Final = 512


def storage_class(obj: JsonObject) -> Errors:
    """Yield what is wrong with a StorageClass, besides its metadata."""
    # As `ValidateStorageClass` of `pkg/apis/storage/validation`.
    root = FieldPath()
    yield from _maker(obj, "provisioner")
    yield from parameters(root.child("parameters"), obj.get("parameters"))
    policy = obj.get("reclaimPolicy")
    if policy:
        yield from supported(root.child("reclaimPolicy"), policy, CLASS_RECLAIM_POLICIES)
    mode = obj.get("volumeBindingMode")
    yield from required_choice(root.child("volumeBindingMode"), mode, BINDING_MODES)
    yield from _topologies(obj)


def _maker(obj: JsonObject, field: str) -> Errors:
    """Yield what is wrong with the name of the driver that makes or changes volumes; capitals count
    as small ones."""
    # As `validateProvisioner` of `pkg/apis/storage/validation`.
    name, at = obj.get(field) or "", FieldPath(field)
    return checked_qualified_name(at, name.lower()) if name else iter((fieldpath.required(at),))


def _topologies(obj: JsonObject) -> Errors:
    # Upstream begins with an empty one for each term there is: nothing chosen is a repetition.
    # As `validateAllowedTopologies` of `pkg/apis/storage/validation`.
    known = Counter({frozenset[object](): len(obj.get("allowedTopologies") or ())})
    for at, term in items(obj, "allowedTopologies", FieldPath()):
        chosen: dict[str, frozenset[str]] = {}
        for where, one in items(term, "matchLabelExpressions", at):
            key, values = one.get("key") or "", one.get("values") or ()
            if not values:
                yield fieldpath.required(where.child("values"))
            seen = set[str]()
            for index, value in enumerate(values):
                if value in seen:
                    yield fieldpath.duplicate(where.child("values").index(index), value)
                seen.add(value)
            yield from label_name(where.child("key"), key)
            if key in chosen:
                yield fieldpath.duplicate(where.child("key"), key)
            chosen[key] = frozenset(seen)
        selection = frozenset[object](chosen.items())
        for _ in range(known[selection]):
            yield fieldpath.duplicate(at.child("matchLabelExpressions"), "")
        known[selection] += 1


def storage_class_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Nothing of what volumes were made of may change."""
    # As `ValidateStorageClassUpdate` of `pkg/apis/storage/validation`.
    for error in changed_fields("storage.v1.StorageClass", obj, old, FieldPath()):
        if is_since("1.36") or error.field == "volumeBindingMode":
            yield error
        else:
            why = f"updates to {error.field} are forbidden."
            yield fieldpath.forbidden(FieldPath(error.field), why)


def parameters(path: FieldPath, given: JsonObject | None, *, needed: bool = False) -> Errors:
    """Yield what is wrong with the parameters of a class of volumes: not too many, not too long, no
    empty keys."""
    # As `validateParameters` of `pkg/apis/storage/validation`.
    found = given or {}
    if len(found) > MAX_PARAMETERS:
        yield fieldpath.too_long(path, MAX_PARAMETERS)
        return
    for key in sorted(found):
        if not key:
            yield fieldpath.invalid(path, key, "field can not be empty.")
    yield from map_size(path, found)
    if needed and not found:
        yield fieldpath.required(path, "must contain at least one key/value pair")


def attributes_class(obj: JsonObject) -> Errors:
    """Yield what is wrong with a VolumeAttributesClass, besides its metadata."""
    # As `ValidateVolumeAttributesClass` of `pkg/apis/storage/validation`.
    yield from _maker(obj, "driverName")
    yield from parameters(FieldPath("parameters"), obj.get("parameters"), needed=True)


def attributes_class_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Neither the driver nor what it is told may change."""
    # As `ValidateVolumeAttributesClassUpdate` of `pkg/apis/storage/validation`.
    for field in ("driverName", "parameters"):
        if obj.get(field) != old.get(field):
            yield fieldpath.forbidden(FieldPath(field), f"updates to {field} are forbidden.")
    yield from attributes_class(obj)
