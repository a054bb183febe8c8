"""What releases refuse differently: the same object, before and since a change."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import metadata, name_rules
from celadon.kube.releases import answering_as
from celadon.kube.validation import format_checks
from celadon.kube.validation.built_in_validations import (
    validate_create,
    validate_status_update,
    validate_update,
)
from tests.kube.validation.objects import admitted, obj

Json = dict[str, Any]
RBAC = "rbac.authorization.k8s.io/v1"
STORAGE = "storage.k8s.io/v1"
NET = "networking.k8s.io/v1"
FLOW = "flowcontrol.apiserver.k8s.io/v1"
IN_NS = {"namespace": "ns"}
NO_SUBDOMAIN = name_rules.dns1123_subdomain("")[0]
NO_LABEL = name_rules.dns1123_label("")[0]
C_IDENTIFIER = format_checks.c_identifier("-")[0]


def created(release: str, value: Json) -> list[str]:
    with answering_as(release):
        return [str(error) for error in validate_create(value, metadata.gvk(value))]


def updated(release: str, value: Json, old: Json) -> list[str]:
    with answering_as(release):
        return [str(error) for error in validate_update(value, old, metadata.gvk(value))]


def fields(errors: list[str]) -> list[str]:
    return [error.partition(": ")[0] for error in errors]


def node(**fields: Any) -> Json:
    driver = {"name": "d", "nodeID": "n", **fields}
    return obj(STORAGE, "CSINode", spec={"drivers": [driver]})


def attachment(**spec: Any) -> Json:
    source = {"persistentVolumeName": "pv"}
    return obj(
        STORAGE,
        "VolumeAttachment",
        spec={"attacher": "d", "nodeName": "n", "source": source} | spec,
    )


def storage_class(**fields: Any) -> Json:
    return obj(
        STORAGE,
        "StorageClass",
        provisioner="p",
        reclaimPolicy="Delete",
        volumeBindingMode="Immediate",
        **fields,
    )


def runtime_class(**fields: Any) -> Json:
    return obj("node.k8s.io/v1", "RuntimeClass", **{"handler": "h", **fields})


def role(*verbs: str) -> Json:
    rule = {"verbs": list(verbs), "apiGroups": [""], "resources": ["pods"]}
    return obj(RBAC, "ClusterRole", rules=[rule])


def ranges(*cidrs: str) -> Json:
    return obj(NET, "ServiceCIDR", spec={"cidrs": list(cidrs)})


def slice_of(*addresses: str, kind: str = "IPv4", **fields: Any) -> Json:
    endpoints = [{"addresses": list(addresses)}]
    of_slice = {"addressType": kind, "endpoints": endpoints, **fields}
    return obj("discovery.k8s.io/v1", "EndpointSlice", meta=IN_NS, **of_slice)


def ingress_class(**parameters: str) -> Json:
    spec = {"controller": "a.io/b", "parameters": {"scope": "Cluster", **parameters}}
    return obj(NET, "IngressClass", spec=spec)


def ingress(name: str) -> Json:
    return obj(
        NET,
        "Ingress",
        meta=IN_NS,
        spec={"defaultBackend": {"service": {"name": name, "port": {"number": 80}}}},
    )


def autoscaler(*versions: str) -> Json:
    metrics = [
        {
            "type": "Object",
            "object": {
                "describedObject": {"kind": "A", "name": "a", "apiVersion": version},
                "metric": {"name": "m"},
                "target": {"type": "Value", "value": "1"},
            },
        }
        for version in versions
    ]
    target = {"kind": "ReplicationController", "name": "a"}
    spec = {"maxReplicas": 1, "minReplicas": 1, "scaleTargetRef": target, "metrics": metrics}
    return obj("autoscaling/v2", "HorizontalPodAutoscaler", meta=IN_NS, spec=spec)


def candidate(**spec: Any) -> Json:
    return obj(
        "coordination.k8s.io/v1alpha1", "LeaseCandidate", meta=IN_NS, spec={"leaseName": "l"} | spec
    )


def level(name: str, **fields: Any) -> Json:
    spec = {"type": "Exempt", "exempt": {}}
    return obj(FLOW, "PriorityLevelConfiguration", meta={"name": name}, spec=spec, **fields)


def claim(*requests: Json, **devices: Any) -> Json:
    spec = {"devices": {"requests": list(requests), **devices}}
    return obj("resource.k8s.io/v1", "ResourceClaim", meta=IN_NS, spec=spec)


def exactly(name: str = "r", **fields: Any) -> Json:
    wanted = {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1, **fields}
    return {"name": name, "exactly": wanted}


def resource_slice(*devices: Json, **spec: Any) -> Json:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": list(devices), **spec}
    return obj("resource.k8s.io/v1", "ResourceSlice", spec=spec)


def toleration(**fields: str) -> Json:
    return {"scheduling": {"tolerations": [{"key": "a", "operator": "Exists", **fields}]}}


CREATED: list[tuple[str, str, Json, list[str], list[str]]] = [
    # The release of the change; what is said before, and since.
    (
        "1.35",
        "empty names of drivers",
        node(name=""),
        [
            "spec.drivers[0].name: Required value",
            f'spec.drivers[0].name: Invalid value: "": {NO_SUBDOMAIN}',
        ],
        ["spec.drivers[0].name: Required value"],
    ),
    (
        "1.36",
        "attachers, which were looked at last",
        attachment(attacher="a_b", nodeName=""),
        [
            f'spec.nodeName: Invalid value: "": {NO_SUBDOMAIN}',
            f'spec.attacher: Invalid value: "a_b": {NO_SUBDOMAIN}',
        ],
        [
            f'spec.attacher: Invalid value: "a_b": {NO_SUBDOMAIN}',
            f'spec.nodeName: Invalid value: "": {NO_SUBDOMAIN}',
        ],
    ),
    (
        "1.36",
        "attachers without a name, twice before",
        attachment(attacher=""),
        ["spec.attacher: Required value"] * 2,
        ["spec.attacher: Required value"],
    ),
    (
        "1.36",
        "empty handlers",
        runtime_class(handler=""),
        [f'handler: Invalid value: "": {NO_LABEL}'],
        ["handler: Required value"],
    ),
    (
        "1.35",
        "tolerations of runtime classes",
        runtime_class(**toleration(value="v")),
        [
            'scheduling.tolerations.tolerations[0].operator: Invalid value: "v": '
            "value must be empty when `operator` is 'Exists'"
        ],
        [
            'scheduling.tolerations[0].operator: Invalid value: "v": '
            "value must be empty when `operator` is 'Exists'"
        ],
    ),
    (
        "1.34",
        "the exempt level",
        level("a"),
        [
            "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is "
            "'exempt'"
        ],
        [
            "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is "
            "'exempt'"
        ],
    ),
    (
        "1.34",
        "conditions of levels",
        level("exempt", status={"conditions": [{}]}),
        ["status.conditions[0].type: Required value: must not be empty"],
        ["status.conditions[0].type: Required value"],
    ),
    (
        "1.34",
        "parameters of ingress classes",
        ingress_class(),
        [
            "spec.parameters.kind: Required value: kind is required",
            "spec.parameters.name: Required value: name is required",
        ],
        ["spec.parameters.kind: Required value", "spec.parameters.name: Required value"],
    ),
    (
        "1.34",
        "versions of objects that metrics are about",
        autoscaler("a/b/c"),
        [],
        [
            "spec.metrics[0].object.describedObject.apiVersion: Invalid value: "
            '"a/b/c": unexpected GroupVersion string: a/b/c'
        ],
    ),
    (
        "1.33",
        "addresses of the wrong family",
        slice_of("::1"),
        [
            'endpoints[0].addresses[0]: Invalid value: "::1": must be a valid IPv4 address',
            'endpoints[0].addresses[0]: Invalid value: "::1": may not be in the loopback range '
            "(127.0.0.0/8, ::1/128)",
        ],
        [
            'endpoints[0].addresses: Invalid value: "::1": must be an IPv4 address',
            'endpoints[0].addresses[0]: Invalid value: "::1": may not be in the loopback range '
            "(127.0.0.0/8, ::1/128)",
        ],
    ),
    (
        "1.33",
        "what is no address",
        slice_of("x", kind="IPv6", ports=[{}]),
        [
            'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IPv6 address',
            'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address',
            "ports[0].protocol: Required value",
        ],
        [
            "ports[0].protocol: Required value",
            'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address, (e.g. '
            "10.9.8.7 or 2001:db8::ffff)",
        ],
    ),
    (
        "1.33",
        "names that are no address",
        obj(NET, "IPAddress", spec={"parentRef": {"resource": "services", "name": "a"}}),
        ['metadata.name: Invalid value: "a": ParseAddr("a"): unable to parse IP'],
        [
            'metadata.name: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or '
            "2001:db8::ffff)"
        ],
    ),
    (
        "1.33",
        "ranges that are written wrongly",
        ranges("10.0.0.1/8"),
        [
            'spec.cidrs[0]: Invalid value: "10.0.0.1/8": wrong CIDR format, IP doesn\'t match '
            "network IP address"
        ],
        [
            'spec.cidrs[0]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix '
            "length"
        ],
    ),
    (
        "1.33",
        "ranges of one family",
        ranges("10.0.0.0/8", "x"),
        [
            'spec.cidrs: Invalid value: networking.ServiceCIDRSpec{CIDRs:[]string{"10.0.0.0/8", '
            '"x"}}: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and '
            "2001:db8::/64"
        ],
        [
            'spec.cidrs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or '
            "2001:db8::/64)"
        ],
    ),
    (
        "1.35",
        "names that come twice",
        claim(exactly(), exactly()),
        ['spec.devices.requests[1].name: Duplicate value: "r"'],
        ['spec.devices.requests[1]: Duplicate value: "r"'],
    ),
    (
        "1.35",
        "lists that are too long",
        claim(exactly(), config=[{}] * 33),
        [
            *(f"spec.devices.config[{index}].opaque: Required value" for index in range(33)),
            "spec.devices.config: Too many: 33: must have at most 32 items",
        ],
        ["spec.devices.config: Too many: 33: must have at most 32 items"],
    ),
    (
        "1.35",
        "requests of two sorts",
        claim({**exactly(deviceClassName=""), "firstAvailable": [{"name": "_"}]}),
        [
            f'spec.devices.requests[0].firstAvailable[0].name: Invalid value: "_": {NO_LABEL}',
            "spec.devices.requests[0].firstAvailable[0].deviceClassName: Required value",
            'spec.devices.requests[0].firstAvailable[0].allocationMode: Unsupported value: "": '
            'supported values: "All", "ExactCount"',
            "spec.devices.requests[0].exactly.deviceClassName: Required value",
            "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or "
            "`firstAvailable` is required, but multiple fields are set",
        ],
        [
            "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or "
            "`firstAvailable` is required, but multiple fields are set",
        ],
    ),
    (
        "1.33",
        "requests without alternatives",
        claim({"name": "r", "allocationMode": "All"}, constraints=[{"requests": ["a/b"]}]),
        [
            "spec.devices.requests[0].deviceClassName: Required value",
            f'spec.devices.constraints[0].requests[0]: Invalid value: "a/b": {NO_LABEL}',
            'spec.devices.constraints[0].requests[0]: Invalid value: "a/b": must be the name of a '
            "request in the claim",
            "spec.devices.constraints[0].matchAttribute: Required value",
        ],
        [
            "spec.devices.requests[0].exactly.deviceClassName: Required value",
            'spec.devices.constraints[0].requests[0]: Invalid value: "a/b": must be the name of a '
            "request in the claim or the name of a request and a subrequest separated by '/'",
            "spec.devices.constraints[0].matchAttribute: Required value",
        ],
    ),
    (
        "1.35",
        "attributes without a domain",
        claim(exactly(), constraints=[{"matchAttribute": "a"}, {"matchAttribute": "/"}]),
        [
            'spec.devices.constraints[0].matchAttribute: Invalid value: "a": must include a domain',
            "spec.devices.constraints[1].matchAttribute: Required value: the domain must not be "
            "empty",
            "spec.devices.constraints[1].matchAttribute: Required value: the name must not be "
            "empty",
        ],
        [
            'spec.devices.constraints[0].matchAttribute: Invalid value: "a": a fully qualified '
            "name must be a domain and a name separated by a slash",
            'spec.devices.constraints[1].matchAttribute: Invalid value: "": the domain must not '
            "be empty",
            'spec.devices.constraints[1].matchAttribute: Invalid value: "": the name must not be '
            "empty",
        ],
    ),
    (
        "1.32",
        "limits and places of claims",
        claim({"name": "r", "deviceClassName": "c", "allocationMode": "All"}, config=[{}] * 33),
        [
            *(f"spec.devices.config[{index}].opaque: Required value" for index in range(33)),
            "spec.devices.config: Too long: may not be longer than 32",
        ],
        [
            *(f"spec.devices.config[{index}].opaque: Required value" for index in range(33)),
            "spec.devices.config: Too many: 33: must have at most 32 items",
        ],
    ),
    (
        "1.36",
        "names of attributes",
        resource_slice({"name": "d", "attributes": {"-": {"bool": True}}}),
        [f'spec.devices[0].attributes[-]: Invalid value: "-": {C_IDENTIFIER}'],
        [f'spec.devices[0].attributes: Invalid value: "-": {C_IDENTIFIER}'],
    ),
    (
        "1.34",
        "types of names",
        resource_slice({"name": "d", "capacity": {"-": {"value": "1"}}}),
        [f'spec.devices[0].capacity[-]: Invalid value: "-": {C_IDENTIFIER}'],
        [f'spec.devices[0].capacity[-]: Invalid value: "-": {C_IDENTIFIER}'],
    ),
    (
        "1.35",
        "attributes without a value",
        resource_slice({"name": "d", "attributes": {"a": {}}}),
        ["spec.devices[0].attributes[a]: Required value: exactly one value must be specified"],
        ['spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be specified'],
    ),
    (
        "1.33",
        "devices without properties",
        resource_slice({"name": "d"}, nodeName="", allNodes=False),
        [
            "spec: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is "
            "required",
            "spec.devices[0].basic: Required value",
        ],
        [
            'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
            "spec.allNodes: Invalid value: false: must be either unset or set to true",
            "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
            "`perDeviceNodeSelection` is required",
        ],
    ),
    (
        "1.32",
        "strategies of candidates",
        candidate(preferredStrategies=["OldestEmulationVersion", "x"]),
        [
            "spec.binaryVersion: Required value: must be specified when `strategy` is "
            "'OldestEmulationVersion'",
            "spec.emulationVersion: Required value: must be specified when `strategy` is "
            "'OldestEmulationVersion'",
            'spec.preferredStrategies[1].strategy: Unsupported value: "x": supported values: '
            '"OldestEmulationVersion"',
        ],
        ["spec.binaryVersion: Required value", "spec.strategy: Required value"],
    ),
]


def before(release: str) -> str:
    return f"1.{int(release.partition('.')[2]) - 1}"


@pytest.mark.parametrize(
    ("release", "value", "older", "newer"),
    [pytest.param(*row[:1], *row[2:], id=row[1]) for row in CREATED],
)
def test_new_objects(release: str, value: Json, older: list[str], newer: list[str]) -> None:
    assert created(before(release), value) == older
    assert created(release, value) == newer


UPDATED: list[tuple[str, str, Json, Json, list[str], list[str]]] = [
    # The same of a changed object.
    (
        "1.35",
        "roles, twice before",
        role(),
        role("get"),
        ["rules[0].verbs: Required value: verbs must contain at least one value"] * 2,
        ["rules[0].verbs: Required value: verbs must contain at least one value"],
    ),
    (
        "1.36",
        "nodes of drivers, twice before",
        node(nodeID=""),
        node(nodeID=""),
        ["spec.drivers[0].nodeID: Required value"] * 2,
        ["spec.drivers[0].nodeID: Required value"],
    ),
    (
        "1.35",
        "what a driver has room for",
        node(allocatable={"count": 1}),
        node(allocatable={"count": 2}),
        [
            'spec.drivers: Invalid value: {"Name":"d","NodeID":"n","TopologyKeys":null,'
            '"Allocatable":{"Count":1}}: field is immutable'
        ],
        [],
    ),
    (
        "1.33",
        "the place of drivers that change",
        node(nodeID="m"),
        node(),
        [
            'CSINodeDriver: Invalid value: storage.CSINodeDriver{Name:"d", NodeID:"m", '
            "TopologyKeys:[]string(nil), Allocatable:(*storage.VolumeNodeResources)(nil)}: field "
            "is immutable"
        ],
        [
            'spec.drivers: Invalid value: storage.CSINodeDriver{Name:"d", NodeID:"m", '
            "TopologyKeys:[]string(nil), Allocatable:(*storage.VolumeNodeResources)(nil)}: field "
            "is immutable"
        ],
    ),
    (
        "1.36",
        "storage classes",
        storage_class(parameters={"a": "b"}),
        storage_class(),
        ["parameters: Forbidden: updates to parameters are forbidden."],
        ['parameters: Invalid value: {"a":"b"}: field is immutable'],
    ),
    (
        "1.36",
        "names of attachers, which only new ones were asked for",
        attachment(attacher="a_b"),
        attachment(attacher="a_b"),
        [],
        [f'spec.attacher: Invalid value: "a_b": {NO_SUBDOMAIN}'],
    ),
    (
        "1.35",
        "attachments, twice before",
        attachment(nodeName=""),
        attachment(nodeName=""),
        [f'spec.nodeName: Invalid value: "": {NO_SUBDOMAIN}'] * 2,
        [f'spec.nodeName: Invalid value: "": {NO_SUBDOMAIN}'],
    ),
    (
        "1.35",
        "claims that stay wrong, judged twice before",
        claim(exactly(count=0)),
        claim(exactly(count=0)),
        ["spec.devices.requests[0].exactly.count: Invalid value: 0: must be greater than zero"] * 2,
        [],
    ),
    (
        "1.33",
        "endpoints that stay",
        slice_of("x"),
        slice_of("x"),
        [
            'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IPv4 address',
            'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address',
        ],
        [],
    ),
    (
        "1.33",
        "a second range",
        ranges("10.0.0.0/8", "fd00::/64"),
        ranges("10.0.0.0/8"),
        ['spec.cidrs: Invalid value: []string{"10.0.0.0/8", "fd00::/64"}: field is immutable'],
        [],
    ),
    (
        "1.35",
        "relaxed names of default backends that were there",
        ingress("1a"),
        ingress("1a"),
        [
            'spec.defaultBackend.service.name: Invalid value: "1a": '
            f"{name_rules.dns1035_label('1a')[0]}"
        ],
        [],
    ),
]


@pytest.mark.parametrize(
    ("release", "value", "old", "older", "newer"),
    [pytest.param(*row[:1], *row[2:], id=row[1]) for row in UPDATED],
)
def test_changed_objects(
    release: str, value: Json, old: Json, older: list[str], newer: list[str]
) -> None:
    assert updated(before(release), value, old) == older
    assert updated(release, value, old) == newer


def test_devices_are_given_back_until_1_31() -> None:
    status = {"deallocationRequested": True, "reservedFor": [{"uid": "1"}]}
    value = {**claim(), "status": status}
    with answering_as("1.31"):
        found = validate_status_update(value, claim(), metadata.gvk(value))
    assert [str(error) for error in found if "dealloc" in str(error)] == [
        "status.deallocationRequested: Forbidden: deallocation cannot be requested while "
        "`reservedFor` is set",
        "status: Forbidden: `allocation` must be set when `deallocationRequested` is set",
    ]


@pytest.mark.parametrize(
    ("release", "expression", "is_fine"),
    [
        ("1.32", "[1].all(index, item, item > index)", False),
        ("1.33", "[1].all(index, item, item > index)", True),
        ("1.31", "isSemver('1.0.0')", True),
    ],
)
def test_selectors_may_use_what_the_release_before_had(
    release: str, expression: str, *, is_fine: bool
) -> None:
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    value = obj("resource.k8s.io/v1", "DeviceClass", spec=spec)
    assert (created(release, value) == []) is is_fine


@pytest.mark.parametrize(
    ("release", "where"),
    [("1.33", "status.conditions[1].type"), ("1.34", "status.conditions")],
)
def test_requests_that_are_approved_and_denied(release: str, where: str) -> None:
    status = {"conditions": [{"type": kind, "status": "True"} for kind in ("Approved", "Denied")]}
    value = obj("certificates.k8s.io/v1", "CertificateSigningRequest", status=status)
    with answering_as(release):
        found = validate_status_update(value, {**value, "status": {}}, metadata.gvk(value))
    assert where in [error.field for error in found if "exclusive" in error.detail]


@pytest.mark.parametrize(("release", "counted"), [("1.32", True), ("1.33", False)])
def test_requests_for_devices_without_a_class(release: str, counted: bool) -> None:
    value = obj(
        "resource.k8s.io/v1beta1", "ResourceClaim", spec={"devices": {"requests": [{"name": "r"}]}}
    )
    with answering_as(release):
        (request,) = admitted(value)["spec"]["devices"]["requests"]
    assert (request.get("allocationMode"), request.get("count")) == (
        ("ExactCount", 1) if counted else (None, None)
    )


def test_templates_of_claims_say_when_they_are_allocated() -> None:
    spec = {"resourceClassName": "c"}
    for kind, value in (("ResourceClaim", spec), ("ResourceClaimTemplate", {"spec": spec})):
        with answering_as("1.30"):
            made = admitted(obj("resource.k8s.io/v1alpha2", kind, spec=value))["spec"]
        assert made.get("spec", made)["allocationMode"] == "WaitForFirstConsumer"


@pytest.mark.parametrize(("release", "kept"), [("1.30", "x"), ("1.31", None)])
def test_classes_of_volumes(release: str, kept: str | None) -> None:
    volume = obj("v1", "PersistentVolume", spec={"volumeAttributesClassName": "x"})
    with answering_as(release):
        assert admitted(volume)["spec"].get("volumeAttributesClassName") == kept


def test_params_of_bindings_in_v1alpha1() -> None:
    spec = {"policyName": "p", "paramRef": {"name": "a"}}
    binding = obj(
        "admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicyBinding", spec=spec
    )
    with answering_as("1.31"):
        reference = admitted(binding)["spec"]["paramRef"]
    assert reference == {"name": "a", "parameterNotFoundAction": "Deny"}
