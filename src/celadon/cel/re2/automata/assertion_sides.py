"""What assertions look at: the kind of thing on either side of a position."""

from __future__ import annotations

from celadon.cel.re2.automata.alphabet import Alphabet
from celadon.cel.re2.trees.charsets import NEWLINE, WORD
from celadon.cel.re2.trees.pattern_tree import AssertionKind

EDGE, OTHER, LETTER, LINE_END = range(4)
"""The end of the text, a character of no interest, a word character, a newline."""


def sides_of(alphabet: Alphabet) -> list[int]:
    """The side each class makes. Exact when the alphabet tells words and newlines apart."""
    words = alphabet.classes_in(WORD)
    newlines = alphabet.classes_in(NEWLINE)
    return [
        LINE_END if number in newlines else LETTER if number in words else OTHER
        for number in range(alphabet.count)
    ]


def holds(kind: AssertionKind, before: int, after: int | None) -> bool | None:
    """None when it depends on the side after, and that is None: not known yet."""
    match kind:
        case AssertionKind.BEGIN_TEXT:
            return before == EDGE
        case AssertionKind.BEGIN_LINE:
            return before in (EDGE, LINE_END)
    if after is None:
        return None
    match kind:
        case AssertionKind.END_TEXT:
            return after == EDGE
        case AssertionKind.END_LINE:
            return after in (EDGE, LINE_END)
    boundary = (before == LETTER) != (after == LETTER)
    return boundary == (kind is AssertionKind.WORD_BOUNDARY)
