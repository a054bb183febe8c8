"""What is said against how much of a device can be asked for."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.validation.resource_slices import capacity

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"default": "1", "validValues": ["1", "2"]}, []),
        ({"default": "2", "validRange": {"min": "1", "max": "9", "step": "1"}}, []),
        (
            {"validValues": ["1"], "validRange": {}},
            [
                ': Forbidden: exactly one policy can be specified, cannot specify "validValues" '
                'and "validRange" at the same time'
            ],
        ),
        (
            {"validValues": ["1"]},
            [".default: Required value: required when validValues is defined"],
        ),
        ({"validRange": {}}, [".default: Required value: required when validRange is defined"]),
        (
            {"default": "3", "validValues": ["2", "1", "11", "11"]},
            [
                '.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
                '.validValues[2]: Invalid value: "11": option is larger than capacity value: 10',
                '.validValues[3]: Invalid value: "11": option is larger than capacity value: 10',
                '.validValues[3]: Duplicate value: "11"',
                '.validValues: Invalid value: "3": default value is not valid according to the '
                "requestPolicy",
            ],
        ),
        (
            {"default": "1", "validRange": {}},
            [".validRange.min: Required value: required when validRange is defined"],
        ),
        (
            {"default": "1", "validRange": {"min": "12", "max": "11"}},
            [
                '.validRange.min: Invalid value: "12": min is larger than capacity value: 10',
                '.validRange.min: Invalid value: "1": default is less than min: 12',
                '.validRange.max: Invalid value: "12": min is larger than max: 11',
                '.validRange.max: Invalid value: "11": max is larger than capacity value: 10',
            ],
        ),
        (
            {"default": "9", "validRange": {"min": "1", "max": "8", "step": "10"}},
            [
                '.validRange.max: Invalid value: "9": default is more than max: 8',
                '.validRange.step: Invalid value: "10": one step 11 is larger than capacity value: '
                "10",
                '.validRange.step: Invalid value: "9": value is not a multiple of a given step '
                "(10) from (1)",
                '.validRange.step: Invalid value: "8": value is not a multiple of a given step '
                "(10) from (1)",
            ],
        ),
    ],
)
def test_policies(policy: Json, expected: list[str]) -> None:
    given = {"value": "10", "requestPolicy": policy}
    found = capacity(FieldPath("c"), given, shared=True)
    assert list(map(str, found)) == [f"c.requestPolicy{text}" for text in expected]


def test_only_what_is_shared_has_a_policy() -> None:
    (found,) = capacity(FieldPath("c"), {"value": "1", "requestPolicy": {}}, shared=False)
    assert str(found) == "c.requestPolicy: Forbidden: allowMultipleAllocations must be true"
