"""Drivers of storage, the nodes they run on, what they have room for, and what they attach.

As k8s.io/kubernetes `pkg/apis/storage/validation`. Some paths are upstream's slips:
`attachedRequired`, and the keys of topologies, which are complained about at their driver.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.name_rules import qualified_name
from celadon.kube.quantities.resource_amounts import parse
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    NEGATIVE,
    SPEC,
    Errors,
    dns_subdomain,
    driver_name,
    each,
    immutable,
    in_range,
    items,
    not_negative,
    supported,
)
from celadon.kube.validation.field_rules import changed_fields
from celadon.kube.validation.label_rules import same_selector, selector
from celadon.kube.validation.pods.internal_pod_types import internal_value
from celadon.kube.validation.pods.volumes import token_lifetime
from celadon.kube.validation.storage.persistent_volumes import inline_volume

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
    """What is wrong with a new CSIDriver, besides its metadata."""
    return _driver(obj.get("spec") or {})


def _driver(spec: JsonObject) -> Errors:
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
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _driver(spec)
    for field, shown in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "")):
        at = SPEC.child(shown or field)
        yield from immutable(at, spec.get(field), before.get(field))


def node(obj: JsonObject) -> Errors:
    """What is wrong with a CSINode, besides its metadata."""
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
    yield from node(obj)
    for before in (old.get("spec") or {}).get("drivers") or ():
        for one in (obj.get("spec") or {}).get("drivers") or ():
            if one.get("name") == before.get("name") and _lasting(one) != _lasting(before):
                shown = internal_value(_lasting(one), "storage.v1.CSINodeDriver")
                yield fieldpath.invalid(SPEC.child("drivers"), shown, IMMUTABLE)


def _lasting(one: JsonObject) -> JsonObject:
    """Without what a driver has room for, which it may find out later."""
    return {key: value for key, value in one.items() if key != "allocatable" and value}


def capacity(obj: JsonObject) -> Errors:
    """What is wrong with a CSIStorageCapacity, besides its metadata."""
    yield from selector(_TOPOLOGY, obj.get("nodeTopology"))
    yield from dns_subdomain(_CLASS, obj.get("storageClassName") or "")
    text = obj.get("capacity")
    if text is not None and parse(text).sign < 0:
        yield fieldpath.invalid(FieldPath("capacity"), str(parse(text)), NEGATIVE)


def capacity_update(obj: JsonObject, old: JsonObject) -> Errors:
    """What a driver was asked stays."""
    yield from capacity(obj)
    yield from same_selector(_TOPOLOGY, obj.get("nodeTopology"), old.get("nodeTopology"))
    yield from changed_fields("storage.v1.CSIStorageCapacity", obj, old, FieldPath())


def attachment(obj: JsonObject) -> Errors:
    """What is wrong with a VolumeAttachment, besides its metadata."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    yield from driver_name(SPEC.child("attacher"), spec.get("attacher") or "")
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
    name = (spec.get("source") or {}).get("persistentVolumeName")
    if name is not None:
        yield from dns_subdomain(FieldPath("spec.source.persistentVolumeName"), name)


def _attached_source(path: FieldPath, source: JsonObject) -> Errors:
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
    """What is attached where stays."""
    yield from attachment(obj)
    if obj.get("spec") != old.get("spec"):
        shown = internal_value(obj.get("spec") or {}, "storage.v1.VolumeAttachmentSpec")
        yield fieldpath.invalid(SPEC, shown, IMMUTABLE)
