"""The tree of a regular expression, one frozen class per kind of node, and what can be wrong with
a pattern.

A tree may be a thousand levels high, so nothing may recurse over it without having looked at its
height first. What the parser and the engines ask of every tree is therefore computed bottom-up when
a node is made, from the facts of its children: see `Facts`. Composite nodes are made by the lower
case functions (`concat`, `repeat`, ...), never by calling the classes.
"""

from __future__ import annotations

import enum
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TypeAlias

from celadon.records import dataclass

# --- Errors ------------------------------------------------------------------
#
# What is wrong with a pattern: the one exception of this package, and the texts it can carry.
#
# The texts are Go's (golang/go `src/regexp/syntax/parse.go`): users see them in compile errors
# and in denials, so they match to the letter, and the fragment is the part of the pattern Go
# would quote. It stands alone because whoever imports the package needs it, and most of them no
# pattern.


class ErrorCode(enum.Enum):
    """Says what is wrong with a pattern, in the words of Go."""

    INVALID_RANGE = "invalid character class range"
    INVALID_ESCAPE = "invalid escape sequence"
    INVALID_NAMED_CAPTURE = "invalid named capture"
    INVALID_PERL = "invalid or unsupported Perl syntax"
    INVALID_REPEAT_OPERATOR = "invalid nested repetition operator"
    INVALID_REPEAT_SIZE = "invalid repeat count"
    INVALID_UTF8 = "invalid UTF-8"
    MISSING_BRACKET = "missing closing ]"
    MISSING_PAREN = "missing closing )"
    MISSING_REPEAT_ARGUMENT = "missing argument to repetition operator"
    TRAILING_BACKSLASH = "trailing backslash at end of expression"
    UNEXPECTED_PAREN = "unexpected )"
    NESTING_DEPTH = "expression nests too deeply"
    LARGE = "expression too large"


class RegexError(ValueError):
    """Says that RE2 refuses a pattern. `str()` of it is Go's text."""

    def __init__(self, code: ErrorCode, fragment: str) -> None:
        super().__init__(f"error parsing regexp: {code.value}: `{fragment}`")
        self.code = code
        self.fragment = fragment


# --- Charsets ----------------------------------------------------------------
#
# Sets of characters as sorted, disjoint, non-adjacent ranges of code points.
#
# A `CharSet` is a tuple of inclusive pairs, so sets compare, hash and cache as values. All
# functions take and return normalized sets except `normalize`, which makes one from any pairs.

CharSet = tuple[tuple[int, int], ...]

MAX_CODE_POINT = 0x10FFFF
ANY: CharSet = ((0, MAX_CODE_POINT),)
ANY_BUT_NEWLINE: CharSet = ((0, 9), (11, MAX_CODE_POINT))
NEWLINE: CharSet = ((10, 10),)
WORD: CharSet = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))

# The smallest and the largest code point that has another case.
_MIN_FOLD = 0x41
_MAX_FOLD = 0x1E943


def normalize(ranges: Iterable[tuple[int, int]]) -> CharSet:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return tuple(merged)


def negate(chars: CharSet) -> CharSet:
    result = []
    start = 0
    for low, high in chars:
        if start < low:
            result.append((start, low - 1))
        start = high + 1
    if start <= MAX_CODE_POINT:
        result.append((start, MAX_CODE_POINT))
    return tuple(result)


def contains(chars: CharSet, code_point: int) -> bool:
    index = bisect_right(chars, (code_point, MAX_CODE_POINT)) - 1
    return index >= 0 and code_point <= chars[index][1]


def single(char: str) -> CharSet:
    return ((ord(char), ord(char)),)


@lru_cache(maxsize=1)
def _orbit_table() -> tuple[dict[int, tuple[int, ...]], list[int]]:
    """Code point to its orbit, and the sorted code points that have one."""
    # late: only patterns that ignore case need it
    from celadon.cel.re2.unicode15 import load_orbits

    orbits = {member: orbit for orbit in load_orbits() for member in orbit}
    return orbits, sorted(orbits)


def orbit(code_point: int) -> tuple[int, ...]:
    """Return all code points equal to this one but for case, itself included, ascending.

    Go `unicode.SimpleFold` walked all the way round: `k`, `K` and the Kelvin sign are one orbit,
    the dotted capital I of Turkish is alone.
    """
    if code_point < _MIN_FOLD or code_point > _MAX_FOLD:
        return (code_point,)
    return _orbit_table()[0].get(code_point, (code_point,))


def fold(chars: CharSet) -> CharSet:
    """Return the set with every other case of its members added."""
    return (_small_folded if len(chars) <= _SMALL else _folded)(chars)


def _folded(chars: CharSet) -> CharSet:
    orbits, cased = _orbit_table()
    added = list(chars)
    for low, high in chars:
        if low <= _MIN_FOLD and high >= _MAX_FOLD:
            continue
        for code_point in cased[bisect_left(cased, low) : bisect_right(cased, high)]:
            added.extend((other, other) for other in orbits[code_point])
    return normalize(added)


