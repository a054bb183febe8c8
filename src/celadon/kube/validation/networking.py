"""Validation of Ingresses and their classes, NetworkPolicies, Endpoints and EndpointSlices."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since, wording
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    NO_ERRORS,
    RELAXED_SERVICE_NAMES,
    SPEC,
    STRICT_ADDRESSES,
    Errors,
    at_most,
    changed_fields,
    dns_label,
    dns_subdomain,
    each,
    holding,
    items,
    only_with,
    port_number,
    present_choice,
    qualified_name,
    required_choice,
    supported,
)
from celadon.kube.validation.format_checks import older_address
from celadon.kube.validation.pods.containers import PROTOCOLS
from celadon.kube.well_known_values import INGRESS_CLASS

PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
BAD_SEQUENCES: Final = ("//", "/./", "/../", "%2f", "%2F")
BAD_ENDS: Final = ("/..", "/.")
SCOPES: Final = ("Cluster", "Namespace")
MAX_CONTROLLER_BYTES: Final = 250
POLICY_TYPES: Final = ("Ingress", "Egress")
DIRECTIONS: Final = (("ingress", "from"), ("egress", "to"))
"""The rules of a NetworkPolicy, and where they name their peers."""
POLICY_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
NO_ADDRESS: Final = "must be a DNS name, not an IP address"


class ToleratedFaults(NamedTuple):
    """Faults that an Ingress had before there were rules against them."""

    secret_names: bool = False
    wildcard_rules: bool = False
    service_names: bool = False


NOTHING_KEPT: Final = ToleratedFaults()


def ingress(obj: JsonObject) -> Errors:
    """Yield what is wrong with an Ingress, besides its metadata."""
    # As `ValidateIngressCreate` of `pkg/apis/networking/validation`.
    yield from _ingress(obj, NOTHING_KEPT)
    notes = (obj.get("metadata") or {}).get("annotations") or {}
    chosen = (obj.get("spec") or {}).get("ingressClassName")
    if INGRESS_CLASS in notes and chosen is not None and notes[INGRESS_CLASS] != chosen:
        path = FieldPath("annotations").child(INGRESS_CLASS)
        detail = "must match `ingressClassName` when both are specified"
        yield fieldpath.invalid(path, notes[INGRESS_CLASS], detail)


def ingress_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a changed Ingress. What was taken before the rules became what they
    are may stay, and more of its sort may come."""
    # As `ValidateIngressUpdate` of `pkg/apis/networking/validation`.
    spec = old.get("spec") or {}
    secrets = [tls.get("secretName") or "" for tls in spec.get("tls") or ()]
    rules = spec.get("rules") or ()
    backends = [spec.get("defaultBackend") or {}] if is_since("1.35") else []
    for rule in rules:
        backends += (
            path.get("backend") or {} for path in (rule.get("http") or {}).get("paths") or ()
        )
    names = [backend["service"].get("name") or "" for backend in backends if backend.get("service")]
    tolerated = ToleratedFaults(
        secret_names=any(secret and name_rules.dns1123_subdomain(secret) for secret in secrets),
        wildcard_rules=any("*" in (rule.get("host") or "") and _is_wrong(rule) for rule in rules),
        service_names=is_since("1.34") and any(map(_is_relaxed_only, names)),
    )
    return _ingress(obj, tolerated)


def _is_wrong(rule: JsonObject) -> bool:
    return bool(holding(_rule_value(FieldPath(), rule, NOTHING_KEPT), frozenset()))


def _is_relaxed_only(name: str) -> bool:
    return not name_rules.dns1123_label(name) and bool(name_rules.dns1035_label(name))


def _ingress(obj: JsonObject, tolerated: ToleratedFaults) -> Errors:
    spec = obj.get("spec") or {}
    backend = spec.get("defaultBackend")
    if not spec.get("rules") and backend is None:
        detail = "either `defaultBackend` or `rules` must be specified"
        go_value = GoValue(spec.get("rules"), "[]networking.IngressRule")
        yield fieldpath.invalid(SPEC, go_value, detail)
    if backend is not None:
        yield from _backend(SPEC.child("defaultBackend"), backend, tolerated)
    for path, rule in items(spec, "rules", SPEC):
        yield from _rule(path, rule, tolerated)
    for path, tls in items(spec, "tls", SPEC):
        for host_path, host in items(tls, "hosts", path):
            yield from _host(host_path, host)
        if tls.get("secretName") and not tolerated.secret_names:
            yield from dns_subdomain(path.child("secretName"), tls["secretName"])
    if spec.get("ingressClassName") is not None:
        name = spec["ingressClassName"]
        yield from dns_subdomain(SPEC.child("ingressClassName"), name)


