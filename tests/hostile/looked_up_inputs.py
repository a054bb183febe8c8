"""Objects that are looked up, built-in objects that are judged, and streams of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.hostile.hostile_case import (
    BROKEN,
    CONFIG_MAP,
    DENIED,
    OK,
    UNREADABLE,
    Content,
    HostileCase,
    policy,
    texts,
)

_ANY: Final = frozenset({OK, DENIED, BROKEN, UNREADABLE})
_POD: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


def _given(name: str, given: Content, judged: dict[str, Any]) -> HostileCase:
    """What is looked up beside the policy."""
    files = {
        "rules.json": lambda: policy("object.metadata.name != ''"),
        "given.json": given,
        "object.json": lambda: texts(judged),
    }
    arguments = ("check", "-f", "rules.json", "-f", "given.json", "object.json")
    return HostileCase(f"lookup: {name}", arguments, files, _ANY)


def _object(name: str, make: Callable[[], Any]) -> HostileCase:
    files = {
        "rules.json": lambda: policy("object.metadata.name != ''"),
        "object.json": lambda: texts(make()),
    }
    return HostileCase(f"object: {name}", ("check", "-f", "rules.json", "object.json"), files, _ANY)


def _stream(
    name: str, rules: Content, one: Callable[[int], dict[str, Any]], count: int
) -> HostileCase:
    files = {
        "rules.json": rules,
        "objects.json": lambda: texts(*(one(i) for i in range(count))),
    }
    return HostileCase(
        f"stream: {name}", ("check", "-f", "rules.json", "objects.json"), files, _ANY
    )


def _kind(api_version: str, kind: str, **members: Any) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "x", "namespace": "default"},
        **members,
    }


def _spec(**members: Any) -> dict[str, Any]:
    return {**_POD, "spec": {**_POD["spec"], **members}}


def _containers(count: int, **members: Any) -> Callable[[], Any]:
    return lambda: _spec(
        containers=[{"name": f"c{i}", "image": "i", **members} for i in range(count)]
    )


def _first(**members: Any) -> Callable[[], Any]:
    return lambda: _spec(containers=[{"name": "c", "image": "i", **members}])


_LIMITS: Final = [{"type": "Container", "default": {"cpu": "1"}}]

CASES: Final[tuple[HostileCase, ...]] = (
    _given(
        "a LimitRange of many",
        lambda: texts(_kind("v1", "LimitRange", spec={"limits": _LIMITS * 15_000})),
        _POD,
    ),
    _given(
        "many LimitRanges",
        lambda: texts(
            *(
                {
                    **_kind("v1", "LimitRange", spec={"limits": _LIMITS}),
                    "metadata": {"name": f"l{i}", "namespace": "default"},
                }
                for i in range(5000)
            )
        ),
        _POD,
    ),
    _given(
        "a LimitRange of great numbers",
        lambda: texts(
            _kind(
                "v1",
                "LimitRange",
                spec={"limits": [{"type": "Container", "default": {"cpu": "9" * 900_000}}]},
            )
        ),
        _POD,
    ),
    _given(
        "a quota of great numbers",
        lambda: texts(_kind("v1", "ResourceQuota", spec={"hard": {"pods": "1e999999999"}})),
        _POD,
    ),
    _given(
        "a quota of many",
        lambda: texts(
            _kind(
                "v1",
                "ResourceQuota",
                spec={"hard": {f"count/x{i}.example.com": "1" for i in range(20_000)}},
            )
        ),
        _POD,
    ),
    _given(
        "many quotas",
        lambda: texts(
            *(
                {
                    **_kind("v1", "ResourceQuota", spec={"hard": {"pods": "1"}}),
                    "metadata": {"name": f"q{i}", "namespace": "default"},
                }
                for i in range(6000)
            )
        ),
        _POD,
    ),
    _given(
        "many namespaces",
        lambda: texts(
            *(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"n{i}"}}
                for i in range(10_000)
            )
        ),
        _POD,
    ),
    _given(
        "a namespace of many labels",
        lambda: texts(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "default", "labels": {f"k{i}": "v" for i in range(40_000)}},
            }
        ),
        _POD,
    ),
    _given(
        "a role of many rules",
        lambda: texts(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {"name": "r"},
                "rules": [
                    {"apiGroups": [f"g{i}"], "resources": ["*"], "verbs": ["get"]}
                    for i in range(10_000)
                ],
            }
        ),
        _POD,
    ),
    _given(
        "an aggregated role",
        lambda: texts(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {"name": "r"},
                "aggregationRule": {
                    "clusterRoleSelectors": [{"matchLabels": {f"k{i}": "v"}} for i in range(15_000)]
                },
            }
        ),
        _POD,
    ),
    _given(
        "a binding of many subjects",
        lambda: texts(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "r"},
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": "r",
                },
                "subjects": [
                    {"kind": "User", "name": f"u{i}", "apiGroup": "rbac.authorization.k8s.io"}
                    for i in range(10_000)
                ],
            }
        ),
        _POD,
    ),
    _given(
        "a ServiceAccount of many secrets",
        lambda: texts(
            _kind(
                "v1", "ServiceAccount", imagePullSecrets=[{"name": f"s{i}"} for i in range(30_000)]
            )
        ),
        _POD,
    ),
    _given(
        "a RuntimeClass of great numbers",
        lambda: texts(
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "r"},
                "handler": "h",
                "overhead": {"podFixed": {"cpu": "1" + "0" * 500_000}},
            }
        ),
        _spec(runtimeClassName="r"),
    ),
    _given(
        "many PriorityClasses",
        lambda: texts(
            *(
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": f"p{i}"},
                    "value": i,
                }
                for i in range(6000)
            )
        ),
        _POD,
    ),
    _given(
        "webhooks of many rules",
        lambda: texts(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": "w"},
                "webhooks": [
                    {
                        "name": f"w{i}.example.com",
                        "clientConfig": {"url": "https://example.com/"},
                        "sideEffects": "None",
                        "admissionReviewVersions": ["v1"],
                        "matchConditions": [{"name": "c", "expression": f"object.kind != '{i}'"}],
                    }
                    for i in range(2500)
                ],
            }
        ),
        _POD,
    ),
    _given(
        "things that are none",
        lambda: texts(
            *(
                {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, "spec": "x"}
                for kind in ("LimitRange", "ResourceQuota", "Namespace", "ServiceAccount", "Pod")
                for _ in range(2000)
            )
        ),
        _POD,
    ),
    _object("many containers", _containers(15_000)),
    _object(
        "many containers with probes",
        _containers(
            5000,
            livenessProbe={"httpGet": {"port": 1}},
            readinessProbe={"exec": {"command": ["x"]}},
        ),
    ),
    _object(
        "many variables", _first(env=[{"name": f"E{i}", "value": "$(E0)"} for i in range(20_000)])
    ),
    _object("the same variable", _first(env=[{"name": "E", "value": "v"}] * 30_000)),
    _object("many ports", _first(ports=[{"containerPort": i % 65_535 + 1} for i in range(25_000)])),
    _object(
        "many volumes",
        lambda: _spec(volumes=[{"name": f"v{i}", "emptyDir": {}} for i in range(20_000)]),
    ),
    _object(
        "many mounts",
        _first(volumeMounts=[{"name": f"v{i}", "mountPath": f"/m{i}"} for i in range(15_000)]),
    ),
    _object(
        "many tolerations",
        lambda: _spec(tolerations=[{"key": f"k{i}", "operator": "Exists"} for i in range(15_000)]),
    ),
    _object(
        "many spread constraints",
        lambda: _spec(
            topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": f"k{i}", "whenUnsatisfiable": "DoNotSchedule"}
                for i in range(8000)
            ]
        ),
    ),
    _object(
        "great quantities",
        _first(resources={"requests": {"cpu": "9" * 400_000, "memory": "1e-" + "9" * 9}}),
    ),
    _object(
        "many resources",
        _first(resources={"requests": {f"example.com/r{i}": "1" for i in range(20_000)}}),
    ),
    _object("many wrong fields", lambda: _spec(**{f"x{i}": i for i in range(50_000)})),
    _object("wrong types everywhere", lambda: _spec(containers=["x"] * 100_000)),
    _object(
        "a selector of many",
        lambda: _kind(
            "apps/v1",
            "Deployment",
            spec={
                "selector": {
                    "matchExpressions": [
                        {"key": f"k{i}", "operator": "In", "values": ["v"]} for i in range(12_000)
                    ]
                },
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": _POD["spec"]},
            },
        ),
    ),
    _object(
        "a service of many ports",
        lambda: _kind(
            "v1",
            "Service",
            spec={"ports": [{"name": f"p{i}", "port": i % 65_535 + 1} for i in range(20_000)]},
        ),
    ),
    _object(
        "a network policy of many",
        lambda: _kind(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            spec={
                "podSelector": {},
                "ingress": [
                    {"from": [{"ipBlock": {"cidr": f"10.0.{i % 256}.0/24"}}]} for i in range(10_000)
                ],
            },
        ),
    ),
    _object(
        "an ingress of many",
        lambda: _kind(
            "networking.k8s.io/v1",
            "Ingress",
            spec={"rules": [{"host": f"h{i}.example.com"} for i in range(20_000)]},
        ),
    ),
    _object(
        "endpoints of many",
        lambda: _kind(
            "v1",
            "Endpoints",
            subsets=[
                {
                    "addresses": [
                        {"ip": f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}"} for i in range(25_000)
                    ]
                }
            ],
        ),
    ),
    _object(
        "a schedule without end",
        lambda: _kind(
            "batch/v1",
            "CronJob",
            spec={
                "schedule": ",".join(["*/1"] * 50_000),
                "jobTemplate": {
                    "spec": {"template": {"spec": {**_POD["spec"], "restartPolicy": "Never"}}}
                },
            },
        ),
    ),
    _object(
        "a policy as object",
        lambda: {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "q"},
            "spec": {"validations": [{"expression": f"object.a{i}"} for i in range(3000)]},
        },
    ),
    _object(
        "a certificate without end",
        lambda: _kind(
            "certificates.k8s.io/v1",
            "CertificateSigningRequest",
            spec={"request": "QUFB" * 200_000, "signerName": "a.b/c", "usages": ["any"]},
        ),
    ),
    _object("a Secret of a megabyte", lambda: _kind("v1", "Secret", data={"a": "QUFB" * 230_000})),
    _stream(
        "many objects",
        lambda: policy("object.data.a == 'b'"),
        lambda i: {**CONFIG_MAP, "metadata": {"name": f"c{i}", "namespace": "default"}},
        7000,
    ),
    _stream(
        "many refusals",
        lambda: policy("object.data.a == 'x'"),
        lambda i: {**CONFIG_MAP, "metadata": {"name": f"c{i}", "namespace": "default"}},
        4000,
    ),
    _stream("many errors", lambda: policy("object.data.x == 'x'"), lambda i: CONFIG_MAP, 4000),
    _stream(
        "many invalid objects",
        lambda: policy("true"),
        lambda i: {**CONFIG_MAP, "data": {"a": i}},
        7000,
    ),
    _stream("many kinds", lambda: policy("true"), lambda i: {**CONFIG_MAP, "kind": f"K{i}"}, 7000),
    _stream(
        "many versions",
        lambda: policy("true"),
        lambda i: {**CONFIG_MAP, "apiVersion": f"g{i}/v1"},
        6000,
    ),
    _stream(
        "many namespaces",
        lambda: policy("namespaceObject.metadata.name != ''"),
        lambda i: {**CONFIG_MAP, "metadata": {"name": "c", "namespace": f"n{i}"}},
        4000,
    ),
    _stream(
        "many pods",
        lambda: policy("object.spec.containers.all(c, c.image != '')"),
        lambda i: {**_POD, "metadata": {"name": f"p{i}", "namespace": "default"}},
        3000,
    ),
)
