"""What is computed when a program is built, and what is left for the evaluation."""

from __future__ import annotations

import pytest

from celadon.cel import Environment, ProgramError, types

ENVIRONMENT = Environment({"x": types.DYN, "s": types.STRING})


def cost(text: str) -> int:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
    return program.evaluate_metered({"x": 1, "s": "a"})[1]


@pytest.mark.parametrize(
    "text",
    [
        "int('5')",
        "uint('5')",
        "double('1.5')",
        "bool('true')",
        "bytes('a')",
        "string(5)",
        "duration('1h')",
        "timestamp('2026-01-02T03:04:05Z')",
        "type(1)",
        "[1, [2, 3]]",
        "{'a': [1], 'b': {}}",
        "string(int('5'))",
        "x in []",
        "dyn(1)",
    ],
)
def test_constants_cost_nothing(text: str) -> None:
    assert cost(text) == 0


@pytest.mark.parametrize(
    ("text", "charged"), [("1 + 1", 1), ("[x]", 11), ("{'a': x}", 31), ("int(string(x))", 3)]
)
def test_the_rest_is_left_alone(text: str, charged: int) -> None:
    assert cost(text) == charged


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x == 1 || int('one') == 1", "type conversion error"),
        ("s.matches('a(')", "error parsing regexp: missing closing \\): `a\\(`"),
        ("{b'a': 1} == x", "hash of unhashable type types.Bytes"),
        ("false && duration('x') > duration('1s')", "type conversion error"),
        ("x[1.5] == 1 && x[[1]] == 1", "qualifier"),
    ],
)
def test_errors_of_constants_fail_the_program(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
