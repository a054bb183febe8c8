"""What is said against classes of storage."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]


def storage_class(**fields: Any) -> Json:
    return obj("storage.k8s.io/v1", "StorageClass", **{"provisioner": "p", **fields})


def attributes_class(**fields: Any) -> Json:
    found = {"driverName": "d", "parameters": {"a": "b"}, **fields}
    return obj("storage.k8s.io/v1", "VolumeAttributesClass", **found)


def topology(*values: str, key: str = "zone") -> Json:
    return {"matchLabelExpressions": [{"key": key, "values": list(values)}]}


GOOD = [storage_class(allowedTopologies=[topology("a"), topology("b")]), attributes_class()]


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (storage_class(provisioner=""), ["provisioner: Required value"]),
        (
            storage_class(volumeBindingMode=""),
            [
                'volumeBindingMode: Unsupported value: "": supported values: "Immediate", '
                '"WaitForFirstConsumer"'
            ],
        ),
        (
            storage_class(parameters={"": "x"}, reclaimPolicy="x", volumeBindingMode="x"),
            [
                'parameters: Invalid value: "": field can not be empty.',
                'reclaimPolicy: Unsupported value: "x": supported values: "Delete", "Retain"',
                'volumeBindingMode: Unsupported value: "x": supported values: "Immediate", '
                '"WaitForFirstConsumer"',
            ],
        ),
        (
            storage_class(parameters={str(number): "" for number in range(513)}),
            ["parameters: Too long: may not be more than 512 bytes"],
        ),
        (
            storage_class(parameters={"a": "x" * 262144}),
            ["parameters: Too long: may not be more than 262144 bytes"],
        ),
        (
            storage_class(
                allowedTopologies=[
                    topology("a", "a"),
                    topology("a"),
                    {"matchLabelExpressions": [*topology()["matchLabelExpressions"]] * 2},
                ]
            ),
            [
                'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
                'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
                "allowedTopologies[2].matchLabelExpressions[0].values: Required value",
                "allowedTopologies[2].matchLabelExpressions[1].values: Required value",
                'allowedTopologies[2].matchLabelExpressions[1].key: Duplicate value: "zone"',
            ],
        ),
        (
            storage_class(allowedTopologies=[topology("a"), {}]),
            ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'] * 2,
        ),
        (attributes_class(driverName=""), ["driverName: Required value"]),
        (attributes_class(driverName="a..b"), []),
        (
            attributes_class(parameters={}),
            ["parameters: Required value: must contain at least one key/value pair"],
        ),
        (
            attributes_class(driverName="x" * 64),
            [f'driverName: Invalid value: "{"x" * 64}": name part must be no more than 63 bytes'],
        ),
    ],
)
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


@pytest.mark.parametrize(
    ("value", "old", "expected"),
    [
        (
            storage_class(
                parameters={"a": "b"}, reclaimPolicy="Retain", volumeBindingMode="Immediate"
            ),
            storage_class(provisioner="q", volumeBindingMode="WaitForFirstConsumer"),
            [
                'parameters: Invalid value: {"a":"b"}: field is immutable',
                'provisioner: Invalid value: "p": field is immutable',
                'reclaimPolicy: Invalid value: "Retain": field is immutable',
                'volumeBindingMode: Invalid value: "Immediate": field is immutable',
            ],
        ),
        (
            attributes_class(parameters={"a": "c"}, driverName="e"),
            attributes_class(),
            [
                "driverName: Forbidden: updates to driverName are forbidden.",
                "parameters: Forbidden: updates to parameters are forbidden.",
            ],
        ),
    ],
)
def test_changes(value: Json, old: Json, expected: list[str]) -> None:
    assert update_complaints(value, old) == expected
