"""The status of a ResourceClaim: which devices it got, who may use them, and how they are.

As k8s.io/kubernetes `pkg/apis/resource/validation`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.address_rules import interface_address
from celadon.kube.validation.devices.device_parts import (
    MAX_ITEMS,
    binding_conditions,
    configuration,
    distinct,
    limited,
    pool_name,
    raw_object,
)
from celadon.kube.validation.devices.resource_claims import (
    RequestNames,
    request_names,
    request_reference,
)
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    Errors,
    at_most,
    dns_label,
    driver_name,
    each,
    required_choice,
)
from celadon.kube.validation.field_rules import broken_rules
from celadon.kube.validation.pods.scheduling import node_selector
from celadon.kube.validation.statuses.status_conditions import conditions
from celadon.patterns import late_pattern

MAX_CONSUMERS: Final = 256
MAX_RESULTS: Final = 32
MAX_CONDITIONS: Final = 8
MAX_ADDRESSES: Final = 16
INTERFACE_BYTES: Final = 256
HARDWARE_BYTES: Final = 128
UNLIMITED: Final = 1 << 31
CONFIG_SOURCES: Final = ("FromClaim", "FromClass")
_STATUS: Final = FieldPath("status")
_RESERVED: Final = _STATUS.child("reservedFor")
_UUID: Final = late_pattern("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UUID_FORM: Final = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
    "lowercase hexadecimal characters"
)
NO_NEW: Final = (
    "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
)


def claim_status(obj: JsonObject, old: JsonObject) -> Errors:
    """What is wrong with the status of a ResourceClaim."""
    status, before = obj.get("status") or {}, old.get("status") or {}
    allocation, was = status.get("allocation"), before.get("allocation")
    known = request_names(obj.get("spec") or {})
    reserved = status.get("reservedFor") or []
    yield from distinct(
        _RESERVED, reserved, MAX_CONSUMERS, _consumer, lambda one: NamedText(one.get("uid") or "")
    )
    results = ((allocation or {}).get("devices") or {}).get("results") or ()
    allocated = {_device_id(one) for one in results}

    def device(path: FieldPath, given: JsonObject) -> Errors:
        return _device(path, given, allocated)

    yield from distinct(
        _STATUS.child("devices"), status.get("devices"), UNLIMITED, device, _device_id
    )
    if reserved and allocation is None:
        why = "may not be specified when `allocated` is not set"
        yield fieldpath.forbidden(_RESERVED, why)
    added = [one for one in reserved if one not in (before.get("reservedFor") or ())]
    if added and allocation is not None and (obj.get("metadata") or {}).get("deletionTimestamp"):
        yield fieldpath.forbidden(_RESERVED, NO_NEW)
    at = _STATUS.child("allocation")
    if allocation is not None and was is not None:
        if allocation != was:
            yield fieldpath.invalid(at, allocation, IMMUTABLE)
    elif allocation is not None:
        yield from _allocation(at, allocation, known)


def _consumer(path: FieldPath, consumer: JsonObject) -> Errors:
    return iter(broken_rules("resource.v1.ResourceClaimConsumerReference", consumer, path))


def _device_id(device: JsonObject) -> str:
    """By its driver, pool and name, and its part if it has any."""
    parts = [device.get(field) or "" for field in ("driver", "pool", "device")]
    return "/".join([*parts, *([device["shareID"]] if device.get("shareID") else [])])


def _named_device(path: FieldPath, device: JsonObject) -> Errors:
    yield from driver_name(path.child("driver"), device.get("driver") or "")
    yield from pool_name(path.child("pool"), device.get("pool") or "")
    yield from dns_label(path.child("device"), device.get("device") or "")


def _part(path: FieldPath, device: JsonObject) -> Errors:
    share = device.get("shareID")
    if share is not None and _UUID.fullmatch(share) is None:
        yield fieldpath.invalid(path.child("shareID"), share, _UUID_FORM)


def _device(path: FieldPath, device: JsonObject, allocated: set[str]) -> Errors:
    yield from _named_device(path, device)
    yield from _part(path, device)
    shown = _device_id(device)
    if shown not in allocated:
        yield fieldpath.invalid(path, shown, "must be an allocated device in the claim")
    yield from at_most(path.child("conditions"), device.get("conditions"), MAX_CONDITIONS)
    yield from conditions(path, device)
    if device.get("data") is not None:
        yield from raw_object(path.child("data"), device["data"])
    network, at = device.get("networkData") or {}, path.child("networkData")
    for field, limit in (("interfaceName", INTERFACE_BYTES), ("hardwareAddress", HARDWARE_BYTES)):
        if len((network.get(field) or "").encode()) > limit:
            yield fieldpath.too_long(at.child(field), limit)
    yield from distinct(at.child("ips"), network.get("ips"), MAX_ADDRESSES, _interface)


def _interface(path: FieldPath, address: str) -> Errors:
    """An address and the length of its network: of an interface, so no bits are left over."""
    return each(path, address, interface_address(address))


def _allocation(path: FieldPath, allocation: JsonObject, known: RequestNames) -> Errors:
    devices, at = allocation.get("devices") or {}, path.child("devices")

    def result(where: FieldPath, given: JsonObject) -> Errors:
        request = given.get("request") or ""
        yield from request_reference(where.child("request"), request, known)
        yield from _named_device(where, given)
        yield from binding_conditions(where, given)
        yield from _part(where, given)

    def config(where: FieldPath, given: JsonObject) -> Errors:
        yield from required_choice(where.child("source"), given.get("source"), CONFIG_SOURCES)
        yield from distinct(
            where.child("requests"),
            given.get("requests"),
            MAX_ITEMS,
            lambda place, name: request_reference(place, name, known),
        )
        yield from configuration(where, given)

    yield from limited(at.child("results"), devices.get("results"), MAX_RESULTS, result)
    yield from limited(at.child("config"), devices.get("config"), 2 * MAX_ITEMS, config)
    if allocation.get("nodeSelector") is not None:
        yield from node_selector(path.child("nodeSelector"), allocation["nodeSelector"])
