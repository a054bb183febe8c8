"""Services, Endpoints, Ingresses and NetworkPolicies."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import RELAXED_SERVICE_NAMES
from celadon.kube.validation.services import changed_addresses
from tests.kube.validation.objects import complaints, obj, update_complaints


def service(**spec: Any) -> dict[str, Any]:
    return obj("v1", "Service", spec={"ports": [{"port": 80}], **spec})


RANGE = "must be between 1 and 65535, inclusive"
SERVICES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"type": "ExternalName", "externalName": "a.example.com."}, []),
    (
        {"type": "ExternalName", "externalName": "a", "ipFamilyPolicy": ""},
        ["spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services"],
    ),
    ({"ports": [], "clusterIP": "None"}, []),
    (
        {"type": "NodePort", "clusterIP": "None"},
        [
            "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort "
            "services"
        ],
    ),
    (
        {"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 80}]},
        [
            'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,'
            '"Port":80,"TargetPort":0,"NodePort":0}'
        ],
    ),
    (
        {"type": "NodePort", "ports": [{"port": 80, "nodePort": 70000, "targetPort": "A"}]},
        [
            'spec.ports[0].targetPort: Invalid value: "A": must contain only alpha-numeric '
            "characters (a-z, 0-9), and hyphens (-)",
            'spec.ports[0].targetPort: Invalid value: "A": must contain at least one letter (a-z)',
        ],
    ),
    (
        {"selector": {"a": "b c"}},
        ['spec.selector: Invalid value: "b c": a valid label must be an empty string or consist'],
    ),
    (
        {
            "sessionAffinity": "ClientIP",
            "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}},
        },
        [
            "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater "
            "than 0 and less than 86400"
        ],
    ),
    (
        {"externalIPs": ["127.0.0.1"]},
        [
            'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range '
            "(127.0.0.0/8, ::1/128)"
        ],
    ),
    (
        {"loadBalancerSourceRanges": ["10.0.0.0/33"]},
        [
            "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is "
            "'LoadBalancer'",
            f'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0/33": '
            f"{format_checks.CIDR_MESSAGE}",
        ],
    ),
    (
        {"loadBalancerClass": "x"},
        ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ),
    (
        {"externalTrafficPolicy": "Local"},
        [
            'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for '
            "externally-accessible services"
        ],
    ),
    (
        {"internalTrafficPolicy": "x", "trafficDistribution": "y"},
        [
            'spec.internalTrafficPolicy: Unsupported value: "x": supported values: "Cluster", '
            '"Local"',
            'spec.trafficDistribution: Unsupported value: "y": supported values: "PreferClose", '
            '"PreferSameZone", "PreferSameNode"',
        ],
    ),
    (
        {"ipFamilies": ["IPv6"], "clusterIP": "10.0.0.5"},
        [
            'spec.clusterIPs[0]: Invalid value: "10.0.0.5": expected an IPv6 value as indicated by '
            "`ipFamilies[0]`"
        ],
    ),
]


@pytest.mark.parametrize(("fields", "messages"), SERVICES)
def test_services(fields: dict[str, Any], messages: list[str]) -> None:
    found = complaints(service(**fields))
    assert len(found) == len(messages)
    for one, message in zip(found, messages, strict=True):
        assert one.startswith(message)


def test_names_of_services_begin_with_a_letter_while_the_gate_is_off() -> None:
    digits = {**service(), "metadata": {"name": "1a"}}
    assert complaints(digits) == []
    (message,) = complaints(digits, RELAXED_SERVICE_NAMES)
    assert message.startswith('metadata.name: Invalid value: "1a": a DNS-1035 label must consist')
    (message,) = complaints({**service(), "metadata": {"name": "A"}})
    assert message.startswith('metadata.name: Invalid value: "A": a lowercase RFC 1123 label must')


def test_backends_of_ingresses_are_named_as_services_are() -> None:
    old = ingress({"backend": {"service": {"name": "1a", "port": {"number": 80}}}})
    assert complaints(old) == []
    at = "spec.rules[0].http.paths[0].backend.service.name: Invalid value"
    (message,) = complaints(old, RELAXED_SERVICE_NAMES)
    assert message.startswith(f'{at}: "1a": a DNS-1035 label must consist')
    assert update_complaints(old, old, RELAXED_SERVICE_NAMES) == []
    (message,) = update_complaints(old, ingress(), RELAXED_SERVICE_NAMES)
    assert message.startswith(f'{at}: "1a": a DNS-1035 label must consist')


def test_ingresses_keep_what_was_allowed_before() -> None:
    old = ingress({"path": "x"}, host="*.example.com")
    assert update_complaints(old, old) == []
    assert len(complaints(old)) == 1
    named = {**ingress(), "spec": {**ingress()["spec"], "tls": [{"secretName": "a_b"}]}}
    assert update_complaints(named, named) == []
    assert len(update_complaints(named, ingress())) == 1


def test_addresses_of_services_stay() -> None:
    old = service(clusterIP="10.0.0.5")
    assert update_complaints(service(), old) == []
    assert update_complaints(service(clusterIP="10.0.0.6"), old) == [
        'spec.clusterIPs[0]: Invalid value: ["10.0.0.6"]: may not change once set'
    ]
    assert update_complaints(service(type="ExternalName", externalName="x"), old) == []


@pytest.mark.parametrize(
    ("address", "before", "faults"),
    [
        ("10.0.0.5", "10.0.0.5", ["spec.ipFamilies[0]"]),
        ("None", "None", []),
        ("None", "10.0.0.5", ["spec.clusterIPs[0]"]),
    ],
)
def test_families_of_services_with_addresses_stay(
    address: str, before: str, faults: list[str]
) -> None:
    found = changed_addresses(
        {"ipFamilies": ["IPv6"], "clusterIP": address, "clusterIPs": [address]},
        {"ipFamilies": ["IPv4"], "clusterIP": before, "clusterIPs": [before]},
    )
    assert [str(one).partition(":")[0] for one in found] == faults


CLASSES: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({}, {"type": "LoadBalancer", "loadBalancerClass": "a/b"}, []),
    ({"type": "NodePort"}, {"type": "LoadBalancer", "loadBalancerClass": "a/b"}, []),
    ({"type": "LoadBalancer", "loadBalancerClass": "a/b"}, {}, []),
    (
        {"type": "LoadBalancer", "loadBalancerClass": "a/b"},
        {"type": "LoadBalancer", "loadBalancerClass": "a/b"},
        [],
    ),
    (
        {"type": "LoadBalancer", "loadBalancerClass": "a/b"},
        {"type": "LoadBalancer", "loadBalancerClass": "a/c"},
        ['spec.loadBalancerClass: Invalid value: "a/c": may not change once set'],
    ),
    (
        {"type": "LoadBalancer"},
        {"type": "LoadBalancer", "loadBalancerClass": "a/c"},
        ['spec.loadBalancerClass: Invalid value: "a/c": may not change once set'],
    ),
    (
        {"type": "LoadBalancer", "loadBalancerClass": "a/b"},
        {"type": "LoadBalancer"},
        ["spec.loadBalancerClass: Invalid value: null: may not change once set"],
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), CLASSES)
def test_the_class_of_a_load_balancer_may_be_chosen_when_it_becomes_one(
    old: dict[str, Any], new: dict[str, Any], expected: list[str]
) -> None:
    assert update_complaints(service(**new), service(**old)) == expected


def test_endpoints() -> None:
    value = obj("v1", "Endpoints", subsets=[{"ports": [{"port": 0}]}, {"addresses": [{"ip": "x"}]}])
    assert complaints(value) == [
        "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`",
        f"subsets[0].ports[0].port: Invalid value: 0: {RANGE}",
        f'subsets[1].addresses[0].ip: Invalid value: "x": {format_checks.IP_MESSAGE}',
        'subsets[1].addresses[0].ip: Invalid value: "x": must be a valid IP address',
    ]


def ingress(path: Any = None, **rule: Any) -> dict[str, Any]:
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    given = {"path": "/", "pathType": "Prefix", "backend": backend, **(path or {})}
    rules = [{"http": {"paths": [given]}, **rule}]
    return obj("networking.k8s.io/v1", "Ingress", spec={"rules": rules})


P = "spec.rules[0].http.paths[0]"
INGRESSES: list[tuple[dict[str, Any], list[str]]] = [
    (ingress(), []),
    (ingress(host="*.example.com"), []),
    (
        ingress(host="10.0.0.1"),
        ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ),
    (
        ingress(host="a.*"),
        [f'spec.rules[0].host: Invalid value: "a.*": {format_checks.wildcard_subdomain("a.*")[0]}'],
    ),
    (ingress({"path": "x"}), [f'{P}.path: Invalid value: "x": must be an absolute path']),
    (ingress({"path": "", "pathType": "ImplementationSpecific"}), []),
    (
        ingress({"path": "/a//b/.."}),
        [
            f"{P}.path: Invalid value: \"/a//b/..\": must not contain '//'",
            f"{P}.path: Invalid value: \"/a//b/..\": cannot end with '/..'",
        ],
    ),
    (
        ingress({"pathType": "x"}),
        [
            f'{P}.pathType: Unsupported value: "x": supported values: "Exact", '
            '"ImplementationSpecific", "Prefix"'
        ],
    ),
    (
        ingress({"backend": {}}),
        [f'{P}.backend: Invalid value: "": resource or service backend is required'],
    ),
    (
        ingress({"backend": {"service": {"name": "s"}}}),
        [f"{P}.backend: Required value: port name or number is required"],
    ),
    (
        ingress({"backend": {"service": {"name": "s", "port": {"name": "p", "number": 1}}}}),
        [f'{P}.backend: Invalid value: "": cannot set both port name & port number'],
    ),
    (
        ingress({"backend": {"resource": {"kind": "", "name": "x"}}}),
        [f"{P}.backend.resource.kind: Required value"],
    ),
]


@pytest.mark.parametrize(("value", "messages"), INGRESSES)
def test_ingresses(value: dict[str, Any], messages: list[str]) -> None:
    assert complaints(value) == messages


def test_ingress_classes() -> None:
    value = obj("networking.k8s.io/v1", "IngressClass", spec={"controller": "x"})
    assert complaints(value) == [
        'spec.controller: Invalid value: "x": must be a domain-prefixed path (such as '
        '"acme.io/foo")'
    ]


def policy(**spec: Any) -> dict[str, Any]:
    return obj("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, **spec})


POLICIES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    (
        {"ingress": [{"from": [{}]}]},
        ["spec.ingress[0].from[0]: Required value: must specify a peer"],
    ),
    (
        {"egress": [{"ports": [{"protocol": "x", "port": 0}]}]},
        [
            'spec.egress[0].ports[0].protocol: Unsupported value: "x": supported values: "TCP", '
            '"UDP", "SCTP"',
            f"spec.egress[0].ports[0].port: Invalid value: 0: {RANGE}",
        ],
    ),
    (
        {"egress": [{"ports": [{"port": "web", "endPort": 5}, {"port": 9, "endPort": 5}]}]},
        [
            "spec.egress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` "
            "is non-numeric",
            "spec.egress[0].ports[1].endPort: Invalid value: 9: must be greater than or equal to "
            "`port`",
        ],
    ),
    (
        {"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/9"]}}]}]},
        [
            'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/9": must be a '
            "strict subset of `cidr`"
        ],
    ),
    (
        {"policyTypes": ["x"]},
        ['spec.policyTypes[0]: Unsupported value: "x": supported values: "Ingress", "Egress"'],
    ),
]


@pytest.mark.parametrize(("fields", "messages"), POLICIES)
def test_network_policies(fields: dict[str, Any], messages: list[str]) -> None:
    assert complaints(policy(**fields)) == messages
