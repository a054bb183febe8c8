"""What standard calls cost, and what they are estimated to cost."""

from __future__ import annotations

import pytest

from celadon.cel import cost as costs
from celadon.cel import types
from celadon.cel.cost import MAX_UINT64, CostRule, Range, Sized
from celadon.cel.errors import EvaluationError
from celadon.cel.syntax import Ident
from celadon.cel.types import Type


def sized(low: int, high: int, of: Type = types.DYN) -> Sized:
    return Sized(Ident(1, "x"), of, Range(low, high))


TEXT = "0123456789ab"
ERROR = EvaluationError("x")


@pytest.mark.parametrize(
    ("rule", "args", "cost"),
    [
        (costs.STRING_TO_BYTES, (TEXT,), 2),
        (costs.BYTES_TO_STRING, (b"",), 0),
        (costs.QUOTE, (TEXT,), 2),
        (costs.TRAVERSE_RECEIVER, (TEXT, []), 2),
        (costs.AFFIX, (TEXT, "0"), 2),
        (costs.AFFIX, ("", TEXT), 0),
        (costs.IN_LIST, (1, [1, 2, 3]), 3),
        (costs.COMPARISON, (TEXT, TEXT), 2),
        (costs.COMPARISON, (1, 2), 1),
        (costs.COMPARISON, ("", ""), 0),
        (costs.COMPARISON, ([1] * 30, [1] * 20), 2),
        (costs.COMPARISON, (ERROR, TEXT), 1),
        (costs.CONCATENATION, (TEXT, TEXT), 3),
        (costs.LIST_CONCATENATION, ([1] * 99, []), 1),
        (costs.MATCHES, (TEXT, "abcde"), 4),
        (costs.MATCHES, ("", "abc"), 1),
        (costs.CONTAINS, (TEXT, TEXT), 4),
    ],
)
def test_tracked(rule: CostRule, args: tuple[object, ...], cost: int) -> None:
    assert rule.tracked(args, None) == cost


@pytest.mark.parametrize(
    ("rule", "args", "cost", "size"),
    [
        (costs.STRING_TO_BYTES, [sized(5, 15)], Range(1, 2), Range(5, 60)),
        (costs.BYTES_TO_STRING, [sized(5, 15)], Range(1, 2), Range(1, 15)),
        (costs.QUOTE, [sized(5, 15)], Range(1, 2), Range(7, 32)),
        (costs.AFFIX, [sized(0, 99), sized(5, 15)], Range(1, 2), None),
        (costs.IN_LIST, [sized(1, 1), sized(5, 15)], Range(5, 15), None),
        (costs.COMPARISON, [sized(20, 100), sized(30, 50)], Range(1, 5), None),
        (costs.COMPARISON, [sized(0, 0), sized(30, 50)], Range(0, 0), None),
        (costs.CONCATENATION, [sized(5, 15), sized(1, 2)], Range(1, 2), Range(6, 17)),
        (costs.LIST_CONCATENATION, [sized(5, 15), sized(1, 2)], Range(1, 1), Range(6, 17)),
        (costs.MATCHES, [sized(0, 500), sized(12, 12)], Range(3, 153), None),
        (costs.CONTAINS, [sized(0, 500), sized(10, 20)], Range(0, 100), None),
        (
            costs.CONTAINS,
            [sized(0, MAX_UINT64), sized(0, MAX_UINT64)],
            Range(0, MAX_UINT64),
            None,
        ),
    ],
)
def test_estimated(rule: CostRule, args: list[Sized], cost: Range, size: Range | None) -> None:
    estimate = rule.estimated(args)
    assert estimate.cost == cost
    assert estimate.size == size
