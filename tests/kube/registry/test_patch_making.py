"""Patches that are computed: applied, they give the changed object, and they are short."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.kube.registry import apply_json_patch
from celadon.kube.registry.patches import MOST_PAIRS, patch_between
from tests.examples import examples

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "~/", "<é>"])
VALUES = st.recursive(
    SCALARS | st.sampled_from([1.5, -0.5]),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.sampled_from(["a", "b", "c/d", "~0", "", "0"]), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(["spec", "data", "a/b", "~"]), VALUES, max_size=4)


def applied(before: Any, patch: list[dict[str, Any]]) -> Any:
    """What an API server makes of it."""
    return apply_json_patch(copy.deepcopy(before), patch)


@settings(max_examples=examples(300), deadline=None)
@given(OBJECTS, OBJECTS)
def test_applying_it_gives_the_changed_object(before: Any, after: Any) -> None:
    kept = copy.deepcopy(before)
    patch = patch_between(before, after)
    assert json.dumps(before) == json.dumps(kept)
    assert json.dumps(applied(before, patch), sort_keys=True) == json.dumps(after, sort_keys=True)
    assert (patch == []) == (
        json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)
    )


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(VALUES, max_size=6), st.lists(VALUES, max_size=6), VALUES, st.integers(0, 6))
def test_one_change_of_a_list_is_one_operation(
    front: list[Any], back: list[Any], item: Any, extra: int
) -> None:
    before = {"list": [*front, *back], "other": extra}
    after = {"list": [*front, item, *back], "other": extra}
    for one, other in ((before, after), (after, before)):
        patch = patch_between(one, other)
        assert len(patch) == 1
        assert applied(one, patch) == other


@settings(max_examples=examples(100), deadline=None)
@given(OBJECTS, OBJECTS)
def test_no_more_is_written_than_the_whole(before: Any, after: Any) -> None:
    patch = patch_between({"a": before}, {"a": after})
    written = sum(len(json.dumps(one["value"])) for one in patch if "value" in one)
    assert written <= len(json.dumps(after))


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        ({}, {"a": 1}, [{"op": "add", "path": "/a", "value": 1}]),
        ({"a": 1}, {}, [{"op": "remove", "path": "/a"}]),
        ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
        ({"a": 1}, {"a": 1.0}, [{"op": "replace", "path": "/a", "value": 1.0}]),
        ({"a": 1}, {"a": None}, [{"op": "replace", "path": "/a", "value": None}]),
        ({"a": {"b/~": 1}}, {"a": {"b/~": 2}}, [{"op": "replace", "path": "/a/b~1~0", "value": 2}]),
        ({"a": {"x": 1}}, {"a": [1]}, [{"op": "replace", "path": "/a", "value": [1]}]),
        (
            {"a": [{"name": "x", "image": "old:1", "args": ["1"]}]},
            {"a": [{"name": "y"}, {"name": "x", "image": "new:1", "args": ["1"]}]},
            [
                {"op": "replace", "path": "/a/0/image", "value": "new:1"},
                {"op": "add", "path": "/a/0", "value": {"name": "y"}},
            ],
        ),
        ({"a": [1, 2, 3, 4]}, {"a": [2, 4]}, None),
    ],
)
def test_patches(before: Any, after: Any, patch: Any) -> None:
    found = patch_between(before, after)
    assert applied(before, found) == after
    if patch is not None:
        assert json.dumps(found) == json.dumps(patch)


def test_long_lists_are_compared_side_by_side() -> None:
    size = int(MOST_PAIRS**0.5) + 10
    before = {"a": [{"n": i, "text": "x" * 20} for i in range(size)]}
    after = {"a": [{"n": i, "text": "y" * 20} for i in range(size + 1)]}
    for one, other in ((before, after), (after, before)):
        assert applied(one, patch_between(one, other)) == other


@pytest.mark.parametrize("place", [0, 1, 500, 998, 999])
def test_one_item_of_a_long_list_is_one_operation(place: int) -> None:
    whole = [{"n": number} for number in range(1000)]
    without = [*whole[:place], *whole[place + 1 :]]
    removed = patch_between({"a": whole}, {"a": without})
    assert removed == [{"op": "remove", "path": f"/a/{place}"}]
    added = patch_between({"a": without}, {"a": whole})
    assert added == [{"op": "add", "path": f"/a/{place}", "value": whole[place]}]


@pytest.mark.parametrize(("size", "is_whole"), [(50, False), (51, True)])
def test_up_to_which_length_items_are_paired_by_what_they_are(size: int, is_whole: bool) -> None:
    """Both ends change, so that nothing is left out beforehand; longer lists are given whole."""
    middle = [str(number) for number in range(size - 2)]
    before = {"a": ["x", *middle, "y"]}
    after = {"a": [*middle, "z", "x"]}
    patch = patch_between(before, after)
    assert applied(before, patch) == after
    assert ("/a" in {one["path"] for one in patch}) is is_whole
