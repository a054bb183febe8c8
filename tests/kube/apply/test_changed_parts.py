"""What a merge leaves alone stays; what it changes becomes what reading all of it would make.

Objects of several kinds are changed by random configurations, one after the other. The whole of
what was merged, read and defaulted from scratch, is what must come of it.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import GroupVersionKind
from celadon.kube.apply import MutatedKinds, MutationRefused
from celadon.kube.apply.go_numbers import with_go_numbers
from celadon.kube.apply.kind_types import type_of
from celadon.kube.apply.typed.atomic_parts import atomic_parts
from celadon.kube.apply.typed.conformity import fits, misfits
from celadon.kube.apply.typed.merging import merged
from celadon.kube.defaulting.write_stages import drafted
from celadon.kube.schemas import DecodeError

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
    GroupVersionKind("", "v1", "Service"): {
        "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}},
    },
    GroupVersionKind("", "v1", "Namespace"): {"metadata": {"name": "n"}},
    GroupVersionKind("", "v1", "ConfigMap"): {"metadata": {"name": "c"}, "data": {"a": "b"}},
}

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
                st.fixed_dictionaries({"name": NAMES}, optional={"value": st.just("x")}),
                unique_by=lambda one: str(one["name"]),
            ),
            "ports": st.lists(
                st.fixed_dictionaries(
                    {"containerPort": st.sampled_from([80, 81, 8.0e1, 1.5])},
                    optional={"hostPort": st.sampled_from([0, 80])},
                ),
                unique_by=lambda one: float(one["containerPort"]),
            ),
            "livenessProbe": st.just({"httpGet": {"port": 80}}),
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
            "secret": st.just({"secretName": "s"}),
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


def from_scratch(live: Json, config: Json, kind: GroupVersionKind) -> Json:
    made = merged(type_of(kind, None), copy.deepcopy(live), copy.deepcopy(config))
    return drafted(with_go_numbers(made, kind), kind).form()


@pytest.mark.parametrize("kind", LIVE, ids=lambda kind: kind.kind)
@given(data=st.data())
def test_as_if_all_were_read_anew(kind: GroupVersionKind, data: st.DataObject) -> None:
    live = drafted(LIVE[kind], kind).form()
    for _ in range(3):
        config = data.draw(configurations(kind))
        before, given = copy.deepcopy(live), copy.deepcopy(config)
        expected: Json | str
        try:
            expected = from_scratch(live, config, kind)
        except DecodeError as error:
            expected = f"unable to convert unstructured object to {kind}: {error.alone}"
        made, refused = live, ""
        try:
            made = dict(MutatedKinds().merged(live, config, kind, kind))
        except MutationRefused as error:
            refused = str(error)
        assert "error applying patch" in refused or (refused or made) == expected
        assert live == before, "the object before belongs to others"
        assert config == given
        live = made


@pytest.mark.parametrize("kind", LIVE, ids=lambda kind: kind.kind)
@given(data=st.data())
def test_what_fits_has_no_misfits(kind: GroupVersionKind, data: st.DataObject) -> None:
    config = data.draw(configurations(kind))
    if fits(type_of(kind, None), config):
        assert not misfits(type_of(kind, None), config)
        assert not list(atomic_parts(type_of(kind, None), config))


def test_most_configurations_are_seen_to_fit_at_once() -> None:
    kind = GroupVersionKind("", "v1", "Pod")
    spec = {"containers": [{"name": "a", "env": [{"name": "b", "value": "c"}]}]}
    assert fits(type_of(kind, None), {"metadata": {"labels": {"a": "b"}}, "spec": spec})
    assert not fits(type_of(kind, None), {"spec": {"containers": [{"name": "a", "args": ["b"]}]}})


def test_what_is_shared_is_the_same() -> None:
    kind = GroupVersionKind("", "v1", "Pod")
    live = drafted(POD, kind).form()
    config = {**live, "metadata": {"labels": {"x": "y"}}, "spec": {"containers": [{"name": "c"}]}}
    made = MutatedKinds().merged(live, config, kind, kind)
    assert made["spec"]["containers"][0] is live["spec"]["containers"][0]
    assert made["spec"]["volumes"] is live["spec"]["volumes"]
    assert made["status"] is live["status"]
    assert made["spec"]["containers"][2]["imagePullPolicy"] == "IfNotPresent"
