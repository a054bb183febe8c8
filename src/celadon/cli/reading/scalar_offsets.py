"""From a character of a value to the character of the file that it was written as.

YAML folds lines, strips indentation and knows escapes, so an offset in a value is none in the file.
What no style changes is the sequence of characters that are not white space: the n-th of the value
is the n-th of the source, where an escape, or a doubled quote, counts as the one character that it
stands for. White space is taken to stand right before what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from celadon.patterns import late_pattern

_PROPERTIES: Final = late_pattern(r"(?:[&!][^\s]*\s+)*")
_HEADER: Final = late_pattern(r"[|>][^\n]*\n?")
_DOUBLE: Final = late_pattern(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<e>.|\n))|[^\\]",
    re.DOTALL,
)
_SPACES: Final = frozenset("nrtvfNLP_ \n\t")
"""What stands for white space behind a backslash."""
_HALVES: Final = late_pattern(r"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def source_offset(text: str, start: int, value: str, offset: int) -> int:
    """`start` is where the scalar begins in `text`, `offset` a position in its value. A position
    behind the end of the value is behind the last character."""
    start = scalar_start(text, start)
    wanted = sum(not one.isspace() for one in value[:offset])
    last = start
    for position, length in _characters(text, start):
        if wanted == 0:
            return position
        wanted -= 1
        last = position + length
    return last


def value_offset(text: str, start: int, value: str, at: int) -> int:
    """The way back: where a place in `text` is in the value. White space of the value counts as far
    as it stands behind white space of the text."""
    start = scalar_start(text, start)
    passed = 0
    end = start
    for position, length in _characters(text, start):
        if position + length > at:
            break
        passed += 1
        end = position + length
    offset = 0
    while passed:
        passed -= not value[offset].isspace()
        offset += 1
    if text[end:at].isspace():
        while offset < len(value) and value[offset].isspace():
            offset += 1
    return offset


def scalar_start(text: str, start: int) -> int:
    """Behind the anchor and the tag of a node."""
    found = _PROPERTIES.match(text, start)
    return start if found is None else found.end()


def _characters(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Position and length of every character of the value that is not white space."""
    style = text[start : start + 1]
    if style == '"':
        yield from _escaped(text, start + 1)
    elif style == "'":
        yield from _single_quoted(text, start + 1)
    else:
        header = _HEADER.match(text, start)
        for position in range(start if header is None else header.end(), len(text)):
            if not text[position].isspace():
                yield position, 1


def _single_quoted(text: str, position: int) -> Iterator[tuple[int, int]]:
    while position < len(text):
        if text.startswith("''", position):
            yield position, 2
            position += 2
            continue
        if text[position] == "'":
            return
        if not text[position].isspace():
            yield position, 1
        position += 1


def _escaped(text: str, position: int) -> Iterator[tuple[int, int]]:
    while position < len(text) and text[position] != '"':
        halves = _HALVES.match(text, position)
        found = halves or _DOUBLE.match(text, position)
        if found is None:
            return
        length = found.end() - position
        if halves is not None or not _is_space(found):
            yield position, length
        position += length


def _is_space(found: re.Match[str]) -> bool:
    digits = found["x"] or found["u"] or found["U"]
    if digits:
        return int(digits, 16) < 0x110000 and chr(int(digits, 16)).isspace()
    if found["e"]:
        return found["e"] in _SPACES
    return found[0].isspace()
