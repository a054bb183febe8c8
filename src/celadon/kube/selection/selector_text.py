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

LONG: Final = 32 << 10
"""Characters of a selector that is taken apart piece by piece."""


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
    TOKEN: Final = late_pattern(r"(?:==|!=|[=!(),><])\0?|\0|[^=!(),>< \t\r\n\0]+\0?")

    def __init__(self, text: str, *, is_begun: bool = False) -> None:
        """`is_begun` says that a comma stands before the text."""
        self.tokens = self._scan(text)
        self.position = 0
        self.is_begun = is_begun

    def _scan(self, text: str) -> list[str]:
        """Literals; the empty one is the end. A NUL ends a symbol or an identifier, or the text."""
        if len(text) > LONG:  # one call for all would keep other threads waiting
            tokens = [found[0] for found in self.TOKEN.finditer(text)]
        else:
            tokens = self.TOKEN.findall(text)
        if "\0" not in text:
            return tokens
        end = tokens.index("\0") if "\0" in tokens else len(tokens)
        return [literal.removesuffix("\0") for literal in tokens[:end]]

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
        if self.is_begun:
            self._require_key()
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
            self._require_key()
        return requirements

    def _require_key(self) -> None:
        following = self._peek()
        if not self._is_identifier(following) and following != "!":
            raise SelectorError(f"found '{following}', expected: identifier after ','")

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
        values = self._plain_identifiers() or self._parse_identifiers()
        self._take()  # the list ends where a closing parenthesis was seen
        return values

    def _plain_identifiers(self) -> set[str]:
        """Where one comma stands between two of them, as it usually does; else none."""
        try:
            end = self.tokens.index(")", self.position)
        except ValueError:
            return set()
        values = set(self.tokens[self.position : end : 2])
        if set(self.tokens[self.position + 1 : end : 2]) - {","} or not all(
            map(self._is_identifier, values)
        ):
            return set()
        if (end - self.position) % 2 == 0:
            return set()
        self.position = end
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


_PLAIN: Final = late_pattern(
    r"[ \t\r\n]*(?:(!)[ \t\r\n]*)?([^=!(),>< \t\r\n\0]+)[ \t\r\n]*"
    r"(?:(==?|!=|[<>])[ \t\r\n]*(?:([^=!(),>< \t\r\n\0]+)[ \t\r\n]*)?)?"
)


def parse_label_selector(text: str) -> LabelSelector:
    """The text form: `a=b,c in (d,e),!f`. SelectorError when it is bad.

    What lies between two commas is looked at once, however often it comes; the parser is for what
    begins at the first that is not plain.
    """
    parts = text.split(",")
    known: dict[str, Requirement] = {}
    for part in dict.fromkeys(parts):
        found = _plain_requirement(part)
        if found is None:
            break
        known[part] = found
    else:
        return conjunction([known[part] for part in parts])
    at = parts.index(part)
    rest = _Parser(",".join(parts[at:]), is_begun=at > 0).parse()
    return conjunction([known[part] for part in parts[:at]] + rest)


def _plain_requirement(part: str) -> Requirement | None:
    """Without a list of values; None if it is not plain or not good."""
    match = _PLAIN.fullmatch(part)
    if match is None:
        return None
    negation, key, symbol, value = match.groups()
    try:
        if symbol is None:
            return requirement(key, Operator.DOES_NOT_EXIST if negation else Operator.EXISTS, ())
        return None if negation else requirement(key, _Parser.BINARY[symbol], (value or "",))
    except SelectorError:
        return None
