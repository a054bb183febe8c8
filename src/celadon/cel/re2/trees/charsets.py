"""Sets of characters as sorted, disjoint, non-adjacent ranges of code points.

A `CharSet` is a tuple of inclusive pairs, so sets compare, hash and cache as values. All functions
take and return normalized sets except `normalize`, which makes one from any pairs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from celadon.cel.re2.trees.unicode15 import load_orbits

CharSet = tuple[tuple[int, int], ...]

MAX_CODE_POINT = 0x10FFFF
EMPTY: CharSet = ()
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
    orbits = {member: orbit for orbit in load_orbits() for member in orbit}
    return orbits, sorted(orbits)


def orbit(code_point: int) -> tuple[int, ...]:
    """All code points equal to this one but for case, itself included, ascending.

    Go `unicode.SimpleFold` walked all the way round: `k`, `K` and the Kelvin sign are one orbit,
    the dotted capital I of Turkish is alone.
    """
    if code_point < _MIN_FOLD or code_point > _MAX_FOLD:
        return (code_point,)
    return _orbit_table()[0].get(code_point, (code_point,))


def fold(chars: CharSet) -> CharSet:
    """The set with every other case of its members added."""
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
