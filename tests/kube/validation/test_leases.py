"""What is said against Leases and those who want one."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.coordination import lease as lease_errors
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]


def lease(**spec: Any) -> Json:
    return obj("coordination.k8s.io/v1", "Lease", spec=spec)


def candidate(**spec: Any) -> Json:
    found = {
        "leaseName": "l", "binaryVersion": "1.36.0", "emulationVersion": "1.35.0",
        "strategy": "OldestEmulationVersion", **spec,
    }  # fmt: skip
    return obj("coordination.k8s.io/v1beta1", "LeaseCandidate", spec=found)


GOOD = [
    lease(leaseDurationSeconds=1, leaseTransitions=0),
    candidate(),
    candidate(emulationVersion="", strategy="example.com/mine"),
]


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            lease(leaseDurationSeconds=0, leaseTransitions=-1),
            [
                "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
                "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
            ],
        ),
        (
            candidate(strategy="x"),
            [
                'spec.strategy.strategy: Unsupported value: "x": supported values: '
                '"OldestEmulationVersion"'
            ],
        ),
        (
            candidate(leaseName="", binaryVersion="1", emulationVersion="x"),
            [
                "spec.leaseName: Required value",
                'spec.emulationVersion: Invalid value: "x": must be a valid semantic version',
                'spec.binaryVersion: Invalid value: "1": must be a valid semantic version',
                "spec.emulationVersion: Required value: must be specified when `strategy` is "
                "'OldestEmulationVersion'",
            ],
        ),
        (
            candidate(binaryVersion="1.34.0"),
            [
                'spec.binaryVersion: Invalid value: "1.34.0": must be greater than or equal to '
                "`emulationVersion`"
            ],
        ),
        (
            candidate(binaryVersion="", strategy=""),
            ["spec.binaryVersion: Required value", "spec.strategy: Required value"],
        ),
    ],
)
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


def test_the_lease_stays() -> None:
    assert update_complaints(candidate(leaseName="m"), candidate()) == [
        'spec.leaseName: Invalid value: "m": field is immutable'
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"strategy": "example.com/a", "preferredHolder": "h"}, []),
        ({"strategy": "x"}, [
            'spec.strategy.strategy: Unsupported value: "x": supported values: '
            '"OldestEmulationVersion"',
        ]),
        ({"preferredHolder": "h"}, [
            "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined",
        ]),
    ],
)  # fmt: skip
def test_leaders_that_are_chosen(spec: Json, expected: list[str]) -> None:
    assert list(map(str, lease_errors(lease(**spec)))) == expected
