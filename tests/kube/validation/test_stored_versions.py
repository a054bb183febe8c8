"""What is said against revisions, stored versions and moves between them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.small_groups import migration_status, storage_version_name
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]
TIME = "2024-01-01T00:00:00Z"


def revision(**fields: Any) -> Json:
    return obj("apps/v1", "ControllerRevision", **{"data": {"a": 1}, "revision": 1, **fields})


def migration(**resource: str) -> Json:
    found = {"resource": {"group": "apps", "resource": "deployments", **resource}}
    return obj("storagemigration.k8s.io/v1beta1", "StorageVersionMigration", spec=found)


GOOD = [revision(), migration()]


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            {**revision(revision=-1), "data": None},
            [
                "revision: Invalid value: -1: must be greater than or equal to 0",
                "data: Required value: data is mandatory",
            ],
        ),
        (
            revision(data=[1]),
            ["data: Required value: data must be a valid JSON object"],
        ),
        (
            migration(resource=""),
            ["spec.resource.resource: Required value: resource is required"],
        ),
    ],
)
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


@pytest.mark.parametrize(
    ("value", "old", "expected"),
    [
        (
            revision(data={"a": 2}, revision=2),
            revision(),
            ['data: Invalid value: {"a":2}: field is immutable'],
        ),
        (
            migration(group="batch"),
            migration(),
            ['group: Invalid value: "batch": field is immutable'],
        ),
    ],
)
def test_changes(value: Json, old: Json, expected: list[str]) -> None:
    assert update_complaints(value, old) == expected


def condition(kind: str) -> Json:
    return {
        "type": kind,
        "status": "True",
        "lastTransitionTime": TIME,
        "reason": "R",
        "message": "",
    }


def printed(*kinds: str) -> str:
    shown = (
        f'{{"type":"{kind}","status":"True","lastTransitionTime":"{TIME}","reason":"R",'
        '"message":""}'
        for kind in kinds
    )
    return f"[{','.join(shown)}]"


@pytest.mark.parametrize(
    ("status", "old", "expected"),
    [
        ({"resourceVersion": "5", "conditions": [condition("Running")]}, {}, []),
        (
            {"resourceVersion": "x"},
            {"resourceVersion": "5"},
            [
                'status.resourceVersion: Invalid value: "x": failed to parse resource version "x": '
                'strconv.ParseInt: parsing "x": invalid syntax',
                'status.resourceVersion: Invalid value: "x": resourceVersion cannot be updated',
            ],
        ),
        (
            {"resourceVersion": "-1", "conditions": [condition("Failed"), condition("Succeeded")]},
            {},
            [
                "status.resourceVersion: Invalid value: -1: must be greater than or equal to 0",
                f"status.conditions: Invalid value: {printed('Failed', 'Succeeded')}: Both success "
                "and failed conditions cannot be true at the same time",
            ],
        ),
        (
            {"conditions": [condition("Running"), condition("Succeeded")]},
            {"conditions": [condition("Failed")]},
            [
                f"status.conditions: Invalid value: {printed('Running', 'Succeeded')}: Running "
                "condition cannot be true when success condition is true",
                f"status.conditions: Invalid value: {printed('Running', 'Succeeded')}: Failed "
                "condition cannot be set to false once it is true",
            ],
        ),
    ],
)
def test_ends_of_migrations(status: Json, old: Json, expected: list[str]) -> None:
    found = migration_status({"status": status}, {"status": old})
    assert list(map(str, found)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("apps.deployments", []),
        ("deployments", ["name must be in the form of <group>.<resource>"]),
        ("A_.1", 2),
    ],
)
def test_names_of_stored_versions(name: str, expected: list[str] | int) -> None:
    found = storage_version_name(name)
    assert found == expected or len(found) == expected
