"""What is said against revisions, stored versions and moves between them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.name_rules import dns1035_label, dns1123_subdomain
from celadon.kube.releases import answering_as
from celadon.kube.validation.api_services_and_storage_versions import (
    migration_changes,
    migration_status,
    storage_version_name,
    storage_version_status,
)
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
            ["spec.resource.resource: Required value: resource is required to be set"],
        ),
        (
            migration(resource="Pods", group="a_b"),
            [
                f'spec.resource.resource: Invalid value: "Pods": {dns1035_label("Pods")[0]}',
                f'spec.resource.group: Invalid value: "a_b": {dns1123_subdomain("a_b")[0]}',
            ],
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
            [
                'spec: Invalid value: {"Resource":{"group":"batch","resource":"deployments"}}: '
                "field is immutable"
            ],
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
                'status.resourceVersion: Invalid value: "x": resource version is not well '
                "formed: x",
                'status.resourceVersion: Invalid value: "x": field is immutable',
            ],
        ),
        (
            {"resourceVersion": "-1", "conditions": [condition("Failed"), condition("Succeeded")]},
            {},
            [
                'status.resourceVersion: Invalid value: "-1": resource version is not well formed: '
                "-1",
                f"status.conditions: Invalid value: {printed('Failed', 'Succeeded')}: Both success "
                "and failed conditions cannot be true at the same time",
            ],
        ),
        (
            {"conditions": [condition("Running"), condition("Succeeded")]},
            {"conditions": [condition("Failed")]},
            [
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
    ("release", "expected"),
    [
        (
            "1.33",
            [
                'status.resourceVersion: Invalid value: "x": failed to parse resource version "x": '
                'strconv.ParseInt: parsing "x": invalid syntax',
                'status.resourceVersion: Invalid value: "x": resourceVersion cannot be updated',
            ],
        ),
        (
            "1.34",
            [
                'status.resourceVersion: Invalid value: "x": failed to parse resource version "x": '
                'strconv.ParseInt: parsing "x": invalid syntax',
                'status.resourceVersion: Invalid value: "x": field is immutable',
            ],
        ),
        (
            "1.35",
            [
                'status.resourceVersion: Invalid value: "x": resource version is not well '
                "formed: x",
                'status.resourceVersion: Invalid value: "x": field is immutable',
            ],
        ),
    ],
)
def test_versions_of_migrations_by_release(release: str, expected: list[str]) -> None:
    with answering_as(release):
        found = migration_status(
            {"status": {"resourceVersion": "x"}}, {"status": {"resourceVersion": "5"}}
        )
        assert list(map(str, found)) == expected


def test_conditions_of_older_migrations() -> None:
    times = {"lastUpdateTime": TIME, "lastTransitionTime": None}
    status = {"conditions": [{**condition(kind), **times} for kind in ("Running", "Failed")]}
    with answering_as("1.34"):
        (error,) = migration_status({"status": status}, {})
        assert error.detail.startswith("Running condition cannot be true when failed")
        assert '"LastUpdateTime":"2024-01-01T00:00:00Z"' in str(error)


@pytest.mark.parametrize(
    ("release", "found"),
    [("1.34", ["version"]), ("1.35", ["spec"]), ("1.36", ["spec"])],
)
def test_what_is_moved_stays_in_every_release(release: str, found: list[str]) -> None:
    old, new = ({"spec": {"resource": {"resource": "pods", "version": v}}} for v in ("v1", "v2"))
    if release != "1.34":
        new["spec"]["resource"]["group"] = "apps"
    with answering_as(release):
        assert [error.field for error in migration_changes(new, old)] == found


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


def server(**fields: Any) -> Json:
    found = {"apiServerID": "s", "encodingVersion": "v1", "decodableVersions": ["v1"], **fields}
    return {key: value for key, value in found.items() if value is not None}


def reported(*servers: Json, common: str | None = "v1", **fields: Any) -> Json:
    shared = {} if common is None else {"commonEncodingVersion": common}
    return {"status": {"storageVersions": list(servers), **shared, **fields}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, []),
        (reported(server(servedVersions=["v1"])), []),
        (reported(server(), server(apiServerID="t"), conditions=[condition("A")]), [
            "status[0].message: Required value",
        ]),
        (reported(server(), server()), [
            'status.storageVersions[1].apiServerID: Duplicate value: "s"',
        ]),
        (reported(server(encodingVersion="a/v1", decodableVersions=["a/v1", "A/v1", "/v1", ""]),
                  common="a/v1"), [
            'status.storageVersions[0].decodableVersions[1]: Invalid value: "A/v1": '
            f'group part: {dns1123_subdomain("A")[0]}',
            'status.storageVersions[0].decodableVersions[2]: Invalid value: "/v1": '
            "group part: must be non-empty",
            'status.storageVersions[0].decodableVersions[3]: Invalid value: "": '
            "version part: must be non-empty",
        ]),
        (reported(server(decodableVersions=None, servedVersions=["v2"])), [
            "status.storageVersions[0].decodableVersions: Invalid value: null: decodableVersions "
            "must include encodingVersion v1",
            'status.storageVersions[0].servedVersions[0]: Invalid value: "v2": individual served '
            "version : v2 must be included in decodableVersions : []",
        ]),
        (reported(server(), common=None), [
            "status.commonEncodingVersion: Invalid value: null: the common encoding version is v1",
        ]),
        (reported(server(), common="v2"), [
            'status.commonEncodingVersion: Invalid value: "v2": the actual common encoding version '
            "is v1",
        ]),
        (reported(), [
            'status.commonEncodingVersion: Invalid value: "v1": should be nil if servers do not '
            "agree on the same encoding version, or if there is no server reporting the supported "
            "versions yet",
        ]),
        (reported(server(), conditions=[{**condition("A"), "message": "m", "reason": ""}] * 2), [
            "status[0].reason: Required value",
            'status[1].type: Invalid value: "A": the type of the condition is not unique, it also '
            "appears in conditions[0]",
            "status[1].reason: Required value",
        ]),
    ],
)  # fmt: skip
def test_versions_that_servers_report(value: Json, expected: list[str]) -> None:
    assert list(map(str, storage_version_status(value, {}))) == expected


def test_conditions_without_words_before_1_34() -> None:
    value = reported(server(), conditions=[{**condition("A"), "message": "", "reason": ""}])
    with answering_as("1.33"):
        assert list(map(str, storage_version_status(value, {}))) == [
            "status[0].reason: Required value: reason cannot be empty",
            "status[0].message: Required value: message cannot be empty",
        ]
