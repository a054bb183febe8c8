"""Patches that are computed from two objects."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.writes.patching.patch_making import json_patch
from celadon.kube.writes.patching.patches import apply_json_patch

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b~/"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "c/d", "~"]), inner, max_size=3)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(["x", "y", "z/~"]), VALUES, max_size=3)


@given(OBJECTS, OBJECTS)
def test_a_patch_makes_the_one_of_the_other(before: Any, after: Any) -> None:
    made = apply_json_patch(before, json_patch(before, after))
    assert repr(sorted(made.items())) == repr(sorted(after.items())) or made == after
    assert json_patch(made, after) == []


def test_a_list_that_grew_is_added_to() -> None:
    before = {"l": [1, 2]}
    assert json_patch(before, {"l": [1, 0, 2, 3]}) == [
        {"op": "add", "path": "/l/1", "value": 0},
        {"op": "add", "path": "/l/3", "value": 3},
    ]
    assert json_patch(before, {"l": [3]}) == [
        {"op": "replace", "path": "/l/0", "value": 3},
        {"op": "remove", "path": "/l/1"},
    ]
