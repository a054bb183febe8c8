"""Large JSON, read in pieces.

One call of a reader in C reads all there is, and no other thread of Python runs meanwhile: 40 ms
for two megabytes of labels, wherever the call is made. Here the text is cut where a member ends, at
whatever depth, each piece is read for itself, and others have their turn between the pieces. In all
it takes two to six times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from celadon.patterns import late_pattern

PIECE: Final = 64 << 10
"""Bytes that are read at once, or somewhat more."""

_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
_RUN: Final = late_pattern(rb'(?:%b|[^"\[\]{},]++|,){1,1000}+' % _STRING)
"""What stands between brackets, as far as a thousand texts."""
_TO_COMMA: Final = late_pattern(rb'(?:%b|[^"\[\]{},]++)*+,' % _STRING)

_OPENING: Final = {b"{": True, b"[": False}
_CLOSING: Final = {b"}": True, b"]": False}
_BRACKETS: Final = frozenset((*_OPENING, *_CLOSING))

Read = Callable[[bytes], Any]


class NotInPieces(Exception):
    """It is written otherwise than we write JSON, or it is no JSON: read it at once."""


class _Container:
    """One that has been opened at `at`. What is before `start` has been `made` of its text."""

    __slots__ = ("at", "is_map", "made", "start")

    def __init__(self, at: int, *, is_map: bool) -> None:
        self.at = at
        self.start = at + 1
        self.is_map = is_map
        self.made: Any = {} if is_map else []

    def read_on(self, text: bytes, read: Read) -> None:
        """Members, with a comma before them if there were others. Raises NotInPieces."""
        if self.made:
            if text[:1] not in (b",", b""):
                raise NotInPieces
            is_cut, text = bool(text), text[1:]
            if is_cut and not text:
                raise NotInPieces
        found = read(b"{%b}" % text if self.is_map else b"[%b]" % text)
        if self.is_map:
            self.made.update(found)
        else:
            self.made += found

    def take(self, value: object, before: bytes, read: Read) -> None:
        """A member that has been read, and the text before it, which ends with its name. Raises
        NotInPieces."""
        name = ""
        if self.is_map:
            if not before.endswith(b'":'):
                raise NotInPieces
            begin = _beginning_of_text(before, len(before) - 2)
            name, before = read(before[begin:-1]), before[:begin]
        if before:
            if not before.endswith(b","):
                raise NotInPieces
            if len(before) > 1:
                self.read_on(before[:-1], read)
            elif not self.made:
                raise NotInPieces
        elif self.made:
            raise NotInPieces
        if self.is_map:
            self.made[name] = value
        else:
            self.made.append(value)


def read_in_pieces(text: bytes, read: Read) -> Any:  # noqa: ANN401 - any JSON
    """Return what `read` reads from the text, if that is the JSON of a map or a list without
    spaces. Raises NotInPieces, and what `read` raises."""
    opened: list[_Container] = []
    at = 0
    while True:
        at = _between_brackets(text, at, opened, read)
        bracket = text[at : at + 1]
        if bracket in _OPENING:
            opened.append(_Container(at, is_map=_OPENING[bracket]))
        elif opened:
            container = opened.pop()
            if container.is_map != _CLOSING.get(bracket):
                raise NotInPieces
            if not opened:
                container.read_on(text[container.start : at], read)
                if at + 1 != len(text):
                    raise NotInPieces
                return container.made
            outer = opened[-1]
            if container.made or at - container.start >= PIECE:
                container.read_on(text[container.start : at], read)
                outer.take(container.made, text[outer.start : container.at], read)
                outer.start = at + 1
            elif at - outer.start >= PIECE:
                outer.read_on(text[outer.start : at + 1], read)
                outer.start = at + 1
        else:
            raise NotInPieces
        at += 1


def _between_brackets(text: bytes, at: int, opened: Sequence[_Container], read: Read) -> int:
    """Return where the next bracket is. What comes before it is read if it is enough. Raises
    NotInPieces."""
    while text[at : at + 1] not in _BRACKETS:
        found = _RUN.match(text, at)
        if found is None or not opened:
            raise NotInPieces
        at = found.end()
        if at - opened[-1].start >= PIECE:
            comma = _TO_COMMA.match(text, at)
            if comma is not None:
                at = comma.end()
                opened[-1].read_on(text[opened[-1].start : at - 1], read)
                opened[-1].start = at - 1
    return at


def _beginning_of_text(text: bytes, end: int) -> int:
    """Return where the text begins whose closing quotation mark is at the end. Raises
    NotInPieces."""
    at = text.rfind(b'"', 0, end)
    while at > 0:
        before = text[:at]
        if (at - len(before.rstrip(b"\\"))) % 2 == 0:
            break
        at = text.rfind(b'"', 0, at)
    if at < 0:
        raise NotInPieces
    return at
