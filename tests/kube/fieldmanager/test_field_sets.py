"""Field sets: the laws of sets, and FieldsV1."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from celadon.kube.fieldmanager.field_sets import (
    NOTHING,
    FieldSet,
    FieldSetError,
    field_set,
    fields_v1_without,
    from_fields_v1,
    path_text,
    to_fields_v1,
)
from tests.kube.fieldmanager.field_set_values import SETS


def _paths(fields: FieldSet) -> set[tuple[str, ...]]:
    return set(fields.paths())


@given(SETS, SETS)
def test_operations_are_those_of_sets_of_paths(one: FieldSet, other: FieldSet) -> None:
    assert _paths(one | other) == _paths(one) | _paths(other)
    assert _paths(one & other) == _paths(one) & _paths(other)
    assert _paths(one - other) == _paths(one) - _paths(other)
    assert bool(one & other) == bool(_paths(one) & _paths(other))
    assert (one - other) | (one & other) == one


@given(SETS, SETS)
def test_sets_are_shared_where_nothing_changes(one: FieldSet, other: FieldSet) -> None:
    both = one | other
    assert both | one is both or not both
    rest = both - other
    assert rest - other is rest
    assert (one <= other) is (not one - other)


@given(SETS)
def test_what_was_written_is_not_read_again(fields: FieldSet) -> None:
    written = to_fields_v1(fields)
    assert from_fields_v1(written) is fields
    assert to_fields_v1(fields) is written
    assert from_fields_v1(json.loads(json.dumps(written))) == fields


@given(SETS, SETS)
def test_trees_go_with_what_is_above_them(one: FieldSet, other: FieldSet) -> None:
    gone = _paths(other)
    want = {path for path in one.paths() if not any(path[:n] in gone for n in range(len(path) + 1))}
    assert _paths(one.without_trees(other)) == want


@given(SETS)
def test_fields_v1_and_back(fields: FieldSet) -> None:
    assert from_fields_v1(to_fields_v1(fields)) == fields


@given(SETS, SETS)
def test_fields_v1_without_others(fields: FieldSet, hidden: FieldSet) -> None:
    assert fields_v1_without(to_fields_v1(fields), hidden) == to_fields_v1(fields - hidden)


@given(SETS)
def test_paths_make_the_set_again(fields: FieldSet) -> None:
    assert field_set(*fields.paths()) == fields
    assert all(fields.has(*path) for path in fields.paths())


@pytest.mark.parametrize(
    ("given_", "want"),
    [
        ({}, []),
        ({"f:a": {}}, [".a"]),
        ({"f:a": {".": {}, "f:b": {}}}, [".a", ".a.b"]),
        ({"f:a": {"f:b": {}, "z:?": {}}}, [".a.b"]),
        ({"f:l": {'k:{"name":"c"}': {".": {}, "f:i": {}}}}, ['.l[name="c"]', '.l[name="c"].i']),
    ],
)
def test_reading(given_: dict[str, Any], want: list[str]) -> None:
    assert list(map(path_text, from_fields_v1(given_).paths())) == want


@pytest.mark.parametrize("given_", [[], {"x": {}}, {"f:a": []} | {"f:b": 1}])
def test_unreadable(given_: Any) -> None:
    with pytest.raises(FieldSetError):
        from_fields_v1(given_)


def test_the_order_of_members() -> None:
    fields = field_set(("f:b",), ("f:a", "f:x"), ("f:a",), ('k:{"n":1}',), ('v:"q"',))
    assert list(to_fields_v1(fields)) == ["f:a", "f:b", 'k:{"n":1}', 'v:"q"']
    assert list(to_fields_v1(fields)["f:a"]) == [".", "f:x"]


def test_what_a_set_says_of_itself() -> None:
    assert repr(field_set(("f:a", "f:b"))) == "FieldSet(.a.b)"
    assert not NOTHING
    assert field_set(("f:a",)) != {"f:a": {}}
    assert not field_set(("f:a", "f:b")).has("f:b", "f:a")
