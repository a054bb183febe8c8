"""What an API server remarks about Services and what belongs to them, Ingresses, NetworkPolicies.

As k8s.io/kubernetes `pkg/api/service/warnings.go` and the `strategy.go` of the other kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import metadata
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.warnings.warned_addresses import address_warnings, range_warnings
from celadon.kube.well_known_values import INGRESS_CLASS, TOPOLOGY_HINTS, TOPOLOGY_MODE

ENDPOINTS_MANAGER: Final = (
    "endpoints.kubernetes.io/managed-by",
    frozenset({"endpoint-controller"}),
)
SLICE_MANAGERS: Final = (
    "endpointslice.kubernetes.io/managed-by",
    frozenset({"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}),
)
"""Who is trusted to write addresses well: a label, and its values."""

_SPEC: Final = FieldPath("spec")
_INGRESS: Final = FieldPath("status", "loadBalancer", "ingress")


def service_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a Service, new or changed."""
    spec = obj.get("spec") or {}
    if TOPOLOGY_HINTS in metadata.annotations(obj):
        yield f"annotation {TOPOLOGY_HINTS} is deprecated, please use {TOPOLOGY_MODE} instead"
    headless = spec.get("type") == "ClusterIP" and spec.get("clusterIP") == "None"
    if spec.get("clusterIP") not in (None, "", "None"):
        yield from _listed_addresses(spec, "clusterIPs")
    if headless:
        yield from _ignored_by_headless(spec)
    yield from _listed_addresses(spec, "externalIPs")
    external_name = spec.get("type") == "ExternalName"
    if spec.get("externalIPs") and not headless and not external_name:
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if spec.get("loadBalancerIP"):
        yield from address_warnings(_SPEC.child("loadBalancerIP"), spec["loadBalancerIP"])
    for index, one in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from range_warnings(_SPEC.child("loadBalancerSourceRanges").index(index), one)
    if external_name and spec.get("externalIPs"):
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if not external_name and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _ignored_by_headless(spec: JsonObject) -> Iterator[str]:
    if spec.get("loadBalancerIP"):
        yield "spec.loadBalancerIP is ignored for headless services"
    if spec.get("externalIPs"):
        yield "spec.externalIPs is ignored for headless services"
    if spec.get("sessionAffinity") != "None":
        yield "spec.SessionAffinity is ignored for headless services"


def _listed_addresses(spec: JsonObject, field: str) -> Iterator[str]:
    for index, address in enumerate(spec.get(field) or ()):
        yield from address_warnings(_SPEC.child(field).index(index), address)


def service_status_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of the status of a Service; the path ends early there."""
    for index, ingress in _load_balancer(obj):
        yield from address_warnings(_INGRESS.index(index), ingress.get("ip") or "")


def ingress_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Of a new Ingress."""
    chosen = (obj.get("spec") or {}).get("ingressClassName") is not None
    if old is None and INGRESS_CLASS in metadata.annotations(obj) and not chosen:
        yield (
            f'annotation "{INGRESS_CLASS}" is deprecated, please use '
            "'spec.ingressClassName' instead"
        )


def ingress_status_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of the status of an Ingress."""
    for index, ingress in _load_balancer(obj):
        yield from address_warnings(_INGRESS.index(index).child("ip"), ingress.get("ip") or "")


def _load_balancer(obj: JsonObject) -> Iterator[tuple[int, JsonObject]]:
    balancer = (obj.get("status") or {}).get("loadBalancer") or {}
    return enumerate(balancer.get("ingress") or ())


def _is_managed(obj: JsonObject, managers: tuple[str, frozenset[str]]) -> bool:
    label, names = managers
    return metadata.labels(obj).get(label) in names


def endpoints_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of an Endpoints."""
    if _is_managed(obj, ENDPOINTS_MANAGER):
        return
    for index, subset in enumerate(obj.get("subsets") or ()):
        for field in ("addresses", "notReadyAddresses"):
            at = FieldPath("subsets").index(index).child(field)
            for number, address in enumerate(subset.get(field) or ()):
                yield from address_warnings(at.index(number).child("ip"), address.get("ip", ""))


def endpoint_slice_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Of an EndpointSlice; its type of address is not in a spec, whatever the text says."""
    if old is None and obj.get("addressType") == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
    if _is_managed(obj, SLICE_MANAGERS):
        return
    for index, endpoint in enumerate(obj.get("endpoints") or ()):
        at = FieldPath("endpoints").index(index).child("addresses")
        for number, address in enumerate(endpoint.get("addresses") or ()):
            yield from address_warnings(at.index(number), address)


def network_policy_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a NetworkPolicy."""
    spec = obj.get("spec") or {}
    for field, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(field) or ()):
            at = _SPEC.child(field).index(index).child(peers)
            for number, peer in enumerate(rule.get(peers) or ()):
                yield from _block(peer.get("ipBlock"), at.index(number).child("ipBlock"))


def _block(block: JsonObject | None, path: FieldPath) -> Iterator[str]:
    if block is None:
        return
    yield from range_warnings(path.child("cidr"), block.get("cidr", ""))
    for index, one in enumerate(block.get("except") or ()):
        yield from range_warnings(path.child("except").index(index), one)


def service_cidr_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a ServiceCIDR."""
    for index, one in enumerate((obj.get("spec") or {}).get("cidrs") or ()):
        yield from range_warnings(_SPEC.child("cidrs").index(index), one)
