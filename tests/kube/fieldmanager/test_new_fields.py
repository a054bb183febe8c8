"""What the writer of a new object owns is what comparing it with nothing adds and modifies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.fieldmanager.field_ownership import new_fields
from celadon.kube.fieldmanager.field_sets import to_fields_v1
from celadon.kube.fieldmanager.merge_types import ItemError
from celadon.kube.fieldmanager.structured_merge import compared
from tests.kube.fieldmanager.field_set_values import TYPE, VALUES

Object = dict[str, Any]

ZEROS: st.SearchStrategy[Object] = st.fixed_dictionaries(
    {},
    optional={
        "text": st.just("") | st.just("a"),
        "labels": st.none() | st.just({}),
        "whole": st.none() | st.just({}),
        "list": st.none() | st.just([]),
        "items": st.none() | st.just([]),
        "struct": st.just({}) | st.just({"v": ""}),
        "open": st.none() | st.just({"a": {}, "b": 0}),
    },
)
"""What may be there before: structs, and zeros of what is always written."""


@given(ZEROS, VALUES)
def test_as_a_comparison(zero: Object, new: Object) -> None:
    found = compared(TYPE, zero, new)
    want = to_fields_v1(found.added | found.modified)
    assert json.dumps(new_fields(TYPE, zero, new)) == json.dumps(want)


CASES: dict[str, tuple[Object, Object, Object]] = {
    "null for a struct with members": ({"struct": {"v": ""}}, {"struct": None}, {}),
    "null for an empty struct": ({"struct": {}}, {"struct": None}, {"f:struct": {}}),
    "a map for a scalar": ({"text": ""}, {"text": {"a": 1}}, {"f:text": {}}),
    "items that are there twice": (
        {}, {"items": [{"name": "a"}, {"name": "a", "v": "b"}]},
        {"f:items": {".": {}, 'k:{"name":"a"}': {}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_new_fields(name: str) -> None:
    zero, new, want = CASES[name]
    found = compared(TYPE, zero, new)
    assert to_fields_v1(found.added | found.modified) == want
    assert new_fields(TYPE, zero, new) == want


def test_an_item_without_a_key() -> None:
    with pytest.raises(ItemError):
        new_fields(TYPE, {}, {"items": [{"v": "b"}]})
