"""Go's JSON scanner, for its complaints: what is wrong with a text, and in which words.

As `encoding/json` `scanner.go`. Bytes, not characters: a byte that is not ASCII is shown as the
Latin-1 character of its value.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.errors import MalformedText
from celadon.patterns import late_pattern

_SPACE: Final = b" \t\r\n"
_HEX: Final = b"0123456789abcdefABCDEF"
_DIGITS: Final = b"0123456789"
_ESCAPES: Final = b'"\\/bfnrt'
_LITERALS: Final = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_PLAIN_TEXT: Final = late_pattern(rb'[^"\\\x00-\x1f]*')
_END: Final = "unexpected end of JSON input"
MAX_DEPTH: Final = 10_000
"""Nesting that Go's decoder accepts."""
TOO_DEEP: Final = "exceeded max depth"
"""What Go says of more, and we where a walk over a value has no stack left."""


class JsonSyntaxError(MalformedText):
    """`str()` is the text of Go's error."""


def check_syntax(text: str) -> None:
    """Raises `JsonSyntaxError` for what is not one JSON value."""
    _Scanner(text.encode("utf-8", "surrogateescape")).scan()


def _shown(byte: int) -> str:
    if byte == ord("'"):
        return "'\\''"
    if byte == ord('"'):
        return "'\"'"
    named = {7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v", 92: "\\\\"}
    if byte in named:
        return f"'{named[byte]}'"
    if chr(byte).isprintable():
        return f"'{chr(byte)}'"
    return f"'\\x{byte:02x}'" if byte < 0x80 else f"'\\u{byte:04x}'"


class _Scanner:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def scan(self) -> None:
        """One value, and nothing but white space around it. A stack, not recursion."""
        closers: list[int] = []
        self._value(closers)
        while True:
            self._skip_space()
            if not closers:
                if self.at < len(self.data):
                    self._refuse("after top-level value")
                return
            byte = self._peek()
            closer = closers[-1]
            if byte == closer:
                closers.pop()
                self.at += 1
            elif byte == ord(","):
                self.at += 1
                self._skip_space()
                if closer == ord("}"):
                    self._key()
                self._value(closers)
            else:
                where = "object key:value pair" if closer == ord("}") else "array element"
                self._refuse(f"after {where}")

    def _value(self, closers: list[int]) -> None:
        """A scalar, or the beginning of a container, with as many more as stand first in it."""
        while True:
            self._skip_space()
            byte = self._peek()
            if byte == ord("{"):
                self._open(closers, ord("}"))
                if self._peek() == ord("}"):
                    return
                self._key()
            elif byte == ord("["):
                self._open(closers, ord("]"))
                if self._peek() == ord("]"):
                    return
            else:
                self._scalar(byte)
                return

    def _open(self, closers: list[int], closer: int) -> None:
        closers.append(closer)
        if len(closers) > MAX_DEPTH:
            raise JsonSyntaxError(TOO_DEEP)
        self.at += 1
        self._skip_space()

    def _key(self) -> None:
        if self._peek() != ord('"'):
            self._refuse("looking for beginning of object key string")
        self._string()
        self._skip_space()
        if self._peek() != ord(":"):
            self._refuse("after object key")
        self.at += 1

    def _scalar(self, byte: int) -> None:
        if byte == ord('"'):
            self._string()
        elif byte in _LITERALS:
            self._literal(_LITERALS[byte])
        elif byte == ord("-") or byte in _DIGITS:
            self._number()
        else:
            self._refuse("looking for beginning of value")

    def _string(self) -> None:
        self.at += 1
        while True:
            plain = _PLAIN_TEXT.match(self.data, self.at)
            assert plain is not None
            self.at = plain.end()
            byte = self._peek()
            if byte == ord('"'):
                self.at += 1
                return
            if byte != ord("\\"):
                self._refuse("in string literal")
            self.at += 1
            self._escape()

    def _escape(self) -> None:
        byte = self._peek()
        if byte == ord("u"):
            self.at += 1
            for _ in range(4):
                if self._peek() not in _HEX:
                    self._refuse("in \\u hexadecimal character escape")
                self.at += 1
        elif byte in _ESCAPES:
            self.at += 1
        else:
            self._refuse("in string escape code")

    def _literal(self, word: bytes) -> None:
        for expected in word:
            if self._peek() != expected:
                self._refuse(f"in literal {word.decode()} (expecting '{chr(expected)}')")
            self.at += 1

    def _number(self) -> None:
        if self._peek() == ord("-"):
            self.at += 1
            if self._peek() not in _DIGITS:
                self._refuse("in numeric literal")
        if self._peek() == ord("0"):
            self.at += 1
        else:
            self._digits("in numeric literal")
        if self._next_is(b"."):
            self.at += 1
            self._digits("after decimal point in numeric literal")
        if self._next_is(b"eE"):
            self.at += 1
            if self._next_is(b"+-"):
                self.at += 1
            self._digits("in exponent of numeric literal")

    def _digits(self, where: str) -> None:
        if self._peek() not in _DIGITS:
            self._refuse(where)
        while self._next_is(_DIGITS):
            self.at += 1

    def _next_is(self, choices: bytes) -> bool:
        return self.at < len(self.data) and self.data[self.at] in choices

    def _peek(self) -> int:
        if self.at >= len(self.data):
            raise JsonSyntaxError(_END)
        return self.data[self.at]

    def _skip_space(self) -> None:
        while self._next_is(_SPACE):
            self.at += 1

    def _refuse(self, where: str) -> None:
        raise JsonSyntaxError(f"invalid character {_shown(self._peek())} {where}")
