"""The status of a ResourceClaim: which devices it got, who may use them, and how they are.

As k8s.io/kubernetes `pkg/apis/resource/validation`.
"""

from __future__ import annotations

import functools
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation import field_checks, format_checks, resource_claims
from celadon.kube.validation.pods.internal_types import internal_value
from celadon.kube.validation.pods.pod_placement import node_selector

MAX_CONSUMERS: Final = 256
MAX_RESULTS: Final = 32
MAX_CONDITIONS: Final = 8
MAX_ADDRESSES: Final = 16
INTERFACE_BYTES: Final = 256
HARDWARE_BYTES: Final = 128
CONFIG_SOURCES: Final = ("FromClaim", "FromClass")
_STATUS: Final = FieldPath("status")
_RESERVED: Final = _STATUS.child("reservedFor")
NO_NEW: Final = (
    "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
)


def claim_status(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with the status of a ResourceClaim."""
    # As `ValidateResourceClaimStatusUpdate` of `pkg/apis/resource/validation`.
    status, before = obj.get("status") or {}, old.get("status") or {}
    allocation, was = status.get("allocation"), before.get("allocation")
    requests = resource_claims.request_names(obj.get("spec") or {})
    reserved = status.get("reservedFor") or []
    if allocation is not None and not is_since("1.32"):
        yield from _allocation(_STATUS.child("allocation"), allocation, requests)
    yield from resource_claims.distinct(
        _RESERVED,
        reserved,
        MAX_CONSUMERS,
        _consumer,
        lambda value: NamedText(value.get("uid") or ""),
        "uid",
    )
    results = ((allocation or {}).get("devices") or {}).get("results") or ()
    allocated = {_device_id(result) for result in results}

    device = functools.partial(_device, allocated=allocated)
    yield from resource_claims.distinct(
        _STATUS.child("devices"),
        status.get("devices"),
        resource_claims.UNLIMITED,
        device,
        _device_id,
        "deviceID",
    )
    if reserved and allocation is None:
        yield fieldpath.forbidden(_RESERVED, "may not be specified when `allocated` is not set")
    added = [consumer for consumer in reserved if consumer not in (before.get("reservedFor") or ())]
    ends = (obj.get("metadata") or {}).get("deletionTimestamp") or status.get(_DEALLOCATION)
    if added and allocation is not None and ends:
        yield fieldpath.forbidden(_RESERVED, NO_NEW)
    path = _STATUS.child("allocation")
    if allocation is not None and was is not None:
        if allocation != was:
            printed = internal_value(allocation, "resource.v1.AllocationResult")
            if allocation.get("controller"):  # until 1.31
                printed["Controller"] = allocation["controller"]
            yield fieldpath.invalid(
                path, GoValue(printed, "resource.AllocationResult"), field_checks.IMMUTABLE
            )
    elif allocation is not None and is_since("1.32"):
        yield from _allocation(path, allocation, requests)
    yield from deallocated(status, before)


_DEALLOCATION: Final = "deallocationRequested"
"""The field by which, until 1.31, controllers were asked to take devices back."""


def deallocated(status: JsonObject, before: JsonObject) -> field_checks.Errors:
    """Yield an error if `deallocationRequested` may not be set, or may not be taken back."""
    requested, was_requested, path = (
        status.get(_DEALLOCATION),
        before.get(_DEALLOCATION),
        _STATUS.child(_DEALLOCATION),
    )
    allocated = status.get("allocation") is not None
    if requested and not was_requested and status.get("reservedFor"):
        detail = "deallocation cannot be requested while `reservedFor` is set"
        yield fieldpath.forbidden(path, detail)
    if requested and not allocated:
        detail = f"`allocation` must be set when `{_DEALLOCATION}` is set"
        yield fieldpath.forbidden(_STATUS, detail)
    if was_requested and not requested and allocated:
        yield fieldpath.forbidden(path, "may not be cleared when `allocation` is set")


def _consumer(path: FieldPath, consumer: JsonObject) -> field_checks.Errors:
    return iter(
        field_checks.broken_rules("resource.v1.ResourceClaimConsumerReference", consumer, path)
    )


def _device_id(device: JsonObject) -> tuple[str, ...]:
    """Return what a device is told from others by; few have a part."""
    return tuple(device.get(key) or "" for key in ("driver", "pool", "device", "shareID"))


def _named_device(path: FieldPath, device: JsonObject) -> field_checks.Errors:
    yield from field_checks.driver_name(path.child("driver"), device.get("driver") or "")
    yield from resource_claims.pool_name(path.child("pool"), device.get("pool") or "")
    yield from field_checks.dns_label(path.child("device"), device.get("device") or "")


def _part(path: FieldPath, device: JsonObject) -> field_checks.Errors:
    share = device.get("shareID")
    if share is not None:
        yield from field_checks.each(path.child("shareID"), share, format_checks.normal_uuid(share))


def _device(
    path: FieldPath, device: JsonObject, allocated: set[tuple[str, ...]]
) -> field_checks.Errors:
    yield from _named_device(path, device)
    yield from _part(path, device)
    named = _device_id(device)
    if named not in allocated:
        yield fieldpath.invalid(
            path, resource_claims.shown_device(named), "must be an allocated device in the claim"
        )
    yield from field_checks.at_most(
        path.child("conditions"), device.get("conditions"), MAX_CONDITIONS
    )
    yield from field_checks.conditions(path, device)
    if device.get("data") is not None:
        yield from resource_claims.raw_object(path.child("data"), device["data"])
    network, network_data_path = device.get("networkData") or {}, path.child("networkData")
    for field, limit in (("interfaceName", INTERFACE_BYTES), ("hardwareAddress", HARDWARE_BYTES)):
        if len((network.get(field) or "").encode()) > limit:
            yield fieldpath.too_long(network_data_path.child(field), limit)
    yield from resource_claims.distinct(
        network_data_path.child("ips"), network.get("ips"), MAX_ADDRESSES, _interface
    )


def _interface(path: FieldPath, address: str) -> field_checks.Errors:
    """Check an address and the length of its network: of an interface, so no bits are left over."""
    # Before 1.33, any way of writing it was fine.
    rule = format_checks.interface_address if is_since("1.33") else format_checks.cidr
    return field_checks.each(path, address, rule(address))


def _allocation(
    path: FieldPath, allocation: JsonObject, requests: resource_claims.RequestNames
) -> field_checks.Errors:
    devices, devices_path = allocation.get("devices") or {}, path.child("devices")

    def result(where: FieldPath, value: JsonObject) -> field_checks.Errors:
        request = value.get("request") or ""
        yield from resource_claims.request_reference(where.child("request"), request, requests)
        yield from _named_device(where, value)
        yield from resource_claims.binding_conditions(where, value)
        yield from _part(where, value)

    def config(where: FieldPath, value: JsonObject) -> field_checks.Errors:
        yield from field_checks.required_choice(
            where.child("source"), value.get("source"), CONFIG_SOURCES
        )
        yield from resource_claims.distinct(
            where.child("requests"),
            value.get("requests"),
            resource_claims.MAX_ITEMS,
            lambda place, name: resource_claims.request_reference(place, name, requests),
        )
        yield from resource_claims.configuration(where, value)

    yield from resource_claims.limited(
        devices_path.child("results"), devices.get("results"), MAX_RESULTS, result
    )
    yield from resource_claims.limited(
        devices_path.child("config"), devices.get("config"), 2 * resource_claims.MAX_ITEMS, config
    )
    if allocation.get("nodeSelector") is not None:
        yield from node_selector(path.child("nodeSelector"), allocation["nodeSelector"])
    if allocation.get("controller"):
        yield from field_checks.driver_name(path.child("controller"), allocation["controller"])
