"""The pieces that a layout is made of, after the algebra of Wadler and Leijen.

A `Group` stands on one line, or every `Break` that is its own ends a line. What is in an `Indented`
piece stands further to the right on all lines but the one it begins on.
"""

from __future__ import annotations

from celadon.cel.layout.commented_tokens import Token
from celadon.records import dataclass

STEP = 2
"""Columns of one level."""


@dataclass(frozen=True, slots=True)
class Break:
    """The end of a line; where none ends, `space`."""

    space: str = " "


@dataclass(frozen=True, slots=True)
class Space:
    """One space within a line."""


@dataclass(frozen=True, slots=True)
class Indented:
    """Pieces one level to the right."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces on one line, if they fit. `is_broken`: they cannot, since a comment ends a line."""

    pieces: tuple[Piece, ...]
    is_broken: bool = False


Piece = Token | Break | Space | Indented | Group
