"""Tokens with the comments between them, which the lexer skips."""

from __future__ import annotations

from celadon.cel.parsing.lexer import tokenize
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """`behind` is the comment on the same line, `above` are those on lines of their own, up to the
    next token; so the comments before the first token are with a token that is empty."""

    kind: str
    text: str
    behind: str = ""
    above: tuple[str, ...] = ()

    @property
    def ends_line(self) -> bool:
        """Whether the next token cannot stand on the same line."""
        return bool(self.behind or self.above)


def commented_tokens(text: str) -> list[Token] | None:
    """All tokens between an empty one at the head and the end of input; None if some part of the
    text is no token."""
    tokenized = tokenize(text)
    if tokenized is None:
        return None
    found = []
    kinds, texts, offsets = tokenized
    ends = [0, *(at + len(one) for at, one in zip(offsets, texts, strict=True))]
    for number, (kind, token) in enumerate(zip(["", *kinds[:-1]], ["", *texts[:-1]], strict=True)):
        behind, above = _comments(text[ends[number] : offsets[number]], is_head=not number)
        found.append(Token(kind, token, behind, above))
    return [*found, Token(kinds[-1], "")]


def _comments(gap: str, *, is_head: bool) -> tuple[str, tuple[str, ...]]:
    """The comment behind a token, and those on the lines that follow."""
    first, *rest = (one.strip() for one in gap.split("\n"))
    if is_head:
        return "", tuple(one for one in (first, *rest) if one)
    return first, tuple(one for one in rest if one)
