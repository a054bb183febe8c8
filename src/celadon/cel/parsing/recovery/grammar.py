"""CEL's grammar as data (cel-go `parser/gen/CEL.g4`).

The shape matters, not only the language: which alternatives a rule has, and in which order, decides
what a message says. Labels name the parts that `tree_reading` asks for; one that ends in `+`
collects several. The rules `relation`, `calc` and `member` call themselves on the left. They are
given as their operands followed by a loop of suffixes, each with the precedence that it needs.
"""

from __future__ import annotations

from typing import TypeAlias

from celadon.cel.parsing import tokens
from celadon.cel.parsing.operator_table import PRODUCT, RELATION, SUM, signs
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """One token of any of these kinds."""

    kinds: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """An invocation of a rule; `precedence` matters to rules with suffixes only."""

    name: str
    label: str = ""
    precedence: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """Alternatives; `repeat` is `?`, `*`, `+`, or empty for exactly once."""

    alternatives: tuple[Alternative, ...]
    repeat: str = ""


Element: TypeAlias = Token | Rule | Block


@dataclass(frozen=True, slots=True)
class Alternative:
    """`name` is that of the node in the parse tree; `precedence` is for suffixes."""

    elements: tuple[Element, ...]
    name: str = ""
    precedence: int = 0


@dataclass(frozen=True, slots=True)
class Definition:
    """A rule: alternatives, and (for rules that begin with themselves) suffixes."""

    alternatives: tuple[Alternative, ...]
    suffixes: tuple[Alternative, ...] = ()


def _token(kind: str, label: str = "") -> Token:
    return Token((kind,), label)


def _repeat(repeat: str, *elements: Element) -> Block:
    return Block((Alternative(elements),), repeat)


def _optional(*elements: Element) -> Block:
    return _repeat("?", *elements)


def _plain(*elements: Element) -> Definition:
    return Definition((Alternative(elements),))


_QUESTION = _optional(_token("?", "opt"))
_TRAILING_COMMA = _optional(_token(","))
_LEADING_DOT = _optional(_token(".", "leading_dot"))
_ARGUMENTS = _optional(Rule("exprList", "args"))
_IDENTIFIER = _token(tokens.IDENTIFIER, "id")


_SIGN = _optional(_token("-", "sign"))
_LITERAL_NAMES = {
    tokens.INT: "Int",
    tokens.UINT: "Uint",
    tokens.FLOAT: "Double",
    tokens.STRING: "String",
    tokens.BYTES: "Bytes",
    "true": "BoolTrue",
    "false": "BoolFalse",
    "null": "Null",
}


def _literal(kind: str) -> Alternative:
    before = (_SIGN,) if kind in tokens.SIGNED else ()
    return Alternative((*before, _token(kind, "tok")), _LITERAL_NAMES[kind])


GRAMMAR: dict[str, Definition] = {
    "start": _plain(Rule("expr", "e"), _token(tokens.EOF)),
    "expr": _plain(
        Rule("conditionalOr", "e"),
        _optional(_token("?", "op"), Rule("conditionalOr", "e1"), _token(":"), Rule("expr", "e2")),
    ),
    "conditionalOr": _plain(
        Rule("conditionalAnd", "e"),
        _repeat("*", _token("||", "ops+"), Rule("conditionalAnd", "e1+")),
    ),
    "conditionalAnd": _plain(
        Rule("relation", "e"), _repeat("*", _token("&&", "ops+"), Rule("relation", "e1+"))
    ),
    "relation": Definition(
        (Alternative((Rule("calc", "e"),)),),
        (Alternative((Token(signs(RELATION), "op"), Rule("relation", "right", 2)), "", 1),),
    ),
    "calc": Definition(
        (Alternative((Rule("unary", "e"),)),),
        (
            Alternative((Token(signs(PRODUCT), "op"), Rule("calc", "right", 3)), "", 2),
            Alternative((Token(signs(SUM), "op"), Rule("calc", "right", 2)), "", 1),
        ),
    ),
    "unary": Definition(
        (
            Alternative((Rule("member", "e"),), "MemberExpr"),
            Alternative(
                (_repeat("+", _token("!", "ops+")), Rule("member", "e")),
                "LogicalNot",
            ),
            Alternative(
                (_repeat("+", _token("-", "ops+")), Rule("member", "e")),
                "Negate",
            ),
        )
    ),
    "member": Definition(
        (Alternative((Rule("primary", "e"),), "PrimaryExpr"),),
        (
            Alternative((_token(".", "op"), _QUESTION, Rule("escapeIdent", "id")), "Select", 3),
            Alternative(
                (
                    _token(".", "op"),
                    _IDENTIFIER,
                    _token("(", "open"),
                    _ARGUMENTS,
                    _token(")"),
                ),
                "MemberCall",
                2,
            ),
            Alternative(
                (_token("[", "op"), _QUESTION, Rule("expr", "index"), _token("]")), "Index", 1
            ),
        ),
    ),
    "primary": Definition(
        (
            Alternative((_LEADING_DOT, _IDENTIFIER), "Ident"),
            Alternative(
                (_LEADING_DOT, _IDENTIFIER, _token("(", "op"), _ARGUMENTS, _token(")")),
                "GlobalCall",
            ),
            Alternative((_token("("), Rule("expr", "e"), _token(")")), "Nested"),
            Alternative(
                (
                    _token("[", "op"),
                    _optional(Rule("listInit", "elems")),
                    _TRAILING_COMMA,
                    _token("]"),
                ),
                "CreateList",
            ),
            Alternative(
                (
                    _token("{", "op"),
                    _optional(Rule("mapInitializerList", "entries")),
                    _TRAILING_COMMA,
                    _token("}"),
                ),
                "CreateStruct",
            ),
            Alternative(
                (
                    _LEADING_DOT,
                    _token(tokens.IDENTIFIER, "ids+"),
                    _repeat("*", _token(".", "ops+"), _token(tokens.IDENTIFIER, "ids+")),
                    _token("{", "op"),
                    _optional(Rule("fieldInitializerList", "entries")),
                    _TRAILING_COMMA,
                    _token("}"),
                ),
                "CreateMessage",
            ),
            Alternative((Rule("literal", "e"),), "ConstantLiteral"),
        )
    ),
    "exprList": _plain(Rule("expr", "e+"), _repeat("*", _token(","), Rule("expr", "e+"))),
    "listInit": _plain(
        Rule("optExpr", "elems+"), _repeat("*", _token(","), Rule("optExpr", "elems+"))
    ),
    "fieldInitializerList": _plain(
        Rule("optField", "fields+"),
        _token(":", "cols+"),
        Rule("expr", "values+"),
        _repeat(
            "*",
            _token(","),
            Rule("optField", "fields+"),
            _token(":", "cols+"),
            Rule("expr", "values+"),
        ),
    ),
    "optField": _plain(_QUESTION, Rule("escapeIdent", "id")),
    "mapInitializerList": _plain(
        Rule("optExpr", "keys+"),
        _token(":", "cols+"),
        Rule("expr", "values+"),
        _repeat(
            "*",
            _token(","),
            Rule("optExpr", "keys+"),
            _token(":", "cols+"),
            Rule("expr", "values+"),
        ),
    ),
    "escapeIdent": Definition(
        (
            Alternative((_IDENTIFIER,), "SimpleIdentifier"),
            Alternative((_token(tokens.ESC_IDENTIFIER, "id"),), "EscapedIdentifier"),
        )
    ),
    "optExpr": _plain(_QUESTION, Rule("expr", "e")),
    "literal": Definition(tuple(_literal(kind) for kind in tokens.LITERALS)),
}
