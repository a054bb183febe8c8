"""Which tolerations are left when several lists are merged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.defaulting.field_functions import covers, merged

ALL = {"operator": "Exists"}
KEY = {"key": "k", "operator": "Exists"}
VALUE = {"key": "k", "operator": "Equal", "value": "v"}
EVICTED = {"key": "k", "operator": "Exists", "effect": "NoExecute"}


def lasting(seconds: int) -> dict[str, Any]:
    return {**EVICTED, "tolerationSeconds": seconds}


@pytest.mark.parametrize(
    ("wide", "narrow", "want"),
    [
        (ALL, VALUE, True),
        ({"effect": "NoSchedule", **ALL}, KEY, False),
        (KEY, ALL, False),
        (KEY, VALUE, True),
        (KEY, EVICTED, True),
        (EVICTED, KEY, False),
        (KEY, {**KEY, "key": "other"}, False),
        (VALUE, {**VALUE, "effect": "NoSchedule"}, True),
        ({"key": "k", "value": "v"}, {**VALUE, "effect": "NoSchedule"}, True),
        (VALUE, {"key": "k", "value": "v", "effect": "NoSchedule"}, False),
        (VALUE, {**VALUE, "value": "other"}, False),
        ({**VALUE, "operator": "Gt"}, VALUE, False),
        (EVICTED, lasting(5), True),
        (lasting(5), EVICTED, False),
        (lasting(5), lasting(6), False),
        (lasting(6), lasting(5), True),
    ],
)
def test_covers(wide: dict[str, Any], narrow: dict[str, Any], want: bool) -> None:
    assert covers(wide, narrow) is want


@pytest.mark.parametrize(
    ("given_ones", "want"),
    [
        ([], []),
        ([KEY, KEY], [KEY]),
        ([KEY, VALUE], [KEY]),
        ([VALUE, KEY], [KEY]),
        ([lasting(5), {**KEY, "key": "o"}, lasting(6)], [{**KEY, "key": "o"}, lasting(6)]),
    ],
)
def test_merged(given_ones: list[dict[str, Any]], want: list[dict[str, Any]]) -> None:
    assert merged(given_ones) == want


TOLERATIONS = st.fixed_dictionaries(
    {},
    optional={
        "key": st.sampled_from(["a", "b"]),
        "operator": st.sampled_from(["Exists", "Equal"]),
        "value": st.sampled_from(["x", "y"]),
        "effect": st.sampled_from(["NoExecute", "NoSchedule"]),
        "tolerationSeconds": st.integers(0, 2),
    },
)


@given(st.lists(TOLERATIONS, max_size=5))
def test_merging_again_changes_nothing(tolerations: list[dict[str, Any]]) -> None:
    once = merged(tolerations)
    assert merged(once) == once
    assert all(one in tolerations for one in once)
