"""Random texts that remember how they were made, so that they can be made smaller.

A `Piece` is a template with a hole for each of its parts. `kind` says what may stand in its place:
making a text smaller puts a leaf of the kind, or a part of the same kind, where a piece was, as
long as whoever asks still finds what he found in the larger text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

HOLE = "\x00"


@dataclass(frozen=True, slots=True)
class Piece:
    """`template` has one `HOLE` for each part, in their order."""

    kind: str
    template: str
    parts: tuple[Piece, ...] = ()

    @property
    def text(self) -> str:
        """The whole text."""
        between = self.template.split(HOLE)
        filled = [between[0]]
        for part, rest in zip(self.parts, between[1:], strict=True):
            filled += (part.text, rest)
        return "".join(filled)

    @property
    def size(self) -> int:
        """Pieces in it, itself included."""
        return 1 + sum(part.size for part in self.parts)


def smaller(piece: Piece, leaves: Mapping[str, str]) -> Iterator[Piece]:
    """All that one step makes of a piece, the boldest steps first."""
    for inner in _descendants(piece):
        if inner.kind == piece.kind:
            yield inner
    leaf = leaves.get(piece.kind)
    if leaf is not None and piece.template != leaf:
        yield Piece(piece.kind, leaf)
    for index, part in enumerate(piece.parts):
        for one in smaller(part, leaves):
            yield replace(piece, parts=(*piece.parts[:index], one, *piece.parts[index + 1 :]))


def _descendants(piece: Piece) -> Iterator[Piece]:
    for part in piece.parts:
        yield part
        yield from _descendants(part)


def shrunk(
    piece: Piece, leaves: Mapping[str, str], is_found: Callable[[str], bool], tries: int = 2000
) -> Piece:
    """A piece that no step makes smaller without losing what was found; at most so many tries."""
    for _ in range(tries):
        for one in smaller(piece, leaves):
            tries -= 1
            if tries <= 0:
                return piece
            if len(one.text) < len(piece.text) and is_found(one.text):
                piece = one
                break
        else:
            return piece
    return piece
