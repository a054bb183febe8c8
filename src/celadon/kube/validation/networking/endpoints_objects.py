"""Endpoints, and what they share with Services and EndpointSlices: names of ports, addresses.

As k8s.io/kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.address_rules import older_address
from celadon.kube.validation.field_checks import (
    NO_ERRORS,
    Errors,
    dns_label,
    each,
    items,
    port_number,
    qualified_name,
    required_choice,
)
from celadon.kube.validation.pods.pod_containers import PROTOCOLS


def endpoints_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The same of a changed one: subsets that stay are not looked at again."""
    if (obj.get("subsets") or []) == (old.get("subsets") or []):
        return NO_ERRORS
    return endpoints(obj)


def endpoints(obj: JsonObject) -> Errors:
    """What is wrong with an Endpoints, besides its metadata."""
    path = FieldPath()
    for at, subset in items(obj, "subsets", path):
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            detail = "must specify `addresses` or `notReadyAddresses`"
            yield fieldpath.required(at, detail)
        for field in ("addresses", "notReadyAddresses"):
            for where, address in items(subset, field, at):
                yield from _endpoint(where, address)
        several = len(subset.get("ports") or ()) > 1
        for where, port in items(subset, "ports", at):
            yield from port_name(where, port, required=several)
            yield from port_number(where.child("port"), port.get("port", 0))
            yield from required_choice(where.child("protocol"), port.get("protocol"), PROTOCOLS)
            if port.get("appProtocol") is not None:
                yield from qualified_name(where.child("appProtocol"), port["appProtocol"])


def _endpoint(path: FieldPath, address: JsonObject) -> Errors:
    value = address.get("ip") or ""
    yield from older_address(path.child("ip"), value)
    if address.get("hostname"):
        yield from dns_label(path.child("hostname"), address["hostname"])
    node = address.get("nodeName")
    if node is not None:
        yield from each(path.child("nodeName"), node, name_rules.dns1123_subdomain(node))
    yield from each(path.child("ip"), value, special_address(value))


def port_name(path: FieldPath, port: JsonObject, *, required: bool) -> Errors:
    """Of a port of a Service or an Endpoints; `required` where there are several."""
    name = port.get("name") or ""
    if name:
        yield from dns_label(path.child("name"), name)
    elif required:
        yield fieldpath.required(path.child("name"))


def special_address(value: str) -> list[str]:
    """What is said about addresses that lead nowhere from elsewhere."""
    found = text_rules.address(value)
    if found is None:
        return ["must be a valid IP address"]
    address = found.unmapped()
    messages = []
    if address.is_unspecified:
        messages.append(f"may not be unspecified ({value})")
    if address.is_loopback:
        messages.append("may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if address.is_link_local_unicast:
        messages.append("may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if address.is_link_local_multicast:
        messages.append("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
    return messages
