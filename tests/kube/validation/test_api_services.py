"""What is said against APIServices."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.api_services_and_storage_versions import api_service_status
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]


def api_service(name: str = "v1.a.b", **spec: Any) -> Json:
    found = {
        "group": "a.b", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, **spec
    }  # fmt: skip
    return obj("apiregistration.k8s.io/v1", "APIService", meta={"name": name}, spec=found)


GOOD = [
    api_service(),
    api_service("v1.", group=""),
    api_service(service={"namespace": "n", "name": "s"}, insecureSkipTLSVerify=True),
]


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            api_service("x"),
            ['metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.a.b"'],
        ),
        (
            api_service(
                "v2.", group="", version="v2", groupPriorityMinimum=0, versionPriority=1001
            ),
            [
                "spec.group: Required value: only v1 may have an empty group and it better be "
                "legacy kube",
                "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
                "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000",
            ],
        ),
        (
            api_service(caBundle="YWJj", insecureSkipTLSVerify=True),
            [
                'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a '
                "caBundle",
                "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have "
                "insecureSkipTLSVerify",
            ],
        ),
        (
            api_service(service={"port": 70000}, caBundle="YWJj", insecureSkipTLSVerify=True),
            [
                "spec.service.namespace: Required value",
                "spec.service.name: Required value",
                "spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and "
                "65535, inclusive",
                "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is "
                "present",
            ],
        ),
    ],
)
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


def test_conditions_hold_or_not() -> None:
    value = {"status": {"conditions": [{"type": "Available", "status": "x"}]}}
    assert list(map(str, api_service_status(value, value))) == [
        'status.conditions[0].status: Unsupported value: "x": supported values: "True", "False", '
        '"Unknown"'
    ]


def test_finalizers_need_no_domain() -> None:
    named = api_service()
    named = {**named, "metadata": {**named["metadata"], "finalizers": ["x"]}}
    assert complaints(named) == []
    assert update_complaints(named, named) == []
