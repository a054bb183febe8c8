"""ConfigMaps, Secrets, claims to storage, RBAC, autoscaling, and what rules a namespace."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from celadon.kube import name_rules
from celadon.kube.validation import format_checks
from celadon.kube.validation.config_maps_and_secrets import config_map_fixed, secret_fixed
from tests.kube.validation.objects import complaints, obj, update_complaints

RBAC = "rbac.authorization.k8s.io/v1"
REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(kind: str, **data: str) -> dict[str, Any]:
    return obj("v1", "Secret", type=f"kubernetes.io/{kind}", data=data)


def docker(text: str) -> dict[str, Any]:
    return obj(
        "v1",
        "Secret",
        type="kubernetes.io/dockerconfigjson",
        data={".dockerconfigjson": encoded(text)},
    )


def claim(**spec: Any) -> dict[str, Any]:
    sized = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return obj("v1", "PersistentVolumeClaim", spec={**sized, **spec})


def autoscaler(*metrics: dict[str, Any], **spec: Any) -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    full = {"scaleTargetRef": target, "maxReplicas": 3, **spec}
    if metrics:
        full["metrics"] = list(metrics)
    return obj("autoscaling/v2", "HorizontalPodAutoscaler", spec=full)


def limits(**limit: Any) -> dict[str, Any]:
    return obj("v1", "LimitRange", spec={"limits": [{"type": "Container", **limit}]})


DOCKER = 'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": '
MAP = "Go value of type map[string]interface {}"
M = "spec.metrics[0]"
ROWS: list[tuple[dict[str, Any], list[str]]] = [
    (
        obj("v1", "ConfigMap", data={"a": "x" * (1024 * 1024 + 1)}),
        ["[]: Too long: may not be more than 1048576 bytes"],
    ),
    (
        obj("v1", "ConfigMap", data={"..a": ""}),
        ["data[..a]: Invalid value: \"..a\": must not start with '..'"],
    ),
    (
        obj("v1", "ConfigMap", meta={"finalizers": ["x"]}),
        [
            'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer '
            "name nor is it fully qualified"
        ],
    ),
    (secret("tls"), ["data[tls.crt]: Required value", "data[tls.key]: Required value"]),
    (secret("ssh-auth"), ["data[ssh-privatekey]: Required value"]),
    (secret("dockercfg"), ["data[.dockercfg]: Required value"]),
    (
        secret("service-account-token"),
        ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
    ),
    (docker('{"auths": {}}'), []),
    (docker("{"), [f"{DOCKER}unexpected end of JSON input"]),
    (
        docker("[]"),
        [f"{DOCKER}json: cannot unmarshal array into {MAP}"],
    ),
    (docker('{"a": "1e999 \\\\", "b": 1e-999}'), []),
    (
        docker('{"a": "\\\\\\"1e998", "b": [1, -1e999], "c": 1e400}'),
        [f"{DOCKER}json: cannot unmarshal number -1e999 into Go value of type float64"],
    ),
    (docker("1e999"), [f"{DOCKER}json: cannot unmarshal number into {MAP}"]),
    (claim(), []),
    (
        claim(accessModes=["ReadWriteOncePod", "ReadWriteOnce"]),
        ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
    ),
    (
        claim(volumeMode="x"),
        ['spec.volumeMode: Unsupported value: "x": supported values: "Block", "Filesystem"'],
    ),
    (
        claim(dataSource={"kind": "PersistentVolumeClaim", "name": ""}),
        ["spec.dataSource.name: Required value", "spec.dataSourceRef.name: Required value"],
    ),
    (
        obj("v1", "PersistentVolume", spec={"capacity": {"storage": "1Gi"}}),
        [
            "spec.accessModes: Required value",
            "spec: Required value: must specify a volume type",
        ],
    ),
    (obj("storage.k8s.io/v1", "StorageClass"), ["provisioner: Required value"]),
    (
        obj(RBAC, "Role", meta={"name": "a%b"}),
        ["metadata.name: Invalid value: \"a%b\": may not contain '%'"],
    ),
    (
        obj(RBAC, "RoleBinding", roleRef=REF, subjects=[{"kind": "ServiceAccount", "name": "A"}]),
        [f'subjects[0].name: Invalid value: "A": {name_rules.dns1123_subdomain("A")[0]}'],
    ),
    (
        obj(RBAC, "ClusterRole", aggregationRule={}),
        [
            "aggregationRule.clusterRoleSelectors: Required value: at least one "
            "clusterRoleSelector required if aggregationRule is non-nil"
        ],
    ),
    (autoscaler(), []),
    (
        autoscaler(minReplicas=0),
        [
            "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
            "spec.metrics: "
            "Forbidden: must specify at least one Object or External metric to support scaling to "
            "zero replicas",
        ],
    ),
    (
        autoscaler({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "x"}}}),
        [
            f'{M}.resource.target.type: Invalid value: "x": must be either Utilization, Value, or '
            "AverageValue",
            f"{M}.resource.target.averageUtilization: Required value: must set either a target "
            "raw value or a target utilization",
        ],
    ),
    (
        autoscaler({"type": "Pods"}),
        [f"{M}.pods: Required value: must populate information for the given metric source"],
    ),
    (
        autoscaler(behavior={"scaleUp": {"stabilizationWindowSeconds": 3601}}),
        [
            "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less "
            "than or equal to 3600"
        ],
    ),
    (
        obj("policy/v1", "PodDisruptionBudget", spec={"minAvailable": 1, "maxUnavailable": "x"}),
        [
            'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"x",'
            '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both '
            "set",
            'spec.maxUnavailable: Invalid value: "x": a valid percent string must be a numeric '
            "string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is "
            "'[0-9]+%')",
        ],
    ),
    (
        obj("scheduling.k8s.io/v1", "PriorityClass", value=1000000001),
        ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
    ),
    (
        limits(min={"cpu": "2"}, max={"cpu": "1"}),
        [
            'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
            'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than '
            "default request value 1",
            'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default '
            "value 1",
        ],
    ),
    (
        limits(type="Nope"),
        [
            'spec.limits[0].type: Invalid value: "Nope": must be a standard limit type or fully '
            "qualified"
        ],
    ),
    (
        obj("v1", "ResourceQuota", spec={"hard": {"gpus": "1", "pods": "1.5"}, "scopes": ["x"]}),
        [
            'spec.hard[gpus]: Invalid value: "gpus": must be a standard resource type or fully '
            "qualified",
            'spec.hard[gpus]: Invalid value: "gpus": must be a standard resource for quota',
            'spec.hard[pods]: Invalid value: "1500m": must be an integer',
            'spec.scopes: Invalid value: ["x"]: unsupported scope',
        ],
    ),
    (
        obj("coordination.k8s.io/v1", "Lease", spec={"leaseDurationSeconds": 0}),
        ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
    ),
]


@pytest.mark.parametrize(("value", "messages"), ROWS)
def test_rows(value: dict[str, Any], messages: list[str]) -> None:
    assert complaints(value) == messages


@pytest.mark.parametrize(
    ("kind", "field", "written"),
    [("ConfigMap", "data", str), ("ConfigMap", "binaryData", encoded), ("Secret", "data", encoded)],
)
def test_how_much_data_there_may_be(kind: str, field: str, written: Callable[[str], str]) -> None:
    """A mebibyte; of what is encoded, the bytes count that it stands for."""
    most = 1024 * 1024
    full = {"a": written("x" * (most - 1)), "b": written("x")}
    assert complaints(obj("v1", kind, **{field: full})) == []
    [error] = complaints(obj("v1", kind, **{field: {**full, "c": written("x")}}))
    assert error.endswith(f": Too long: may not be more than {most} bytes")


def test_a_secret_of_basic_auth_needs_one_of_two() -> None:
    assert complaints(secret("basic-auth", username=encoded("a"))) == []
    assert len(complaints(secret("basic-auth"))) == 2


def test_what_does_not_change() -> None:
    frozen = obj("v1", "ConfigMap", data={"a": "b"}, immutable=True)
    assert update_complaints(obj("v1", "ConfigMap"), frozen) == [
        "immutable: Forbidden: field is immutable when `immutable` is set",
        "data: Forbidden: field is immutable when `immutable` is set",
    ]
    assert update_complaints(obj("v1", "Secret", type="x/y"), obj("v1", "Secret", type="x/z")) == [
        'type: Invalid value: "x/y": field is immutable'
    ]
    other = {**REF, "name": "s"}
    assert update_complaints(
        obj(RBAC, "RoleBinding", roleRef=other), obj(RBAC, "RoleBinding", roleRef=REF)
    ) == [
        'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"s"}'
        ": cannot change roleRef"
    ]
    assert update_complaints(claim(accessModes=["ReadOnlyMany"]), claim()) == [
        "spec: Forbidden: spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims\n"
        '@@ -1,6 +1,6 @@\n {\n  "AccessModes": [\n-  "ReadWriteOnce"\n+  "ReadOnlyMany"\n  ],\n'
        '  "Selector": null,\n  "Resources": {\n'
    ]


def test_what_is_frozen_is_not_to_be_sent_empty() -> None:
    """But for the data of a ConfigMap: what is stored of an empty map is none."""
    old = {"immutable": True, "data": {}, "binaryData": {}}  # as validation is shown it
    for fixed, said in ((config_map_fixed, ["binaryData"]), (secret_fixed, ["data"])):
        assert [str(error.path) for error in fixed(old, old)] == said
        assert not list(fixed({"immutable": True}, {"immutable": True}))


def volume(**spec: Any) -> dict[str, Any]:
    base = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    return obj("v1", "PersistentVolume", spec={**base, **spec})


def test_what_a_volume_is_made_of_does_not_change() -> None:
    old = volume(hostPath={"path": "/x"})
    (text,) = update_complaints(volume(hostPath={"path": "/y"}), old)
    assert text.startswith(
        "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
        "creation\n@@ -2,7 +2,7 @@\n"
    )
    driver = {"driver": "d.example.com", "volumeHandle": "h"}
    later = {**driver, "controllerExpandSecretRef": {"name": "s", "namespace": "ns"}}
    assert update_complaints(volume(csi=later), volume(csi=driver)) == []


KEYS = ("a", "x" * 253, "-", "_.x", "", ".", "..", ".a", "..a", "a\nb", "\n", "a\n", "ä", "a b",
        "x" * 254)  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("others", [(), ("b",), ("b", "c\n")])
def test_a_look_at_all_keys_finds_what_a_look_at_each_does(
    key: str, others: tuple[str, ...]
) -> None:
    """It may send a sound key that begins with a dot to the others, but passes none that is not."""
    keys = [key, *others]
    wrong = [each for each in keys if format_checks.config_key(each)]
    assert not (format_checks.are_config_keys(keys) and wrong)
    assert format_checks.are_config_keys(keys) or wrong or key == ".a"
