"""Strategic merge patches: which lists are merged, in what order, and what directives do."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.pack_schemas import schema_for
from celadon.kube.writes.patching.merge_strategies import MergeError
from celadon.kube.writes.patching.patches import apply_merge_patch
from celadon.kube.writes.patching.strategic_merge import strategic_merge

POD = schema_for(GroupVersionKind("", "v1", "Pod"))
HOOKS = schema_for(
    GroupVersionKind("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration")
)


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


def test_what_is_not_there_takes_the_patch_without_nulls_and_directives() -> None:
    patch = {
        "spec": {"x": None, "y": {"z": None, "$retainKeys": ["a"], "a": 1}},
        "$deleteFromPrimitiveList/gone": ["a"],
    }
    assert strategic_merge({}, patch, POD) == {"spec": {"y": {"a": 1}}}


WRONG = [
    ({"webhooks": [{"timeoutSeconds": 5}]}, "map: map[timeoutSeconds:5] does not contain declared "
     "merge key: name", False),
    ({"$patch": "nope"}, "unknown patch type: nope in map: map[$patch:nope]", False),
    ({"webhooks": [{"name": "a", "$patch": "nope"}]}, "unknown patch type: nope in map: "
     "map[$patch:nope name:a]", False),
    ({"webhooks": [{"name": "a", "$patch": "merge"}]}, "merging lists cannot yet be specified in "
     "the patch", False),
    ({"$setElementOrder/webhooks": "x"}, "expected a []interface {}, but received a string", False),
    ({"webhooks": ["x"]}, "list element types are not identical: [[map[name:a]] [x]]", False),
    ({"metadata": {"$retainKeys": ["a"], "b": 1}}, "invalid patch format of retainKeys", True),
    (
        {"$setElementOrder/webhooks": names("b"), "webhooks": names("c")},
        "The order in patch list:\n[map[name:c]]\n doesn't match $setElementOrder list:\n"
        "[map[name:b]]\n",
        False,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("patch", "text", "is_malformed"), WRONG)
def test_wrong_directives(patch: dict[str, Any], text: str, is_malformed: bool) -> None:
    with pytest.raises(MergeError) as caught:
        strategic_merge({"webhooks": names("a"), "metadata": {}}, patch, HOOKS)
    assert (str(caught.value), caught.value.is_malformed) == (text, is_malformed)


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
