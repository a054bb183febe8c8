"""Tokens on demand, with the errors of the lexer in between.

A token is read only when the parser looks at it. So a parse that stops early reports no errors of
the lexer further on, as in cel-go.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from celadon.cel.parsing import tokens
from celadon.cel.parsing.lexer import next_token


class Token(NamedTuple):
    """`start` and `end` are the code-point offsets of its first and last character."""

    kind: str
    text: str
    start: int
    end: int


class TokenStream:
    """A position in the tokens of a text. `report` gets message and offset of lexer errors, also of
    each character of `junk` where a token would begin."""

    def __init__(self, text: str, report: Callable[[str, int], None], junk: str = "") -> None:
        self._text = text
        self._junk_characters = frozenset(junk)
        self._report = report
        self._tokens: list[Token] = []
        self._scanned = 0
        #: Starts and ends of what is no token.
        self._junk_starts: list[int] = []
        self._junk_ends: list[int] = []
        self.index = 0
        self.token(1)

    def token(self, ahead: int) -> Token:
        """1 is the current token. Beyond the end of input is the end of input."""
        wanted = self.index + ahead - 1
        while len(self._tokens) <= wanted:
            if self._tokens and self._tokens[-1].kind == tokens.EOF:
                return self._tokens[-1]
            self._scan()
        return self._tokens[wanted]

    def kind(self, ahead: int) -> str:
        """The kind of the token `ahead` places further; 1 is the current one."""
        return self.token(ahead).kind

    def previous(self) -> Token | None:
        """The token consumed last; None at the beginning."""
        return self._tokens[self.index - 1] if self.index else None

    def consume(self) -> None:
        """Steps to the next token; stays at the end of input."""
        if self.token(1).kind != tokens.EOF:
            self.index += 1
            self.token(1)

    def text_between(self, first: Token, last: Token) -> str:
        """Both included, with white space and comments, without what is no token."""
        end = last.start if last.kind == tokens.EOF else last.end
        parts: list[str] = []
        at = first.start
        for number in range(bisect_left(self._junk_starts, at), len(self._junk_starts)):
            if self._junk_starts[number] >= end:
                break
            parts.append(self._text[at : self._junk_starts[number]])
            at = self._junk_ends[number]
        parts.append(self._text[at:end])
        return "".join(parts)

    def _scan(self) -> None:
        while True:
            kind, start, end = next_token(self._text, self._scanned)
            if self._text[start : start + 1] in self._junk_characters:
                kind, end = None, start + 1
            self._scanned = end
            if kind is not None:
                text = self._text[start:end]
                self._tokens.append(Token(kind, text, start, end))
                return
            self._junk_starts.append(start)
            self._junk_ends.append(end)
            self._report(f"token recognition error at: '{self._text[start:end]}'", start)