def _host(path: FieldPath, host: str) -> Errors:
    if "*" in host:
        return each(path, host, format_checks.wildcard_subdomain(host))
    return dns_subdomain(path, host)


def _rule(path: FieldPath, rule: JsonObject, tolerated: ToleratedFaults) -> Errors:
    host = rule.get("host") or ""
    if host:
        if format_checks.address(host) is not None:
            yield fieldpath.invalid(path.child("host"), host, NO_ADDRESS)
        yield from _host(path.child("host"), host)
    if not tolerated.wildcard_rules or "*" not in host:
        yield from _rule_value(path, rule, tolerated)


def _rule_value(path: FieldPath, rule: JsonObject, tolerated: ToleratedFaults) -> Errors:
    # As `validateHTTPIngressRuleValue` of `pkg/apis/networking/validation`.
    http, http_path = rule.get("http"), path.child("http")
    if http is None:
        return
    if not http.get("paths"):
        yield fieldpath.required(http_path.child("paths"))
    for ingress_item_path, ingress_path in items(http, "paths", http_path):
        yield from _path(ingress_item_path, ingress_path, tolerated)


def _path(path: FieldPath, data: JsonObject, tolerated: ToleratedFaults) -> Errors:
    # As `validateHTTPIngressPath` of `pkg/apis/networking/validation`.
    kind, value = data.get("pathType"), data.get("path") or ""
    path_path = path.child("path")
    if kind is None:
        yield fieldpath.required(path.child("pathType"), "pathType must be specified")
        return
    if kind not in PATH_TYPES:
        yield from supported(path.child("pathType"), kind, PATH_TYPES)
    elif not value.startswith("/") and (value or kind != "ImplementationSpecific"):
        yield fieldpath.invalid(path_path, value, "must be an absolute path")
    if kind in {"Exact", "Prefix"}:
        for sequence in BAD_SEQUENCES:
            if sequence in value:
                yield fieldpath.invalid(path_path, value, f"must not contain '{sequence}'")
        for end in BAD_ENDS:
            if value.endswith(end):
                yield fieldpath.invalid(path_path, value, f"cannot end with '{end}'")
    yield from _backend(path.child("backend"), data.get("backend") or {}, tolerated)


def _backend(path: FieldPath, backend: JsonObject, tolerated: ToleratedFaults) -> Errors:
    # As `validateIngressBackend` of `pkg/apis/networking/validation`.
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        yield fieldpath.invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference(path.child("resource"), resource)
    elif service is None:
        yield fieldpath.invalid(path, "", "resource or service backend is required")
    else:
        service_path = path.child("service")
        name = service.get("name") or ""
        yield from _service_name(service_path.child("name"), name, tolerated)
        yield from _service_port(path, service_path.child("port"), service.get("port") or {})


def _service_name(path: FieldPath, name: str, tolerated: ToleratedFaults) -> Errors:
    if not name:
        return iter((fieldpath.required(path),))
    if tolerated.service_names:
        return dns_label(path, name)
    gate, otherwise = RELAXED_SERVICE_NAMES, each(path, name, name_rules.dns1035_label(name))
    return itertools.chain(only_with(gate, dns_label(path, name)), only_with(f"!{gate}", otherwise))


def _service_port(path: FieldPath, field_path: FieldPath, port: JsonObject) -> Errors:
    name, number = port.get("name") or "", port.get("number") or 0
    if name and number:
        yield fieldpath.invalid(path, "", "cannot set both port name & port number")
    elif name:
        yield from each(field_path.child("name"), name, format_checks.port_name(name))
    elif number:
        yield from port_number(field_path.child("number"), number)
    else:
        yield fieldpath.required(path, "port name or number is required")


