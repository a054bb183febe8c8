"""The text form of label selectors, as in the query parameter: `a=b,c in (d,e),!f,g>5`.

Grammar, quirks and texts follow k8s.io/apimachinery `pkg/labels`: `in` and `notin` are words only
where an operator stands, an empty list holds the empty string, and `a=` compares with it.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.fieldpath import ROOT
from celadon.kube.selection.label_selectors import (
    SET_OPERATORS,
    LabelSelector,
    Operator,
    Requirement,
    SelectorError,
    conjunction,
    key_error,
    requirement,
)
from celadon.patterns import late_pattern


class _Parser:
    """The text form: a lexer with its quirks, and recursive descent over its tokens."""

    SYMBOLS: Final = frozenset("=!(),><")
    BINARY: Final = {
        "in": Operator.IN,
        "notin": Operator.NOT_IN,
        "=": Operator.EQUALS,
        "==": Operator.DOUBLE_EQUALS,
        "!=": Operator.NOT_EQUALS,
        ">": Operator.GREATER_THAN,
        "<": Operator.LESS_THAN,
    }
    TOKEN: Final = late_pattern(r"==|!=|[=!(),><]|\0|[^=!(),>< \t\r\n\0]+\0?")

    def __init__(self, text: str) -> None:
        self.tokens = self._scan(text)
        self.position = 0

    def _scan(self, text: str) -> list[str]:
        """Literals; the empty one is the end. A NUL ends an identifier, or the text."""
        tokens = []
        for match in self.TOKEN.finditer(text):
            literal = match.group()
            if literal == "\0":
                break
            tokens.append(literal.removesuffix("\0"))
        return tokens

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self.position += 1
        return token

    def _is_identifier(self, token: str) -> bool:
        return token != "" and token[0] not in self.SYMBOLS

    def parse(self) -> list[Requirement]:
        requirements: list[Requirement] = []
        while token := self._peek():
            if not self._is_identifier(token) and token != "!":
                raise SelectorError(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                requirements.append(self._parse_requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from error
            separator = self._take()
            if separator == "":
                break
            if separator != ",":
                raise SelectorError(f"found '{separator}', expected: ',' or 'end of string'")
            following = self._peek()
            if not self._is_identifier(following) and following != "!":
                raise SelectorError(f"found '{following}', expected: identifier after ','")
        return requirements

    def _parse_requirement(self) -> Requirement:
        key, negated = self._take(), False
        if key == "!":
            key, negated = self._take(), True
        if not self._is_identifier(key):
            raise SelectorError(f"found '{key}', expected: identifier")
        error = key_error(ROOT, key)
        if error is not None:
            raise SelectorError(str(error))
        if negated:
            return requirement(key, Operator.DOES_NOT_EXIST, ())
        if self._peek() in {"", ","}:
            return requirement(key, Operator.EXISTS, ())
        literal = self._take()
        operator = self.BINARY.get(literal)
        if operator is None:
            raise SelectorError(f"found '{literal}', expected: in, notin, =, ==, !=, gt, lt")
        values = self._parse_values() if operator in SET_OPERATORS else self._parse_exact_value()
        return requirement(key, operator, sorted(values))

    def _parse_exact_value(self) -> set[str]:
        if self._peek() in {"", ","}:
            return {""}
        literal = self._take()
        if not self._is_identifier(literal):
            raise SelectorError(f"found '{literal}', expected: identifier")
        return {literal}

    def _parse_values(self) -> set[str]:
        opening = self._take()
        if opening != "(":
            raise SelectorError(f"found '{opening}' expected: '('")
        first = self._peek()
        if first == ")":
            self._take()
            return {""}
        if not self._is_identifier(first) and first != ",":
            raise SelectorError(f"found '{first}', expected: ',', ')' or identifier")
        values = self._parse_identifiers()
        self._take()  # the list ends where a closing parenthesis was seen
        return values

    def _parse_identifiers(self) -> set[str]:
        values: set[str] = set()
        while True:
            literal = self._take()
            if self._is_identifier(literal):
                values.add(literal)
                following = self._peek()
                if following == ")":
                    return values
                if following != ",":
                    raise SelectorError(f"found '{following}', expected: ',' or ')'")
            elif literal == ",":
                if not values:
                    values.add("")
                following = self._peek()
                if following == ")":
                    values.add("")
                    return values
                if following == ",":
                    self._take()
                    values.add("")
            else:
                raise SelectorError(f"found '{literal}', expected: ',', or identifier")


def parse_label_selector(text: str) -> LabelSelector:
    """The text form: `a=b,c in (d,e),!f`. SelectorError when it is bad."""
    return conjunction(_Parser(text).parse())
