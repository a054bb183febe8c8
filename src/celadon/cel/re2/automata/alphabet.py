"""The characters of a pattern sorted into classes it cannot tell apart.

A pattern that mentions `[a-z]` and `-` sees three kinds of characters: letters, the dash, the rest.
Automata work on those classes, so their size does not depend on Unicode's. Sets of classes are bit
masks.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import assert_never

from celadon.cel.re2.trees.charsets import (
    MAX_CODE_POINT,
    NEWLINE,
    WORD,
    CharSet,
    contains,
    fold_char,
    single,
)
from celadon.cel.re2.trees.pattern_tree import (
    Alternate,
    Assertion,
    Capture,
    Chars,
    Concat,
    Empty,
    Literal,
    Node,
    Repeat,
)


class Alphabet:
    """`count` classes, numbered from 0. `representatives` holds one code point of each."""

    def __init__(self, sets: set[CharSet]) -> None:
        toggles: dict[int, int] = {0: 0}
        for number, chars in enumerate(sets):
            bit = 1 << number
            for low, high in chars:
                toggles[low] = toggles.get(low, 0) ^ bit
                toggles[high + 1] = toggles.get(high + 1, 0) ^ bit
        toggles.pop(MAX_CODE_POINT + 1, None)
        self._starts = sorted(toggles)
        self._classes: list[int] = []
        self.representatives: list[int] = []
        known: dict[int, int] = {}
        signature = 0
        for start in self._starts:
            signature ^= toggles[start]
            number = known.setdefault(signature, len(known))
            if number == len(self.representatives):
                self.representatives.append(start)
            self._classes.append(number)
        self.count = len(known)
        self._masks: dict[CharSet, int] = {}

    def class_of(self, char: str) -> int:
        return self._classes[bisect_right(self._starts, ord(char)) - 1]

    def mask(self, chars: CharSet) -> int:
        """The classes that make up a set this alphabet was built with."""
        mask = self._masks.get(chars)
        if mask is None:
            mask = 0
            for low, high in chars:
                first = bisect_right(self._starts, low) - 1
                for number in self._classes[first : bisect_right(self._starts, high)]:
                    mask |= 1 << number
            self._masks[chars] = mask
        return mask

    def classes_in(self, chars: CharSet) -> frozenset[int]:
        return frozenset(
            number
            for number, code_point in enumerate(self.representatives)
            if contains(chars, code_point)
        )


def alphabet_of(tree: Node) -> Alphabet:
    """The alphabet of all sets in a tree; with assertions, words and newlines are told apart."""
    sets: set[CharSet] = set()
    seen: set[tuple[str, bool]] = set()
    pending: list[Node] = [tree]
    while pending:
        node = pending.pop()
        match node:
            case Chars(chars):
                sets.add(chars)
            case Literal(text, fold):
                seen.update((char, fold) for char in text)
            case Assertion():
                sets.update((WORD, NEWLINE))
            case Capture() | Repeat():
                pending.append(node.sub)
            case Concat() | Alternate():
                pending.extend(node.subs)
            case Empty():
                pass
            case _:
                assert_never(node)
    sets.update(fold_char(char) if fold else single(char) for char, fold in seen)
    return Alphabet(sets)
