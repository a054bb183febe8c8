"""Decisions of the grammar that one token does not settle."""

from __future__ import annotations

import pytest

from celadon.cel.parsing import tokens
from celadon.cel.parsing.antlr_grammar import CEL_NETWORK, ChoiceStep, State, Step
from celadon.cel.parsing.antlr_parser import NoViableAlternativeError
from celadon.cel.parsing.antlr_parser import predict as predict_number
from celadon.cel.parsing.lexer import tokenize


def decision(rule: str, names: tuple[str, ...]) -> State:
    return next(
        step.decision
        for step in _choices(CEL_NETWORK.steps[rule])
        if step.names == names and step.look is None
    )


def _choices(steps: tuple[Step, ...]) -> list[ChoiceStep]:
    found: list[ChoiceStep] = []
    for step in steps:
        if isinstance(step, ChoiceStep):
            found.append(step)
            for branch in step.branches:
                found.extend(_choices(branch))
    return found


UNARY = ("MemberExpr", "LogicalNot", "Negate")
MEMBER = ("Select", "MemberCall", "Index")
PRIMARY = (
    *("Ident", "GlobalCall", "Nested", "CreateList", "CreateStruct", "CreateMessage"),
    "ConstantLiteral",
)


def predict(rule: str, names: tuple[str, ...], text: str, precedence: int = 0) -> str:
    tokenized = tokenize(text)
    assert tokenized is not None
    kinds = [*tokenized.kinds, tokens.EOF]
    number = predict_number(
        CEL_NETWORK, decision(rule, names), precedence, lambda ahead: kinds[ahead - 1]
    )
    return names[number - 1]


@pytest.mark.parametrize(
    ("rule", "names", "text", "expected"),
    [
        ("unary", UNARY, "a", "MemberExpr"),
        ("unary", UNARY, "!a", "LogicalNot"),
        ("unary", UNARY, "-a", "Negate"),
        ("unary", UNARY, "--1", "Negate"),
        ("member", MEMBER, ".a", "Select"),
        ("member", MEMBER, ".?a", "Select"),
        ("member", MEMBER, ".`a`", "Select"),
        ("member", MEMBER, ".a(", "MemberCall"),
        ("member", MEMBER, "[", "Index"),
        ("primary", PRIMARY, "a", "Ident"),
        ("primary", PRIMARY, ".a.b", "Ident"),
        ("primary", PRIMARY, "a(", "GlobalCall"),
        ("primary", PRIMARY, "a.b(", "Ident"),
        ("primary", PRIMARY, ".a.b.c{", "CreateMessage"),
        ("primary", PRIMARY, "{", "CreateStruct"),
        ("primary", PRIMARY, "-1", "ConstantLiteral"),
        ("primary", PRIMARY, "a.!", "Ident"),
        # two alternatives match `-1` alike: the first one wins, whatever comes next
        ("unary", UNARY, "-1", "MemberExpr"),
        ("unary", UNARY, "-1)", "MemberExpr"),
        ("unary", UNARY, "-1()", "MemberExpr"),
        ("unary", UNARY, "-1 a", "MemberExpr"),
    ],
)
def test_predictions(rule: str, names: tuple[str, ...], text: str, expected: str) -> None:
    assert predict(rule, names, text) == expected


@pytest.mark.parametrize(
    ("rule", "names", "text", "ahead"),
    [
        ("member", MEMBER, ".in", 2),
        ("member", MEMBER, ".(", 2),
        ("member", MEMBER, ".", 2),
        ("unary", UNARY, "-*", 2),
        ("primary", PRIMARY, "..", 2),
    ],
)
def test_failures(rule: str, names: tuple[str, ...], text: str, ahead: int) -> None:
    with pytest.raises(NoViableAlternativeError) as error:
        predict(rule, names, text)
    assert error.value.ahead == ahead


@pytest.mark.parametrize(
    ("rule", "precedence", "text", "enters"),
    [
        ("relation", 0, "==", True),
        ("relation", 2, "==", False),
        ("calc", 0, "+", True),
        ("calc", 2, "+", False),
        ("calc", 2, "*", True),
        ("calc", 3, "*", False),
        ("calc", 0, ")", False),
        ("member", 0, ".", True),
        ("member", 0, "1", False),
    ],
)
def test_loops_of_suffixes(rule: str, precedence: int, text: str, enters: bool) -> None:
    loop = next(s for s in CEL_NETWORK.states if s.rule == rule and s.is_suffix_loop)
    kinds = [text, tokens.EOF, tokens.EOF]
    if text == ".":
        kinds.insert(1, tokens.IDENTIFIER)
    number = predict_number(CEL_NETWORK, loop, precedence, lambda n: kinds[n - 1])
    assert (number == 1) == enters
