"""Who owns what after an update or an apply."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.fieldmanager.field_ownership import ConflictError, KindVersion, Ownership
from celadon.kube.fieldmanager.field_sets import FIELD, FieldSet, field_set
from celadon.kube.fieldmanager.managed_fields import ManagerId, Managers, Owned, manager_id
from celadon.kube.fieldmanager.merge_types import type_of
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import answering_as

TYPE = type_of(GroupVersionKind("", "v1", "ConfigMap"), None)
ONE = manager_id("one", "Update", "v1")
TWO = manager_id("two", "Update", "v1")
APPLIER = manager_id("m", "Apply", "v1")
OTHER = manager_id("n", "Apply", "v1")
V1 = Ownership("v1", TYPE)


def data(**values: str) -> dict[str, Any]:
    return {"data": values}


def keys(*names: str) -> FieldSet:
    return field_set(*((FIELD + "data", FIELD + name) for name in names))


def owned(managers: Managers) -> dict[str, tuple[FieldSet, str]]:
    return {
        manager.name: (fields, version) for manager, (fields, version) in managers.owned.items()
    }


def managers(**fields: FieldSet) -> Managers:
    by_name: dict[str, ManagerId] = {one.name: one for one in (ONE, TWO, APPLIER, OTHER)}
    return Managers({by_name[name]: Owned(value, "v1") for name, value in fields.items()})


UPDATES: list[tuple[str, Managers, dict[str, Any], dict[str, FieldSet]]] = [
    (
        "keeps what it owned before",
        managers(one=keys("a")),
        data(a="1", b="2"),
        {"one": keys("a", "b")},
    ),
    ("takes what it changes", managers(two=keys("a")), data(a="2", b="1"), {"one": keys("a")}),
    (
        "leaves what it does not change",
        managers(one=keys("a"), two=keys("b")),
        data(a="2", b="1", c="1"),
        {"one": keys("a", "c"), "two": keys("b")},
    ),
    ("takes what it removes from all", managers(one=keys("a"), two=keys("a")), data(b="1"), {}),
    (
        "takes from appliers, too",
        managers(m=keys("a", "b")),
        data(a="2", b="1"),
        {"one": keys("a"), "m": keys("b")},
    ),
]


@pytest.mark.parametrize(
    ("before", "new", "after"), [row[1:] for row in UPDATES], ids=[row[0] for row in UPDATES]
)
def test_an_updater(before: Managers, new: dict[str, Any], after: dict[str, FieldSet]) -> None:
    found = V1.updated(data(a="1", b="1"), new, before, ONE, "now")
    assert owned(found) == {name: (fields, "v1") for name, fields in after.items()}
    assert found.times == ({ONE: "now"} if after.get("one") else {})


def test_the_same_manager_updates_twice() -> None:
    """It owns what both updates changed."""
    first = V1.updated(data(), data(a="1"), Managers(), ONE, "1")
    second = V1.updated(data(a="1"), data(a="1", b="1"), first, ONE, "2")
    assert owned(second) == {"one": (keys("a", "b"), "v1")}
    third = V1.updated(data(a="1", b="1"), data(a="1", b="2"), second, ONE, "3")
    assert owned(third) == {"one": (keys("a", "b"), "v1")}
    assert third.times == {ONE: "3"}


APPLIES: list[tuple[str, Managers, dict[str, Any], dict[str, Any], dict[str, FieldSet]]] = [
    (
        "what it gives up goes",
        managers(m=keys("a", "b")),
        data(b="1"),
        data(b="1"),
        {"m": keys("b")},
    ),
    (
        "what others own stays",
        managers(m=keys("a", "b"), n=keys("a")),
        data(b="1"),
        data(a="1", b="1"),
        {"m": keys("b"), "n": keys("a")},
    ),
    (
        "what is equal is shared",
        managers(n=keys("a")),
        data(a="1"),
        data(a="1", b="1"),
        {"m": keys("a"), "n": keys("a")},
    ),
]


@pytest.mark.parametrize(
    ("before", "config", "made", "after"),
    [row[1:] for row in APPLIES],
    ids=[row[0] for row in APPLIES],
)
def test_an_applier(
    before: Managers, config: dict[str, Any], made: dict[str, Any], after: dict[str, FieldSet]
) -> None:
    found, left = V1.applied(data(a="1", b="1"), config, before, APPLIER, force=False)
    assert found["data"] == made["data"]
    assert owned(left) == {name: (fields, "v1") for name, fields in after.items()}


@pytest.mark.parametrize(("release", "left"), [("1.35", None), ("1.36", {})])
def test_a_container_that_loses_all_it_has(release: str, left: Any) -> None:
    before = managers(m=keys("a", "b"))
    with answering_as(release):
        found, _ = V1.applied(data(a="1", b="1"), data(), before, APPLIER, force=False)
    assert found == {"data": left}


def test_an_applier_may_change_what_others_own_by_force_only() -> None:
    before = managers(n=keys("a", "b"))
    with pytest.raises(ConflictError) as refused:
        V1.applied(data(a="1", b="1"), data(a="2"), before, APPLIER, force=False)
    assert refused.value.conflicts == {OTHER: keys("a")}
    found, left = V1.applied(data(a="1", b="1"), data(a="2"), before, APPLIER, force=True)
    assert found["data"] == {"a": "2", "b": "1"}
    assert owned(left) == {"m": (keys("a"), "v1"), "n": (keys("b"), "v1")}


# A version `old`, in which the keys `a` and `b` have each other's names.

_NAMES = {"a": "b", "b": "a"}


def _swapped(obj: Any) -> Any:
    values = obj.get("data")
    return obj if not values else {"data": {_NAMES.get(key, key): values[key] for key in values}}


SWAPPING = Ownership(
    "v1",
    TYPE,
    other_version=lambda v: KindVersion(TYPE, _swapped, _swapped) if v == "old" else None,
)


def test_an_applier_that_changes_its_version_gives_up_what_it_said_in_the_other() -> None:
    """It owns `a` of the old version, which is `b`. It says `a` again, which is another field now:
    nothing is missing from what it says, and yet `b` goes."""
    before = Managers({APPLIER: Owned(keys("a"), "old")})
    found, left = SWAPPING.applied(data(b="1"), data(a="2"), before, APPLIER, force=False)
    assert found["data"] == {"a": "2"}
    assert owned(left) == {"m": (keys("a"), "v1")}


def test_an_applier_that_changes_its_version_leaves_what_others_own() -> None:
    before = Managers({APPLIER: Owned(keys("a"), "old"), OTHER: Owned(keys("b"), "v1")})
    found, left = SWAPPING.applied(data(b="1"), data(a="2"), before, APPLIER, force=False)
    assert found["data"] == {"a": "2", "b": "1"}
    assert owned(left) == {"m": (keys("a"), "v1"), "n": (keys("b"), "v1")}


def test_fields_of_other_versions_are_taken_in_their_terms() -> None:
    before = Managers({TWO: Owned(keys("a", "c"), "old")})
    found = SWAPPING.updated(data(b="1", c="1"), data(b="2", c="1"), before, ONE, "now")
    assert owned(found) == {"one": (keys("b"), "v1"), "two": (keys("c"), "old")}


def test_managers_of_a_version_that_is_gone_own_nothing() -> None:
    before = Managers({TWO: Owned(keys("a"), "gone")})
    assert owned(SWAPPING.updated(data(a="1"), data(a="1"), before, ONE, "now")) == {}


def test_an_applier_need_not_know_the_versions_of_all_managers() -> None:
    before = Managers({APPLIER: Owned(keys("a", "b"), "v1"), TWO: Owned(keys("z"), "gone")})
    found, left = V1.applied(data(a="1", b="1"), data(a="1"), before, APPLIER, force=False)
    assert found["data"] == {"a": "1"}
    assert owned(left) == {"m": (keys("a"), "v1")}


def test_what_was_applied_in_a_version_that_is_gone_stays() -> None:
    before = Managers({APPLIER: Owned(keys("a", "b"), "gone")})
    found, left = V1.applied(data(a="1", b="1"), data(a="1"), before, APPLIER, force=False)
    assert found["data"] == {"a": "1", "b": "1"}
    assert owned(left) == {"m": (keys("a"), "v1")}
