"""From pieces to lines: each group on one line if it fits, else broken, from the outside inwards.

Without recursion, and in time proportional to the text: whether a group fits is known after at most
`width` characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from celadon.cel.layout.commented_tokens import Token
from celadon.cel.layout.line_pieces import STEP, Break, Group, Indented, Piece, Space

_Pending = tuple[Piece, int, bool]
"""With the column of its lines, and whether it stands on one."""


class _Lines:
    """The lines so far. A line that has ended begins anew when there is something to write."""

    __slots__ = ("_current", "_done", "_has_ended")

    def __init__(self) -> None:
        self._done: list[str] = []
        self._current = ""
        self._has_ended = False

    def column(self, indent: int) -> int:
        """Where the next character would stand."""
        if self._has_ended:
            return indent
        return len(self._current) - self._current.rfind("\n") - 1

    def end(self) -> None:
        self._has_ended = True

    def space(self) -> None:
        if not self._has_ended:
            self._current += " "

    def write(self, text: str, indent: int) -> None:
        if self._has_ended:
            if self._current.strip():
                self._done.append(self._current.rstrip(" "))
            self._current = " " * indent
            self._has_ended = False
        self._current += text

    def text(self) -> str:
        return "\n".join([*self._done, self._current.rstrip(" ")])


def filled(pieces: Sequence[Piece], width: int) -> str:
    """The text of pieces, in lines of that many characters where that is possible."""
    lines = _Lines()
    pending: list[_Pending] = [(piece, 0, False) for piece in reversed(pieces)]
    while pending:
        piece, indent, is_flat = pending.pop()
        match piece:
            case Token():
                _write(lines, piece, indent)
            case Space():
                lines.space()
            case Break(space) if is_flat:
                if space:
                    lines.space()
            case Break():
                lines.end()
            case Indented(inner):
                pending += _reversed(inner, indent + STEP, is_flat=is_flat)
            case Group(inner, is_broken):
                if not is_flat:
                    inner_pending = _reversed(inner, indent, is_flat=True)
                    room = width - lines.column(indent)
                    is_flat = not is_broken and _fits(pending, inner_pending, room)
                pending += _reversed(inner, indent, is_flat=is_flat)
    return lines.text()


def _write(lines: _Lines, token: Token, indent: int) -> None:
    if token.text:
        lines.write(token.text, indent)
    if token.behind:
        lines.write(f" {token.behind}", indent)
    for comment in token.above:
        lines.end()
        lines.write(comment, indent)
    if token.ends_line:
        lines.end()


def _reversed(pieces: Iterable[Piece], indent: int, *, is_flat: bool) -> list[_Pending]:
    return [(piece, indent, is_flat) for piece in pieces][::-1]


def _fits(behind: list[_Pending], group: list[_Pending], room: int) -> bool:
    """Whether a group, and what follows it up to the next place where a line may end, fits."""
    rest = len(behind)
    inner = list(group)
    while room >= 0:
        if not inner:
            if not rest:
                return True
            rest -= 1
            inner.append(behind[rest])
        piece, indent, is_flat = inner.pop()
        match piece:
            case Token(text=text, ends_line=ends_line):
                first, newline, _ = text.partition("\n")
                room -= len(first)
                if newline or ends_line:
                    return room >= 0
            case Space():
                room -= 1
            case Break(space):
                if not is_flat:
                    return True
                room -= len(space)
            case Indented(pieces) | Group(pieces):
                inner += _reversed(pieces, indent, is_flat=is_flat)
    return False
