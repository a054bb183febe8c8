"""Regular expressions as languages: RE2 patterns for the solver.

`matches` finds a match anywhere, so what it accepts is everything that has a match inside; `^` and
`$` say that nothing stands before or after. Other assertions (lines, words) are not modelled.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import z3

from celadon.cel.extend import re2
from celadon.cel.re2 import pattern_tree
from celadon.cel.re2.pattern_parser import parse
from celadon.prove.solver_terms import BEYOND, HIGHEST, UNNAMED, Term, text
from celadon.prove.symbolic_values import NotModelled

_ANYTHING: Term = z3.Full(z3.ReSort(z3.StringSort()))
_EMPTY: Term = z3.Re("")
_HIGHEST_OF_ALL: Final = 0x10FFFF


class _PatternPart(NamedTuple):
    """The texts that a part of a pattern may consume, if it begins (ends) where the text does."""

    language: Term
    nullable: bool = False
    begins: bool = False
    ends: bool = False


@cache
def contained(pattern: str) -> Term | None:
    """Return the texts in which the pattern is found; None for a pattern that is not right. Raises
    NotModelled."""
    try:
        ways = _ways(parse(pattern).tree)
    except re2.RegexError:
        return None
    return _union([_around(way) for way in ways])


@cache
def consumed(pattern: str) -> Term | None:
    """Return the texts that a match of the pattern may be; None if it is not right. Raises
    NotModelled."""
    try:
        return _union([way.language for way in _ways(parse(pattern).tree)])
    except re2.RegexError:
        return None


@cache
def sample(pattern: str) -> str | None:
    """Return a short text in which the pattern is found; None if none comes to mind."""
    try:
        # The shortest text may miss what anchors and assertions ask for, so the engine looks at it.
        text = _shortest(parse(pattern).tree)
        return text if re2.compile(pattern).search(text) else None
    except re2.RegexError:
        return None


def _shortest(node: pattern_tree.Node) -> str:
    """Return the shortest text that a part of a pattern takes, of plain characters if it can."""
    match node:
        case pattern_tree.Literal():
            return node.text
        case pattern_tree.Chars():
            plain = (ord(char) for char in _PLAIN)
            ends = [low for low, _ in node.chars]
            characters = (
                number for number in plain if any(low <= number <= high for low, high in node.chars)
            )
            return chr(next(characters, min(ends, default=0)))
        case pattern_tree.Capture():
            return _shortest(node.sub)
        case pattern_tree.Concat():
            return "".join(map(_shortest, node.subs))
        case pattern_tree.Alternate():
            return min(map(_shortest, node.subs), key=len, default="")
        case pattern_tree.Repeat():
            return _shortest(node.sub) * node.least
    return ""


_PLAIN: Final = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_"


def _around(way: _PatternPart) -> Term:
    parts = [
        *([] if way.begins else [_ANYTHING]),
        way.language,
        *([] if way.ends else [_ANYTHING]),
    ]
    return z3.Concat(*parts) if len(parts) > 1 else parts[0]


def _union(languages: list[Term]) -> Term:
    if not languages:
        return z3.Empty(z3.ReSort(z3.StringSort()))
    return z3.Union(*languages) if len(languages) > 1 else languages[0]


def _ways(node: pattern_tree.Node) -> list[_PatternPart]:
    match node:
        case pattern_tree.Empty():
            return [_PatternPart(_EMPTY, nullable=True)]
        case pattern_tree.Literal():
            return [_PatternPart(_literal(node))]
        case pattern_tree.Chars():
            return [_PatternPart(_charset(node.chars))]
        case pattern_tree.Assertion(kind=pattern_tree.AssertionKind.BEGIN_TEXT):
            return [_PatternPart(_EMPTY, nullable=True, begins=True)]
        case pattern_tree.Assertion(kind=pattern_tree.AssertionKind.END_TEXT):
            return [_PatternPart(_EMPTY, nullable=True, ends=True)]
        case pattern_tree.Capture():
            return _ways(node.sub)
        case pattern_tree.Concat():
            return _sequence([_ways(sub) for sub in node.subs])
        case pattern_tree.Alternate():
            return [way for sub in node.subs for way in _ways(sub)]
        case pattern_tree.Repeat():
            return _repeated(node)
    # The solver's languages have no word boundaries and no lines.
    raise NotModelled("a pattern about lines or words")


def _sequence(parts: list[list[_PatternPart]]) -> list[_PatternPart]:
    # Each choice of a way for each part is a way for all: the numbers multiply, which is why only
    # parts with anchors have several.
    result = [_PatternPart(_EMPTY, nullable=True)]
    for part in parts:
        result = [both for before in result for way in part for both in _joined(before, way)]
    return result


def _joined(before: _PatternPart, after: _PatternPart) -> list[_PatternPart]:
    """Before what begins the text, and after what ends it, nothing may be consumed."""
    if (after.begins and not before.nullable) or (before.ends and not after.nullable):
        return []
    languages = [
        *([] if after.begins else [before.language]),
        *([] if before.ends else [after.language]),
    ]
    result = [language for language in languages if not language.eq(_EMPTY)]
    language = _EMPTY if not result else result[0] if len(result) == 1 else z3.Concat(*result)
    return [
        _PatternPart(
            language,
            nullable=before.nullable and after.nullable,
            begins=before.begins or after.begins,
            ends=before.ends or after.ends,
        )
    ]


def _repeated(node: pattern_tree.Repeat) -> list[_PatternPart]:
    ways = _ways(node.sub)
    if any(way.begins or way.ends for way in ways):
        if (node.least, node.most) == (0, 1):
            return [*ways, _PatternPart(_EMPTY, nullable=True)]
        raise NotModelled("a pattern that repeats ^ or $")
    language = _union([way.language for way in ways])
    nullable = node.least == 0 or any(way.nullable for way in ways)
    if node.most is None:
        rest = z3.Star(language)
        least = [language] * node.least
        repeated = z3.Concat(*least, rest) if least else rest
    elif node.most == 0:
        repeated = _EMPTY
    else:
        repeated = z3.Loop(language, node.least, node.most)
    return [_PatternPart(repeated, nullable=nullable)]


def _literal(node: pattern_tree.Literal) -> Term:
    if any(ord(char) >= UNNAMED for char in node.text):
        raise NotModelled(BEYOND)
    if not node.fold:
        return z3.Re(text(node.text))
    parts = [_charset(pattern_tree.fold_char(char)) for char in node.text]
    return z3.Concat(*parts) if len(parts) > 1 else parts[0]


def _charset(chars: pattern_tree.CharSet) -> Term:
    beyond = sum(high - max(low, UNNAMED) + 1 for low, high in chars if high >= UNNAMED)
    if beyond not in (0, _HIGHEST_OF_ALL - UNNAMED + 1):
        raise NotModelled(BEYOND)
    return _union(
        [z3.Range(_char(low), _char(min(high, HIGHEST))) for low, high in chars if low <= HIGHEST]
    )


def _char(code_point: int) -> Term:
    return z3.Unit(z3.CharVal(code_point))