def _reference(path: FieldPath, reference: JsonObject) -> Errors:
    # As `validateIngressTypedLocalObjectReference` of `pkg/apis/networking/validation`.
    if reference.get("apiGroup") is not None:
        yield from dns_subdomain(path.child("apiGroup"), reference["apiGroup"])
    for field in ("kind", "name"):
        value, field_path = reference.get(field) or "", path.child(field)
        if value:
            yield from each(field_path, value, name_rules.path_segment_name(value))
        else:
            yield fieldpath.required(field_path, _NO_MEMBER[field].text)


_NO_MEMBER: Final = {field: wording("", v1_34=f"{field} is required") for field in ("kind", "name")}


def ingress_class(obj: JsonObject) -> Errors:
    """Yield what is wrong with an IngressClass, besides its metadata."""
    # As `ValidateIngressClass` of `pkg/apis/networking/validation`.
    spec = obj.get("spec") or {}
    controller, path = spec.get("controller") or "", SPEC.child("controller")
    if not controller:
        yield fieldpath.required(path)
    else:
        if len(controller.encode()) > MAX_CONTROLLER_BYTES:
            yield fieldpath.too_long(path, MAX_CONTROLLER_BYTES)
        yield from domain_prefixed_path(path, controller)
    if spec.get("parameters") is not None:
        yield from _parameters(SPEC.child("parameters"), spec["parameters"])


def domain_prefixed_path(path: FieldPath, value: str) -> Errors:
    """Validate `example.com/name`: a domain, a slash, a path."""
    host, slash, rest = value.partition("/")
    if not (host and slash and rest):
        detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield fieldpath.invalid(path, value, detail)
        return
    yield from each(path, host, name_rules.dns1123_subdomain(host))
    yield from each(path, rest, format_checks.http_path(rest))


def _parameters(path: FieldPath, value: JsonObject) -> Errors:
    # As `validateIngressClassParametersReference` of `pkg/apis/networking/validation`.
    yield from _reference(path, value)
    scope, namespace, namespace_path = (
        value.get("scope"),
        value.get("namespace"),
        path.child("namespace"),
    )
    if scope is None:
        yield fieldpath.required(path.child("scope"))
    elif scope not in SCOPES:
        yield fieldpath.not_supported(path.child("scope"), scope, SCOPES)
    elif scope == "Namespace":
        if namespace is None:
            yield fieldpath.required(namespace_path, "`parameters.scope` is set to 'Namespace'")
        else:
            yield from dns_label(namespace_path, namespace)
    elif namespace is not None:
        yield fieldpath.forbidden(namespace_path, "`parameters.scope` is set to 'Cluster'")


