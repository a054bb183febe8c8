"""What the registry fills into a new Service: addresses, families, node ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from celadon.kube import fieldpath, metadata, status
from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.fieldpath import FieldError, FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind
from celadon.kube.status import StatusError
from celadon.kube.well_known_values import HEADLESS, IP_FAMILIES, WITH_NODE_PORTS

# --- Service families --------------------------------------------------------
#
# Which IP families a Service has, new or changed: before it gets its addresses.
#
# As `initIPFamilyFields` in k8s.io/kubernetes `pkg/registry/core/service/storage/alloc.go`.
# What is wrong with addresses and families is said here alone, before anything else about the
# Service is.


_SERVICE: Final = GroupKind("", "Service")
_SPEC: Final = FieldPath("spec")
_POLICY: Final = _SPEC.child("ipFamilyPolicy")
SINGLE: Final = "SingleStack"
PREFERRED: Final = "PreferDualStack"
REQUIRED: Final = "RequireDualStack"
WITH_ADDRESS: Final = frozenset({"ClusterIP", "NodePort", "LoadBalancer"})
_PARTS: Final = {"clusterIPs": "secondary cluster IP", "ipFamilies": "secondary IP family"}
_SEVERAL: Final = {"clusterIPs": "multiple cluster IPs", "ipFamilies": "multiple IP families"}


def settle_families(spec: dict[str, Any], run: Run, old: JsonObject) -> None:
    """Sets policy and families; `old` is the spec of the Service as it was, empty for a new one.
    Raises StatusError (422) where they cannot be had."""
    if spec.get("type") == "ExternalName" or _prefers_the_same(spec, old):
        return
    bare = spec.get("clusterIP") == HEADLESS and not spec.get("selector")
    if not spec.get("ipFamilyPolicy"):
        spec["ipFamilyPolicy"] = old.get("ipFamilyPolicy") or (REQUIRED if bare else SINGLE)
    _refuse(run, _wrong_addresses(spec, old, run))
    errors = [*_released(spec, old), *_too_many(spec), *_inferred(spec, run)]
    _refuse(run, errors)
    if not bare:
        _refuse(run, _not_configured(spec, run))
    network = run.context.network
    families = list(spec.get("ipFamilies") or network.families[:1])
    if spec["ipFamilyPolicy"] != SINGLE and len(families) == 1:
        offered = IP_FAMILIES if bare else network.families
        families += [one for one in offered if one != families[0]]
    spec["ipFamilies"] = families


def _prefers_the_same(spec: JsonObject, old: JsonObject) -> bool:
    """Return what prefers two families is not given another one because the cluster has changed."""
    if not old or spec.get("type") != old.get("type") or spec.get("type") not in WITH_ADDRESS:
        return False
    policies = spec.get("ipFamilyPolicy"), old.get("ipFamilyPolicy") or PREFERRED
    same = all((spec.get(one) or []) == (old.get(one) or []) for one in _PARTS)
    return policies == (PREFERRED, PREFERRED) and same


def _wrong_addresses(spec: JsonObject, old: JsonObject, run: Run) -> list[FieldError]:
    # late: only Services need rules of validation this early.
    from celadon.kube.validation.field_checks import gates_on, holding
    from celadon.kube.validation.services import service_addresses

    errors = service_addresses(spec, old.get("clusterIPs") or ())
    return holding(errors, gates_on(run.context.gates))


def _released(spec: dict[str, Any], old: JsonObject) -> list[FieldError]:
    """A policy of one family lets the second go; without it nobody may leave it out."""
    errors: list[FieldError] = []
    policy = spec["ipFamilyPolicy"]
    for part, called in _PARTS.items():
        given, before = spec.get(part) or [], old.get(part) or []
        if policy == SINGLE and given == before and len(given) > 1:
            spec[part] = given[:1]
        elif policy != SINGLE and given and len(given) < len(before):
            why = f"must be 'SingleStack' to release the {called}"
            errors.append(fieldpath.invalid(_POLICY, NamedText(policy), why))
    return errors


def _too_many(spec: JsonObject) -> list[FieldError]:
    return [
        fieldpath.invalid(
            _POLICY,
            NamedText(SINGLE),
            f"must be 'RequireDualStack' or 'PreferDualStack' when {called} are specified",
        )
        for part, called in _SEVERAL.items()
        if spec["ipFamilyPolicy"] == SINGLE and len(spec.get(part) or ()) == 2
    ]


def _inferred(spec: dict[str, Any], run: Run) -> list[FieldError]:
    """Families that are not said are those of the addresses."""
    errors: list[FieldError] = []
    network, addresses = run.context.network, spec.get("clusterIPs") or []
    for index, address in enumerate(addresses):
        if address == HEADLESS:
            break
        families = list(spec.get("ipFamilies") or ())
        if index < len(families):
            continue
        family = "IPv6" if ":" in address else "IPv4"
        if network.families_are_known and family not in network.families:
            at = _SPEC.child("clusterIPs").index(index)
            why = f"{family} is not configured on this cluster"
            errors.append(fieldpath.invalid(at, addresses, why))
        else:
            spec["ipFamilies"] = [*families, family]
    return errors


def _not_configured(spec: JsonObject, run: Run) -> list[FieldError]:
    network = run.context.network
    if not network.families_are_known:
        return []
    errors: list[FieldError] = []
    if spec["ipFamilyPolicy"] == REQUIRED and len(network.families) < 2:
        why = "this cluster is not configured for dual-stack services"
        errors.append(fieldpath.invalid(_POLICY, NamedText(REQUIRED), why))
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in network.families:
            at = _SPEC.child("ipFamilies").index(index)
            why = "not configured on this cluster"
            errors.append(fieldpath.invalid(at, NamedText(family), why))
    return errors


def _refuse(run: Run, errors: Iterable[FieldError]) -> None:
    found = list(errors)
    if found:
        raise refused(run, found)


def refused(run: Run, errors: list[FieldError]) -> StatusError:
    """The answer to a Service that cannot have what it asks for."""
    return status.invalid(_SERVICE, metadata.name(run.root), errors)


_ADDRESSES: Final = FieldPath("spec", "clusterIPs")
_PORTS: Final = FieldPath("spec", "ports")


def service_allocate(spec: object, run: Run) -> None:
    """Allocate what a new Service needs. Raises StatusError: 422 for a value that cannot be had,
    500 where nothing is left."""
    allocate(spec, run, {})


def allocate(spec: Any, run: Run, old: JsonObject) -> None:
    """Allocate what is still missing; `old` is the spec of the Service as it was, whose addresses
    and ports stay its own."""
    cluster_ip = spec.get("clusterIP", "")
    if cluster_ip and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [cluster_ip]
    if spec.get("type") == "ExternalName":
        return
    settle_families(spec, run, old)
    if cluster_ip != HEADLESS:
        _require_addresses(spec, run, old)
        _allocate_addresses(spec, run)
    if spec.get("type") in WITH_NODE_PORTS:
        _require_ports(spec, run, old)
    _require_health_check(spec, run, old)
    _allocate_ports(spec, run)


def _require_addresses(spec: Any, run: Run, old: JsonObject) -> None:
    """An address that replaces another is no matter of allocation: it is refused later."""
    given = spec.get("clusterIPs") or []
    kept = len(old.get("clusterIPs") or ())
    for address in given[kept:]:
        fault = run.context.network.address_fault(address)
        if fault:
            detail = f"failed to allocate IP {address}: {fault}"
            raise refused(run, [fieldpath.invalid(_ADDRESSES, given, detail)])


def _require_ports(spec: Any, run: Run, old: JsonObject) -> None:
    known = {port.get("nodePort", 0) for port in old.get("ports") or ()} | {0}
    for index, port in enumerate(spec.get("ports") or ()):
        number = port.get("nodePort", 0)
        fault = "" if number in known else run.context.network.port_fault(number)
        known.add(number)
        if fault:
            at = _PORTS.index(index).child("nodePort")
            raise refused(run, [fieldpath.invalid(at, number, fault)])


def _require_health_check(spec: Any, run: Run, old: JsonObject) -> None:
    number = spec.get("healthCheckNodePort", 0)
    if not number or not _wants_health_check(spec) or _wants_health_check(old):
        return
    fault = run.context.network.port_fault(number)
    if fault:
        why = f"failed to allocate requested HealthCheck NodePort {number}: {fault}"
        raise status.internal_error(why)


def _wants_health_check(spec: JsonObject) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _allocate_addresses(spec: Any, run: Run) -> None:
    given = spec.get("clusterIPs") or []
    network = run.context.network
    missing = [one for one in spec["ipFamilies"][len(given) :] if one in network.families]
    addresses = [*given, *map(network.cluster_ip, missing)]
    if addresses:
        spec["clusterIPs"] = addresses
        spec.setdefault("clusterIP", addresses[0])


def _wants_node_ports(spec: Any) -> bool:
    if spec.get("type") == "LoadBalancer":
        return spec.get("allocateLoadBalancerNodePorts") is not False
    return bool(spec.get("type") == "NodePort")


def _allocate_ports(spec: Any, run: Run) -> None:
    taken_numbers = {port.get("nodePort") for port in spec.get("ports") or ()}
    taken_numbers.add(spec.get("healthCheckNodePort"))
    free = run.context.network.node_ports()
    numbers: Iterator[int] = (number for number in free if number not in taken_numbers)
    if _wants_node_ports(spec):
        taken: dict[int, tuple[int, set[str]]] = {}
        for port in spec.get("ports") or ():
            _allocate_port(port, taken, numbers)
    if _wants_health_check(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = next(numbers)


def _allocate_port(
    port: Any, taken: dict[int, tuple[int, set[str]]], numbers: Iterator[int]
) -> None:
    """Ports with the same number and different protocols share a node port."""
    number, protocol = port.get("port", 0), port.get("protocol", "")
    shared = taken.get(number)
    if not port.get("nodePort"):
        free = shared is None or protocol in shared[1]
        port["nodePort"] = next(numbers) if shared is None or free else shared[0]
    taken.setdefault(number, (port["nodePort"], set()))[1].add(protocol)


# --- Service updates ---------------------------------------------------------
#
# What the registry does with a changed Service: what was allocated stays, what no longer fits
# goes.
#
# A client need not send what the server allocated. When the type changes, the fields of the old
# type are wiped unless the client changed them in the same request. What is still missing is
# allocated.


def _has_address(spec: JsonObject) -> bool:
    return spec.get("type") in WITH_ADDRESS


def _has_node_ports(spec: JsonObject) -> bool:
    kind = spec.get("type")
    unwanted = kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False
    return kind in WITH_NODE_PORTS and not unwanted


def _has_health_check(spec: JsonObject) -> bool:
    return _is_balancer(spec) and spec.get("externalTrafficPolicy") == "Local"


def _is_balancer(spec: JsonObject) -> bool:
    return spec.get("type") == "LoadBalancer"


def _is_external(spec: JsonObject) -> bool:
    by_address = spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs"))
    return spec.get("type") in WITH_NODE_PORTS or by_address


WIPED: Final[tuple[tuple[Callable[[JsonObject], bool], tuple[str, ...]], ...]] = (
    (
        _has_address,
        ("clusterIPs", "clusterIP", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"),
    ),
    (_has_health_check, ("healthCheckNodePort",)),
    (_is_balancer, ("allocateLoadBalancerNodePorts", "loadBalancerClass")),
    (_is_external, ("externalTrafficPolicy",)),
)
"""Who has which fields. They go when a Service is no longer one of those."""


def service_update(spec: dict[str, Any], old: JsonObject, run: Run) -> None:
    """Changes the new spec to what is validated and stored. Raises StatusError (500) when a
    protocol would have a node port twice."""
    for has, fields in WIPED:
        if has(old) and not has(spec):
            for field in fields:
                if spec.get(field) == old.get(field):
                    spec.pop(field, None)
    was, now = _has_node_ports(old), _has_node_ports(spec)
    if was and not now and _node_ports(spec) == _node_ports(old):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    if _has_address(old) and _has_address(spec):
        _keep_addresses(spec, old)
    if was and now:
        _keep_node_ports(spec, old)
    if _has_health_check(old) and _has_health_check(spec):
        spec.setdefault("healthCheckNodePort", old.get("healthCheckNodePort", 0))
    allocate(spec, run, old)
    if now:
        _require_distinct_node_ports(spec)


def _require_distinct_node_ports(spec: JsonObject) -> None:
    taken = set()
    for port in spec.get("ports") or ():
        one = port.get("protocol", ""), port.get("nodePort", 0)
        if one in taken:
            raise status.plain_error(f"duplicate nodePort: {{{one[0]} {one[1]}}}")
        taken.add(one)


def _node_ports(spec: JsonObject) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}


def _keep_addresses(spec: dict[str, object], old: JsonObject) -> None:
    if not spec.get("clusterIP") and old.get("clusterIP"):
        spec["clusterIP"] = old["clusterIP"]
    addresses = old.get("clusterIPs")
    if spec.get("clusterIP") == old.get("clusterIP"):
        if addresses and not spec.get("clusterIPs"):
            spec["clusterIPs"] = list(addresses)
    elif spec.get("clusterIPs") == addresses:
        spec["clusterIPs"] = [spec["clusterIP"]]


def _keep_node_ports(spec: dict[str, Any], old: JsonObject) -> None:
    """Keep node ports by the name of the port, and none twice."""
    used = _node_ports(old) & _node_ports(spec)
    named = {port.get("name", ""): port.get("nodePort", 0) for port in old.get("ports") or ()}
    for port in spec.get("ports") or ():
        kept = named.get(port.get("name", ""), 0)
        if not port.get("nodePort") and kept and kept not in used:
            port["nodePort"] = kept
            used.add(kept)
