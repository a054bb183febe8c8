"""Characters to tokens.

Two ways to the same tokens. `tokenize` is for texts without errors and is what nearly every
expression needs: one pass of one regular expression, three parallel lists. If it meets something
that is no token it returns None. `next_token` makes one token at a time, and says of a part that is
no token how far it looked like one.

Longest match is kept by the order of alternatives: literals with a prefix before identifiers,
triple quotes before single ones, floats before unsigned before signed numbers. No alternative can
backtrack over more than one token, so the time is linear.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from celadon.cel.parsing import tokens
from celadon.patterns import late_pattern

_SKIP = r"(?:[ \t\r\n\f]++|//[^\n]*+)*+"
_ESCAPE = (
    r"\\(?:[abfnrtv\"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])"
)
_QUOTED = (
    rf'(?:"""(?:[^\\]|{_ESCAPE})*?"""|'
    rf"'''(?:[^\\]|{_ESCAPE})*?'''|"
    rf'"(?:[^\\"\n\r]|{_ESCAPE})*+"|'
    rf"'(?:[^\\'\n\r]|{_ESCAPE})*+'|"
    r'[rR](?:"""(?:.*?)"""|'
    r"'''(?:.*?)'''|"
    r'"[^"\n\r]*+"|'
    r"'[^'\n\r]*+'))"
)
_DIGITS = r"[0-9]++"
_EXPONENT = r"[eE][+-]?[0-9]+"
_HEX = r"0x[0-9a-fA-F]++"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"

#: Group numbers say what matched; see `_KIND_OF_GROUP`. Group 1 are texts that decide themselves.
_TOKEN = late_pattern(
    rf"{_SKIP}(?:"
    rf"({_NAME}(?![\"'])|&&|\|\||[=!<>]=|[\[\]{{}}(),\-!?:+*/%<>]|\.(?![0-9]))"
    rf"|({_QUOTED})"
    rf"|([bB]{_QUOTED})"
    rf"|([0-9]+\.[0-9]+(?:{_EXPONENT})?|[0-9]+{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?)"
    rf"|((?:{_HEX}|{_DIGITS})[uU])"
    rf"|({_HEX}|{_DIGITS})"
    r"|(`[A-Za-z0-9_.\-/ ]++`)"
    rf"|({_NAME})"
    r"|(.)"
    r")?",
    re.DOTALL,
)
_WORD, _STRING, _BYTES, _FLOAT, _UINT, _INT, _ESCAPED, _PREFIX, _JUNK = range(1, 10)
_KIND_OF_GROUP: dict[int, str] = {
    _STRING: tokens.STRING,
    _BYTES: tokens.BYTES,
    _FLOAT: tokens.FLOAT,
    _UINT: tokens.UINT,
    _INT: tokens.INT,
    _ESCAPED: tokens.ESC_IDENTIFIER,
}
_KIND_OF_TEXT: dict[str, str] = {text: text for text in tokens.FIXED}


_BEGUN_ESCAPE = r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?"
#: The longest beginning of some token, where no token is.
_BEGUN = late_pattern(
    rf'"(?:[^\\"\n\r]|{_ESCAPE})*+(?:{_BEGUN_ESCAPE})?'
    rf"|'(?:[^\\'\n\r]|{_ESCAPE})*+(?:{_BEGUN_ESCAPE})?"
    r"|`[A-Za-z0-9_.\-/ ]*+"
    r"|[&|=]"
)


class TokenList(NamedTuple):
    """Parallel lists, one entry per token; the last one is the end of input."""

    kinds: list[str]
    texts: list[str]
    offsets: list[int]


def tokenize(text: str) -> TokenList | None:
    """All tokens, or None if some part of the text is no token."""
    kinds: list[str] = []
    texts: list[str] = []
    offsets: list[int] = []
    for match in _TOKEN.finditer(text):
        group = match.lastindex
        if group is None:
            break
        token = match[group]
        texts.append(token)
        offsets.append(match.start(group))
        if group in (_WORD, _PREFIX):
            kinds.append(_KIND_OF_TEXT.get(token, tokens.IDENTIFIER))
        elif group == _JUNK:
            return None
        else:
            kinds.append(_KIND_OF_GROUP[group])
    kinds.append(tokens.EOF)
    texts.append(tokens.EOF)
    offsets.append(len(text))
    return TokenList(kinds, texts, offsets)


def next_token(text: str, at: int) -> tuple[str | None, int, int]:
    """Kind, start and end of the next token from there. Without kind it is no token.

    That part ends behind the character at which it became clear that there is no token.
    """
    match = _TOKEN.match(text, at)
    assert match is not None
    group = match.lastindex
    if group is None:
        return tokens.EOF, len(text), len(text)
    start, end = match.span(group)
    if group in (_WORD, _PREFIX):
        return _KIND_OF_TEXT.get(match[group], tokens.IDENTIFIER), start, end
    if group != _JUNK:
        return _KIND_OF_GROUP[group], start, end
    begun = _BEGUN.match(text, start)
    end = start if begun is None else begun.end()
    return None, start, min(end + 1, len(text))
