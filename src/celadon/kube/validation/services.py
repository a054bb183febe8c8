"""Validation of Services, and of the addresses and ranges that they are given (IPAddresses,
ServiceCIDRs)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from celadon.cel.value_functions import netaddr
from celadon.kube import fieldpath, metadata, name_rules, well_known_values
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    SAME_TRAFFIC,
    SPEC,
    STRICT_ADDRESSES,
    Errors,
    by_gate,
    dns_subdomain,
    each,
    items,
    only_with,
    port_number,
    qualified_name,
    required_choice,
    required_name,
    supported,
)
from celadon.kube.validation.format_checks import older_address
from celadon.kube.validation.networking import (
    BALANCER,
    balancer_addresses,
    balancer_host,
    port_name,
    special_address,
)
from celadon.kube.validation.pods.containers import PROTOCOLS, port_or_name

# --- Service addresses -------------------------------------------------------

FAMILY_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
ONCE_SET: Final = "may not change once set"
_IPS: Final = SPEC.child("clusterIPs")
_FAMILIES: Final = SPEC.child("ipFamilies")


def is_headless(spec: JsonObject) -> bool:
    """Return whether the only cluster IP of a Service is `None`."""
    return list(spec.get("clusterIPs") or ()) == [well_known_values.HEADLESS]


def service_addresses(spec: JsonObject, old_addresses: Collection[str] = ()) -> Errors:
    """Validate `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` of a new or changed
    Service; `old_addresses` are the addresses it had before."""
    # As `ValidateServiceClusterIPsRelatedFields` of `pkg/apis/core/validation`.
    if spec.get("type") == "ExternalName":
        return
    addresses, first = list(spec.get("clusterIPs") or ()), spec.get("clusterIP") or ""
    if first and not addresses:
        yield fieldpath.required(_IPS)
    elif first and addresses[0] != first:
        yield fieldpath.invalid(_IPS, addresses, "first value must match `clusterIP`")
    elif addresses and not first:
        yield fieldpath.invalid(_IPS, addresses, "must be empty when `clusterIP` is not specified")
    seen: set[str] = set()
    for path, family in items(spec, "ipFamilies", SPEC):
        yield from supported(path, family, well_known_values.IP_FAMILIES)
        if family in seen:
            yield fieldpath.duplicate(path, NamedText(family))
        seen.add(family)
    if spec.get("ipFamilyPolicy") is not None:
        yield from supported(SPEC.child("ipFamilyPolicy"), spec["ipFamilyPolicy"], FAMILY_POLICIES)
    errors = list(_each_address(addresses, old_addresses))
    yield from errors
    if len(addresses) > 2:
        yield fieldpath.invalid(_IPS, addresses, "may only hold up to 2 values")
    if not errors:
        yield from _families(spec, addresses)
    elif all(error.gate for error in errors):
        yield from only_with(f"!{STRICT_ADDRESSES}", _families(spec, addresses))


def _each_address(addresses: list[str], old_addresses: Collection[str]) -> Errors:
    for index, address in enumerate(addresses):
        if index == 0 and address == well_known_values.HEADLESS:
            if len(addresses) > 1:
                detail = "'None' must be the first and only value"
                yield fieldpath.invalid(_IPS, addresses, detail)
        else:
            yield from format_checks.older_address(_IPS.index(index), address, old_addresses)


def _families(spec: JsonObject, addresses: list[str]) -> Errors:
    families = {address: "IPv6" if ":" in address else "IPv4" for address in addresses}
    if len(addresses) > 1 and len(set(families.values())) == 1:
        detail = "may specify no more than one IP for each IP family"
        yield fieldpath.invalid(_IPS, addresses, detail)
    if is_headless(spec):
        return
    pairs = zip(addresses, spec.get("ipFamilies") or (), strict=False)
    for index, (address, family) in enumerate(pairs):
        if family in well_known_values.IP_FAMILIES and families[address] != family:
            detail = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield fieldpath.invalid(_IPS.index(index), address, detail)


def changed_addresses(spec: JsonObject, before: JsonObject) -> Errors:
    """Yield the changes of addresses that are not allowed: what was given to a Service stays, a
    second address may come and go."""
    if "ExternalName" in {spec.get("type"), before.get("type")}:
        return
    headless = is_headless(spec), is_headless(before)
    if headless != (True, True):
        yield from _kept(_IPS, spec, before, "clusterIPs")
    if headless == (False, False):
        yield from _kept(_FAMILIES, spec, before, "ipFamilies")


def _kept(path: FieldPath, spec: JsonObject, before: JsonObject, field: str) -> Errors:
    new, old = list(spec.get(field) or ()), list(before.get(field) or ())
    if len(new) == len(old):
        for index, (item, other) in enumerate(zip(new, old, strict=True)):
            if item != other:
                field_path = path.index(index if field == "clusterIPs" else 0)
                yield fieldpath.invalid(field_path, new, ONCE_SET)
        return
    if old and new and new[0] != old[0]:
        yield fieldpath.invalid(path.index(0), new, ONCE_SET)
    if len(new) > len(old):
        return
    singular = "clusterIP" if field == "clusterIPs" else "ipFamily"
    if not new:
        detail = f"primary {singular} can not be unset"
        yield fieldpath.invalid(path.index(0), spec.get(field), detail)
    if len(new) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        detail = f"must be set to 'SingleStack' when releasing the secondary {singular}"
        policy = spec.get("ipFamilyPolicy")
        yield fieldpath.invalid(SPEC.child("ipFamilyPolicy"), policy, detail)


TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
AFFINITIES: Final = ("ClientIP", "None")
TRAFFIC_POLICIES: Final = ("Cluster", "Local")
DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
KUBELET_PORT: Final = 10250
MAX_AFFINITY_SECONDS: Final = 86400
SOURCE_RANGES: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"
BALANCERS_ONLY: Final = "may only be used when `type` is 'LoadBalancer'"
NOT_EXTERNAL_NAME: Final = "may not be set for ExternalName services"


def service(obj: JsonObject) -> Errors:
    """Yield what is wrong with a Service, besides its metadata."""
    # As `ValidateServiceCreate` of `pkg/apis/core/validation`.
    return changed_service(obj, {})


def changed_service(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a Service, besides its metadata; addresses and ranges that the old
    one has may stay however they are written."""
    # As `validateService` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    kind = spec.get("type") or ""
    yield from _topology(metadata.annotations(obj))
    if not spec.get("ports") and not is_headless(spec) and kind != "ExternalName":
        yield fieldpath.required(SPEC.child("ports"))
    yield from _by_type(spec, kind)
    yield from _ports(spec)
    yield from format_checks.labels(SPEC.child("selector"), spec.get("selector"))
    yield from _affinity(spec)
    yield from service_addresses(spec, before.get("clusterIPs") or ())
    for path, address in items(spec, "externalIPs", SPEC):
        yield from _external_address(path, address, before.get("externalIPs") or ())
    yield from required_choice(SPEC.child("type"), kind, TYPES)
    yield from _distinct_ports(spec, kind)
    yield from _source_ranges(obj, old, kind)
    yield from _balancer(spec, kind)
    yield from _traffic(spec, kind)


