"""What schemas say about merging."""

from __future__ import annotations

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.pack_schemas import schema_for
from celadon.kube.writes.patching.merge_strategies import (
    MergeError,
    item_mark,
    items_of,
    key_text,
    member_of,
    merge_strategy,
    retains_keys,
    shape_of,
)

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
    assert key_text({"name": "a", "x": 1}, "name") == item_mark({"name": "a"}, "name") == "a"
    assert item_mark("a", "") == "a"
    with pytest.raises(MergeError, match=r"^map: map\[x:1\] does not contain declared merge key"):
        key_text({"x": 1}, "name")
