"""Addresses that are taken, and the ranges that they are taken from.

As k8s.io/kubernetes `pkg/apis/networking/validation`. Unlike in older kinds, addresses have one way
to be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.address_rules import canonical_range
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    SPEC,
    Errors,
    dns_subdomain,
    each,
    required_name,
)

_PARENT: Final = SPEC.child("parentRef")
_CIDRS: Final = SPEC.child("cidrs")
ONE_PER_FAMILY: Final = (
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
)


def ip_address(obj: JsonObject) -> Errors:
    """What is wrong with an IPAddress, besides its metadata."""
    parent = (obj.get("spec") or {}).get("parentRef")
    if parent is None:
        yield fieldpath.required(_PARENT)
        return
    if parent.get("group"):
        yield from dns_subdomain(_PARENT.child("group"), parent["group"])
    for field in ("resource", "name"):
        value = parent.get(field) or ""
        yield from required_name(_PARENT.child(field), value, name_rules.path_segment_name)
    namespace = parent.get("namespace")
    if namespace:
        messages = name_rules.path_segment_name(namespace)
        yield from each(_PARENT.child("namespace"), namespace, messages)


def ip_address_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Whose it is stays; a changed owner is judged as a new one, too."""
    yield from ip_address(obj)
    new, before = ((one.get("spec") or {}).get("parentRef") for one in (obj, old))
    if new != before:
        yield fieldpath.invalid(_PARENT, _printed_parent(new), IMMUTABLE)


def _printed_parent(parent: JsonObject | None) -> dict[str, Any] | None:
    """As Go prints the struct, whose fields have no JSON names."""
    fields = ("Group", "Resource", "Namespace", "Name")
    return None if parent is None else {one: parent.get(one.lower()) or "" for one in fields}


def service_cidr(obj: JsonObject) -> Errors:
    """What is wrong with a ServiceCIDR, besides its metadata."""
    return _ranges((obj.get("spec") or {}).get("cidrs") or [])


def _ranges(ranges: Sequence[str]) -> Errors:
    if not ranges:
        yield fieldpath.required(_CIDRS, "at least one CIDR required")
        return
    if len(ranges) > 2:
        yield fieldpath.invalid(_CIDRS, {"CIDRs": ranges}, "may only hold up to 2 values")
        return
    for index, one in enumerate(ranges):
        yield from each(_CIDRS.index(index), one, canonical_range(one))
    families = [_family(one) for one in ranges]
    if len(ranges) == 2 and families[0] == families[1] != "":
        yield fieldpath.invalid(_CIDRS, ranges, ONE_PER_FAMILY)


def _family(value: str) -> str:
    """Empty for what is no range."""
    found = text_rules.network(value)
    if found is None:
        return ""
    return "IPv4" if found.addr.is_v4 or found.addr.is_v4_mapped else "IPv6"


def service_cidr_update(obj: JsonObject, old: JsonObject) -> Errors:
    """What is one range may become two of different families; nothing else changes."""
    new, before = (list((one.get("spec") or {}).get("cidrs") or []) for one in (obj, old))
    if len(new) == len(before) or (len(before) == 1 and len(new) == 2):
        for index, (one, was) in enumerate(zip(new, before, strict=False)):
            if one != was:
                yield fieldpath.invalid(_CIDRS.index(index), one, IMMUTABLE)
        if len(new) != len(before):
            yield from _ranges(new)
    else:
        yield fieldpath.invalid(_CIDRS, new or None, IMMUTABLE)
