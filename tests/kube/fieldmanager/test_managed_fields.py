"""Entries of `managedFields`: reading, order, and what an update starts from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.crd.custom_kinds import custom_kinds
from celadon.kube.fieldmanager.field_sets import FieldSet, field_set
from celadon.kube.fieldmanager.managed_fields import (
    REPLICAS,
    EntryError,
    Managers,
    Owned,
    decoded,
    encoded,
    entries_problem,
    limit_updaters,
    manager_id,
    managers_of_parent,
    managers_of_scale,
    managers_of_update,
    with_old_times,
    writable,
)
from celadon.kube.fieldmanager.structured_merge import Comparison
from celadon.kube.registry.decoded_object import Target
from celadon.kube.releases import answering_as
from celadon.kube.resources.api_resources import custom_resources
from tests.growth.counted_steps import LINEAR, growth
from tests.kube.fieldmanager.field_set_values import SETS
from tests.kube.registry.targets import target

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
    ("change", "why"),
    [
        ({"operation": "Patch"}, "operation must be `Apply` or `Update`"),
        ({"apiVersion": ""}, "apiVersion must not be empty"),
        (
            {"fieldsType": "FieldsV2"},
            'invalid fieldsType "FieldsV2" in managed fields entry 1',
        ),
        ({"fieldsType": None}, "missing fieldsType in managed fields entry 1"),
        ({"fieldsV1": {"?": {}}}, None),
        ({"fieldsV1": [1]}, None),
    ],
)
def test_unreadable_entries(change: dict[str, Any], why: str | None) -> None:
    entries = [_entry(), _entry(**change)]
    with pytest.raises(EntryError) as refused:
        decoded(entries)
    assert why is None or str(refused.value) == why
    assert entries_problem(entries) == str(refused.value)
    assert entries_problem(entries[:1]) == ""


@pytest.mark.parametrize(
    ("entries", "why"),
    [("x", "managedFields is a list"), ([1], "an entry of managedFields is an object")],
)
def test_no_entries_at_all(entries: Any, why: str) -> None:
    assert entries_problem(entries) == why


def test_order_of_entries() -> None:
    late = "2025-01-01T00:00:01Z"
    timeless = {key: value for key, value in _entry("zz", "Apply").items() if key != "time"}
    wanted = [
        timeless,
        _entry("z", "Apply"),
        _entry("a", "Apply", time=late),
        _entry("a"),
        _entry("b", apiVersion="v0"),
        _entry("b"),
        {**_entry("b"), "subresource": "status"},
        _entry("a", apiVersion="v0", time=late),
    ]
    assert encoded(decoded(wanted[::-1])) == wanted


COUNT: dict[str, tuple[str, ...]] = {"v1": ("f:spec", "f:replicas"), "v2": ("f:n",), "v3": ()}
"""Where versions have the count of their scale: the third has none, others there are not."""


def _owners(*entries: tuple[str, str, str, list[tuple[str, ...]]]) -> Managers:
    """Of name, operation, version and paths of each."""
    made = Managers()
    for name, operation, version, paths in entries:
        manager = manager_id(name, operation, version)
        made.owned[manager] = Owned(field_set(*paths), version)
        made.times[manager] = f"time of {name}"
    return made


def _shown(managers: Managers) -> list[tuple[str, str, str, FieldSet, str]]:
    return [
        (one.name, one.api_version, owned.api_version, owned.fields, managers.times[one])
        for one, owned in managers.owned.items()
    ]


PARENT = _owners(
    ("a", "Update", "v1", [REPLICAS, ("f:spec", "f:x")]),
    ("b", "Apply", "v2", [("f:n",), ("f:y",)]),
    ("c", "Update", "v2", [("f:x",)]),
    ("d", "Update", "v3", [REPLICAS]),
    ("e", "Update", "gone", [REPLICAS]),
)


def test_whoever_owns_the_count_owns_that_of_the_scale() -> None:
    found = managers_of_scale(PARENT, COUNT.get)
    count = field_set(REPLICAS)
    assert _shown(found) == [
        ("a", "autoscaling/v1", "autoscaling/v1", count, "time of a"),
        ("b", "", "autoscaling/v1", count, "time of b"),
    ]


def test_what_owners_of_the_scale_own_of_the_object() -> None:
    """The count, in the version that is written; who owned it before keeps all he has. Others lose
    it, and nothing else."""
    scale = _owners(
        ("b", "Apply", "autoscaling/v1", [REPLICAS]),
        ("hpa", "Update", "autoscaling/v1", [REPLICAS]),
        ("none", "Update", "autoscaling/v1", [("f:status", "f:replicas")]),
    )
    found = managers_of_parent(PARENT, scale, COUNT.get, "v1")
    assert _shown(found) == [
        ("a", "v1", "v1", field_set(("f:spec", "f:x")), "time of a"),
        ("b", "", "v2", field_set(("f:n",), ("f:y",)), "time of b"),
        ("c", "v2", "v2", field_set(("f:x",)), "time of c"),
        ("d", "v3", "v3", field_set(REPLICAS), "time of d"),
        ("hpa", "autoscaling/v1", "v1", field_set(REPLICAS), ""),
    ]
    kept = managers_of_parent(PARENT, scale, COUNT.get, "v3")
    assert [(one.name, owned.fields) for one, owned in kept.owned.items()] == [
        ("a", field_set(("f:spec", "f:x"))),
        ("b", field_set(("f:n",), ("f:y",))),
        ("c", field_set(("f:x",))),
        ("d", field_set(REPLICAS)),
    ]


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
        ({"spec": {"a": 1.0}}, False),
        ({"spec": {"a": True}}, False),
        ({"metadata": {"labels": {"a": "b"}}}, False),
        ({"metadata": {"managedFields": [_entry("other", time="2026-01-01T00:00:00Z")]}}, False),
    ],
)
def test_a_write_of_the_same_keeps_its_times(change: dict[str, Any], keeps_time: bool) -> None:
    old = {"data": {"a": "1"}, "spec": {"a": 1}, "metadata": {"managedFields": [_entry()]}}
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


STATUS = ("f:status",)
LABELS = ("f:metadata", "f:labels")
Row = tuple[str, str, list[tuple[str, ...]], list[tuple[str, ...]]]


def _wiping(resource: str) -> Row:
    """One whose status resets all metadata."""
    return resource, "status", [STATUS], [("f:spec", "f:a"), LABELS, ("f:metadata", "f:x")]


WRITABLE: list[Row] = [
    # Resource, subresource, fields that a writer gets, fields that he does not.
    ("apps/v1/deployments", "", [("f:spec",), ("f:metadata", "f:labels")], [STATUS]),
    ("apps/v1/deployments", "status", [STATUS], [("f:spec",), ("f:spec", "f:replicas")]),
    ("v1/pods", "resize", [("f:spec", "f:containers"), STATUS, LABELS], []),
    ("v1/pods", "ephemeralcontainers", [("f:spec", "f:containers"), STATUS, LABELS], []),
    (
        "v1/pods",
        "status",
        [STATUS, LABELS],
        [("f:spec", "f:a"), ("f:metadata", "f:ownerReferences")],
    ),
    *map(
        _wiping,
        (
            "apiregistration.k8s.io/v1/apiservices",
            "flowcontrol.apiserver.k8s.io/v1/flowschemas",
            "storage.k8s.io/v1/volumeattachments",
        ),
    ),
    ("v1/namespaces", "finalize", [("f:spec", "f:finalizers")], [STATUS]),
    (
        *("certificates.k8s.io/v1/certificatesigningrequests", "approval"),
        [("f:status", "f:conditions")],
        [("f:spec", "f:signerName"), ("f:status", "f:certificate")],
    ),
]


@pytest.mark.parametrize(("resource", "subresource", "given", "withheld"), WRITABLE)
def test_what_an_endpoint_can_give(
    resource: str,
    subresource: str,
    given: list[tuple[str, ...]],
    withheld: list[tuple[str, ...]],
) -> None:
    endpoint = writable(target(resource, "a", subresource))
    assert endpoint.of(field_set(*given, *withheld)) == field_set(*given)
    every, some = field_set(*given, *withheld), field_set(*given)
    comparison = Comparison()
    comparison.added = comparison.modified = comparison.removed = every
    found = endpoint.of_comparison(comparison)
    assert (found.added, found.modified, found.removed) == (some, some, some)


@pytest.mark.parametrize(
    ("resource", "release", "given"),
    [
        ("apiextensions.k8s.io/v1/customresourcedefinitions", "1.35", [STATUS]),
        ("apiextensions.k8s.io/v1/customresourcedefinitions", "1.36", [STATUS, LABELS]),
        ("networking.k8s.io/v1/servicecidrs", "1.35", [STATUS, LABELS, ("f:spec",)]),
        ("networking.k8s.io/v1/servicecidrs", "1.36", [STATUS]),
    ],
)
def test_what_a_status_can_give_by_release(
    resource: str, release: str, given: list[tuple[str, ...]]
) -> None:
    endpoint = target(resource, "a", "status")
    with answering_as(release):
        found = writable(endpoint).of(field_set(STATUS, LABELS, ("f:spec",)))
    assert found == field_set(*given)


@pytest.mark.parametrize(("release", "given"), [("1.33", [STATUS, LABELS]), ("1.36", [LABELS])])
def test_what_a_range_of_services_can_give_by_release(
    release: str, given: list[tuple[str, ...]]
) -> None:
    endpoint = target("networking.k8s.io/v1/servicecidrs", "a")
    with answering_as(release):
        assert writable(endpoint).of(field_set(STATUS, LABELS)) == field_set(*given)


@pytest.mark.parametrize(
    ("has_status", "subresource", "given", "withheld"),
    [
        (True, "", [("f:spec",)], [STATUS, ("f:status", "f:a")]),
        (False, "", [("f:spec",), STATUS], []),
        (True, "status", [STATUS, ("f:status", "f:a")], [("f:spec",), ("f:metadata", "f:labels")]),
        (True, "scale", [("f:spec",), STATUS], []),
    ],
)
def test_what_an_endpoint_of_a_custom_resource_can_give(
    has_status: bool,
    subresource: str,
    given: list[tuple[str, ...]],
    withheld: list[tuple[str, ...]],
) -> None:
    counts = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
        "subresources": {"scale": counts, **({"status": {}} if has_status else {})},
    }
    names = {"kind": "Box", "plural": "boxes"}
    spec = {"group": "x.io", "names": names, "scope": "Namespaced", "versions": [version]}
    definition = {"kind": "CustomResourceDefinition", "spec": spec}
    (custom,) = custom_kinds(definition).values()
    endpoint = Target(custom_resources(definition)[0], "ns", "a", subresource, custom=custom)
    assert writable(endpoint).of(field_set(*given, *withheld)) == field_set(*given)
    labels = field_set(("f:metadata", "f:labels"))
    with answering_as("1.35"):
        assert writable(endpoint).of(labels) == labels
        if subresource == "status":
            more = field_set(("f:spec",), ("f:spec", "f:a"), STATUS) | labels
            assert writable(endpoint).of(more) == field_set(STATUS) | labels