_SMALL: Final = 1000
"""Pairs of a set that is remembered: what Unicode names has fewer."""
_small_folded: Final = lru_cache(maxsize=64)(_folded)


def fold_char(char: str) -> CharSet:
    return normalize((member, member) for member in orbit(ord(char)))


@dataclass(frozen=True, slots=True)
class Facts:
    """Holds what is known of a pattern. `height` of the tree; `size` in instructions as Go
    estimates it; `shortest`, so many characters a match has at least; `repeats`, the largest
    product of nested counted repetitions."""

    height: int = 1
    size: int = 1
    shortest: int = 1
    repeats: int = 1

    @property
    def nullable(self) -> bool:
        """Return whether it can match without consuming."""
        return not self.shortest


_CONSUMING = Facts()
_NULLABLE = Facts(shortest=0)


class AssertionKind(enum.Enum):
    """Says what stands between two characters."""

    BEGIN_TEXT = enum.auto()
    END_TEXT = enum.auto()
    BEGIN_LINE = enum.auto()
    END_LINE = enum.auto()
    WORD_BOUNDARY = enum.auto()
    NOT_WORD_BOUNDARY = enum.auto()


@dataclass(frozen=True, slots=True)
class Empty:
    """Matches the empty string."""

    @property
    def facts(self) -> Facts:
        return _NULLABLE


@dataclass(frozen=True, slots=True)
class Literal:
    """A run of characters, not empty; with `fold`, in any case."""

    text: str
    fold: bool

    @property
    def facts(self) -> Facts:
        length = len(self.text)
        return Facts(size=length, shortest=length) if length > 1 else _CONSUMING


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a set; the empty set matches nothing."""

    chars: CharSet

    @property
    def facts(self) -> Facts:
        return _CONSUMING


@dataclass(frozen=True, slots=True)
class Assertion:
    """Matches nothing, at a place of that kind."""

    kind: AssertionKind

    @property
    def facts(self) -> Facts:
        return _NULLABLE


@dataclass(frozen=True, slots=True)
class Capture:
    """A capturing group; groups are numbered from 1 by their opening parenthesis."""

    sub: Node
    index: int
    facts: Facts


@dataclass(frozen=True, slots=True)
class Repeat:
    """Repeats a part of a pattern. `least` to `most` times, `most` None for no limit. `counted`
    tells `x{0,1}` from `x?`."""

    sub: Node
    least: int
    most: int | None
    greedy: bool
    counted: bool
    facts: Facts


@dataclass(frozen=True, slots=True)
class Concat:
    """One part after the other."""

    subs: tuple[Node, ...]
    facts: Facts


@dataclass(frozen=True, slots=True)
class Alternate:
    """One of the parts, the first that matches."""

    subs: tuple[Node, ...]
    facts: Facts


Node: TypeAlias = Empty | Literal | Chars | Assertion | Capture | Repeat | Concat | Alternate

EMPTY = Empty()


def capture(sub: Node, index: int) -> Capture:
    inner = sub.facts
    facts = Facts(inner.height + 1, inner.size + 2, inner.shortest, inner.repeats)
    return Capture(sub, index, facts)


def repeat(sub: Node, least: int, most: int | None, *, greedy: bool, counted: bool) -> Repeat:
    inner = sub.facts
    estimate = _counted_size if counted else _operator_size
    size = estimate(inner.size, least, most)
    count = max(1, (most or least) if counted else 1)
    repeats = 1 if most == 0 else inner.repeats * count
    facts = Facts(inner.height + 1, max(1, size), least * inner.shortest, repeats)
    return Repeat(sub, least, most, greedy, counted, facts)


def star(sub: Node) -> Repeat:
    return repeat(sub, 0, None, greedy=True, counted=False)


def plus(sub: Node) -> Repeat:
    return repeat(sub, 1, None, greedy=True, counted=False)


def quest(sub: Node) -> Repeat:
    return repeat(sub, 0, 1, greedy=True, counted=False)


def concat(subs: tuple[Node, ...]) -> Concat:
    facts = [sub.facts for sub in subs]
    return Concat(
        subs,
        Facts(
            1 + max(fact.height for fact in facts),
            sum(fact.size for fact in facts),
            sum(fact.shortest for fact in facts),
            max(fact.repeats for fact in facts),
        ),
    )


def alternate(subs: tuple[Node, ...]) -> Alternate:
    facts = [sub.facts for sub in subs]
    return Alternate(
        subs,
        Facts(
            1 + max(fact.height for fact in facts),
            sum(fact.size for fact in facts) + len(subs) - 1,
            min(fact.shortest for fact in facts),
            max(fact.repeats for fact in facts),
        ),
    )


def _operator_size(inner: int, least: int, most: int | None) -> int:
    """Go counts two for a star, which may have to become `(x+)?`, and one for `+` and `?`."""
    return inner + (2 if least == 0 and most is None else 1)


def _counted_size(inner: int, least: int, most: int | None) -> int:
    if most is not None:
        return most * inner + most - least
    return 1 + least * inner if least else 2 + inner
