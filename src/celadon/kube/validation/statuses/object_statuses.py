"""What is reported about namespaces, quotas, claims, and what is reached from outside.

As k8s.io/kubernetes `pkg/apis/{core,networking}/validation`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.quantities.resource_amounts import parse
from celadon.kube.validation import text_rules
from celadon.kube.validation.address_rules import older_address
from celadon.kube.validation.field_checks import (
    Errors,
    dns_subdomain,
    entries,
    items,
    qualified_name,
    supported,
)
from celadon.kube.validation.networking.ingresses import NO_ADDRESS
from celadon.kube.validation.pods.resource_lists import (
    is_native,
    quantity_value,
    quota_resource_name,
)

RESIZE_STATUSES: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)
ADDRESS_MODES: Final = ("Proxy", "VIP")
_STATUS: Final = FieldPath("status")
_BALANCER: Final = _STATUS.child("loadBalancer")


def namespace_status(obj: JsonObject, _: JsonObject) -> Errors:
    """The phase says whether a namespace goes away."""
    phase = (obj.get("status") or {}).get("phase") or ""
    deleted = bool((obj.get("metadata") or {}).get("deletionTimestamp"))
    wanted = "Terminating" if deleted else "Active"
    if phase != wanted:
        why = f"may only be '{wanted}' if `deletionTimestamp` is {'not ' * deleted}empty"
        yield fieldpath.invalid(_STATUS.child("Phase"), NamedText(phase), why)


def quota_status(obj: JsonObject, _: JsonObject) -> Errors:
    """What may be used, and what is."""
    for field in ("hard", "used"):
        for name, text in entries(obj.get("status") or {}, field):
            at = _STATUS.child(field).key(name)
            yield from quota_resource_name(at, name)
            yield from quantity_value(at, name, text)


def claim_status(obj: JsonObject, _: JsonObject) -> Errors:
    """What a claim got, and how far a change of its size is."""
    status = obj.get("status") or {}
    if not (obj.get("spec") or {}).get("accessModes"):
        yield fieldpath.required(FieldPath("Spec", "accessModes"))
    for name, text in entries(status, "capacity"):
        yield from _claim_amount(_STATUS.child("capacity").key(name), text)
    at = _STATUS.child("allocatedResourceStatuses")
    for name, progress in entries(status, "allocatedResourceStatuses"):
        yield from _claim_resource(at, name)
        if progress not in RESIZE_STATUSES:
            yield fieldpath.not_supported(at, NamedText(name), RESIZE_STATUSES)
    at = _STATUS.child("allocatedResources")
    for name, text in entries(status, "allocatedResources"):
        wrong = [*_claim_resource(at, name)] or [*_claim_amount(at.key(name), text)]
        yield from wrong or quantity_value(at.key(name), "storage", text)


def _claim_amount(at: FieldPath, text: str) -> Errors:
    amount = parse(text)
    if amount.sign < 0:
        why = "must be a valid resource quantity"
        yield fieldpath.invalid(at, amount.as_int64(), why)


def _claim_resource(at: FieldPath, name: str) -> Errors:
    """Of Kubernetes' own resources, a claim has storage alone."""
    wrong = [*qualified_name(at, name)]
    yield from wrong
    if not wrong and is_native(name) and name != "storage":
        yield fieldpath.not_supported(at, name, ["storage"])


def service_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Where a balancer listens; only a Service that wants one has any."""
    balancer = (obj.get("status") or {}).get("loadBalancer") or {}
    kind = (obj.get("spec") or {}).get("type")
    if kind != "LoadBalancer" and balancer.get("ingress"):
        why = "may only be used when `spec.type` is 'LoadBalancer'"
        yield fieldpath.forbidden(_BALANCER.child("ingress"), why)
        return
    known = _known(old)
    for at, ingress in items(balancer, "ingress", _BALANCER):
        address, mode = ingress.get("ip"), ingress.get("ipMode")
        where = at.child("ipMode")
        if address:
            yield from older_address(at.child("ip"), address, known)
        if address and mode is None:
            yield fieldpath.required(where, "must be specified when `ip` is set")
        elif mode is not None and not address:
            yield fieldpath.forbidden(where, "may not be specified when `ip` is not set")
        elif mode is not None:
            yield from supported(where, mode, ADDRESS_MODES)
        yield from _host(at.child("hostname"), ingress.get("hostname") or "")


def _known(old: JsonObject) -> Collection[str]:
    """The addresses that were there before."""
    balancer = (old.get("status") or {}).get("loadBalancer") or {}
    return [one.get("ip") or "" for one in balancer.get("ingress") or ()]


def ingress_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Where an Ingress is reached."""
    known = _known(old)
    balancer = (obj.get("status") or {}).get("loadBalancer") or {}
    for at, ingress in items(balancer, "ingress", _BALANCER):
        address = ingress.get("ip")
        if address:
            yield from older_address(at.child("ip"), address, known)
        yield from _host(at.child("hostname"), ingress.get("hostname") or "")


def _host(path: FieldPath, name: str) -> Errors:
    if not name:
        return
    yield from dns_subdomain(path, name)
    if text_rules.address(name) is not None:
        yield fieldpath.invalid(path, name, NO_ADDRESS)
