"""Entries of `managedFields`: reading, order, and what an update starts from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.fieldmanager.field_sets import FieldSet
from celadon.kube.fieldmanager.managed_fields import (
    EntryError,
    Managers,
    Owned,
    decoded,
    encoded,
    limit_updaters,
    manager_id,
    managers_of_update,
    with_old_times,
)
from tests.growth.counted_steps import LINEAR, growth
from tests.kube.fieldmanager.field_set_values import SETS

NOW = "2025-01-01T00:00:00Z"


def _entry(manager: str = "m", operation: str = "Update", **more: Any) -> dict[str, Any]:
    made = {
        "manager": manager,
        "operation": operation,
        "apiVersion": "v1",
        "time": NOW,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:a": {}}},
    }
    return made | more


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "Patch"},
        {"apiVersion": ""},
        {"fieldsType": "FieldsV2"},
        {"fieldsType": None},
        {"fieldsV1": {"?": {}}},
        {"fieldsV1": [1]},
    ],
)
def test_unreadable_entries(change: dict[str, Any]) -> None:
    with pytest.raises(EntryError):
        decoded([_entry(**change)])


@pytest.mark.parametrize("entries", ["x", [1]])
def test_no_entries_at_all(entries: Any) -> None:
    with pytest.raises(EntryError):
        decoded(entries)


def test_order_of_entries() -> None:
    late = "2025-01-01T00:00:01Z"
    wanted = [
        _entry("z", "Apply"),
        _entry("a", "Apply", time=late),
        _entry("a"),
        _entry("b", apiVersion="v0"),
        _entry("b"),
        {**_entry("b"), "subresource": "status"},
        _entry("a", apiVersion="v0", time=late),
    ]
    assert encoded(decoded(wanted[::-1])) == wanted


@given(st.dictionaries(st.sampled_from("abc"), SETS.filter(bool)))
def test_encoded_and_back(sets: dict[str, FieldSet]) -> None:
    managers = Managers()
    for name, fields in sets.items():
        manager = manager_id(name, "Apply", "v1")
        managers.owned[manager] = Owned(fields, "v1")
        managers.times[manager] = NOW
    assert decoded(encoded(managers)) == managers


def _object(entries: Any) -> dict[str, Any]:
    return {"metadata": {"managedFields": entries}}


LIVE = _object([_entry("live")])


@pytest.mark.parametrize(
    ("sent", "is_subresource", "want"),
    [
        ({}, False, ["live"]),
        (_object(None), False, ["live"]),
        (_object([_entry("sent")]), False, ["sent"]),
        (_object([_entry("sent")]), True, ["live"]),
        (_object([_entry("sent", "Patch")]), False, ["live"]),
        (_object([]), False, []),
        (_object([{}]), False, []),
        (_object([]), True, ["live"]),
    ],
)
def test_where_an_update_starts(
    sent: dict[str, Any], is_subresource: bool, want: list[str]
) -> None:
    found = managers_of_update(LIVE, sent, is_subresource=is_subresource)
    assert [manager.name for manager in found.owned] == want


def test_unreadable_entries_of_a_live_object_are_forgotten() -> None:
    live = _object([_entry(fieldsType="")])
    assert not managers_of_update(live, {}, is_subresource=False).owned


def test_a_manager_without_a_name_is_unknown() -> None:
    assert manager_id("", "Update", "v1").name == "unknown"
    assert manager_id("m", "Apply", "v1") == manager_id("m", "Apply", "v2")
    assert manager_id("m", "Update", "v1") != manager_id("m", "Update", "v2")


@pytest.mark.parametrize(
    ("change", "keeps_time"),
    [
        ({}, True),
        ({"data": {"a": "2"}}, False),
        ({"metadata": {"labels": {"a": "b"}}}, False),
        ({"metadata": {"managedFields": [_entry("other", time="2026-01-01T00:00:00Z")]}}, False),
    ],
)
def test_a_write_of_the_same_keeps_its_times(change: dict[str, Any], keeps_time: bool) -> None:
    old = {"data": {"a": "1"}, "metadata": {"managedFields": [_entry()]}}
    later = _entry(time="2026-01-01T00:00:00Z")
    meta = {"managedFields": [later], **change.pop("metadata", {})}
    new = {**old, **change, "metadata": meta}
    assert with_old_times(new, old) == (old if keeps_time else new)


def test_updaters_are_merged_without_looking_at_the_bucket_again_and_again() -> None:
    def merging(count: int) -> Callable[[], object]:
        entries = [
            _entry(f"m{number}", fieldsV1={"f:data": {f"f:k{number}": {"f:x": {}}}})
            for number in range(count)
        ]
        managers = decoded(entries)
        return lambda: limit_updaters(managers)

    assert growth(merging, 20) < LINEAR


def test_updaters_that_own_nothing_become_one() -> None:
    managers = decoded([_entry(f"m{number:02}", fieldsV1={}) for number in range(13)])
    limit_updaters(managers)
    assert [manager.name for manager in managers.owned] == [
        *(f"m{number:02}" for number in range(4, 13)),
        "ancient-changes",
    ]


def test_a_bucket_behind_other_updaters_is_forgotten() -> None:
    """As upstream forgets it."""
    older = [_entry(f"a{number}") for number in range(3)]
    bucket = _entry("ancient-changes", fieldsV1={"f:data": {"f:z": {}}})
    younger = [_entry(f"b{number}") for number in range(9)]
    managers = decoded([*older, bucket, *younger])
    limit_updaters(managers)
    names = [manager.name for manager in managers.owned]
    assert names == ["a0", *(f"b{number}" for number in range(9))]
