"""What schemas say about merging."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.strategic_merge import (
    MergeError,
    field_of,
    item_mark,
    items_of,
    key_text,
    list_field_of,
    member_of,
    merge_strategy,
    retains_keys,
    shape_of,
)
from celadon.kube.schemas.schema_packs import schema_for

DEPLOYMENT = schema_for(GroupVersionKind("apps", "v1", "Deployment"))


@pytest.mark.parametrize(
    ("path", "strategy", "retains", "key"),
    [
        ("spec", "", False, ""),
        ("spec.strategy", "", True, ""),
        ("spec.template.spec.containers", "merge", False, "name"),
        ("spec.template.spec.volumes", "merge", True, "name"),
        ("spec.template.spec.tolerations", "", False, ""),
        ("metadata.finalizers", "merge", False, ""),
        ("metadata.labels.any", "", False, ""),
        ("spec.nothing", "", False, ""),
    ],
)
def test_members(path: str, strategy: str, retains: bool, key: str) -> None:
    *way, last = path.split(".")
    schema = DEPLOYMENT
    for name in way:
        schema = shape_of(member_of(schema, name))
    member = member_of(schema, last)
    assert (merge_strategy(member), retains_keys(member)) == (strategy, retains)
    assert ("" if member is None else member.merge_key) == key


def test_items_have_a_shape() -> None:
    pod = DEPLOYMENT
    for name in ("spec", "template", "spec"):
        pod = shape_of(member_of(pod, name))
    member = member_of(pod, "containers")
    assert member is not None
    ports = member_of(items_of(member), "ports")
    assert ports is not None
    assert ports.merge_key == "containerPort"


def test_items_are_told_by_their_key() -> None:
    assert key_text({"name": "a", "x": 1}, "name") == "a"
    assert item_mark({"name": "a", "x": 1}, "name") == item_mark({"name": "a"}, "name")
    assert item_mark("a", "") == item_mark("a", "")
    assert len({item_mark(one, "") for one in (1, 1.0, True, "1", None)}) == 5
    with pytest.raises(MergeError, match=r"^map: map\[x:1\] does not contain declared merge key"):
        key_text({"x": 1}, "name")


REVISION = schema_for(GroupVersionKind("apps", "v1", "ControllerRevision"))
NOT_A_STRUCT = "merging an object in json but data type is not struct, instead is: map"


@pytest.mark.parametrize(
    ("schema", "path", "text"),
    [
        (
            DEPLOYMENT,
            "zip",
            'unable to find api field in struct Deployment for the json field "zip"',
        ),
        (DEPLOYMENT, "metadata.labels.a", NOT_A_STRUCT),
        (
            REVISION,
            "data.spec",
            'unable to find api field in struct RawExtension for the json field "spec"',
        ),
    ],
)
def test_a_server_merges_what_go_knows_as_a_struct(schema: Any, path: str, text: str) -> None:
    *way, last = path.split(".")
    for name in way:
        schema = shape_of(field_of(schema, name))
    with pytest.raises(MergeError) as caught:
        field_of(schema, last)
    assert (str(caught.value), caught.value.code) == (text, 500)


def test_fields_are_found_in_any_case() -> None:
    assert field_of(DEPLOYMENT, "SPEC") is field_of(DEPLOYMENT, "spec") is not None
    assert field_of(None, "anything") is None


@pytest.mark.parametrize("key", ["labels", "name"])
def test_an_order_is_one_of_a_list(key: str) -> None:
    meta = shape_of(field_of(DEPLOYMENT, "metadata"))
    with pytest.raises(MergeError, match=r"^expected slice or array type, but got: struct$"):
        list_field_of(meta, key)
    assert list_field_of(meta, "finalizers") is not None
    assert list_field_of(None, key) is None