def ingress_class_fixed(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if the controller of an IngressClass is another one."""
    # As `ValidateIngressClassUpdate` of `pkg/apis/networking/validation`.
    new, before = (item.get("spec") or {} for item in (obj, old))
    yield from changed_fields("networking.v1.IngressClassSpec", new, before, SPEC)


def network_policy(obj: JsonObject) -> Errors:
    """Yield what is wrong with a NetworkPolicy, besides its metadata."""
    # As `ValidateNetworkPolicy` of `pkg/apis/networking/validation`.
    return _policy(obj, frozenset())


def network_policy_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update: ranges that were there before may stay however they are written."""
    # As `ValidateNetworkPolicyUpdate` of `pkg/apis/networking/validation`.
    blocks = [peer.get("ipBlock") or {} for peer in _peers(old)]
    return _policy(
        obj,
        {text for block in blocks for text in (block.get("cidr"), *(block.get("except") or ()))},
    )


def _peers(obj: JsonObject) -> Iterator[JsonObject]:
    for direction, peers in DIRECTIONS:
        for rule in (obj.get("spec") or {}).get(direction) or ():
            yield from rule.get(peers) or ()


def _policy(obj: JsonObject, old_ranges: Collection[str]) -> Errors:
    spec = obj.get("spec") or {}
    yield from format_checks.selector(SPEC.child("podSelector"), spec.get("podSelector") or {})
    for direction, peers in DIRECTIONS:
        for path, rule in items(spec, direction, SPEC):
            for where, port in items(rule, "ports", path):
                yield from _policy_port(where, port)
            for where, peer in items(rule, peers, path):
                yield from _peer(where, peer, old_ranges)
    types = spec.get("policyTypes") or []
    if len(types) > len(POLICY_TYPES):
        detail = "may not specify more than two policyTypes"
        value = GoValue(types, "[]networking.PolicyType")
        yield fieldpath.invalid(SPEC.child("policyTypes"), value, detail)
        return
    for path, policy_type in items(spec, "policyTypes", SPEC):
        yield from supported(path, policy_type, POLICY_TYPES)


def _policy_port(path: FieldPath, value: JsonObject) -> Errors:
    # As `ValidateNetworkPolicyPort` of `pkg/apis/networking/validation`.
    protocol, port, end = value.get("protocol"), value.get("port"), value.get("endPort")
    if protocol is not None:
        yield from supported(path.child("protocol"), protocol, POLICY_PROTOCOLS)
    end_port_path = path.child("endPort")
    if isinstance(port, int):
        yield from port_number(path.child("port"), port)
        if end is not None:
            if end < port:
                # The smaller one is wrong, and upstream shows the other.
                yield fieldpath.invalid(
                    end_port_path, port, "must be greater than or equal to `port`"
                )
            yield from port_number(end_port_path, end)
        return
    if end is not None:
        detail = "is not specified" if port is None else "is non-numeric"
        yield fieldpath.invalid(end_port_path, end, f"may not be specified when `port` {detail}")
    if port is not None:
        yield from each(path.child("port"), port, format_checks.port_name(port))


def _peer(path: FieldPath, peer: JsonObject, old_ranges: Collection[str]) -> Errors:
    # As `ValidateNetworkPolicyPeer` of `pkg/apis/networking/validation`.
    kinds = ("podSelector", "namespaceSelector", "ipBlock")
    present = [kind for kind in kinds if peer.get(kind) is not None]
    for kind in present:
        if kind == "ipBlock":
            yield from _block(path.child(kind), peer[kind], old_ranges)
        else:
            yield from format_checks.selector(path.child(kind), peer[kind])
    if not present:
        yield fieldpath.required(path, "must specify a peer")
    elif len(present) > 1 and "ipBlock" in present:
        yield fieldpath.forbidden(path, "may not specify both ipBlock and another peer")


def _block(path: FieldPath, block: JsonObject, old_ranges: Collection[str]) -> Errors:
    # As `ValidateIPBlock` of `pkg/apis/networking/validation`.
    whole = block.get("cidr") or ""
    if not whole:
        yield fieldpath.required(path.child("cidr"))
        return
    yield from format_checks.older_range(path.child("cidr"), whole, old_ranges)
    outer = format_checks.network(whole)
    if outer is None:
        return
    for cidr_path, cidr in items(block, "except", path):
        yield from format_checks.older_range(cidr_path, cidr, old_ranges)
        inner = format_checks.network(cidr)
        if inner is None:
            continue
        within = outer.masked().contains(inner.masked().addr)
        if not within or outer.length >= inner.length:
            yield fieldpath.invalid(cidr_path, cidr, "must be a strict subset of `cidr`")


# --- Endpoints objects -------------------------------------------------------
#
# Endpoints, and what they share with Services and EndpointSlices: names of ports, addresses.
#
# As k8s.io/kubernetes `pkg/apis/core/validation`.


def endpoints_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield the same of a changed one: since 1.33, subsets that stay are not looked at again."""
    # As `ValidateEndpointsUpdate` of `pkg/apis/core/validation`.
    if is_since("1.33") and (obj.get("subsets") or []) == (old.get("subsets") or []):
        return NO_ERRORS
    return endpoints(obj)


def endpoints(obj: JsonObject) -> Errors:
    """Yield what is wrong with an Endpoints, besides its metadata."""
    # As `ValidateEndpointsCreate` of `pkg/apis/core/validation`.
    path = FieldPath()
    for subset_path, subset in items(obj, "subsets", path):
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            detail = "must specify `addresses` or `notReadyAddresses`"
            yield fieldpath.required(subset_path, detail)
        for field in ("addresses", "notReadyAddresses"):
            for where, address in items(subset, field, subset_path):
                yield from _endpoint(where, address)
        several = len(subset.get("ports") or ()) > 1
        for where, port in items(subset, "ports", subset_path):
            yield from port_name(where, port, required=several)
            yield from port_number(where.child("port"), port.get("port", 0))
            yield from required_choice(where.child("protocol"), port.get("protocol"), PROTOCOLS)
            if port.get("appProtocol") is not None:
                yield from qualified_name(where.child("appProtocol"), port["appProtocol"])


def _endpoint(path: FieldPath, address: JsonObject) -> Errors:
    value = address.get("ip") or ""
    yield from format_checks.older_address(path.child("ip"), value)
    if address.get("hostname"):
        yield from dns_label(path.child("hostname"), address["hostname"])
    node = address.get("nodeName")
    if node is not None:
        yield from each(path.child("nodeName"), node, name_rules.dns1123_subdomain(node))
    yield from each(path.child("ip"), value, special_address(value))


def port_name(path: FieldPath, port: JsonObject, *, required: bool) -> Errors:
    """Yield what is wrong with the name of a port of a Service or an Endpoints; it is `required`
    where there are several."""
    name = port.get("name") or ""
    if name:
        yield from dns_label(path.child("name"), name)
    elif required:
        yield fieldpath.required(path.child("name"))


def special_address(value: str) -> list[str]:
    """Return what is said about addresses that lead nowhere from elsewhere."""
    # As `ValidateEndpointIP` of `pkg/apis/core/validation`.
    addr = format_checks.address(value)
    if addr is None:
        return ["must be a valid IP address"]
    address = addr.unmapped()
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


# --- Endpoint slices ---------------------------------------------------------
#
# EndpointSlices: addresses of one type, and the ports that all of them have.
#
# As k8s.io/kubernetes `pkg/apis/discovery/validation`.

ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
MAX_ENDPOINTS: Final = 1000
MAX_ADDRESSES: Final = 100
MAX_PORTS: Final = 20_000
MAX_TOPOLOGY: Final = 16
MAX_HINTS: Final = 8
_ROOT: Final = FieldPath()
_TYPE: Final = FieldPath("addressType")


def endpoint_slice(obj: JsonObject) -> Errors:
    """Yield what is wrong with an EndpointSlice, besides its metadata."""
    # As `ValidateEndpointSliceCreate` of `pkg/apis/discovery/validation`.
    kind = obj.get("addressType") or ""
    yield from required_choice(_TYPE, kind, ADDRESS_TYPES)
    yield from _in_order(_ports(obj), _endpoints(obj, kind))


def _in_order(of_ports: Errors, of_endpoints: Errors) -> Errors:
    """Yield the errors of both parts in the order in which they are validated: before 1.33, the
    endpoints came first."""
    parts = (of_ports, of_endpoints) if is_since("1.33") else (of_endpoints, of_ports)
    return itertools.chain(*parts)


def endpoint_slice_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update: the type of the addresses stays; endpoints that stay are not looked at
    again since 1.33."""
    # As `ValidateEndpointSliceUpdate` of `pkg/apis/discovery/validation`.
    kind = obj.get("addressType") or ""
    yield from required_choice(_TYPE, kind, ADDRESS_TYPES)
    stays = (obj.get("endpoints") or []) == (old.get("endpoints") or []) and is_since("1.33")
    yield from _in_order(_ports(obj), NO_ERRORS if stays else _endpoints(obj, kind))
    if kind != (old.get("addressType") or ""):
        yield fieldpath.invalid(_TYPE, NamedText(kind), IMMUTABLE)


def _endpoints(obj: JsonObject, kind: str) -> Errors:
    if len(obj.get("endpoints") or ()) > MAX_ENDPOINTS:
        yield from at_most(_ROOT.child("endpoints"), obj["endpoints"], MAX_ENDPOINTS)
        return
    for path, endpoint in items(obj, "endpoints", _ROOT):
        yield from _endpoint_slices_endpoint(path, endpoint, kind)


def _endpoint_slices_endpoint(path: FieldPath, endpoint: JsonObject, kind: str) -> Errors:
    addresses, addresses_path = endpoint.get("addresses") or (), path.child("addresses")
    if not addresses:
        yield fieldpath.required(addresses_path, "must contain at least 1 address")
    yield from at_most(addresses_path, addresses, MAX_ADDRESSES)
    for index, address in enumerate(addresses):
        if kind == "FQDN":
            yield from _domain(addresses_path.index(index), address)
        elif kind in ADDRESS_TYPES:
            yield from _address(addresses_path, index, address, kind)
    if endpoint.get("nodeName") is not None:
        yield from dns_subdomain(path.child("nodeName"), endpoint["nodeName"])
    topology, where = endpoint.get("deprecatedTopology"), path.child("deprecatedTopology")
    yield from at_most(where, topology, MAX_TOPOLOGY)
    yield from format_checks.labels(where, topology)
    if endpoint.get("hostname") is not None:
        yield from dns_label(path.child("hostname"), endpoint["hostname"])
    hints = endpoint.get("hints")
    if hints is not None:
        for field in ("forZones", "forNodes"):
            field_hints = hints.get(field) or ()
            yield from _hints(path.child("hints", field), field_hints, field)
            if len(field_hints) > MAX_HINTS:
                return


def _address(path: FieldPath, index: int, address: str, kind: str) -> Errors:
    """Validate an address. One of another family is blamed on the list. Older rules let more
    through for IPv4, and what they let through is looked at further."""
    field_path, addr = path.index(index), format_checks.address(address)
    if not is_since("1.33"):
        if addr is None or (addr.is_v4 or addr.is_v4_mapped) != (kind == "IPv4"):
            yield fieldpath.invalid(field_path, address, f"must be a valid {kind} address")
        yield from each(field_path, address, special_address(address))
        return
    wrong = list(
        format_checks.older_address(field_path, address)
        if kind == "IPv4"
        else each(field_path, address, format_checks.canonical_address(address))
    )
    yield from wrong
    if addr is None or any(not error.gate for error in wrong):
        return
    further: list[FieldError] = []
    if (addr.is_v4 or addr.is_v4_mapped) != (kind == "IPv4"):
        further.append(fieldpath.invalid(path, address, f"must be an {kind} address"))
    further += each(field_path, address, special_address(address))
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
        detail = "should be a domain with at least two segments separated by dots"
        yield fieldpath.invalid(path, bare, detail)
        return
    for label in labels_of_name:
        messages = name_rules.dns1123_label(label)
        if messages:
            yield fieldpath.invalid(path, label, ",".join(messages))
            return


def _hints(path: FieldPath, hints: Sequence[JsonObject], field: str) -> Errors:
    # As `validateHints` of `pkg/apis/discovery/validation`.
    if len(hints) > MAX_HINTS:
        yield from at_most(path, hints, MAX_HINTS)
        return
    rule = name_rules.label_value if field == "forZones" else name_rules.dns1123_subdomain
    seen: set[str] = set()
    for index, hint in enumerate(hints):
        name, name_path = hint.get("name") or "", path.index(index).child("name")
        if name in seen:
            yield fieldpath.duplicate(name_path, name)
        seen.add(name)
        yield from each(name_path, name, rule(name))


def _ports(obj: JsonObject) -> Errors:
    ports = obj.get("ports") or ()
    if len(ports) > MAX_PORTS:
        yield from at_most(_ROOT.child("ports"), ports, MAX_PORTS)
        return
    names: set[str] = set()
    for path, port in items(obj, "ports", _ROOT):
        name = port.get("name") or ""
        if name:
            yield from dns_label(path.child("name"), name)
        if name in names:
            yield fieldpath.duplicate(path.child("name"), name)
        names.add(name)
        yield from present_choice(path.child("protocol"), port.get("protocol"), PROTOCOLS)
        if port.get("appProtocol") is not None:
            yield from qualified_name(path.child("appProtocol"), port["appProtocol"])


# --- Addresses of balancers --------------------------------------------------

BALANCER: Final = FieldPath("status").child("loadBalancer")


def balancer_addresses(old: JsonObject) -> Collection[str]:
    """Return the addresses that the balancer of an object had before an update."""
    balancer = (old.get("status") or {}).get("loadBalancer") or {}
    return [ingress.get("ip") or "" for ingress in balancer.get("ingress") or ()]


def ingress_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with the addresses at which an Ingress is reached."""
    # As `ValidateIngressStatusUpdate` of `pkg/apis/networking/validation`.
    old_addresses = balancer_addresses(old)
    balancer = (obj.get("status") or {}).get("loadBalancer") or {}
    for path, ingress in items(balancer, "ingress", BALANCER):
        address = ingress.get("ip")
        if address:
            yield from older_address(path.child("ip"), address, old_addresses)
        yield from balancer_host(path.child("hostname"), ingress.get("hostname") or "")


def balancer_host(path: FieldPath, name: str) -> Errors:
    """Yield what is wrong with the host name of a balancer, which may be empty."""
    if not name:
        return
    yield from dns_subdomain(path, name)
    if format_checks.address(name) is not None:
        yield fieldpath.invalid(path, name, NO_ADDRESS)
