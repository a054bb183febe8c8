"""Where the values of one JSON document stand, found as somebody asks and then remembered.

A container that lies on a path that was asked for has a table of its keys or items, and what is
looked for next begins at the deepest such table. So no container is walked twice from its
beginning: the thousandth item of a list costs as much as the item, not as the list.
"""

from __future__ import annotations

from typing import Final

from celadon.cli.reading.json_places import Path, places
from celadon.patterns import late_pattern

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
