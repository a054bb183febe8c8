"""Whether a text is a JSONPath, in the lenient dialect of Kubernetes' clients, and what is wrong.

`parse_jsonpath` accepts templates, `{.spec.items[0]}`; only what it refuses is of interest here,
so it builds nothing. As k8s.io/client-go `util/jsonpath/parser.go`: bare words pass, so does
anything after a closing brace.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from celadon.kube.errors import MalformedText

_TERMINATORS: Final = frozenset(" \t\r\n.,[]$@{}")
_SLICE: Final = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?")
_DICT_KEY: Final = re.compile(r"'([^']*)'")
_FILTER: Final = re.compile(r"([^!<>=]+)([!<>=]+)(.+)")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_ESCAPE: Final = re.compile(
    r"\\(?:[abfnrtv\\'\"]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3})"
)
_MAX_DEPTH: Final = 50
"""Unions and filters inside each other."""


class JSONPathError(MalformedText):
    """`str()` is the text of client-go's error."""


def parse_jsonpath(template: str) -> None:
    """Raises `JSONPathError`."""
    _Parser(template, 0).template()


def _shown(char: str) -> str:
    """Go's `%#U`."""
    return f"U+{ord(char):04X}" + (f" '{char}'" if char.isprintable() else "")


class _Parser:
    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.at = 0
        self.depth = depth

    def template(self) -> None:
        while (opening := self.text.find("{", self.at)) >= 0:
            self.at = opening + 1
            self._action()

    def _action(self) -> None:
        """What stands between braces, up to and including the closing one."""
        recursive = False
        while not self._skips("}"):
            was_recursive, recursive = recursive, False
            if self._skips("[?("):
                self._filter()
            elif self._skips(".."):
                if was_recursive:
                    raise JSONPathError("invalid multiple recursive descent")
                recursive = not self._next_is(_is_word)
                if not recursive:
                    self._word(escapes=True)
            else:
                self._part()

    def _part(self) -> None:
        char = self._peek()
        if char in {"", "\r", "\n"}:
            raise JSONPathError("unclosed action")
        if char in {" ", "@", "$"}:
            self.at += 1
        elif char == "[":
            self._array()
        elif char in {'"', "'"}:
            self._quoted(char)
        elif char == ".":
            self.at += 1
            self._word(escapes=True)
        elif char in {"+", "-"} or char.isdigit():
            self._number()
        elif _is_word(char):
            self._word(escapes=False)
        else:
            raise JSONPathError(f"unrecognized character in action: {_shown(char)}")

    def _word(self, *, escapes: bool) -> None:
        while (char := self._peek()) and char not in _TERMINATORS:
            self.at += 2 if escapes and char == "\\" else 1

    def _number(self) -> None:
        start = self.at
        self.at += 1
        while self._peek() == "." or self._next_is(str.isdigit):
            self.at += 1
        text = self.text[start : self.at]
        if _NUMBER.fullmatch(text) is None:
            raise JSONPathError(f"cannot parse number {text}")

    def _array(self) -> None:
        closing = self._find("]", "unterminated array")
        text = self.text[self.at + 1 : closing]
        self.at = closing + 1
        parts = text.split(",")
        if len(parts) > 1:
            for part in parts:
                self._nested(f"[{part.strip(' ')}]")
            return
        key = _DICT_KEY.fullmatch(text)
        if key is not None:
            self._nested(f".{key[1]}")
            return
        if text == "*":
            return
        found = _SLICE.fullmatch(text)
        if found is None:
            raise JSONPathError(f"invalid array index {text}")
        for group in filter(None, found.groups()):
            digits = group.removeprefix(":")
            if digits == "-":
                raise JSONPathError(f"array index {digits} is not a number")

    def _filter(self) -> None:
        closing = self._end_of_filter()
        text = self.text[self.at : closing]
        self.at = closing + 1
        if self._peek() != "]":
            raise JSONPathError("unclosed array expect ]")
        self.at += 1
        compared = _FILTER.fullmatch(text)
        for side in (text,) if compared is None else (compared[1], compared[3]):
            self._nested(side)

    def _end_of_filter(self) -> int:
        quote, closed = "", False
        for at in range(self.at, len(self.text)):
            char = self.text[at]
            if char == "\n":
                break
            if char in {'"', "'"}:
                if not quote:
                    quote = char
                elif char == quote and self.text[at - 1] != "\\":
                    closed = True
            elif char == ")" and bool(quote) == closed:
                return at
        raise JSONPathError("unterminated filter")

    def _quoted(self, quote: str) -> None:
        start = self.at
        while True:
            self.at += 1
            char = self._peek()
            if char in {"", "\n"}:
                raise JSONPathError("unterminated quoted string")
            if char == quote and self.text[self.at - 1] != "\\":
                break
        self.at += 1
        text = self.text[start : self.at]
        if "\\" in _ESCAPE.sub("", text):
            raise JSONPathError(f"unquote string {text} error invalid syntax")

    def _nested(self, text: str) -> None:
        if self.depth >= _MAX_DEPTH:
            raise JSONPathError("unterminated filter")
        _Parser(f"{{{text}}}", self.depth + 1).template()

    def _find(self, char: str, missing: str) -> int:
        found = self.text.find(char, self.at)
        line = self.text.find("\n", self.at)
        if found < 0 or 0 <= line < found:
            raise JSONPathError(missing)
        return found

    def _skips(self, prefix: str) -> bool:
        if self.text.startswith(prefix, self.at):
            self.at += len(prefix)
            return True
        return False

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _next_is(self, kind: Callable[[str], bool]) -> bool:
        return kind(self._peek())


def _is_word(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdigit()
