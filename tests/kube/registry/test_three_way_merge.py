"""The patches of a client-side apply; `tests/clients` compares them with those of kubectl."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.patches import apply_merge_patch
from celadon.kube.registry.strategic_merge import MergeError, merge_into
from celadon.kube.registry.three_way_merge import ThreeWays
from celadon.kube.schemas.schema_packs import schema_for

DEPLOYMENT = schema_for(GroupVersionKind("apps", "v1", "Deployment"))
POD = schema_for(GroupVersionKind("", "v1", "Pod"))
assert DEPLOYMENT is not None
assert POD is not None


def named(*names: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": name, **more} for name in names]


ORDER = "$setElementOrder/containers"
MEMBERS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "nothing": ({"a": 1}, {"a": 1}, {"a": 1, "b": 2}, {}),
    "set": ({}, {"a": 2}, {"a": 1}, {"a": 2}),
    "not the same number": ({}, {"a": 1.0}, {"a": 1}, {"a": 1.0}),
    "not the same class": ({}, {"a": True}, {"a": 1}, {"a": True}),
    "removed": ({"a": 1}, {}, {"a": 1, "b": 2}, {"a": None}),
    "removed, and gone already": ({"a": 1}, {}, {}, {"a": None}),
    "left by others": ({}, {}, {"a": 1}, {}),
    "null": ({"replicas": 1}, {"replicas": None}, {"replicas": 1}, {"replicas": None}),
    "both sides of a member": (
        {"template": {"x": 1}},
        {"template": {"y": 2}},
        {"template": {"x": 1}},
        {"template": {"x": None, "y": 2}},
    ),
    "a member that is not there": (
        {"template": {"x": 1}},
        {"template": {"y": 2}},
        {},
        {"template": {"x": None, "y": 2}},
    ),
    "what excludes each other": (
        {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
        {"strategy": {"type": "Recreate"}},
        {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
        {"strategy": {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None}},
    ),
    "what excludes each other, set by somebody else": (
        {"strategy": {"type": "Recreate"}},
        {"strategy": {"type": "Recreate"}},
        {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
        {"strategy": {"$retainKeys": ["type"]}},
    ),
}


@pytest.mark.parametrize("row", MEMBERS)
def test_members(row: str) -> None:
    last, wanted, live, patch = MEMBERS[row]

    def spec(value: dict[str, Any]) -> dict[str, Any]:
        return {"spec": value} if value else {}

    ways = ThreeWays({"spec": last}, {"spec": wanted}, {"spec": live})
    before = copy.deepcopy(ways)
    assert DEPLOYMENT is not None
    assert ways.strategic_patch(DEPLOYMENT) == spec(patch)
    assert ways == before


LISTS: dict[str, tuple[list[Any], list[Any], list[Any], dict[str, Any]]] = {
    "the same": (named("a"), named("a"), named("a", image="i"), {}),
    "none there": ([], named("a"), [], {"containers": named("a")}),
    "one more": (
        named("a"),
        named("b", "a"),
        named("a"),
        {ORDER: named("b", "a"), "containers": named("b")},
    ),
    "one less": (
        named("a", "b"),
        named("a"),
        named("a", "b"),
        {ORDER: named("a"), "containers": [{"$patch": "delete", "name": "b"}]},
    ),
    "none left": (
        named("a"),
        [],
        named("a"),
        {"containers": [{"$patch": "delete", "name": "a"}]},
    ),
    "one of somebody else's": (named("a"), named("a"), named("z", "a"), {ORDER: named("a")}),
    "another order": (
        named("a", "b"),
        named("b", "a"),
        named("a", "b"),
        {ORDER: named("b", "a")},
    ),
    "inside of one": (
        named("a", "b", tty=True),
        [*named("a"), *named("b", image="j")],
        named("a", "b", tty=True),
        {
            ORDER: named("a", "b"),
            "containers": [
                {"name": "a", "tty": None},
                {"name": "b", "tty": None, "image": "j"},
            ],
        },
    ),
    "a list that is replaced": (
        named("a", args=["x"]),
        named("a", args=["y"]),
        named("a", args=["x"]),
        {ORDER: named("a"), "containers": named("a", args=["y"])},
    ),
}


@pytest.mark.parametrize("row", LISTS)
def test_lists_with_a_key(row: str) -> None:
    last, wanted, live, patch = LISTS[row]
    ways = ThreeWays(*({"spec": {"containers": one}} for one in (last, wanted, live)))
    assert POD is not None
    assert ways.strategic_patch(POD) == ({"spec": patch} if patch else {})


@pytest.mark.parametrize(
    ("last", "wanted", "live", "patch"),
    [
        ("ab", "ab", "abc", {"$setElementOrder/finalizers": ["a", "b"]}),
        ("ab", "ab", "ab", {}),
        (
            "ab",
            "cb",
            "abz",
            {
                "$deleteFromPrimitiveList/finalizers": ["a"],
                "$setElementOrder/finalizers": ["c", "b"],
                "finalizers": ["c"],
            },
        ),
        ("a", "", "a", {"$deleteFromPrimitiveList/finalizers": ["a"]}),
        (
            "ab",
            "b",
            "ab",
            {
                "$deleteFromPrimitiveList/finalizers": ["a"],
                "$setElementOrder/finalizers": ["b"],
            },
        ),
        ("", "ab", "", {"finalizers": ["a", "b"]}),
    ],
)
def test_lists_of_texts(last: str, wanted: str, live: str, patch: dict[str, Any]) -> None:
    ways = ThreeWays(*({"metadata": {"finalizers": list(one)}} for one in (last, wanted, live)))
    assert POD is not None
    assert ways.strategic_patch(POD) == ({"metadata": patch} if patch else {})


def test_items_without_their_key() -> None:
    wanted = {"spec": {"containers": [{"image": "i"}]}}
    live = {"spec": {"containers": named("a")}}
    assert POD is not None
    with pytest.raises(MergeError, match="does not contain declared merge key: name"):
        ThreeWays({}, wanted, live).strategic_patch(POD)


@pytest.mark.parametrize(
    ("last", "wanted", "live", "patch"),
    [
        ({}, {"a": 1}, {"a": 1.0}, {}),
        ({}, {"a": 1}, {"a": True}, {"a": 1}),
        ({}, {"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, {}),
        ({}, {"a": [1, {"b": 2}]}, {"a": [1, {"b": 2, "c": 3}]}, {"a": [1, {"b": 2}]}),
        ({"a": 1}, {}, {"a": 1}, {"a": None}),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, {"a": {"b": 1}}, {"a": {"b": None, "c": 1}}),
        ({}, {"a": {}}, {"a": {"b": 1}}, {}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}, {"a": {"b": None}}),
        ({}, {"a": {}}, {}, {"a": {}}),
        ({}, {"a": None}, {"a": 1}, {"a": None}),
        ({"a": None}, {"a": None}, {"a": 1}, {}),
        ({}, {"a": {"b": None}}, {"a": 1}, {"a": {"b": None}}),
    ],
)
def test_merge_patches(
    last: dict[str, Any], wanted: dict[str, Any], live: dict[str, Any], patch: dict[str, Any]
) -> None:
    assert ThreeWays(last, wanted, live).merge_patch() == patch


SCALARS = st.integers(0, 2) | st.sampled_from(["a", "b"]) | st.booleans()
VALUES = st.recursive(
    SCALARS | st.lists(SCALARS, max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@given(OBJECTS, OBJECTS, OBJECTS)
def test_what_is_wanted_is_there_afterwards(last: Any, wanted: Any, live: Any) -> None:
    made = apply_merge_patch(live, ThreeWays(last, wanted, live).merge_patch())
    assert ThreeWays(wanted, wanted, made).merge_patch() == {}
    assert contains(made, wanted)
    for key in last.keys() - wanted.keys():
        assert key not in made
    for key in live.keys() - last.keys() - wanted.keys():
        assert made[key] == live[key]


def contains(made: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(made, dict) and all(
            key in made and contains(made[key], value) for key, value in wanted.items()
        )
    return bool(made == wanted)


CONTAINERS: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from("abcd")},
        optional={
            "image": st.sampled_from("ij"),
            "args": st.lists(st.sampled_from("xy"), max_size=2),
            "env": st.lists(
                st.fixed_dictionaries(
                    {"name": st.sampled_from("EF")}, optional={"value": st.sampled_from("12")}
                ),
                unique_by=lambda one: one["name"],
                max_size=2,
            ),
        },
    ),
    unique_by=lambda one: one["name"],
    max_size=4,
)


@given(CONTAINERS, CONTAINERS, CONTAINERS)
def test_containers_are_there_afterwards(last: Any, wanted: Any, live: Any) -> None:
    def pod(containers: Any) -> dict[str, Any]:
        return {"spec": {"containers": containers}}

    assert POD is not None
    patch = ThreeWays(pod(last), pod(wanted), pod(live)).strategic_patch(POD)
    made = merge_into(pod(live), patch, POD)["spec"]["containers"]
    found = {one["name"]: one for one in made}
    names = [one["name"] for one in wanted]
    assert [name for name in found if name in names] == names
    gone = {one["name"] for one in last} - set(names)
    assert not gone & found.keys()
    for one in live:
        if one["name"] not in {*gone, *names}:
            assert found[one["name"]] == one
    for one in wanted:
        there = found[one["name"]]
        assert there.get("image") == one.get("image", there.get("image"))
        variables = {each["name"]: each for each in there.get("env") or ()}
        for variable in one.get("env", ()):
            assert contains(variables[variable["name"]], variable)
