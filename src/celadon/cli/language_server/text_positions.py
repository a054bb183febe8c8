"""Lines and columns as editors count them: from 0, columns in units of UTF-16."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple


class Position(NamedTuple):
    """A place between two characters."""

    line: int
    column: int


class Span(NamedTuple):
    """From one place to another."""

    start: Position
    end: Position


class Lines:
    """The lines of a text, whose ends are `\\n`."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        starts = [0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._starts = starts

    def line(self, number: int) -> str:
        """A line without its end; empty behind the last one."""
        if number >= len(self._starts):
            return ""
        start = self._starts[number]
        end = self._text.find("\n", start)
        return self._text[start : len(self._text) if end < 0 else end]

    def offset(self, position: Position) -> int:
        """The offset in the text; of a place behind a line's end, that of the end."""
        if position.line >= len(self._starts):
            return len(self._text)
        line = self.line(position.line)
        if line.isascii():
            column = min(position.column, len(line))
        else:
            units, column = 0, 0
            while column < len(line) and units < position.column:
                units += 2 if line[column] > "\uffff" else 1
                column += 1
        return self._starts[position.line] + column

    def position(self, offset: int) -> Position:
        """Where an offset is."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : offset]
        return Position(line, len(before) + sum(one > "\uffff" for one in before))

    def span(self, start: int, end: int) -> Span:
        """Where a stretch of the text is."""
        return Span(self.position(start), self.position(end))
