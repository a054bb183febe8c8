"""What the writer of a new object owns is what comparing it with nothing adds and modifies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.fieldmanager.field_ownership import Ownership, new_fields
from celadon.kube.fieldmanager.field_sets import field_set, to_fields_v1
from celadon.kube.fieldmanager.managed_fields import Managers, Writable, manager_id
from celadon.kube.fieldmanager.merge_types import ItemError, made_type
from celadon.kube.fieldmanager.structured_merge import compared
from celadon.kube.schemas import decode_schema
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


OPEN = made_type(decode_schema({"type": "object", "x-kubernetes-preserve-unknown-fields": True}))
WRITTEN: Object = {
    "kind": "K",
    "metadata": {"name": "n", "uid": "u", "labels": {"a": "b"}, "generation": 1},
    "spec": {"a": 1, "b": {"c": 2}},
    "status": {"d": 3},
}
LABELS: Object = {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}
SPEC: Object = {"f:spec": {".": {}, "f:a": {}, "f:b": {".": {}, "f:c": {}}}}
STATUS: Object = {"f:status": {".": {}, "f:d": {}}}


@pytest.mark.parametrize(
    ("given_away", "want"),
    [
        (Writable(), LABELS | SPEC | STATUS),
        (Writable(field_set(("f:status",))), LABELS | SPEC),
        (Writable(field_set(("f:spec",), ("f:status",))), LABELS),
        (
            Writable(field_set(("f:spec", "f:b"))),
            LABELS | {"f:spec": {".": {}, "f:a": {}}} | STATUS,
        ),
        (Writable(only=(("f:metadata",),)), LABELS),
        (Writable(only=(("f:spec", "f:b"),)), {"f:spec": {"f:b": {".": {}, "f:c": {}}}}),
        (Writable(field_set(("f:status", "f:d")), (("f:status",),)), {"f:status": {}}),
    ],
)
def test_what_is_not_given_to_the_writer(given_away: Writable, want: Object) -> None:
    """Nor is what the server writes; and it is the same as after an update of nothing."""
    rules, writer = Ownership("v1", OPEN, given_away), manager_id("m", "Update", "v1")
    assert rules.new_fields({}, WRITTEN) == want
    updated = rules.updated({}, WRITTEN, Managers(), writer, "now")
    assert to_fields_v1(updated.owned[writer].fields) == want


def test_an_item_without_a_key() -> None:
    with pytest.raises(ItemError):
        new_fields(TYPE, {}, {"items": [{"v": "b"}]})
