"""What is kept and shown of objects: the scales of built-in and custom kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from celadon.kube.crd import custom_kinds
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.registry.decoded_object import Target, shown_object, stored_object
from celadon.kube.registry.patch import (
    NO_COUNT,
    patched,
    read_patched,
    require_count,
    require_kind,
    three_way_patched,
)
from celadon.kube.registry.scale import scale_of, scaled
from celadon.kube.resources.api_resources import ScalePaths, custom_resources, scale_paths
from celadon.kube.status import StatusError
from celadon.kube.well_known_values import MERGE_PATCH

META = {"name": "a", "namespace": "ns", "uid": "u", "labels": {"x": "y"}, "generation": 3}
SHOWN = {"name": "a", "namespace": "ns", "uid": "u"}


def test_of_a_deployment() -> None:
    selector = {
        "matchLabels": {"b": "1", "a": "2"},
        "matchExpressions": [
            {"key": "c", "operator": "In", "values": ["y", "x"]},
            {"key": "d", "operator": "DoesNotExist"},
        ],
    }
    obj = {"metadata": META, "spec": {"replicas": 2, "selector": selector}, "status": {}}
    assert scale_of(obj) == {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": SHOWN,
        "spec": {"replicas": 2},
        "status": {"replicas": 0, "selector": "a=2,b=1,c in (x,y),!d"},
    }


def test_of_a_replication_controller() -> None:
    obj = {"metadata": META, "spec": {"replicas": 0, "selector": {"a": "b"}}}
    shown = scale_of({**obj, "status": {"replicas": 5}})
    assert (shown["spec"], shown["status"]) == ({}, {"replicas": 5, "selector": "a=b"})


SELECTORS: list[tuple[Any, str]] = [
    (None, ""),
    ({}, ""),
    ("text", ""),
    ({"app.kubernetes.io/name": "a", "app": "b"}, "app=b,app.kubernetes.io/name=a"),
    ({"matchLabels": {"a-b": "1", "a": "2"}}, "a=2,a-b=1"),
    ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["z", "y"]}]}, "a in (y,z)"),
    (
        {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["z", "y"]}]},
        "a notin (y,z)",
    ),
    ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, "a"),
    ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, "!a"),
    (
        {
            "matchLabels": {"b": "1"},
            "matchExpressions": [
                {"key": "b", "operator": "In", "values": ["2"]},
                {"key": "b", "operator": "Exists"},
                {"key": "a", "operator": "Exists"},
            ],
        },
        "a,b=1,b in (2),b",
    ),
]


@pytest.mark.parametrize(("selector", "text"), SELECTORS)
def test_requirements_are_told_in_the_order_of_their_keys(selector: Any, text: str) -> None:
    shown: dict[str, Any] = scale_of({"metadata": META, "spec": {"selector": selector}})
    assert shown["status"].get("selector", "") == text


def test_writing_one_back() -> None:
    obj: dict[str, Any] = {"metadata": META, "spec": {"replicas": 2}}
    made = scaled(obj, {"spec": {"replicas": 4}})
    assert (made["spec"], made["metadata"]["generation"]) == ({"replicas": 4}, 4)
    assert scaled(obj, {"spec": {"replicas": 2}}) == obj
    assert scaled(obj, {"spec": {}})["spec"] == {"replicas": 0}
    assert obj == {"metadata": META, "spec": {"replicas": 2}}


CUSTOM = {
    "specReplicasPath": ".spec.size",
    "statusReplicasPath": ".status.n",
    "labelSelectorPath": ".status.sel",
}


def custom_target() -> Target:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"scale": CUSTOM},
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    names = {"plural": "sets", "kind": "Set"}
    definition = {
        "spec": {"group": "g.io", "scope": "Namespaced", "names": names, "versions": [version]}
    }
    (resource,) = custom_resources(definition)
    return Target(resource, "a", "x", "scale", custom_kinds(definition)[resource.gvk])


def test_of_a_custom_kind() -> None:
    paths = scale_paths(CUSTOM)
    assert paths == ScalePaths(("spec", "size"), ("status", "n"), ("status", "sel"))
    obj = {"metadata": META, "spec": {"size": 3}, "status": {"n": 1, "sel": "a=b"}}
    shown = scale_of(obj, paths)
    assert (shown["spec"], shown["status"]) == ({"replicas": 3}, {"replicas": 1, "selector": "a=b"})
    assert scaled(obj, {"spec": {"replicas": 9}}, paths)["spec"] == {"size": 9}
    assert scale_of({"metadata": META, "spec": {}}, paths, 0)["spec"] == {}
    assert scale_paths(None) is None


def test_a_custom_resource_without_a_count_can_be_given_one() -> None:
    """Nobody can read its scale, but who writes it sees one."""
    target = custom_target()
    obj = {"metadata": META, "spec": {}}
    with pytest.raises(StatusError, match=r'the spec replicas field ".spec.size" does not exist'):
        shown_object(obj, target)
    assert shown_object({**obj, "spec": {"size": 0}}, target)["spec"] == {}
    assert shown_object(obj, target, no_count=0)["spec"] == {}
    assert shown_object(obj, target, no_count=NO_COUNT)["spec"] == {"replicas": -(2**31)}


def test_a_scale_brings_the_managers_of_its_object() -> None:
    managers = [{"manager": "m"}]
    made = scaled({"metadata": META}, {"metadata": {"managedFields": managers}, "spec": {}})
    assert made["metadata"]["managedFields"] == managers
    assert "managedFields" not in scaled({"metadata": META}, {"spec": {}})["metadata"]


def test_what_is_kept_and_shown_says_what_it_is() -> None:
    target = custom_target()
    whole = replace(target, subresource="")
    kept = stored_object({"metadata": {"name": "a"}}, whole, DefaultingContext())
    assert (kept["apiVersion"], kept["kind"]) == ("g.io/v1", "Set")
    shown = shown_object({"metadata": META, "kind": "Other"}, whole)
    assert (shown["apiVersion"], shown["kind"]) == ("g.io/v1", "Set")


def changed_by(patch: bytes, target: Target, shown: Any) -> Any:
    found = patched(shown, patch, MERGE_PATCH, target)
    return read_patched(found, target, DefaultingContext())


def test_the_count_cannot_be_taken_from_a_scale() -> None:
    target = custom_target()
    shown = shown_object({"metadata": META, "spec": {}}, target, no_count=NO_COUNT)
    with pytest.raises(StatusError) as refused:
        require_count(changed_by(b"{}", target, shown).draft.decoded, target)
    assert refused.value.code == 400
    assert str(refused.value) == 'the spec replicas field ".spec.size" cannot be empty'
    scale = changed_by(b'{"spec":{"replicas":2}}', target, shown).draft
    assert scale.decoded["spec"]["replicas"] == 2


KINDS = [
    (b'{"kind":"Other"}', ['kind: Invalid value: "Other": must be Set']),
    (
        b'{"kind":"Other","apiVersion":"g.io/v2"}',
        [
            'kind: Invalid value: "Other": must be Set',
            'apiVersion: Invalid value: "g.io/v2": must be g.io/v1',
        ],
    ),
]


@pytest.mark.parametrize(("patch", "texts"), KINDS)
def test_a_patch_cannot_make_another_kind_of_a_custom_resource(
    patch: bytes, texts: list[str]
) -> None:
    target = replace(custom_target(), subresource="")
    old = {"apiVersion": "g.io/v1", "kind": "Set", "metadata": META}
    require_kind(changed_by(b"{}", target, old), target, "a")
    read = changed_by(patch, target, old)
    with pytest.raises(StatusError) as refused:
        require_kind(read, target, "a")
    assert refused.value.code == 422
    assert all(text in str(refused.value) for text in texts)
    require_kind(read, custom_target(), "a")


@pytest.mark.parametrize(
    ("patch", "code", "text"),
    [
        (b'{"kind":null}', 422, 'Object \'Kind\' is missing in \'{"apiVersion":"g.io/v1",'),
        (
            b'{"apiVersion":null}',
            500,
            "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion "
            "field'",
        ),
    ],
)
def test_a_custom_resource_keeps_saying_what_it_is(patch: bytes, code: int, text: str) -> None:
    target = replace(custom_target(), subresource="")
    old = {"apiVersion": "g.io/v1", "kind": "Set", "metadata": META}
    with pytest.raises(StatusError) as refused:
        changed_by(patch, target, old)
    assert refused.value.code == code
    assert text in str(refused.value)


def test_a_client_side_apply_of_a_custom_resource_is_a_merge_patch() -> None:
    target = replace(custom_target(), subresource="")
    live = {"apiVersion": "g.io/v1", "kind": "Set", "metadata": META, "spec": {"a": [1], "b": 2}}
    wanted = {**live, "spec": {"a": [3]}}
    found = three_way_patched(live, live, wanted, target)
    assert found is not None
    assert found.document["spec"] == {"a": [3]}
    assert not found.is_strategic
