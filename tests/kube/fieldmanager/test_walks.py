"""Comparing, merging, removing, and the sets of values, by schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from celadon.kube.fieldmanager.field_ownership import without
from celadon.kube.fieldmanager.field_sets import FieldSet, from_fields_v1, path_text
from celadon.kube.fieldmanager.merge_types import (
    DEDUCED,
    ItemError,
    MergeType,
    built_in_type,
    made_type,
    type_of,
)
from celadon.kube.fieldmanager.structured_merge import (
    applied_set,
    compared,
    merged,
    reconciled,
    same,
    subtree,
    with_structs,
)
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import answering_as
from celadon.kube.schemas import decode_schema
from tests.kube.fieldmanager.field_set_values import TYPE, VALUES

Object = dict[str, Any]


def _texts(fields: FieldSet) -> list[str]:
    return list(map(path_text, fields.paths()))


APPLIED: list[tuple[Object, list[str]]] = [
    ({"text": "a"}, [".text"]),
    ({"text": None}, [".text"]),
    ({"labels": {"a": "b"}}, [".labels.a"]),
    ({"labels": {}}, [".labels"]),
    ({"labels": None}, [".labels"]),
    ({"whole": {"a": "b"}}, [".whole"]),
    ({"list": ["a"]}, [".list"]),
    ({"set": ["b", "a"]}, ['.set[="a"]', '.set[="b"]']),
    ({"set": []}, []),
    ({"items": [{"name": "a", "v": "b"}]}, ['.items[name="a"]', '.items[name="a"].name',
                                            '.items[name="a"].v']),
    ({"open": {"a": {"b": 1}, "c": [1]}}, [".open.a", ".open.c", ".open.a.b"]),
]  # fmt: skip


@pytest.mark.parametrize(("value", "want"), APPLIED)
def test_applied_set(value: Object, want: list[str]) -> None:
    assert _texts(applied_set(TYPE, value)) == want


Case = tuple[Object, Object, list[str], list[str], list[str]]
COMPARED: dict[str, Case] = {
    "leaf": ({"text": "a"}, {"text": "b"}, [], [".text"], []),
    "map comes": ({}, {"labels": {"a": "b"}}, [".labels", ".labels.a"], [], []),
    "map goes": ({"labels": {"a": "b"}}, {}, [], [], [".labels", ".labels.a"]),
    "null is an empty map": ({"labels": None}, {"labels": {"a": "b"}}, [".labels.a"], [], []),
    "empty to null": ({"labels": {}}, {"labels": None}, [], [".labels"], []),
    "atomic": ({"whole": {"a": "b"}}, {"whole": {"a": "c"}}, [], [".whole"], []),
    "list": ({"list": ["a", "b"]}, {"list": ["b", "a"]}, [], [".list"], []),
    "a set has no order": ({"set": ["a", "b"]}, {"set": ["b", "a"]}, [], [], []),
    "set": ({"set": ["a", "b"]}, {"set": ["b", "c"]}, ['.set[="c"]'], [], ['.set[="a"]']),
    "true is no number": ({"open": {"a": 1}}, {"open": {"a": True}}, [], [".open.a"], []),
    "a whole float is": ({"open": {"a": 1}}, {"open": {"a": 1.0}}, [], [], []),
    "map to scalar": ({"open": {"a": {"b": 1}}}, {"open": {"a": 1}}, [], [".open.a"],
                      [".open.a.b"]),
    "duplicates are a leaf": (
        {"set": ["a", "a"]}, {"set": ["a"]}, ['.set[="a"]'], [], ['.set[="a"]'],
    ),
    "duplicates that change": (
        {"items": [{"name": "a"}, {"name": "a"}]},
        {"items": [{"name": "a"}, {"name": "a", "v": "b"}]},
        [], ['.items[name="a"]'], [],
    ),
    "new duplicates": (
        {"items": [{"name": "a", "v": "b"}]},
        {"items": [{"name": "a"}, {"name": "a"}]},
        ['.items[name="a"]'], [],
        ['.items[name="a"]', '.items[name="a"].name', '.items[name="a"].v'],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARED)
def test_compared(name: str) -> None:
    old, new, added, modified, removed = COMPARED[name]
    found = compared(TYPE, old, new)
    assert _texts(found.added) == added
    assert _texts(found.modified) == modified
    assert _texts(found.removed) == removed


@given(VALUES, VALUES)
def test_a_comparison_turned_round(one: Object, other: Object) -> None:
    there, back = compared(TYPE, one, other), compared(TYPE, other, one)
    assert there.added == back.removed
    assert there.removed == back.added
    assert there.modified == back.modified
    assert not compared(TYPE, one, one)


def _at(items: str) -> Object:
    return {"items": [{"name": name} for name in items]}


@pytest.mark.parametrize(
    ("live", "config", "want"),
    [
        ("ADG", "BD", "ABDG"),
        ("ABDG", "DB", "ADGB"),
        ("ADGB", "GXA", "DGBXA"),
        ("", "BA", "BA"),
        ("AB", "", "AB"),
        ("ABC", "CBA", "CBA"),
        ("AB", "XA", "XAB"),
        ("AAB", "A", "AB"),
    ],
)
def test_the_order_of_items(live: str, config: str, want: str) -> None:
    assert merged(TYPE, _at(live), _at(config)) == _at(want)


@given(VALUES, VALUES)
def test_merging_twice_is_merging_once(live: Object, config: Object) -> None:
    once = merged(TYPE, live, config)
    assert same(merged(TYPE, once, config), once)
    assert same(merged(TYPE, live, live), live)


def test_items_that_are_wholes() -> None:
    """A change in one is a change of it."""
    items = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "properties": {"name": {"type": "string"}, "v": {"type": "string"}},
        },
    }
    kind = made_type(decode_schema({"type": "object", "properties": {"items": items}}))
    old, new = ({"items": [{"name": "a", "v": v}, {"name": "b"}]} for v in "12")
    found = compared(kind, old, new)
    assert _texts(found.modified) == ['.items[name="a"]']
    assert not found.added
    assert not found.removed


@given(VALUES, VALUES)
def test_a_merge_has_all_that_either_has(live: Object, config: Object) -> None:
    found = applied_set(TYPE, merged(TYPE, live, config))
    said = applied_set(TYPE, config)
    assert not [path for path in said.paths() if not _has_or_below(found, path)]
    gone = compared(TYPE, live, merged(TYPE, live, config)).removed
    assert gone.children.keys() <= {"f:open"}  # where a map may become a text
    assert not gone.members


def _has_or_below(fields: FieldSet, path: tuple[str, ...]) -> bool:
    """An empty map is a leaf only where the live object has none."""
    return any(one[: len(path)] == path for one in fields.paths())


@given(VALUES)
def test_a_value_without_all_it_has_is_empty(value: Object) -> None:
    everything = subtree(TYPE, value)
    assert without(TYPE, value, everything) == {}
    assert same(without(TYPE, value, FieldSet()), value)


@pytest.mark.parametrize(
    ("value", "fields", "want"),
    [
        ({"labels": {"a": "b", "c": "d"}}, {"f:labels": {"f:a": {}}}, {"labels": {"c": "d"}}),
        ({"labels": {"a": "b"}}, {"f:labels": {"f:a": {}}}, {"labels": {}}),
        ({"set": ["a", "b"]}, {"f:set": {'v:"a"': {}}}, {"set": ["b"]}),
        ({"items": [{"name": "a", "v": "b"}]}, {"f:items": {'k:{"name":"a"}': {"f:v": {}}}},
         {"items": [{"name": "a"}]}),
        ({"items": [{"name": "a"}]}, {"f:items": {'k:{"name":"a"}': {}}}, {"items": []}),
        ({"whole": {"a": "b"}}, {"f:whole": {"f:a": {}}}, {"whole": None}),
        ({"list": ["a"]}, {"f:list": {"i:0": {}}}, {"list": None}),
        # what is of another shape than its type stays
        ({"set": "a"}, {"f:set": {'v:"a"': {}}}, {"set": "a"}),
        ({"text": ["a"]}, {"f:text": {"i:0": {}}}, {"text": ["a"]}),
        ({"labels": ["a"]}, {"f:labels": {"f:a": {}}}, {"labels": ["a"]}),
        ({"set": {"a": "b"}}, {"f:set": {'v:"a"': {}}}, {"set": {"a": "b"}}),
    ],
)  # fmt: skip
def test_without(value: Object, fields: Object, want: Object) -> None:
    assert without(TYPE, value, from_fields_v1(fields)) == want


def test_structs_on_the_way_are_members_of_a_named_set() -> None:
    fields = from_fields_v1({"f:struct": {"f:v": {}}, "f:open": {"f:a": {"f:b": {}}}})
    assert _texts(with_structs(fields, TYPE)) == [".open", ".struct", ".open.a.b", ".struct.v"]


def test_a_set_from_before_the_schema_became_atomic() -> None:
    fields = from_fields_v1({"f:whole": {"f:a": {}}, "f:labels": {"f:a": {}}})
    assert _texts(reconciled(fields, TYPE)) == [".whole", ".labels.a"]


def _list_type(item: Object, **more: Any) -> MergeType:
    return made_type(decode_schema({"type": "array", "items": item} | more))


KEYED = {
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["port", "proto"],
}
PORT = {
    "type": "object",
    "properties": {"port": {"type": "integer"}, "proto": {"type": "string", "default": "TCP"}},
}


@pytest.mark.parametrize(
    ("item", "want"),
    [
        ({"port": 80}, 'k:{"port":80,"proto":"TCP"}'),
        ({"proto": "UDP", "port": 80}, 'k:{"port":80,"proto":"UDP"}'),
        ({}, 'k:{"proto":"TCP"}'),
        ({"port": None}, 'k:{"port":null,"proto":"TCP"}'),
    ],
)
def test_keys_have_defaults(item: Object, want: str) -> None:
    rule = _list_type(PORT, **KEYED).list
    assert rule is not None
    assert rule.element(item) == want


def test_go_types_have_zero_keys() -> None:
    pod = built_in_type(GroupVersionKind("", "v1", "Pod"))
    assert pod is not None
    found = applied_set(pod, {"spec": {"containers": [{"ports": [{"hostPort": 1}]}]}})
    assert _texts(found)[:3] == [
        '.spec.containers[name=""]',
        '.spec.containers[name=""].ports[containerPort=0,protocol="TCP"]',
        '.spec.containers[name=""].ports[containerPort=0,protocol="TCP"].hostPort',
    ]


@pytest.mark.parametrize(
    ("kind", "item", "why"),
    [
        ("map", None, "associative list with keys may not have a null element"),
        ("map", "x", "associative list with keys may not have non-map elements"),
        ("set", {}, "associative list without keys has an element that's a map type"),
        ("set", [], "not supported: associative list with lists as elements"),
        ("set", None, "associative list without keys has an element that's an explicit null"),
    ],
)
def test_items_that_nothing_identifies(kind: str, item: Any, why: str) -> None:
    rule = _list_type(PORT, **{**KEYED, "x-kubernetes-list-type": kind}).list
    assert rule is not None
    with pytest.raises(ItemError) as caught:
        rule.element(item)
    assert str(caught.value) == why


def test_a_raw_extension_is_owned_as_a_whole() -> None:
    kind = GroupVersionKind("apps", "v1", "ControllerRevision")
    value = {"data": {"a": {"b": 1}}, "revision": 1}
    assert _texts(applied_set(type_of(kind, None), value)) == [".data", ".revision"]


def test_what_is_below_a_value_goes_and_comes_with_it() -> None:
    fluid = made_type(decode_schema({"x-kubernetes-preserve-unknown-fields": True}))
    whole, leaf = {"a": {"b": {"c": 1}}}, {"a": 5}
    found = compared(fluid, whole, leaf)
    assert _texts(found.removed) == [".a.b", ".a.b.c"]
    found = compared(fluid, leaf, whole)
    assert _texts(found.added) == [".a.b", ".a.b.c"]


def test_what_loses_all_it_has_was_null() -> None:
    """Before 1.36, in the object that an apply makes."""
    value = {"spec": {"a": 1}, "b": {"c": 1, "d": 2}}
    fields = from_fields_v1({"f:spec": {"f:a": {}}, "f:b": {"f:c": {}}})
    with answering_as("1.35"):
        assert without(DEDUCED, value, fields) == {"spec": None, "b": {"d": 2}}
    assert without(DEDUCED, value, fields) == {"spec": {}, "b": {"d": 2}}


@pytest.mark.parametrize(
    ("old", "new", "alike"),
    [
        (1, 1.0, True),
        (1, True, False),
        ([1], [1.0], True),
        ([1], [True], False),
        ({"a": [True], "b": None}, {"b": None, "a": [True]}, True),
        ({"a": [True]}, {"a": [1]}, False),
        ({"a": {}}, {"a": []}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([{}], [{}, {}], False),
    ],
)
def test_true_is_no_number_but_numbers_have_one_kind(old: Any, new: Any, alike: bool) -> None:
    assert same(old, new) is alike
