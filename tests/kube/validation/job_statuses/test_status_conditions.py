"""What is said against conditions of all kinds."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.validation.field_checks import condition_is_true, conditions

Json = dict[str, Any]


def condition(**fields: Any) -> Json:
    found = {"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}
    return {**found, "reason": "R", "message": "", **fields}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([condition(), condition(type="a.b/Other", observedGeneration=1)], []),
        ([condition(reason="R" * 1024, message="é" * 16384)], []),
        (
            [condition(message="é" * 16384 + "x")],
            ["status.conditions[0].message: Too long: may not be more than 32768 bytes"],
        ),
        ([condition(), condition()], ['status.conditions[1].type: Duplicate value: "Ready"']),
        (
            [condition(status="x", observedGeneration=-1, lastTransitionTime=None, reason="")],
            [
                'status.conditions[0].status: Unsupported value: "x": supported values: "False", '
                '"True", "Unknown"',
                "status.conditions[0].observedGeneration: Invalid value: -1: must be greater than "
                "or equal to zero",
                "status.conditions[0].lastTransitionTime: Required value",
                "status.conditions[0].reason: Required value",
            ],
        ),
        (
            [condition(reason="R" * 1025, message="x" * 32769)],
            [
                "status.conditions[0].reason: Too long: may not be more than 1024 bytes",
                "status.conditions[0].message: Too long: may not be more than 32768 bytes",
            ],
        ),
    ],
)
def test_complaints(given: list[Json], expected: list[str]) -> None:
    found = conditions(FieldPath("status"), {"conditions": given})
    assert list(map(str, found)) == expected


def test_what_holds() -> None:
    status = {"conditions": [condition(), condition(type="B", status="False")]}
    assert [condition_is_true(status, kind) for kind in ("Ready", "B", "C")] == [True, False, False]
