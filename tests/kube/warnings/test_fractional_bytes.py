"""Amounts that are no whole number of bytes."""

from __future__ import annotations

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.pod_warnings import claim_spec_warnings, fractional_bytes

PATH = FieldPath("f")


@pytest.mark.parametrize(
    ("amount", "shown"),
    [("200Mi", ""), ("1", ""), (1, ""), ("1500m", "1500m"), ("0.0001", "100u"), ("x", "")],
)
def test_amounts(amount: object, shown: str) -> None:
    want = [f'f[memory]: fractional byte value "{shown}" is invalid, must be an integer']
    # Below a thousandth of a byte, upstream rounds up first: 100u is 1m.
    assert list(fractional_bytes({"memory": amount}, "memory", PATH)) == (want if shown else [])


def test_both_amounts_of_a_claim() -> None:
    spec = {"resources": {"requests": {"storage": "100m"}, "limits": {"storage": "1Gi"}}}
    assert list(claim_spec_warnings(spec, FieldPath("spec"))) == [
        'spec.resources.requests[storage]: fractional byte value "100m" is invalid, must be an '
        "integer"
    ]


def test_an_amount_of_a_million_digits_is_whole() -> None:
    assert list(fractional_bytes({"memory": "1" * 1_000_000}, "memory", PATH)) == []
