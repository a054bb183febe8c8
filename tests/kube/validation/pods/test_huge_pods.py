"""Pods with tens of thousands of parts are looked at once for each part.

Comparisons and calls are counted, for time depends on the machine.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.pod_warnings import overlapping_paths
from celadon.kube.quantity import parse
from celadon.kube.validation.pods.pod_specs import pod_spec


class Compared(str):
    """A text that counts how often one is compared."""

    __slots__ = ()
    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str.__eq__(self, other)


def spread(count: int) -> dict[str, Any]:
    constraints = [
        {
            "maxSkew": 1,
            "topologyKey": Compared(f"k{number}"),
            "whenUnsatisfiable": "DoNotSchedule",
        }
        for number in range(count)
    ]
    return {"topologySpreadConstraints": constraints}


def claims(count: int) -> dict[str, Any]:
    names = [Compared(f"c{number}") for number in range(count)]
    used = [{"name": Compared(name)} for name in names]
    container = {"name": "a", "image": "b", "resources": {"claims": used}}
    given = [{"name": name, "resourceClaimName": "r"} for name in names]
    return {"resourceClaims": given, "containers": [container]}


@pytest.mark.parametrize("spec", [spread(500), claims(500)])
def test_parts_are_not_compared_with_all_others(spec: dict[str, Any]) -> None:
    Compared.times = 0
    assert list(pod_spec(FieldPath("spec"), spec))
    assert Compared.times < 500 * 20


def test_claims_that_were_named_with_requests() -> None:
    used = [{"name": "a", "request": "x"}, {"name": "a", "request": "y"}, {"name": "a"}]
    container = {"name": "a", "image": "b", "resources": {"claims": used}}
    spec = {
        "resourceClaims": [{"name": "a", "resourceClaimName": "r"}],
        "containers": [container],
    }
    wanted = "spec.containers[0].resources.claims[2]"
    errors = [error for error in pod_spec(FieldPath("spec"), spec) if str(error.path) == wanted]
    assert len(errors) == 2


def calls_of(volume: dict[str, Any]) -> int:
    """How many functions begin while its paths are looked at."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        assert list(overlapping_paths([volume])) == []
    finally:
        sys.setprofile(before)
    return calls


def test_paths_that_cannot_meet_are_not_compared() -> None:
    items = [{"key": f"k{number}", "path": f"p{number}"} for number in range(500)]
    sources = [{"configMap": {"name": "m", "items": items}}]
    assert calls_of({"name": "v", "projected": {"sources": sources}}) < 500 * 20


def test_amounts_of_a_million_digits() -> None:
    """As ints they would need half a minute in which no other thread runs, and have no text."""
    amounts = {"memory": "1" * 1_000_000, "hugepages-2Mi": "2" * 1_000_000}
    container = {"name": "a", "image": "b", "resources": {"limits": amounts}}
    assert list(pod_spec(FieldPath("spec"), {"containers": [container]}))
    assert parse("-" + "1" * 1_000_000).int64_value() <= (1 << 63) - 1
    assert [parse(text).int64_value() for text in ("-0.5", "1500m", "7", "-9Ki")] == [
        -1,
        2,
        7,
        -9216,
    ]
