"""The kinds of `storage.k8s.io`: drivers, what they say of nodes and space, attachments, classes.

As k8s.io/kubernetes `pkg/apis/storage/validation`.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.name_rules import qualified_name
from celadon.kube.quantity import parse_amounts
from celadon.kube.releases import is_since
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    MUTABLE_ALLOCATABLE,
    NEGATIVE,
    SELINUX_DRIVERS,
    SPEC,
    Errors,
    changed_fields,
    dns_subdomain,
    driver_name,
    each,
    immutable,
    in_range,
    items,
    not_negative,
    only_with,
    present_choice,
    supported,
)
from celadon.kube.validation.field_checks import qualified_name as checked_qualified_name
from celadon.kube.validation.format_checks import label_name, same_selector, selector
from celadon.kube.validation.object_meta import Naming, new_object_meta
from celadon.kube.validation.persistent_volumes import inline_volume
from celadon.kube.validation.pods.internal_types import internal_value
from celadon.kube.validation.pods.volumes import token_lifetime

# --- Storage drivers ---------------------------------------------------------
#
# Drivers of storage, the nodes they run on, what they have room for, and what they attach. Some
# paths are upstream's slips: `attachedRequired`, and the keys of topologies, which are complained
# about at their driver.

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
        missing = fieldpath.required(SPEC.child("seLinuxMount"))
        yield from only_with(SELINUX_DRIVERS, [missing])
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < SHORTEST_UPDATE:
        path = SPEC.child("nodeAllocatableUpdatePeriodSeconds")
        detail = f"must be greater than or equal to {SHORTEST_UPDATE} seconds"
        yield fieldpath.invalid(path, period, detail)
    in_secrets, path = spec.get(_IN_SECRETS), SPEC.child(_IN_SECRETS)
    if in_secrets is not None and not spec.get("tokenRequests"):
        yield fieldpath.invalid(path, in_secrets, f"{_IN_SECRETS} is set but {_NO_TOKENS}")


def _token_requests(spec: JsonObject) -> Errors:
    # As `validateTokenRequests` of `pkg/apis/storage/validation`.
    audiences: set[str] = set()
    for path, request in items(spec, "tokenRequests", SPEC):
        audience, seconds = request.get("audience") or "", request.get("expirationSeconds")
        if audience in audiences:
            yield fieldpath.duplicate(path.child("audience"), audience)
            continue
        audiences.add(audience)
        if seconds is None:
            continue
        yield from token_lifetime(path.child("expirationSeconds"), seconds)


def driver_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of a CSIDriver: some of what a driver says of itself is for good."""
    # As `ValidateCSIDriverUpdate` of `pkg/apis/storage/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _driver(spec)
    new, old_value = spec.get("attachRequired"), before.get("attachRequired")
    yield from immutable(SPEC.child("attachedRequired"), new, old_value)
    modes = spec.get("volumeLifecycleModes")
    if modes != before.get("volumeLifecycleModes"):
        value = GoValue(modes, "[]storage.VolumeLifecycleMode")
        yield fieldpath.invalid(SPEC.child("volumeLifecycleModes"), value, IMMUTABLE)


def node(obj: JsonObject) -> Errors:
    """Yield what is wrong with a CSINode, besides its metadata."""
    # As `ValidateCSINode` of `pkg/apis/storage/validation`.
    seen: set[str] = set()
    for path, driver in items(obj.get("spec") or {}, "drivers", SPEC):
        name, identity = driver.get("name") or "", driver.get("nodeID") or ""
        yield from driver_name(path.child("name"), name)
        if not identity:
            yield fieldpath.required(path.child("nodeID"))
        if len(identity.encode()) > NODE_ID_BYTES:
            detail = f"must be {NODE_ID_BYTES} characters or less"
            yield fieldpath.invalid(path.child("nodeID"), identity, detail)
        yield from not_negative(driver.get("allocatable") or {}, path.child("allocatable"), "count")
        if name in seen:
            yield fieldpath.duplicate(path.child("name"), name)
        seen.add(name)
        yield from _topology_keys(path, driver)


