"""Services, what belongs to them, Ingresses, NetworkPolicies."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import warnings as warned
from celadon.kube.well_known_values import TOPOLOGY_HINTS

BAD = "1.1.1.01"


def said(path: str) -> str:
    return f'{path}: non-standard IP address "{BAD}" is invalid: use "1.1.1.1"'


def said_of_range(path: str) -> str:
    return f'{path}: non-standard CIDR value "{BAD}/32" is invalid: use "1.1.1.1/32"'


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"type": "ClusterIP", "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"]}, []),
        ({"clusterIP": BAD, "clusterIPs": [BAD]}, [said("spec.clusterIPs[0]")]),
        (
            {
                "type": "ClusterIP",
                "clusterIP": "None",
                "loadBalancerIP": "1.1.1.1",
                "externalIPs": ["1.1.1.1"],
                "sessionAffinity": "ClientIP",
            },
            [
                "spec.loadBalancerIP is ignored for headless services",
                "spec.externalIPs is ignored for headless services",
                "spec.SessionAffinity is ignored for headless services",
            ],
        ),
        (
            {"type": "NodePort", "externalIPs": [BAD]},
            [
                said("spec.externalIPs[0]"),
                "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
            ],
        ),
        (
            {"type": "ExternalName", "externalName": "x", "externalIPs": ["1.1.1.1"]},
            ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
        ),
        (
            {"type": "LoadBalancer", "loadBalancerIP": BAD},
            [said("spec.loadBalancerIP")],
        ),
        (
            {"type": "LoadBalancer", "loadBalancerSourceRanges": [f"{BAD}/32"]},
            [said_of_range("spec.loadBalancerSourceRanges[0]")],
        ),
        (
            {"type": "ClusterIP", "externalName": "x"},
            ['spec.externalName is ignored when spec.type is not "ExternalName"'],
        ),
        (
            {"type": "ClusterIP", "trafficDistribution": "PreferClose"},
            ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
        ),
    ],
)
def test_services(spec: dict[str, Any], want: list[str]) -> None:
    assert list(warned.service_warnings({"spec": spec}, None)) == want


def test_an_old_annotation_of_services() -> None:
    obj = {"metadata": {"annotations": {TOPOLOGY_HINTS: "auto"}}}
    assert list(warned.service_warnings(obj, None)) == [
        "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
        "service.kubernetes.io/topology-mode instead"
    ]


def test_load_balancers() -> None:
    obj = {"status": {"loadBalancer": {"ingress": [{"hostname": "x"}, {"ip": BAD}]}}}
    at = "status.loadBalancer.ingress[1]"
    assert list(warned.service_status_warnings(obj, obj)) == [said(at)]
    assert list(warned.ingress_status_warnings(obj, obj)) == [said(f"{at}.ip")]


def test_the_class_of_an_ingress() -> None:
    meta = {"annotations": {"kubernetes.io/ingress.class": "x"}}
    obj = {"metadata": meta, "spec": {}}
    assert list(warned.ingress_warnings(obj, None)) == [
        'annotation "kubernetes.io/ingress.class" is deprecated, please use '
        "'spec.ingressClassName' instead"
    ]
    assert not list(warned.ingress_warnings(obj, obj))
    chosen = {"metadata": meta, "spec": {"ingressClassName": "x"}}
    assert not list(warned.ingress_warnings(chosen, None))


def test_endpoints() -> None:
    subset = {"addresses": [{"ip": "1.1.1.1"}, {"ip": BAD}], "notReadyAddresses": [{"ip": BAD}]}
    obj = {"metadata": {}, "subsets": [subset]}
    assert list(warned.endpoints_warnings(obj, None)) == [
        said("subsets[0].addresses[1].ip"),
        said("subsets[0].notReadyAddresses[0].ip"),
    ]
    labels = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    assert not list(warned.endpoints_warnings({**obj, "metadata": {"labels": labels}}, None))


def test_endpoint_slices() -> None:
    obj: dict[str, Any] = {"addressType": "FQDN", "endpoints": [{"addresses": [BAD]}]}
    fqdn = "spec.addressType: FQDN endpoints are deprecated"
    address = said("endpoints[0].addresses[0]")
    assert list(warned.endpoint_slice_warnings(obj, None)) == [fqdn, address]
    assert list(warned.endpoint_slice_warnings(obj, obj)) == [address]
    obj["metadata"] = {
        "labels": {"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}
    }
    assert list(warned.endpoint_slice_warnings(obj, None)) == [fqdn]


def test_network_policies() -> None:
    block = {"ipBlock": {"cidr": "1.0.0.0/8", "except": [f"{BAD}/32"]}}
    spec = {"ingress": [{"from": [{}, block]}], "egress": [{"to": [block]}]}
    assert list(warned.network_policy_warnings({"spec": spec}, None)) == [
        said_of_range("spec.ingress[0].from[1].ipBlock.except[0]"),
        said_of_range("spec.egress[0].to[0].ipBlock.except[0]"),
    ]


def test_service_cidrs() -> None:
    found = list(warned.service_cidr_warnings({"spec": {"cidrs": [f"{BAD}/32"]}}, None))
    assert found == [said_of_range("spec.cidrs[0]")]
