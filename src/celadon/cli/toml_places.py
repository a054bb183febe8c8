"""Where the keys of a TOML text stand: tomllib does not tell.

The text must be one that tomllib has taken; so what is walked over here is known to be right, and
patterns that would let mistakes pass are good enough.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from typing import Final

from celadon.patterns import late_pattern

KeyPath = tuple[str | int, ...]
"""Keys from the top, and numbers of items in arrays."""

DEEPEST: Final = 100
"""Parts that a key may have; tomllib takes time and memory in proportion to their square."""
PLACED: Final = 20
"""Parts of a path that has a place; nobody looks for longer ones."""

_PART: Final = r"""(?:"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'|[\w-]++)"""
_ONE_PART: Final = late_pattern(_PART)
_DEEP: Final = late_pattern(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{DEEPEST}}}")
_KEY: Final = late_pattern(rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*")
_BLANK: Final = late_pattern(r"(?:[ \t\r\n]|#[^\n]*)*")
_SCALAR: Final = late_pattern(
    r'''"""(?s:\\.|[^\\])*?"{3,5}'''
    r"""|'''(?s:.)*?'{3,5}"""
    r"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^,\]}#\n]+"""
)


def key_places(text: str) -> dict[KeyPath, tuple[int, int]]:
    """Line and column, from 1, of each key and each item of an array. A key that is written several
    times, as in the headers of tables, has the first place."""
    walk = _Walk(text)
    walk.document()
    starts = [0, *(one.end() for one in re.finditer("\n", text))]
    found = {}
    for path, offset in walk.places.items():
        line = bisect_right(starts, offset)
        found[path] = line, offset - starts[line - 1] + 1
    return found


def too_deep(text: str) -> int:
    """The line of a key with more parts than anybody may write, 0 if there is none; of a text that
    may be no TOML."""
    found = _DEEP.search(text)
    return 0 if found is None else text.count("\n", 0, found.start()) + 1


class _Walk:
    """Goes over a text once, from its beginning to its end."""

    __slots__ = ("_at", "_text", "places")

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.places: dict[KeyPath, int] = {}

    def document(self) -> None:
        """The whole text: headers of tables, and pairs below them."""
        table: KeyPath = ()
        self._blank()
        while self._at < len(self._text):
            if self._next() == "[":
                self._skip("[ \t")
                table = self._key(())
                self._skip("] \t")
            else:
                self._pair(table)
            self._blank()

    def _pair(self, table: KeyPath) -> None:
        path = self._key(table)
        self._skip("= \t")
        self._value(path)

    def _key(self, table: KeyPath) -> KeyPath:
        """The path of the key that stands here, or of the last part of a dotted one."""
        start = self._at
        match = _KEY.match(self._text, start)
        assert match is not None, "tomllib has taken the text"
        self._at = match.end()
        path = table
        for name in _names(match[0]):
            path = (*path, name)[:PLACED]
            self.places.setdefault(path, start)
        return path

    def _value(self, path: KeyPath) -> None:
        match self._next():
            case "[":
                self._items(path)
            case "{":
                self._inline_table(path)
            case _:
                match = _SCALAR.match(self._text, self._at)
                assert match is not None, "tomllib has taken the text"
                self._at = match.end()

    def _items(self, path: KeyPath) -> None:
        self._at += 1
        number = 0
        self._blank()
        while self._next() != "]":
            below = (*path, number)[:PLACED]
            self.places.setdefault(below, self._at)
            self._value(below)
            number += 1
            self._comma()
        self._at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        self._blank()
        while self._next() != "}":
            self._pair(path)
            self._comma()
        self._at += 1

    def _comma(self) -> None:
        self._blank()
        if self._next() == ",":
            self._at += 1
            self._blank()

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _blank(self) -> None:
        match = _BLANK.match(self._text, self._at)
        assert match is not None, "it matches nothing, too"
        self._at = match.end()

    def _skip(self, characters: str) -> None:
        while self._next() and self._next() in characters:
            self._at += 1


def _names(key: str) -> list[str]:
    """The parts of a dotted key, without their quotes."""
    return [_unquoted(part) for part in _ONE_PART.findall(key)]


def _unquoted(part: str) -> str:
    if part[0] not in "\"'":
        return part
    (name,) = tomllib.loads(f"{part} = 0")
    return name