def _topology_keys(path: FieldPath, value: JsonObject) -> Errors:
    seen = set[str]()
    for key in value.get("topologyKeys") or ():
        if not key:
            yield fieldpath.required(path)
        if key in seen:
            yield fieldpath.duplicate(path, key)
        seen.add(key)
        yield from each(path, key, qualified_name(key))


def node_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of a CSINode: a driver of a node may come and go, but stays what it is."""
    # As `ValidateCSINodeUpdate` of `pkg/apis/storage/validation`.
    yield from node(obj)
    named: dict[object, list[JsonObject]] = {}
    for driver in (obj.get("spec") or {}).get("drivers") or ():
        named.setdefault(driver.get("name"), []).append(driver)
    for before in (old.get("spec") or {}).get("drivers") or ():
        for driver in named.get(before.get("name"), ()):
            yield from only_with(
                MUTABLE_ALLOCATABLE, _same_driver(_lasting(driver), _lasting(before))
            )
            yield from only_with(f"!{MUTABLE_ALLOCATABLE}", _same_driver(driver, before))


def _same_driver(driver: JsonObject, before: JsonObject) -> Errors:
    new, old = (internal_value(item, "storage.v1.CSINodeDriver") for item in (driver, before))
    keys = "TopologyKeys"
    if {**new, keys: new[keys] or None} != {**old, keys: old[keys] or None}:
        path = SPEC.child("drivers") if is_since("1.33") else FieldPath("CSINodeDriver")
        yield fieldpath.invalid(path, GoValue(new, "storage.CSINodeDriver"), IMMUTABLE)


def _lasting(driver: JsonObject) -> JsonObject:
    """Return a driver without what it has room for, which it may find out later."""
    return {key: value for key, value in driver.items() if key != "allocatable"}


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
    """Yield the same of any. Before 1.36, only the names of new ones were looked at, and last."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    attacher, path = spec.get("attacher") or "", SPEC.child("attacher")
    if is_since("1.36"):
        yield from driver_name(path, attacher)
    elif not attacher:
        yield fieldpath.required(path)
    yield from _attached_source(SPEC.child("source"), spec.get("source") or {})
    yield from dns_subdomain(SPEC.child("nodeName"), spec.get("nodeName") or "")
    path = FieldPath("status")
    yield from map_size(path.child("attachmentMetadata"), status.get("attachmentMetadata"))
    for field in ("attachError", "detachError"):
        error = status.get(field) or {}
        if len((error.get("message") or "").encode()) > MESSAGE_BYTES:
            # Upstream names the limit of the metadata.
            yield fieldpath.too_long(path.child(field, "message"), METADATA_BYTES)
        code = error.get("errorCode")
        if code is not None:
            yield from in_range(path.child(field, "errorCode"), code, 0, 2**31 - 1)
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
            persistent_volume_name_path = path.child("persistentVolumeName")
            yield fieldpath.required(
                persistent_volume_name_path, "must specify non empty persistentVolumeName"
            )
    elif inline is not None:
        yield from inline_volume(path.child("inlineVolumeSpec"), inline)


def map_size(path: FieldPath, value: JsonObject | None) -> Errors:
    """Validate the size of a map: keys and values of a map of texts may be long, but not all
    together."""
    texts = [text for pair in (value or {}).items() for text in pair]
    if sum(len(text.encode()) for text in texts) > METADATA_BYTES:
        yield fieldpath.too_long(path, METADATA_BYTES)


