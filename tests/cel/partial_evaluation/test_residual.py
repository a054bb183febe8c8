"""What is left of an expression: smaller, still valid, and the same once everything is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon import cel
from celadon.cel import AttributePattern, Unknown
from celadon.cel.checking import validators
from celadon.cel.library import optionals
from celadon.cel.parsing.unparser import unparse
from celadon.cel.syntax import Ast
from celadon.cel.values.equality import equal

ENVIRONMENT = cel.Environment(
    {"o": cel.types.DYN, "u": cel.types.DYN, "b": cel.types.BOOL, "n": cel.types.INT},
    libraries=(optionals.library(),),
    validators=(validators.HOMOGENEOUS_LITERALS,),
    switches=cel.Switches(optional_syntax=True),
)
KNOWN = {
    "o": {"i": 5, "s": "text", "l": [1, 2], "m": {"k": "v"}, "mixed": [1, "a"], "none": None},
    "n": 2,
    "b": True,
}


def left(expression: str) -> Ast:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(expression).checked())
    outcome, ast = program.evaluate_partial(KNOWN, (AttributePattern("u"),))
    assert isinstance(outcome, Unknown)
    return ast


@pytest.mark.parametrize(
    ("expression", "residual"),
    [
        ("u + (1 + n)", "u + 3"),
        ("b && u == 1", "u == 1"),
        ("u == 1 && b", "u == 1"),
        ("!b || u == 1", "u == 1"),
        ("b && u", "true && u"),
        ("b ? u : o.i", "u"),
        ("u ? n : n + 1", "u ? n : n + 1"),
        ("u == o.s", 'u == dyn("text")'),
        ("u == [o.i, o.s]", 'u == [dyn(5), dyn("text")]'),
        ("u in o.mixed", "u in dyn([dyn(1), dyn(\"a\")])"),
        ("u in o.m", 'u in dyn({"k": "v"})'),
        ("u == o.none", "u == dyn(null)"),
        ("u.f == timestamp(0)", "u.f == timestamp(0)"),
        ("u + 1 / 0", "u + 1 / 0"),
        ("u || o.missing == 1", "u || o.missing == 1"),
        ("[u].size() + [n].size()", "[u].size() + 1"),
        ("{'a': u, 'b': o.i}", '{"a": u, "b": dyn(5)}'),
        ("u[n]", "u[2]"),
        ("u == optional.of(n)", "u == optional.of(2)"),
        ("u in [n].filter(x, x > 5)", None),
    ],
)  # fmt: skip
def test_texts(expression: str, residual: str | None) -> None:
    ast = left(expression)
    if residual is not None:
        assert unparse(ast) == residual
    assert ENVIRONMENT.check(ast).ast is not None


EXPRESSIONS = (
    "u == o.i || n == 3",
    "u ? o.l : [u]",
    "o.l + [u]",
    "{'k': u, 'l': o.l}.l",
    "o.mixed.exists(x, x == u)",
    "u in [n].filter(x, x > 5)",
    "(b && u) || o.s == 'text'",
    "[o.i].map(x, x + n)[0] + u",
    "{'p': (b ? [] : o.l), 'q': u}.size()",
    "o.?m.?k.orValue('none') + u",
    "has(o.m.k) && (u == 'v' || u == o.m.k)",
    "[1, 2].map(x, x == u ? o.s : string(n))",
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@given(st.one_of(st.none(), st.booleans(), st.integers(-3, 6), st.sampled_from(["v", "text"])))
def test_the_same_once_everything_is_known(expression: str, value: object) -> None:
    whole = ENVIRONMENT.compile(expression).checked()
    rest = ENVIRONMENT.check(left_or_whole(expression)).checked()
    inputs = {**KNOWN, "u": value}
    wanted, found = outcome(whole, inputs), outcome(rest, inputs)
    assert equal(wanted, found), (wanted, found)


def left_or_whole(expression: str) -> Ast:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(expression).checked())
    return program.evaluate_partial(KNOWN, (AttributePattern("u"),))[1]


def outcome(checked: cel.CheckedAst, inputs: dict[str, object]) -> object:
    try:
        return ENVIRONMENT.program(checked).evaluate(inputs)
    except cel.EvaluationError as error:
        return {"error": error.message}
