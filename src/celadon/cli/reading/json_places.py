"""Where things stand in a JSON text that is known, or nearly known, to be well formed.

The decoder keeps no positions, so a position is found by walking the tokens again. That happens
only when a line must be shown to somebody, and what was found of a document is then remembered: a
container that lies on a path that was asked for has a table of its keys or items, and what is
looked for next begins at the deepest such table. So no container is walked twice from its
beginning: the thousandth item of a list costs as much as the item, not as the list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import field
from typing import Final

from celadon.patterns import late_pattern
from celadon.records import dataclass

Path = tuple[str | int, ...]
"""The way to a value: keys of maps, indices of lists."""

_TOKEN: Final = late_pattern(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(frozen=True, slots=True)
class Place:
    """A key of a map, or an item of a list, and the offset where it starts."""

    path: Path
    offset: int
    is_duplicate: bool = False


@dataclass(slots=True)
class _Level:
    """A map or list the walk is inside of."""

    is_map: bool
    step: str | int = 0
    awaits_key: bool = False
    seen: set[str] = field(default_factory=set)


def places(text: str, start: int, depth: int) -> Iterator[Place]:
    """The places of the value that starts at an offset, down to paths of length `depth`."""
    levels: list[_Level] = []
    for match in _TOKEN.finditer(text, start):
        token = match[0]
        level = levels[-1] if levels else None
        if token in ("}", "]"):
            levels.pop()
            if not levels:
                return
        elif token == ",":
            if level is not None and level.is_map:
                level.awaits_key = True
            elif level is not None and isinstance(level.step, int):
                level.step += 1
        elif token == ":":
            continue
        elif level is not None and level.awaits_key:
            key = json.loads(token)
            level.awaits_key, level.step = False, key
            if len(levels) <= depth:
                yield Place(_path(levels), match.start(), key in level.seen)
                level.seen.add(key)
        else:
            if level is not None and not level.is_map and len(levels) <= depth:
                yield Place(_path(levels), match.start())
            if token in ("{", "["):
                levels.append(_Level(is_map=token == "{", awaits_key=token == "{"))
            elif level is None:
                return


def _path(levels: list[_Level]) -> Path:
    return tuple(level.step for level in levels)


def duplicates(text: str, start: int) -> Iterator[Place]:
    """The keys that their maps have already."""
    everywhere = len(text)
    return (place for place in places(text, start, everywhere) if place.is_duplicate)


def first_word(text: str, start: int, word: str) -> int:
    """The offset of the first number or bare word spelled so."""
    for match in _TOKEN.finditer(text, start):
        if match[0] == word:
            return match.start()
    return start


# --- what was found once, remembered --------------------------------------------------------------


_KEY: Final = late_pattern(r'"(?:[^"\\]|\\.)*"\s*:\s*')

_ITEM_DEPTH: Final = 2
"""So far the first walk looks, which is along the whole document: to `items[7]`."""

_Table = dict[str | int, int]
"""Per key or index of a container the offset of the key, or of the item."""


class JsonIndex:
    """Of the document that begins at `start`."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._start = start
        self._tables: dict[Path, _Table] = {}

    def offsets(self, path: Path) -> tuple[int, int, bool]:
        """Where the key (or item) and the value of a path begin, or of the longest part of it that
        exists, and whether that is all of it."""
        at = value = self._start
        for depth, step in enumerate(path):
            known = path[:depth]
            if known not in self._tables:
                rest = path[depth:] if depth else path[:_ITEM_DEPTH]
                self._walk(known, value, rest)
            offset = self._tables[known].get(step)
            if offset is None:
                return at, value, False
            at = offset
            value = at if isinstance(step, int) else self._value_start(at)
        return at, value, True

    def _walk(self, known: Path, start: int, rest: Path) -> None:
        """Makes the tables of the value at `start`, whose path is known, and of the containers on
        the rest of the path. Of a key given twice the last counts, as it does for readers."""
        containers = rest[:-1]
        tables: dict[Path, _Table] = {(): {}}
        for place in places(self._text, start, len(rest)):
            *above, step = place.path
            table = tables.get(tuple(above))
            if table is not None:
                table[step] = place.offset
                if place.path == containers[: len(place.path)]:
                    tables[place.path] = {}
        self._tables.update((known + below, table) for below, table in tables.items())

    def _value_start(self, key: int) -> int:
        colon = _KEY.match(self._text, key)
        return colon.end() if colon is not None else key
