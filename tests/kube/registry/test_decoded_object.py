"""The stages of a write: what each adds, what is wiped, what an update keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.create import admit_form, begin_create, finish_create
from celadon.kube.registry.decoded_object import (
    defaulted,
    drafted,
    has_identity,
    stored_form,
    without_link,
)
from celadon.kube.registry.scale import scale_of
from celadon.kube.releases import answering_as
from celadon.kube.resources.api_resources import ScalePaths
from celadon.kube.schemas.value_decoding import DecodeError
from celadon.kube.status import StatusError
from tests.kube.registry.targets import target

POD = GroupVersionKind("", "v1", "Pod")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")
NAMESPACE = GroupVersionKind("", "v1", "Namespace")
ROLE = GroupVersionKind("rbac.authorization.k8s.io", "v1", "Role")
WIDGET = GroupVersionKind("example.com", "v1", "Widget")
CONTEXT = DefaultingContext(now="2026-01-01T00:00:00Z", uid="U", suffix="abcde")


def test_what_each_stage_shows() -> None:
    sent = {
        "metadata": {
            "generateName": "p-",
            "uid": "mine",
            "creationTimestamp": "2000-01-01T00:00:00Z",
            "ownerReferences": [{"name": "o"}, {"name": "o"}, {"name": "q"}],
        },
        "spec": {"containers": [{"name": "c", "image": "x"}]},
        "status": {"phase": "Running"},
    }
    before = json.dumps(sent)
    read = defaulted(sent, POD, CONTEXT)
    assert (read["apiVersion"], read["kind"]) == ("v1", "Pod")
    assert read["metadata"]["uid"] == "mine"
    assert read["spec"]["restartPolicy"] == "Always"
    assert "tolerations" not in read["spec"]
    draft = drafted(sent, POD, CONTEXT)
    begin_create(draft, target("v1/pods", namespace="ns"))
    mutating = draft.form()
    assert mutating["metadata"]["namespace"] == "ns"
    assert [owner["name"] for owner in mutating["metadata"]["ownerReferences"]] == ["o", "q"]
    assert not {"uid", "creationTimestamp", "name"} & mutating["metadata"].keys()
    assert mutating["status"] == {"phase": "Running"}
    assert "tolerations" in mutating["spec"]
    validating = admit_form(sent, POD, CONTEXT, namespace="ns")
    assert validating["metadata"]["uid"] == "U"
    assert validating["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert validating["metadata"]["name"] == "p-abcde"
    assert validating["metadata"]["generation"] == 1
    assert validating["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert finish_create(draft) == validating
    assert finish_create(draft.replaced(mutating)) == validating
    assert json.dumps(sent) == before


def test_what_is_always_written_is_there_in_whole_objects() -> None:
    """A draft does without it, as zero is as good as absent."""
    sent = {"metadata": {"name": "r"}}
    assert drafted(sent, ROLE).decoded.keys() == {"apiVersion", "kind", "metadata"}
    whole = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", **sent, "rules": None}
    assert defaulted(sent, ROLE) == whole
    draft = drafted(sent, ROLE)
    assert draft.form() == whole
    draft.complete()
    assert draft.decoded == whole


def test_namespaces() -> None:
    meta = {"name": "n", "namespace": "own"}
    assert admit_form({"metadata": meta}, CONFIG_MAP)["metadata"]["namespace"] == "own"
    assert "namespace" not in admit_form({"metadata": meta}, NAMESPACE, namespace="")["metadata"]
    label = admit_form({"metadata": meta}, NAMESPACE)["metadata"]["labels"]
    assert label == {"kubernetes.io/metadata.name": "n"}


def test_generation_survives_where_nobody_sets_it() -> None:
    assert admit_form({"metadata": {"generation": 7}}, CONFIG_MAP)["metadata"]["generation"] == 7


@pytest.mark.parametrize(
    ("gvk", "want"),
    [
        (POD, True),
        (GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest"), True),
        (GroupVersionKind("policy", "v1", "Eviction"), False),
        (GroupVersionKind("", "v1", "Binding"), False),
        (GroupVersionKind("autoscaling", "v1", "Scale"), False),
        (GroupVersionKind("authorization.k8s.io", "v1", "SubjectAccessReview"), False),
        (WIDGET, True),
    ],
)
def test_identity(gvk: GroupVersionKind, want: bool) -> None:
    assert has_identity(gvk) is want


def test_custom_resources_have_typed_metadata_only() -> None:
    sent = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "labels": {}, "nope": 1},
        "spec": {"empty": [], "zero": 0},
    }
    made = admit_form(sent, WIDGET, CONTEXT, namespace="ns")
    assert made["spec"] == {"empty": [], "zero": 0}
    assert made["metadata"] == {
        "name": "w",
        "namespace": "ns",
        "uid": "U",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "generation": 1,
    }
    assert stored_form(made, WIDGET) == made


def test_metadata_of_custom_resources_has_to_be_an_object() -> None:
    with pytest.raises(DecodeError) as caught:
        drafted({"metadata": 5}, WIDGET)
    assert caught.value.path.steps == ("metadata",)
    assert "cannot unmarshal number into Go value of type v1.ObjectMeta" in str(caught.value)


def test_times_that_are_not_set_were_null_in_built_in_objects() -> None:
    meta = {"metadata": {"name": "a"}}
    with answering_as("1.33"):
        assert drafted(meta, CONFIG_MAP).form()["metadata"]["creationTimestamp"] is None
        assert "creationTimestamp" not in drafted(meta, WIDGET).form()["metadata"]
    assert "creationTimestamp" not in drafted(meta, CONFIG_MAP).form()["metadata"]


def test_options_of_connect_requests_stay() -> None:
    options = {"apiVersion": "v1", "kind": "PodExecOptions", "command": ["ls"]}
    assert admit_form(options, GroupVersionKind("", "v1", "PodExecOptions")) == options


def test_gates() -> None:
    spec = {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}, "template": {"spec": {}}}
    gvk = GroupVersionKind("apps", "v1", "StatefulSet")
    off = admit_form({"spec": spec}, gvk)["spec"]["updateStrategy"]["rollingUpdate"]
    assert off == {"partition": 0}
    context = DefaultingContext(gates={"MaxUnavailableStatefulSet": True})
    on = admit_form({"spec": spec}, gvk, context)["spec"]["updateStrategy"]["rollingUpdate"]
    assert on == {"partition": 0, "maxUnavailable": 2}


def test_stored_objects_have_no_empty_lists() -> None:
    admitted = admit_form({"rules": [], "metadata": {"name": "r"}}, ROLE)
    assert admitted["rules"] == []
    assert stored_form(admitted, ROLE)["rules"] is None
    claim = GroupVersionKind("", "v1", "PersistentVolumeClaim")
    admitted = admit_form({"spec": {}}, claim)
    assert admitted["status"] == {}
    assert stored_form(admitted, claim)["status"] == {"phase": "Pending"}


OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries({}, optional={"labels": st.just({"a": "b"})}),
        "spec": st.fixed_dictionaries(
            {
                "template": st.just(
                    {"metadata": {"labels": {"x": "y"}}, "spec": {"containers": [{}]}}
                )
            },
            optional={
                "replicas": st.integers(0, 3),
                "strategy": st.sampled_from([{"type": "Recreate"}, {}, None]),
            },
        ),
    },
)


@given(OBJECTS)
def test_defaulting_twice_changes_nothing_more(obj: dict[str, Any]) -> None:
    before = json.dumps(obj)
    once = defaulted(obj, DEPLOYMENT)
    assert defaulted(once, DEPLOYMENT) == once
    assert json.dumps(obj) == before


def test_older_autoscalers_are_kept_with_the_defaults_of_the_newer_version() -> None:
    hpa = GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler")
    name = "autoscaling.alpha.kubernetes.io/behavior"
    policies = '[{"Type":"Pods","Value":4,"PeriodSeconds":60}]'
    notes = {name: f'{{"ScaleUp":{{"Policies":{policies}}}}}'}
    kept = stored_form(
        {"metadata": {"annotations": notes}, "spec": {"maxReplicas": 3}, "status": {}}, hpa
    )
    made = json.loads(kept["metadata"]["annotations"][name])
    assert made["ScaleUp"]["SelectPolicy"] == "Max"
    assert made["ScaleDown"]["Policies"] == [{"Type": "Percent", "Value": 100, "PeriodSeconds": 15}]
    assert kept["apiVersion"] == "autoscaling/v1"


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, None),
        ({}, None),
        (5, None),
        ({"b": "c", "a": "b"}, "a=b,b=c"),
        ({"matchLabels": {"b": "c", "a": "b"}}, "a=b,b=c"),
        (
            {
                "matchLabels": {"m": "n"},
                "matchExpressions": [
                    {"key": "z", "operator": "In", "values": ["y", "x"]},
                    {"key": "c", "operator": "NotIn", "values": ["z", "a"]},
                    {"key": "d", "operator": "Exists"},
                    {"key": "a", "operator": "DoesNotExist"},
                    {},
                ],
            },
            ",!a,c notin (a,z),d,m=n,z in (x,y)",
        ),
    ],
)
def test_selectors_of_scales(selector: Any, text: str | None) -> None:
    scale = scale_of({"metadata": {"name": "a"}, "spec": {"selector": selector}})
    state = {"replicas": 0} if text is None else {"replicas": 0, "selector": text}
    assert scale == {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "a"},
        "spec": {},
        "status": state,
    }


def test_only_a_link_is_left_out() -> None:
    plain = {"kind": "K", "metadata": {"name": "a"}}
    assert without_link(plain) is plain
    linked = {"kind": "K", "metadata": {"name": "a", "selfLink": "/a"}}
    assert without_link(linked) == plain
    assert without_link({"kind": "K"}) == {"kind": "K"}


def test_counts_of_a_scale_have_32_bits() -> None:
    paths = ScalePaths(("spec", "size"), ("status", "size"))
    spec, state = {"size": 2**32 + 5}, {"size": 2**31}
    shown = scale_of({"metadata": {"name": "a"}, "spec": spec, "status": state}, paths)
    assert (shown["spec"], shown["status"]) == ({"replicas": 5}, {"replicas": -(2**31)})


@pytest.mark.parametrize(
    ("spec", "state", "message"),
    [
        (
            {"size": 1.5},
            {},
            ".spec.size accessor error: 1.5 is of the type float64, expected int64",
        ),
        ([1], {}, ".spec.size accessor error: [1] is of the type []interface {}, expected map"),
        ({"size": 1}, 1, ".status.size accessor error: 1 is of the type int64, expected map"),
        ({"size": 1}, {"text": 1}, ".status.text accessor error: 1 is of the type int64, expected"),
        ({}, {"size": "x"}, ".status.size accessor error: x is of the type string, expected int64"),
    ],
)
def test_no_scale_shows_what_is_no_count(spec: Any, state: Any, message: str) -> None:
    paths = ScalePaths(("spec", "size"), ("status", "size"), ("status", "text"))
    with pytest.raises(StatusError) as refused:
        scale_of({"metadata": {"name": "a"}, "spec": spec, "status": state}, paths, 0)
    assert refused.value.status.code == 500
    assert refused.value.status.message.startswith(message)
