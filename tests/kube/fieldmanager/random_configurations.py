"""Objects of several kinds, and random configurations for them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from celadon.kube import GroupVersionKind

Json = dict[str, Any]

POD: Json = {
    "metadata": {"name": "p", "namespace": "n", "labels": {"a": "b"}},
    "spec": {
        "containers": [
            {"name": "a", "image": "a", "ports": [{"containerPort": 80}]},
            {"name": "b", "image": "b:1", "resources": {"limits": {"cpu": "1"}}},
        ],
        "volumes": [{"name": "v"}],
    },
}
SPEC = {"selector": {"matchLabels": {"a": "b"}}, "template": POD}
LIVE: dict[GroupVersionKind, Json] = {
    GroupVersionKind("", "v1", "Pod"): POD,
    GroupVersionKind("apps", "v1", "Deployment"): {"metadata": {"name": "d"}, "spec": SPEC},
    GroupVersionKind("apps", "v1", "DaemonSet"): {"metadata": {"name": "d"}, "spec": SPEC},
    GroupVersionKind("batch", "v1", "Job"): {
        "metadata": {"name": "j"},
        "spec": {"template": {"spec": {**POD["spec"], "restartPolicy": "Never"}}},
    },
    GroupVersionKind("apps", "v1", "StatefulSet"): {"metadata": {"name": "d"}, "spec": SPEC},
    GroupVersionKind("batch", "v1", "CronJob"): {
        "metadata": {"name": "j"},
        "spec": {
            "schedule": "* * * * *",
            "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never"}}}},
        },
    },
    GroupVersionKind("", "v1", "Service"): {
        "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}},
    },
    GroupVersionKind("", "v1", "Namespace"): {"metadata": {"name": "n"}},
    GroupVersionKind("", "v1", "ConfigMap"): {"metadata": {"name": "c"}, "data": {"a": "b"}},
}
LIVE_KINDS = [
    pytest.param(kind, marks=pytest.mark.thorough)
    if kind.kind in ("DaemonSet", "StatefulSet", "Job", "CronJob")
    else kind
    for kind in LIVE
]
"""As parameters of tests: `make test` has two of those with pods in them."""

NAMES = st.sampled_from(["a", "b", "c"])
AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory"]), st.sampled_from(["1", "1500m", ""]))
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.dictionaries(NAMES, st.sampled_from(["", "x"])),
        "annotations": st.dictionaries(NAMES, st.sampled_from(["", "x"])),
        "finalizers": st.lists(st.sampled_from(["x.io/a", "x.io/b"]), unique=True),
    },
)
RESOURCES = st.fixed_dictionaries({}, optional={"limits": AMOUNTS, "requests": AMOUNTS})
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES},
        optional={
            "image": st.sampled_from(["x", "x:1", ""]),
            "imagePullPolicy": st.sampled_from(["Always", ""]),
            "tty": st.booleans(),
            "resources": RESOURCES,
            "env": st.lists(
                st.fixed_dictionaries(
                    {"name": NAMES},
                    optional={
                        "value": st.just("x"),
                        "valueFrom": st.just({"fieldRef": {"fieldPath": "metadata.name"}}),
                    },
                ),
                unique_by=lambda one: str(one["name"]),
            ),
            "ports": st.lists(
                st.fixed_dictionaries(
                    {"containerPort": st.sampled_from([80, 81, 8.0e1, 1.5])},
                    optional={"hostPort": st.sampled_from([0, 80])},
                ),
                unique_by=lambda one: float(one["containerPort"]),
            ),
            "livenessProbe": st.sampled_from(
                [{"httpGet": {"port": 80}}, {"timeoutSeconds": 0}, {"grpc": {"port": 80}}]
            ),
            "securityContext": st.sampled_from([{"privileged": False}, {"procMount": ""}]),
        },
    ),
    unique_by=lambda one: str(one["name"]),
)
VOLUMES = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES},
        optional={
            "emptyDir": st.just({}),
            "configMap": st.just({"name": "c"}),
            "secret": st.sampled_from([{"secretName": "s"}, {"optional": False}]),
            "projected": st.just(
                {"sources": [{"serviceAccountToken": {"path": "p"}}], "defaultMode": 0}
            ),
        },
    ),
    unique_by=lambda one: str(one["name"]),
)
POD_SPEC = st.fixed_dictionaries(
    {},
    optional={
        "containers": CONTAINERS,
        "initContainers": CONTAINERS,
        "volumes": VOLUMES,
        "hostNetwork": st.booleans(),
        "hostUsers": st.booleans(),
        "enableServiceLinks": st.booleans(),
        "resources": RESOURCES,
        "terminationGracePeriodSeconds": st.sampled_from([0, -1, 30, 3.0]),
        "securityContext": st.sampled_from([{}, {"runAsNonRoot": False}, {"runAsUser": 0}]),
        "tolerations": st.just([]),
        "serviceAccountName": st.sampled_from(["", "s"]),
        "restartPolicy": st.sampled_from(["", "Never"]),
        "shareProcessNamespace": st.booleans(),
    },
)
TEMPLATE = st.fixed_dictionaries({}, optional={"metadata": METADATA, "spec": POD_SPEC})
SPECS = {
    "Pod": POD_SPEC,
    "Deployment": st.fixed_dictionaries(
        {},
        optional={
            "template": TEMPLATE,
            "replicas": st.sampled_from([0, 2]),
            "strategy": st.sampled_from(
                [{}, {"type": "Recreate"}, {"rollingUpdate": {"maxSurge": 1}}]
            ),
        },
    ),
    "DaemonSet": st.fixed_dictionaries(
        {},
        optional={
            "template": TEMPLATE,
            "updateStrategy": st.sampled_from([{}, {"type": "OnDelete"}]),
        },
    ),
    "Job": st.fixed_dictionaries(
        {}, optional={"template": TEMPLATE, "suspend": st.booleans(), "parallelism": st.just(0)}
    ),
    "StatefulSet": st.fixed_dictionaries(
        {},
        optional={
            "template": TEMPLATE,
            "updateStrategy": st.sampled_from([{}, {"type": "OnDelete"}, {"type": ""}]),
            "podManagementPolicy": st.sampled_from(["", "Parallel"]),
        },
    ),
    "CronJob": st.fixed_dictionaries(
        {},
        optional={
            "concurrencyPolicy": st.sampled_from(["", "Forbid"]),
            "suspend": st.booleans(),
            "jobTemplate": st.fixed_dictionaries(
                {}, optional={"spec": st.fixed_dictionaries({}, optional={"template": TEMPLATE})}
            ),
        },
    ),
    "Service": st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["NodePort", "LoadBalancer", ""]),
            "ports": st.lists(
                st.fixed_dictionaries({"port": st.sampled_from([80, 81])}), max_size=1
            ),
            "sessionAffinity": st.just("ClientIP"),
        },
    ),
    "Namespace": st.just({}),
}


@st.composite
def configurations(draw: st.DrawFn, kind: GroupVersionKind) -> Json:
    config: Json = {"apiVersion": kind.api_version, "kind": kind.kind}
    if draw(st.booleans()):
        config["metadata"] = draw(METADATA)
    if kind.kind in SPECS:
        config["spec"] = draw(SPECS[kind.kind])
    else:
        config["data"] = draw(st.dictionaries(NAMES, st.sampled_from(["", "x"])))
    return config
