"""Arithmetic on amounts by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.admission.plugins.resource_quota import (
    added,
    amounts_of,
    growth,
    masked,
    multiplied,
    same,
    shown,
    texts_of,
)
from celadon.kube.quantity import from_int, parse_amounts

LISTS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 9).map(str))


def test_sums() -> None:
    total = added(amounts_of({"cpu": "500m", "a": "1"}), amounts_of({"cpu": "1", "b": "1Gi"}))
    assert texts_of(total) == {"a": "1", "b": "1Gi", "cpu": "1500m"}
    assert shown(total) == "a=1,b=1Gi,cpu=1500m"
    assert texts_of(masked(total, {"a"})) == {"a": "1"}
    assert amounts_of(None) == {}


def test_same_amounts_may_be_written_differently() -> None:
    assert same(amounts_of({"a": "1"}), amounts_of({"a": "1000m"}))
    assert not same(amounts_of({"a": "1"}), amounts_of({"a": "2"}))
    assert not same(amounts_of({"a": "0"}), {})


@given(LISTS, LISTS)
def test_what_grew_makes_up_for_it(new: dict[str, str], old: dict[str, str]) -> None:
    before, after = amounts_of(old), amounts_of(new)
    more = growth(after, before)
    assert all(amount.sign > 0 for amount in more.values())
    reached = added(before, more)
    assert all(reached[name].compare(after[name]) >= 0 for name in after if after[name].sign)


@pytest.mark.parametrize("times", [1, 2, 3, 7, 64, 1000])
def test_so_many_times(times: int) -> None:
    found = multiplied(amounts_of({"cpu": "250m", "pods": "1"}), times)
    assert found["pods"].compare(from_int(times)) == 0
    assert found["cpu"].compare(parse_amounts(f"{250 * times}m")) == 0