def service_fixed(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what of a Service may not change, or not in this way."""
    # As `ValidateServiceUpdate` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from changed_addresses(spec, before)
    both = spec.get("type") == before.get("type") == "LoadBalancer"
    if both and spec.get("loadBalancerClass") != before.get("loadBalancerClass"):
        path = SPEC.child("loadBalancerClass")
        yield fieldpath.invalid(path, spec.get("loadBalancerClass"), "may not change once set")
    yield from _balancer_class(spec)  # upstream asks about it here, and below as for a new one
    checked = _needs_health_check(spec) and _needs_health_check(before)
    if checked and spec.get("healthCheckNodePort") != before.get("healthCheckNodePort"):
        yield fieldpath.forbidden(SPEC.child("healthCheckNodePort"), "field is immutable")


def _external_address(path: FieldPath, address: str, old_addresses: Collection[str]) -> Errors:
    """Yield what is wrong with an address, unless older rules let it through."""
    wrong = list(format_checks.older_address(path, address, old_addresses))
    yield from wrong
    if not wrong:
        yield from each(path, address, special_address(address))
    elif all(error.gate for error in wrong):
        further = each(path, address, special_address(address))
        yield from only_with(f"!{STRICT_ADDRESSES}", further)


def _topology(notes: Mapping[str, str]) -> Errors:
    """Check that the annotation and the one it replaces say the same."""
    mode, hints = (
        notes.get(well_known_values.TOPOLOGY_MODE),
        notes.get(well_known_values.TOPOLOGY_HINTS),
    )
    if mode is not None and hints is not None and mode != hints:
        path = FieldPath("metadata", "annotations").key(well_known_values.TOPOLOGY_MODE)
        detail = (
            f"must match annotations[{well_known_values.TOPOLOGY_HINTS}] when both are specified"
        )
        yield fieldpath.invalid(path, mode, detail)


def _by_type(spec: JsonObject, kind: str) -> Errors:
    if kind == "LoadBalancer" and not is_since("1.33"):
        for path, port in items(spec, "ports", SPEC):
            if port.get("port") == KUBELET_PORT:
                reason = (
                    f"may not expose port {KUBELET_PORT} externally since it is used by kubelet"
                )
                yield fieldpath.invalid(path, KUBELET_PORT, reason)
    if kind in well_known_values.WITH_NODE_PORTS and is_headless(spec):
        detail = f"may not be set to 'None' for {kind} services"
        yield fieldpath.invalid(SPEC.child("clusterIPs").index(0), "None", detail)
    if kind != "ExternalName":
        return
    for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field) not in (None, []):
            yield fieldpath.forbidden(SPEC.child(field), NOT_EXTERNAL_NAME)
    name = (spec.get("externalName") or "").removesuffix(".")
    if name:
        yield from dns_subdomain(SPEC.child("externalName"), name)
    else:
        yield fieldpath.required(SPEC.child("externalName"))


def _ports(spec: JsonObject) -> Errors:
    names: set[str] = set()
    several = len(spec.get("ports") or ()) > 1
    for path, port in items(spec, "ports", SPEC):
        yield from port_name(path, port, required=several)
        name = port.get("name") or ""
        if name and name in names:
            yield fieldpath.duplicate(path.child("name"), name)
        names.add(name)
        yield from port_number(path.child("port"), port.get("port", 0))
        yield from required_choice(path.child("protocol"), port.get("protocol"), PROTOCOLS)
        yield from port_or_name(path.child("targetPort"), port.get("targetPort", 0))
        if port.get("appProtocol") is not None:
            yield from qualified_name(path.child("appProtocol"), port["appProtocol"])


def _affinity(spec: JsonObject) -> Errors:
    # As `validateClientIPAffinityConfig` of `pkg/apis/core/validation`.
    affinity, config = spec.get("sessionAffinity") or "", spec.get("sessionAffinityConfig")
    yield from required_choice(SPEC.child("sessionAffinity"), affinity, AFFINITIES)
    path = SPEC.child("sessionAffinityConfig")
    if affinity == "None" and config is not None:
        yield fieldpath.forbidden(path, "must not be set when session affinity is None")
    if affinity != "ClientIP":
        return
    result: Any = config
    for step in ("clientIP", "timeoutSeconds", ""):
        if result is None:
            yield fieldpath.required(path, "when session affinity type is ClientIP")
            return
        if step:
            result, path = result.get(step), path.child(step)
    if not 0 < result <= MAX_AFFINITY_SECONDS:
        detail = f"must be greater than 0 and less than {MAX_AFFINITY_SECONDS}"
        yield fieldpath.invalid(path, result, detail)


def _distinct_ports(spec: JsonObject, kind: str) -> Errors:
    if kind == "ClusterIP":
        for path, port in items(spec, "ports", SPEC):
            if port.get("nodePort"):
                detail = "may not be used when `type` is 'ClusterIP'"
                yield fieldpath.forbidden(path.child("nodePort"), detail)
    for field in ("nodePort", "port"):
        taken: set[tuple[str, int]] = set()
        for path, port in items(spec, "ports", SPEC):
            number, protocol = port.get(field) or 0, port.get("protocol") or ""
            if field == "nodePort" and not number:
                continue
            if (protocol, number) in taken:
                if field == "nodePort":
                    yield fieldpath.duplicate(path.child("nodePort"), number)
                else:
                    yield fieldpath.duplicate(path, _printed_port(protocol, number))
            taken.add((protocol, number))


def _printed_port(protocol: str, number: int) -> GoValue:
    """Return what Go prints of the key that upstream compares ports by."""
    key: JsonDict = {"Name": "", "Protocol": protocol, "AppProtocol": None, "Port": number}
    return GoValue({**key, "TargetPort": 0, "NodePort": 0}, "core.ServicePort")


def _source_ranges(obj: JsonObject, old: JsonObject, kind: str) -> Errors:
    notes, before = metadata.annotations(obj), metadata.annotations(old)
    ranges, old_ranges = (
        (item.get("spec") or {}).get("loadBalancerSourceRanges") or () for item in (obj, old)
    )
    old_ranges = [old_range.strip() for old_range in old_ranges]
    if ranges:
        path = SPEC.child("LoadBalancerSourceRanges")
        places = [(path.index(index), text.strip()) for index, text in enumerate(ranges)]
    elif SOURCE_RANGES in notes:
        path = FieldPath("metadata", "annotations").key(SOURCE_RANGES)
        listed, old_ranges = notes[SOURCE_RANGES].strip(), []
        if before.get(SOURCE_RANGES) == notes[SOURCE_RANGES]:
            listed = ""
        places = [(path, place.strip()) for place in listed.split(",")] if listed else []
    else:
        return
    if kind != "LoadBalancer":
        yield fieldpath.forbidden(path, BALANCERS_ONLY)
    for place_path, place in places:
        yield from format_checks.older_range(place_path, place, old_ranges)


def _balancer(spec: JsonObject, kind: str) -> Errors:
    allocates = spec.get("allocateLoadBalancerNodePorts")
    if kind == "LoadBalancer" and allocates is None:
        yield fieldpath.required(FieldPath("allocateLoadBalancerNodePorts"))
    elif kind != "LoadBalancer" and allocates is not None:
        yield fieldpath.forbidden(SPEC.child("allocateLoadBalancerNodePorts"), BALANCERS_ONLY)
    yield from _balancer_class(spec)


def _balancer_class(spec: JsonObject) -> Errors:
    # As `validateLoadBalancerClassField` of `pkg/apis/core/validation`.
    chosen, path = spec.get("loadBalancerClass"), SPEC.child("loadBalancerClass")
    if chosen is not None and spec.get("type") == "LoadBalancer":
        yield from qualified_name(path, chosen)
    elif chosen is not None:
        yield fieldpath.forbidden(path, BALANCERS_ONLY)


def _needs_health_check(spec: JsonObject) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _traffic(spec: JsonObject, kind: str) -> Errors:
    # As `validateServiceExternalTrafficPolicy` of `pkg/apis/core/validation`.
    external, path = spec.get("externalTrafficPolicy") or "", SPEC.child("externalTrafficPolicy")
    accessible = kind in well_known_values.WITH_NODE_PORTS or (
        kind == "ClusterIP" and bool(spec.get("externalIPs"))
    )
    if accessible:
        yield from required_choice(path, external, TRAFFIC_POLICIES)
    elif external:
        detail = "may only be set for externally-accessible services"
        yield fieldpath.invalid(path, NamedText(external), detail)
    check, path = spec.get("healthCheckNodePort") or 0, SPEC.child("healthCheckNodePort")
    if not _needs_health_check(spec):
        if check:
            detail = (
                "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is "
                "'Local'"
            )
            yield fieldpath.invalid(path, check, detail)
    elif check:
        yield from port_number(path, check)
    else:
        yield fieldpath.required(path)
    internal, path = spec.get("internalTrafficPolicy"), SPEC.child("internalTrafficPolicy")
    if internal is not None:
        yield from supported(path, internal, TRAFFIC_POLICIES)
    elif kind in well_known_values.WITH_NODE_PORTS or kind == "ClusterIP":
        yield fieldpath.required(path)
    distribution, path = spec.get("trafficDistribution"), SPEC.child("trafficDistribution")
    if distribution is not None and distribution not in DISTRIBUTIONS[:1]:
        closest = [fieldpath.not_supported(path, distribution, DISTRIBUTIONS[:1])]
        if distribution in DISTRIBUTIONS:
            yield from only_with(f"!{SAME_TRAFFIC}", closest)
        else:
            whole = fieldpath.not_supported(path, distribution, DISTRIBUTIONS)
            yield from by_gate(SAME_TRAFFIC, [whole], closest)


# --- Service ranges ----------------------------------------------------------
#
# Addresses that are taken, and the ranges that they are taken from.
#
# As k8s.io/kubernetes `pkg/apis/networking/validation`. Unlike in older kinds, addresses have
# one way to be written.

_PARENT: Final = SPEC.child("parentRef")
_CIDRS: Final = SPEC.child("cidrs")
ONE_PER_FAMILY: Final = (
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
)


def address_name(name: str) -> list[str]:
    """Validate the name of an IPAddress; before 1.33 in the words of the parser."""
    # As `ValidateIPAddressName` of `pkg/apis/networking/validation`.
    if is_since("1.33"):
        return format_checks.canonical_address(name)
    try:
        address = netaddr.parse_addr(name)
    except netaddr.AddrError as error:
        return [str(error)]
    return [] if str(address) == name else ["must be a canonical format IP address"]


def ip_address(obj: JsonObject) -> Errors:
    """Yield what is wrong with an IPAddress, besides its metadata."""
    # As `ValidateIPAddress` of `pkg/apis/networking/validation`.
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


def ip_address_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if an IPAddress has got another owner."""
    # As `ValidateIPAddressUpdate` of `pkg/apis/networking/validation`.
    new, before = ((item.get("spec") or {}).get("parentRef") for item in (obj, old))
    if new != before:
        yield fieldpath.invalid(_PARENT, _printed_parent(new), IMMUTABLE)


def _printed_parent(parent: JsonObject | None) -> GoValue | None:
    """Return what Go prints of the struct, whose fields have no JSON names."""
    if parent is None:
        return None
    fields = ("Group", "Resource", "Namespace", "Name")
    printed = {field: parent.get(field.lower()) or "" for field in fields}
    return GoValue(printed, "networking.ParentReference")


def service_cidr(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ServiceCIDR, besides its metadata."""
    # As `ValidateServiceCIDR` of `pkg/apis/networking/validation`.
    ranges = (obj.get("spec") or {}).get("cidrs") or []
    return _ranges(ranges) if is_since("1.33") else _older_ranges(ranges)


def _ranges(ranges: Sequence[str]) -> Errors:
    wrong = list(_wrong_count(ranges))
    if wrong:
        yield from wrong
        return
    for index, text in enumerate(ranges):
        yield from each(_CIDRS.index(index), text, format_checks.canonical_range(text))
    families = [_family(word) for word in ranges]
    if len(ranges) == 2 and families[0] == families[1] != "":
        yield fieldpath.invalid(_CIDRS, ranges, ONE_PER_FAMILY)


def _wrong_count(ranges: Sequence[str]) -> Errors:
    if not ranges:
        yield fieldpath.required(_CIDRS, "at least one CIDR required")
    elif len(ranges) > 2:
        yield fieldpath.invalid(_CIDRS, _printed_ranges(ranges), "may only hold up to 2 values")


def _printed_ranges(ranges: Sequence[str]) -> GoValue:
    return GoValue({"CIDRs": ranges}, "networking.ServiceCIDRSpec")


def _older_ranges(ranges: Sequence[str]) -> Errors:
    """Check by the rules before 1.33: both families first, then how each range is written."""
    wrong = list(_wrong_count(ranges))
    if not wrong and len(ranges) == 2 and {_family(word) for word in ranges} != {"IPv4", "IPv6"}:
        wrong = [fieldpath.invalid(_CIDRS, _printed_ranges(ranges), ONE_PER_FAMILY)]
    yield from wrong
    for index, text in enumerate(() if wrong else ranges):
        yield from each(_CIDRS.index(index), text, _older_range(text))


def _older_range(value: str) -> list[str]:
    try:
        prefix = netaddr.parse_prefix(value)
    except netaddr.AddrError as error:
        return [str(error)]
    messages = []
    if prefix.masked().addr != prefix.addr:
        messages.append("wrong CIDR format, IP doesn't match network IP address")
    if str(prefix) != value:
        messages.append("CIDR not in RFC 5952 canonical format")
    return messages


def _family(value: str) -> str:
    """Return the IP family of a range; empty for what is no range."""
    prefix = format_checks.network(value)
    if prefix is None:
        return ""
    return "IPv4" if prefix.addr.is_v4 or prefix.addr.is_v4_mapped else "IPv6"


def service_cidr_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error for any change but one: since 1.33 one range may become two of different
    families."""
    # As `ValidateServiceCIDRUpdate` of `pkg/apis/networking/validation`.
    new, before = (list((item.get("spec") or {}).get("cidrs") or []) for item in (obj, old))
    if not is_since("1.33"):
        if new != before:
            go_value = GoValue((obj.get("spec") or {}).get("cidrs"), "[]string")
            yield fieldpath.invalid(_CIDRS, go_value, IMMUTABLE)
        return
    if len(new) == len(before) or (len(before) == 1 and len(new) == 2):
        for index, (item, was) in enumerate(zip(new, before, strict=False)):
            if item != was:
                yield fieldpath.invalid(_CIDRS.index(index), item, IMMUTABLE)
        if len(new) != len(before):
            yield from _ranges(new)
    else:
        value = GoValue((obj.get("spec") or {}).get("cidrs"), "[]string")
        yield fieldpath.invalid(_CIDRS, value, IMMUTABLE)


ADDRESS_MODES: Final = ("Proxy", "VIP")


def service_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with the addresses of a balancer; only a Service that wants one has
    any."""
    # As `ValidateServiceStatusUpdate` of `pkg/apis/core/validation`.
    balancer = (obj.get("status") or {}).get("loadBalancer") or {}
    kind = (obj.get("spec") or {}).get("type")
    if kind != "LoadBalancer" and balancer.get("ingress"):
        detail = "may only be used when `spec.type` is 'LoadBalancer'"
        yield fieldpath.forbidden(BALANCER.child("ingress"), detail)
        return
    old_addresses = balancer_addresses(old)
    for path, ingress in items(balancer, "ingress", BALANCER):
        address, mode = ingress.get("ip"), ingress.get("ipMode")
        ip_mode_path = path.child("ipMode")
        if address:
            yield from older_address(path.child("ip"), address, old_addresses)
        if address and mode is None:
            yield fieldpath.required(ip_mode_path, "must be specified when `ip` is set")
        elif mode is not None and not address:
            yield fieldpath.forbidden(ip_mode_path, "may not be specified when `ip` is not set")
        elif mode is not None:
            yield from supported(ip_mode_path, mode, ADDRESS_MODES)
        yield from balancer_host(path.child("hostname"), ingress.get("hostname") or "")