def attachment_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if what is attached where has changed. Before 1.35, everything was said
    twice."""
    # As `ValidateVolumeAttachmentUpdate` of `pkg/apis/storage/validation`.
    yield from _attachment(obj)
    if not is_since("1.35"):
        yield from new_object_meta(obj.get("metadata") or {}, Naming(namespaced=False))
        yield from _attachment(obj)
    if obj.get("spec") != old.get("spec"):
        printed = internal_value(obj.get("spec") or {}, "storage.v1.VolumeAttachmentSpec")
        yield fieldpath.invalid(SPEC, GoValue(printed, "storage.VolumeAttachmentSpec"), IMMUTABLE)


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
    yield from present_choice(root.child("volumeBindingMode"), mode, BINDING_MODES)
    yield from _topologies(obj)


def _maker(obj: JsonObject, field: str) -> Errors:
    """Yield what is wrong with the name of the driver that makes or changes volumes; capitals count
    as small ones."""
    # As `validateProvisioner` of `pkg/apis/storage/validation`.
    name, path = obj.get(field) or "", FieldPath(field)
    return checked_qualified_name(path, name.lower()) if name else iter((fieldpath.required(path),))


def _topologies(obj: JsonObject) -> Errors:
    # Upstream begins with an empty one for each term there is: nothing chosen is a repetition.
    # As `validateAllowedTopologies` of `pkg/apis/storage/validation`.
    counter = Counter({frozenset[object](): len(obj.get("allowedTopologies") or ())})
    for path, term in items(obj, "allowedTopologies", FieldPath()):
        chosen: dict[str, frozenset[str]] = {}
        for match_label_expression_path, match_label_expression in items(
            term, "matchLabelExpressions", path
        ):
            key, values = (
                match_label_expression.get("key") or "",
                match_label_expression.get("values") or (),
            )
            if not values:
                yield fieldpath.required(match_label_expression_path.child("values"))
            seen = set[str]()
            for index, value in enumerate(values):
                if value in seen:
                    yield fieldpath.duplicate(
                        match_label_expression_path.child("values").index(index), value
                    )
                seen.add(value)
            yield from label_name(match_label_expression_path.child("key"), key)
            if key in chosen:
                yield fieldpath.duplicate(match_label_expression_path.child("key"), key)
            chosen[key] = frozenset(seen)
        selection = frozenset[object](chosen.items())
        for _ in range(counter[selection]):
            yield fieldpath.duplicate(path.child("matchLabelExpressions"), "")
        counter[selection] += 1


def storage_class_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error for each changed field of which volumes were made: none may change."""
    # As `ValidateStorageClassUpdate` of `pkg/apis/storage/validation`.
    for error in changed_fields("storage.v1.StorageClass", obj, old, FieldPath()):
        if is_since("1.36") or error.field == "volumeBindingMode":
            yield error
        else:
            detail = f"updates to {error.field} are forbidden."
            yield fieldpath.forbidden(FieldPath(error.field), detail)


def parameters(path: FieldPath, value: JsonObject | None, *, needed: bool = False) -> Errors:
    """Yield what is wrong with the parameters of a class of volumes: not too many, not too long, no
    empty keys."""
    # As `validateParameters` of `pkg/apis/storage/validation`.
    result = value or {}
    if len(result) > MAX_PARAMETERS:
        yield fieldpath.too_long(path, MAX_PARAMETERS)
        return
    for key in sorted(result):
        if not key:
            yield fieldpath.invalid(path, key, "field can not be empty.")
    yield from map_size(path, result)
    if needed and not result:
        yield fieldpath.required(path, "must contain at least one key/value pair")


def attributes_class(obj: JsonObject) -> Errors:
    """Yield what is wrong with a VolumeAttributesClass, besides its metadata."""
    # As `ValidateVolumeAttributesClass` of `pkg/apis/storage/validation`.
    yield from _maker(obj, "driverName")
    yield from parameters(FieldPath("parameters"), obj.get("parameters"), needed=True)


def attributes_class_fixed(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if the driver of a VolumeAttributesClass changes, or what it is told."""
    # As `ValidateVolumeAttributesClassUpdate` of `pkg/apis/storage/validation`.
    for field in ("driverName", "parameters"):
        if obj.get(field) != old.get(field):
            yield fieldpath.forbidden(FieldPath(field), f"updates to {field} are forbidden.")
