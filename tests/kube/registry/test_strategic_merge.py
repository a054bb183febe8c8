"""Strategic merge patches: which lists are merged, in what order, and what directives do."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.go.go_json import RawJson
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.patches import apply_merge_patch
from celadon.kube.registry.strategic_merge import MergeError, merge_into
from celadon.kube.schemas.schema_packs import Schema, schema_for

POD = schema_for(GroupVersionKind("", "v1", "Pod"))
SERVICE = schema_for(GroupVersionKind("", "v1", "Service"))
HOOKS = schema_for(
    GroupVersionKind("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration")
)


def strategic_merge(document: Any, patch: Any, schema: Schema | None) -> dict[str, Any]:
    """Leaves the patch as it is."""
    return merge_into(document, copy.deepcopy(patch), schema)


def names(*given: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": name, **more} for name in given]


def merged(have: list[Any], patch: dict[str, Any]) -> Any:
    made = strategic_merge({"spec": {"containers": have}}, {"spec": patch}, POD)
    return made["spec"].get("containers")


ORDERS = [
    (names("a", "b"), {"containers": names("c")}, ["c", "a", "b"]),
    (names("a", "b", "c"), {"containers": names("c", "a")}, ["b", "c", "a"]),
    (names("a", "b", "c"), {"containers": [{"name": "b", "$patch": "delete"}]}, ["a", "c"]),
    (names("a", "b"), {"containers": [{"$patch": "replace"}, *names("x")]}, ["x"]),
    (
        names("a", "b", "c"),
        {"$setElementOrder/containers": names("c", "a"), "containers": names("a", image="i")},
        ["b", "c", "a"],
    ),
    (names("a", "b"), {"$setElementOrder/containers": names("b", "a")}, ["b", "a"]),
    (names("a"), {"containers": None}, None),
    ([], {"containers": [{"name": "x", "$patch": "delete"}]}, []),
]


@pytest.mark.parametrize(("have", "patch", "order"), ORDERS)
def test_lists_with_a_merge_key(have: Any, patch: dict[str, Any], order: list[str] | None) -> None:
    found = merged(have, patch)
    assert (None if found is None else [one["name"] for one in found]) == order


def test_items_are_merged() -> None:
    have = [{"name": "a", "image": "i", "args": ["x"], "env": names("E", value="1")}]
    patch = {"containers": [{"name": "a", "args": ["y"], "env": names("F"), "image": None}]}
    (made,) = merged(have, patch)
    assert made == {"name": "a", "args": ["y"], "env": [{"name": "F"}, *names("E", value="1")]}


@pytest.mark.parametrize(
    ("data", "merged_data"), [(1.5, 1.5), ("x", "x"), ({}, {"a": 1}), ({"b": 2}, {"a": 1, "b": 2})]
)
def test_an_object_that_keeps_its_text_is_a_map(data: Any, merged_data: Any) -> None:
    schema = schema_for(GroupVersionKind("apps", "v1", "ControllerRevision"))
    stored = {"data": RawJson({"a": 1}, '{"a": 1}')}
    assert strategic_merge(stored, {"data": data}, schema)["data"] == merged_data


def test_lists_of_scalars_are_sets_where_they_are_merged() -> None:
    have = {"metadata": {"finalizers": ["a", "b"]}}
    patch = {"metadata": {"finalizers": ["c", "a"]}}
    assert strategic_merge(have, patch, POD) == {"metadata": {"finalizers": ["c", "a", "b"]}}
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert strategic_merge(have, patch, POD) == {"metadata": {"finalizers": ["b"]}}


def test_directives_on_maps() -> None:
    have = {"metadata": {"labels": {"a": "1", "b": "2"}}}
    replaced = {"metadata": {"labels": {"$patch": "replace", "c": "3"}}}
    assert strategic_merge(have, replaced, POD) == {"metadata": {"labels": {"c": "3"}}}
    emptied = {"metadata": {"labels": {"$patch": "delete"}}}
    assert strategic_merge(have, emptied, POD) == {"metadata": {"labels": {}}}
    kept = {"metadata": {"labels": {"$retainKeys": ["a", "c"], "c": "3"}}}
    assert strategic_merge(have, kept, POD) == {"metadata": {"labels": {"a": "1", "c": "3"}}}


def test_what_is_not_there_takes_the_patch_without_nulls() -> None:
    patch = {
        "spec": {"x": None, "y": {"z": None, "$retainKeys": ["a"], "a": [{"b": None}]}},
        "$deleteFromPrimitiveList/gone": ["a"],
    }
    made = {"spec": {"y": {"$retainKeys": ["a"], "a": [{}]}}}
    assert strategic_merge({}, patch, POD) == made


NOT_THERE = [
    ({"$patch": "replace", "a": "1"}, {}),
    ({"$patch": "delete"}, {}),
    ({"x": {"$patch": "delete"}, "y": [{"$patch": "delete"}, 1]}, {"labels": {"y": [1]}}),
    ({"x": {"$patch": None, "a": "1"}}, {"labels": {"x": {"a": "1"}}}),
]


@pytest.mark.parametrize(("labels", "made"), NOT_THERE)
def test_what_is_not_there_has_no_directives_that_say_patch(labels: Any, made: Any) -> None:
    """Nothing is replaced or deleted: the whole object goes. Here `labels` was a text."""
    for meta in ({}, {"labels": "text"}):
        found = strategic_merge({"metadata": meta}, {"metadata": {"labels": labels}}, POD)
        assert found == {"metadata": made}


def test_directives_in_new_items_stay() -> None:
    new = {"name": "b", "env": [{"name": "E", "$patch": "delete"}], "image": None}
    assert merged(names("a"), {"containers": [new]}) == [new, {"name": "a"}]


def test_directives_in_what_is_replaced_stay() -> None:
    have = {"spec": {"tolerations": [{"key": "a"}], "containers": []}}
    patch = {"spec": {"tolerations": [{"key": None, "$patch": "delete"}]}}
    assert strategic_merge(have, patch, POD)["spec"]["tolerations"] == patch["spec"]["tolerations"]


DELETIONS = [
    (["1.2.3.4"], None, []),
    (["1.2.3.5"], None, ["1.2.3.4"]),
    (None, None, None),
    ("x", None, ["1.2.3.4"]),
    (["1.2.3.4"], [{"port": 80, "$patch": "delete"}], []),
]


@pytest.mark.parametrize(("gone", "ports", "left"), DELETIONS)
def test_scalars_are_deleted_from_any_list(gone: Any, ports: Any, left: Any) -> None:
    """Whatever its strategy: the external addresses of a Service have none."""
    patch = {"$deleteFromPrimitiveList/externalIPs": gone} | ({"ports": ports} if ports else {})
    have = {"spec": {"externalIPs": ["1.2.3.4"], "ports": [{"port": 80}]}}
    made = strategic_merge(have, {"spec": patch}, SERVICE)["spec"]
    assert made.get("externalIPs") == left
    assert made["ports"] == ([] if ports else [{"port": 80}])


def test_keys_are_alike_if_their_types_are() -> None:
    have = {"spec": {"ports": [{"port": 80}]}}
    patch = {"spec": {"ports": [{"port": 80.0, "name": "a"}]}}
    assert len(strategic_merge(have, patch, SERVICE)["spec"]["ports"]) == 2


ORDERED = [
    (names("a"), {"containers": [{"$patch": "replace"}]}, names("b", "a"), []),
    (names("a"), {"containers": [{"$patch": "replace"}, *names("b")]}, names("b"), ["b"]),
    (names("a"), {"containers": names("b", "c")}, [], ["a", "c", "b"]),
    (names("a", "b", "c"), {}, names("c"), ["a", "b", "c"]),
    (names("a", "b", "c"), {}, names("c", "a"), ["b", "c", "a"]),
    (
        names("a", "b", "c"),
        {"containers": [{"name": "a", "$patch": "delete"}, *names("x")]},
        names("x", "c"),
        ["b", "x", "c"],
    ),
    (None, {"containers": [{"name": "a", "$patch": "delete"}, *names("b")]}, names("b"), ["b"]),
]


@pytest.mark.parametrize(("have", "patch", "order", "made"), ORDERED)
def test_orders_of_lists(have: Any, patch: dict[str, Any], order: Any, made: list[str]) -> None:
    spec = {} if have is None else {"containers": have}
    patch = {"spec": {**patch, "$setElementOrder/containers": order}}
    found = strategic_merge({"spec": spec}, patch, POD)["spec"]["containers"]
    assert [one["name"] for one in found] == made


def test_a_replaced_list_is_not_merged() -> None:
    items = [{"$patch": "replace"}, *names("b", image="1"), *names("b", image="2")]
    assert merged(names("a"), {"containers": items}) == items[1:]


def test_a_patch_is_left_as_refusals_print_it() -> None:
    patch = {
        "spec": {
            "containers": [{"name": "a", "image": None, "$retainKeys": ["name"]}],
            "nodeSelector": {"a": None, "b": "1"},
            "affinity": {"$patch": "replace"},
            "$setElementOrder/containers": names("a"),
        }
    }
    merge_into({"spec": {"containers": names("a"), "affinity": {}}}, patch, POD)
    assert patch == {"spec": {"nodeSelector": {"b": "1"}, "affinity": {}}}


WRONG = [
    ({"webhooks": [{"timeoutSeconds": 5}]}, "map: map[timeoutSeconds:5] does not contain declared "
     "merge key: name", 500),
    ({"$patch": "nope"}, "unknown patch type: nope in map: map[$patch:nope]", 500),
    ({"webhooks": [{"name": "a", "$patch": "nope"}]}, "unknown patch type: nope in map: "
     "map[$patch:nope name:a]", 500),
    ({"webhooks": [{"name": "a", "$patch": "merge"}]}, "merging lists cannot yet be specified in "
     "the patch", 500),
    ({"$setElementOrder/webhooks": "x"}, "expected a []interface {}, but received a string", 500),
    ({"webhooks": ["x"]}, "list element types are not identical: [[map[name:a]] [x]]", 500),
    ({"metadata": {"$retainKeys": ["a"], "b": 1}}, "invalid patch format of retainKeys", 400),
    (
        {"$setElementOrder/webhooks": names("b"), "webhooks": names("c")},
        "The order in patch list:\n[map[name:c]]\n doesn't match $setElementOrder list:\n"
        "[map[name:b]]\n",
        500,
    ),
    ({"$deleteFromPrimitiveList": []}, "invalid patch format of primitive list", 400),
    ({"$setElementOrder": []}, "invalid patch format of setElementOrder list", 400),
    ({"webhooks": [[1]]}, "list element types are not identical: [[map[name:a]] [[1]]]", 500),
    ({"$setElementOrder/webhooks": [1]}, "value for key 0 is not a map", 500),
    ({"$setElementOrder/webhooks": [{"name": "a"}, {}]}, "map: map[] does not contain declared "
     "merge key: name", 500),
    ({"$setElementOrder/webhooks": [], "webhooks": None}, "expected a []interface {}, but received "
     "a %!s(<nil>)", 500),
    ({"$setElementOrder/metadata": []}, "expected a []interface {}, but received a "
     "map[string]interface {}", 500),
    ({"$setElementOrder/zip": []}, "unable to find api field in struct "
     'ValidatingWebhookConfiguration for the json field "zip"', 500),
    ({"webhooks": [{"$patch": 1, "name": "a"}]}, "unknown patch type: %!s(int64=1) in map: "
     "map[$patch:1 name:a]", 500),
    ({"$patch": {"b": [1, "x", None]}}, "unknown patch type: map[b:[%!s(int64=1) x <nil>]] in "
     "map: map[$patch:map[b:[1 x <nil>]]]", 500),
    ({"$patch": ["a", 1, {"x": "y"}]}, "unknown patch type: [a %!s(int64=1) map[x:y]] in map: "
     "map[$patch:[a 1 map[x:y]]]", 500),
    ({"$patch": {"b": "c", "a": None}}, "unknown patch type: map[a:<nil> b:c] in map: "
     "map[$patch:map[a:<nil> b:c]]", 500),
    ({"$patch": None}, "unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]", 500),
    ({"$patch": 1.5}, "unknown patch type: %!s(float64=1.5) in map: map[$patch:1.5]", 500),
    ({"$setElementOrder/webhooks": names("a"), "webhooks": ["x"]}, "expected a "
     "map[string]interface {}, but received a string", 500),
    ({"$setElementOrder/webhooks": names("a"), "webhooks": [{"x": 1}]}, "map: map[x:1] does not "
     "contain declared merge key: name", 500),
    ({"metadata": {"$retainKeys": "a"}}, "invalid patch format of retainKeys", 400),
    ({"metadata": {"$retainKeys": ["a", "b"], "b": 1, "c": 2}}, "invalid patch format of "
     "retainKeys", 400),
]  # fmt: skip


@pytest.mark.parametrize(("patch", "text", "code"), WRONG)
def test_wrong_directives(patch: dict[str, Any], text: str, code: int) -> None:
    with pytest.raises(MergeError) as caught:
        strategic_merge({"webhooks": names("a"), "metadata": {}}, patch, HOOKS)
    assert (str(caught.value), caught.value.code) == (text, code)


@pytest.mark.usefixtures("usual_calls")
def test_patches_that_are_too_deep() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(MergeError) as caught:
        merge_into(deep, deep, None)
    assert (str(caught.value), caught.value.code) == ("exceeded max depth", 500)


def test_an_order_of_what_is_not_there_says_nothing() -> None:
    patch = {"spec": {"$setElementOrder/containers": names("a")}}
    assert strategic_merge({"spec": {"x": 1}}, patch, POD) == {"spec": {"x": 1}}


def test_deletions_in_new_items_come_last() -> None:
    """They delete nothing where the list that they stand in is new."""
    env = [{"name": "E", "$patch": "delete"}, *names("F")]
    patch = {"containers": [{"name": "a", "$setElementOrder/env": names("F"), "env": env}]}
    assert merged(names("a"), patch) == [{"name": "a", "env": names("F")}]


def test_maps_that_are_replaced_whole() -> None:
    have = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    kept = {"$retainKeys": ["type"], "type": "Recreate"}
    deployment = schema_for(GroupVersionKind("apps", "v1", "Deployment"))
    made = strategic_merge(have, {"spec": {"strategy": kept}}, deployment)
    assert made == {"spec": {"strategy": {"type": "Recreate"}}}


def test_objects_in_a_list_of_texts_have_no_key() -> None:
    have: dict[str, Any] = {"metadata": {"finalizers": []}}
    with pytest.raises(MergeError, match=r"^cannot merge lists without merge key for string$"):
        strategic_merge(have, {"metadata": {"finalizers": [{}]}}, POD)
    assert strategic_merge(have, {"metadata": {"finalizers": []}}, POD) == have


def test_more_items_than_go_sorts_by_insertion() -> None:
    have = names(*(f"n{number:02}" for number in range(30)))
    order = [*reversed(have)]
    made = merged(have, {"$setElementOrder/containers": order})
    assert made == order
    gone = [{**one, "$patch": "delete"} for one in have[::2]]
    left = merged(have, {"$setElementOrder/containers": order[::2], "containers": gone})
    assert left == order[::2]


def test_more_new_items_than_go_sorts_by_insertion() -> None:
    have, new = names("a", "b"), names(*(f"x{number:02}" for number in range(25)))
    named = [*new, *have]
    assert merged(have, {"$setElementOrder/containers": named, "containers": new}) == named
    found = merged(have, {"$setElementOrder/containers": [], "containers": new})
    assert found == [*new, *have]


NAMES = st.text("abc", min_size=1, max_size=2)
JSON = st.recursive(
    st.none() | st.integers(0, 3) | NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=3)


@given(OBJECTS, OBJECTS)
def test_without_a_schema_it_is_a_merge_patch(document: Any, patch: Any) -> None:
    before = copy.deepcopy((document, patch))
    assert _plain(strategic_merge(document, patch, None)) == _plain(
        apply_merge_patch(document, patch)
    )
    assert (document, patch) == before


def _plain(value: Any) -> Any:
    """Without nulls, about which the two differ inside lists."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    return [_plain(item) for item in value] if isinstance(value, list) else value
