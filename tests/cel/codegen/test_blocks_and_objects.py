"""`cel.block` and object literals: plain, metered and partial evaluation agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from celadon.cel import Environment, EvaluationError, Switches, types
from celadon.cel.extend import Library, ObjectType
from celadon.cel.libraries import comprehensions, optionals
from celadon.cel.parsing.macros import BLOCK_MACROS

ENVIRONMENT = Environment(
    {"x": types.DYN, "n": types.INT, "@index0": types.DYN, "@index1": types.DYN},
    objects=(ObjectType("T", {"a": types.INT, "b": types.list_of(types.INT)}),),
    libraries=(
        comprehensions.bindings(),
        optionals.library(),
        Library("block", macros=BLOCK_MACROS),
    ),
    switches=Switches(optional_syntax=True),
)


@pytest.mark.parametrize(
    ("text", "expected", "cost"),
    [
        ("cel.block([n + 1], cel.index(0) + cel.index(0))", 8, 5),
        ("cel.block([n, cel.index(0) * 2], cel.index(1) + cel.index(0))", 9, None),
        ("cel.block([1 / (n - 3)], n == 3 || cel.index(0) > 0)", True, None),
        ("cel.block([1 / (n - 3)], cel.index(0) > 0)", "division by zero", None),
        ("cel.block([x.k], [1, 2].all(e, e < cel.index(0)))", True, None),
        ("cel.block([x.zz], [1, 2].exists(e, e == 2 || cel.index(0)))", True, None),
        ("cel.bind(v, n * 2, v + v)", 12, None),
        ("cel.bind(v, x.zz, n == 3 || v == 1)", True, None),
        ("T{a: 1, b: [n]}.a", 1, None),
        ("T{a: n}.b", "no such key: b", None),
        ("has(T{a: 1}.b)", False, None),
        ("T{?a: optional.of(n)}.a", 3, None),
        ("has(T{?a: optional.none()}.a)", False, None),
        ("T{a: 1 / (n - 3)}.b", "division by zero", None),
    ],
)
def test_ways_agree(text: str, expected: object, cost: int | None) -> None:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
    inputs: dict[str, Any] = {"x": {"k": 3}, "n": 3}
    ways: tuple[Callable[[], Any], ...] = (
        lambda: program.evaluate(inputs),
        lambda: program.prepare().evaluate(inputs),
        lambda: program.evaluate_metered(inputs)[0],
        lambda: program.evaluate_partial(inputs, ())[0],
    )
    for evaluate in ways:
        try:
            found = evaluate()
        except EvaluationError as error:
            found = error.message
        assert found == expected
    if cost is not None:
        assert program.evaluate_metered(inputs)[1] == cost
