"""Long lists put together without copying."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.errors import EvaluationError
from celadon.cel.values import arithmetic
from celadon.cel.values.equality import equal
from celadon.cel.values.typed_lists import JOINED_FROM, LONGEST, JoinedList, concatenation


def height(part: list[Any]) -> int:
    """Of the tree, which must be balanced everywhere."""
    if not isinstance(part, JoinedList):
        return 0
    left, right = height(part.left), height(part.right)
    assert abs(left - right) <= 1
    assert part.height == 1 + max(left, right)
    return part.height


@given(st.integers(), st.integers(2, 60))
def test_it_behaves_as_a_list(seed: int, joins: int) -> None:
    dice = random.Random(seed)
    pool: list[list[Any]] = [[i] * dice.choice((0, 1, 700, 1500)) for i in range(6)]
    for _ in range(joins):
        a, b = dice.choice(pool), dice.choice(pool)
        if len(a) + len(b) > 20_000:
            continue
        made, plain = arithmetic.add(a, b), [*a, *b]
        height(made)
        if a and b:
            assert isinstance(made, JoinedList) is (len(plain) >= JOINED_FROM)
        assert list(made) == plain
        assert equal(made, plain)
        assert equal(plain, made)
        assert equal(made, concatenation(b, a)) is (plain == [*b, *a])
        if plain:
            at = dice.randrange(-len(plain), len(plain))
            assert made[at] == plain[at]
            assert made[at:] == plain[at:]
            assert plain[at] in made
        assert -1 not in made
        pool[dice.randrange(6)] = made


def test_what_is_shared_is_not_copied() -> None:
    value: list[Any] = [1, 2]
    for _ in range(22):
        value = arithmetic.add(value, value)
    assert len(value) == 2 << 22
    assert value[-1] == 2
    assert height(value) < 16


def test_many_small_steps_stay_in_balance() -> None:
    value: list[Any] = [0] * JOINED_FROM
    for i in range(5000):
        value = arithmetic.add(value, [i]) if i % 3 else arithmetic.add([i], value)
    assert len(value) == JOINED_FROM + 5000
    assert height(value) < 20


def test_no_list_is_longer_than_memory() -> None:
    value = [0] * JOINED_FROM
    while len(value) * 2 <= LONGEST:
        value = arithmetic.add(value, value)
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        arithmetic.add(value, value)
