"""EndpointSlices: addresses of one type, and the ports that all of them have.

As k8s.io/kubernetes `pkg/apis/discovery/validation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.address_rules import canonical_address, older_address
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    Errors,
    at_most,
    dns_label,
    dns_subdomain,
    each,
    items,
    qualified_name,
    required_choice,
)
from celadon.kube.validation.label_rules import labels
from celadon.kube.validation.networking.endpoints_objects import special_address
from celadon.kube.validation.pods.pod_containers import PROTOCOLS
from celadon.kube.validation.validation_gates import STRICT_ADDRESSES, only_with

ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
MAX_ENDPOINTS: Final = 1000
MAX_ADDRESSES: Final = 100
MAX_PORTS: Final = 20_000
MAX_TOPOLOGY: Final = 16
MAX_HINTS: Final = 8
_ROOT: Final = FieldPath()
_TYPE: Final = FieldPath("addressType")


def endpoint_slice(obj: JsonObject) -> Errors:
    """What is wrong with an EndpointSlice, besides its metadata."""
    kind = obj.get("addressType") or ""
    yield from required_choice(_TYPE, kind, ADDRESS_TYPES)
    yield from _ports(obj)
    yield from _endpoints(obj, kind)


def endpoint_slice_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The type of its addresses stays; endpoints that stay are not looked at again."""
    kind = obj.get("addressType") or ""
    yield from required_choice(_TYPE, kind, ADDRESS_TYPES)
    yield from _ports(obj)
    if (obj.get("endpoints") or []) != (old.get("endpoints") or []):
        yield from _endpoints(obj, kind)
    if kind != (old.get("addressType") or ""):
        yield fieldpath.invalid(_TYPE, NamedText(kind), IMMUTABLE)


def _endpoints(obj: JsonObject, kind: str) -> Errors:
    if len(obj.get("endpoints") or ()) > MAX_ENDPOINTS:
        yield from at_most(_ROOT.child("endpoints"), obj["endpoints"], MAX_ENDPOINTS)
        return
    for at, endpoint in items(obj, "endpoints", _ROOT):
        yield from _endpoint(at, endpoint, kind)


def _endpoint(path: FieldPath, endpoint: JsonObject, kind: str) -> Errors:
    addresses, at = endpoint.get("addresses") or (), path.child("addresses")
    if not addresses:
        yield fieldpath.required(at, "must contain at least 1 address")
    yield from at_most(at, addresses, MAX_ADDRESSES)
    for index, address in enumerate(addresses):
        if kind == "FQDN":
            yield from _domain(at.index(index), address)
        elif kind in ADDRESS_TYPES:
            yield from _address(at, index, address, kind)
    if endpoint.get("nodeName") is not None:
        yield from dns_subdomain(path.child("nodeName"), endpoint["nodeName"])
    topology, where = endpoint.get("deprecatedTopology"), path.child("deprecatedTopology")
    yield from at_most(where, topology, MAX_TOPOLOGY)
    yield from labels(where, topology)
    if endpoint.get("hostname") is not None:
        yield from dns_label(path.child("hostname"), endpoint["hostname"])
    hints = endpoint.get("hints")
    if hints is not None:
        for field in ("forZones", "forNodes"):
            given = hints.get(field) or ()
            yield from _hints(path.child("hints", field), given, field)
            if len(given) > MAX_HINTS:
                return


def _address(path: FieldPath, index: int, address: str, kind: str) -> Errors:
    """One of another family is blamed on the list. Older rules let more through for IPv4, and what
    they let through is looked at further."""
    at, found = path.index(index), text_rules.address(address)
    wrong = list(
        older_address(at, address)
        if kind == "IPv4"
        else each(at, address, canonical_address(address))
    )
    yield from wrong
    if found is None or any(not one.gate for one in wrong):
        return
    further: list[FieldError] = []
    if (found.is_v4 or found.is_v4_mapped) != (kind == "IPv4"):
        further.append(fieldpath.invalid(path, address, f"must be an {kind} address"))
    further += each(at, address, special_address(address))
    yield from only_with(f"!{STRICT_ADDRESSES}", further) if wrong else further


def _domain(path: FieldPath, name: str) -> Errors:
    if not name:
        yield fieldpath.required(path)
        return
    bare = name.removesuffix(".")
    messages = name_rules.dns1123_subdomain(bare)
    if messages:
        yield fieldpath.invalid(path, bare, ",".join(messages))
        return
    labels_of_name = bare.split(".")
    if len(labels_of_name) < 2:
        why = "should be a domain with at least two segments separated by dots"
        yield fieldpath.invalid(path, bare, why)
        return
    for label in labels_of_name:
        messages = name_rules.dns1123_label(label)
        if messages:
            yield fieldpath.invalid(path, label, ",".join(messages))
            return


def _hints(path: FieldPath, hints: Sequence[JsonObject], field: str) -> Errors:
    if len(hints) > MAX_HINTS:
        yield from at_most(path, hints, MAX_HINTS)
        return
    rule = name_rules.label_value if field == "forZones" else name_rules.dns1123_subdomain
    seen: set[str] = set()
    for index, hint in enumerate(hints):
        name, at = hint.get("name") or "", path.index(index).child("name")
        if name in seen:
            yield fieldpath.duplicate(at, name)
        seen.add(name)
        yield from each(at, name, rule(name))


def _ports(obj: JsonObject) -> Errors:
    ports = obj.get("ports") or ()
    if len(ports) > MAX_PORTS:
        yield from at_most(_ROOT.child("ports"), ports, MAX_PORTS)
        return
    names: set[str] = set()
    for at, port in items(obj, "ports", _ROOT):
        name = port.get("name") or ""
        if name:
            yield from dns_label(at.child("name"), name)
        if name in names:
            yield fieldpath.duplicate(at.child("name"), name)
        names.add(name)
        yield from required_choice(at.child("protocol"), port.get("protocol"), PROTOCOLS)
        if port.get("appProtocol") is not None:
            yield from qualified_name(at.child("appProtocol"), port["appProtocol"])
