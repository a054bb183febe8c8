"""Merges of mutating policies have the laws of server-side apply, being the same merge."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.kube import GroupVersionKind
from celadon.kube.fieldmanager import FieldWriter, MutatedKinds, applied
from celadon.kube.registry import Target, drafted
from celadon.kube.resources import known_resources

POD = GroupVersionKind("", "v1", "Pod")
KINDS = MutatedKinds()
TEXTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", "x", "y"]), max_size=3)
ENV = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["E", "F"])}, optional={"value": st.sampled_from(["", "1", "2"])}
    ),
    max_size=2,
    unique_by=lambda one: one["name"],
)
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["a", "b", "c"])},
        optional={
            "image": st.sampled_from(["i:1", "j"]),
            "env": ENV,
            "ports": st.just([{"containerPort": 80}]),
            "imagePullPolicy": st.sampled_from(["", "Always"]),
        },
    ),
    max_size=3,
    unique_by=lambda one: one["name"],
)
CONFIGURATIONS = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries(
            {}, optional={"labels": TEXTS, "finalizers": st.just(["x.io/a", "x.io/b"])}
        ),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "containers": CONTAINERS,
                "hostname": st.sampled_from(["", "h"]),
                "terminationGracePeriodSeconds": st.sampled_from([0, 5]),
            },
        ),
    },
)


def pod(config: Any) -> Any:
    meta = {**config.get("metadata", {}), "name": "p", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", **config, "metadata": meta}


def merged(live: Any, config: Any) -> Any:
    typed = {"apiVersion": "v1", "kind": "Pod", **config}
    return KINDS.merged(live, typed, POD, POD)


@settings(deadline=None)
@given(CONFIGURATIONS, CONFIGURATIONS)
def test_a_second_time_changes_nothing(given_object: Any, config: Any) -> None:
    live = drafted(pod(given_object), POD).form()
    once = merged(live, config)
    assert merged(once, config) == once


@settings(deadline=None)
@given(CONFIGURATIONS, CONFIGURATIONS)
def test_the_merge_is_that_of_server_side_apply(given_object: Any, config: Any) -> None:
    live = drafted(pod(given_object), POD).form()
    resource = known_resources().by_gvk(POD)
    assert resource is not None
    target = Target(resource, "default", "p")
    by_apply = applied(
        pod(config), live, target, FieldWriter("m", "2024-01-01T00:00:00Z"), force=True
    )
    wanted = drafted(by_apply, POD).form()
    wanted["metadata"].pop("managedFields", None)
    assert merged(live, config) == wanted
