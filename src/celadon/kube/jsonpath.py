"""JSONPath as Kubernetes' clients write it: what a path says, what it selects, how that prints."""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, assert_never

from celadon.cel.value_functions import text
from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import json_text, parse_int, sorted_members
from celadon.kube.json_types import Json
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

__all__ = ["JSONPathError", "Steps", "parse_jsonpath", "printed", "selected"]


# --- Jsonpath steps ----------------------------------------------------------
#
# JSONPath templates, `{.spec.items[0]}`, in the lenient dialect of Kubernetes' clients.
#
# `parse_jsonpath` gives what stands between the first braces as a tuple of steps, or says what
# is wrong; the last part takes the steps. As k8s.io/client-go `util/jsonpath/parser.go`:
# bare words pass, so does anything after a closing brace.

_TERMINATORS: Final = frozenset(" \t\r\n.,[]$@{}")
_SLICE: Final = late_pattern(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?")
_DICT_KEY: Final = late_pattern(r"'([^']*)'")
_BOOLEANS: Final = {"true": True, "false": False}
_FILTER: Final = late_pattern(r"([^!<>=]++)([!<>=]+)(.+)")
_NUMBER: Final = late_pattern(r"[+-]?(\d++(?:\.\d*+)?|\.\d++)")
_ESCAPE: Final = late_pattern(
    r"\\(?:[abfnrtv\\'\"]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|[0-7]{3})"
)
_NAMED_ESCAPES: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_MAX_DEPTH: Final = 50
"""Unions and filters inside each other."""


class JSONPathError(MalformedText):
    """Tells what is wrong with a JSONPath. `str()` is the text of client-go's error."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, a number or a boolean; in place of whatever was selected before."""

    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class Field:
    """Selects a member: `.name`, or `['name']`."""

    name: str


@dataclass(frozen=True, slots=True)
class EveryMember:
    """Selects by `.*` the members of an object, the elements of a list."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Selects by `[start:end:step]`; `[*]` is `[:]`. Of a single index, `[start]`, `end` is None,
    too."""

    start: int | None
    end: int | None = None
    step: int | None = None
    single: bool = False


@dataclass(frozen=True, slots=True)
class Union:
    """Selects by `[a,b]` what each of the alternatives selects."""

    alternatives: tuple[Steps, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Selects by `[?(@.a == "b")]`; without an operator, those elements that have `left`."""

    left: Steps
    operator: str = ""
    right: Steps = ()


@dataclass(frozen=True, slots=True)
class Descent:
    """Selects by `..` the value and everything in it that has members or elements."""


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word: `range` and `end` mean something in templates, others nothing."""

    text: str


Step: TypeAlias = Literal | Field | EveryMember | Slice | Union | Filter | Descent | Word
Steps: TypeAlias = tuple[Step, ...]
"""The steps of a path, one after the other; a template has texts between them."""


def parse_jsonpath(template: str) -> Steps:
    """Return what the first pair of braces holds; empty if there is none. Raises
    `JSONPathError`."""
    return _Parser(template, 0).template()


def _shown(char: str) -> str:
    """Return a character as Go's `%#U`."""
    return f"U+{ord(char):04X}" + (f" '{char}'" if char.isprintable() else "")


class _Parser:
    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.steps: list[Step] = []

    def template(self) -> Steps:
        actions: list[Steps] = []
        while (opening := self.text.find("{", self.at)) >= 0:
            self.at = opening + 1
            self.steps = []
            self._action()
            actions.append(tuple(self.steps))
        return actions[0] if actions else ()

    def _action(self) -> None:
        """Read what stands between braces, up to and including the closing one."""
        while not self._skips("}"):
            if self._skips("[?("):
                self._filter()
            elif self._skips(".."):
                if self.steps and isinstance(self.steps[-1], Descent):
                    raise JSONPathError("invalid multiple recursive descent")
                self.steps.append(Descent())
                if self._next_is(_is_word):
                    self._field()
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
            self._field()
        elif char in {"+", "-"} or char.isdigit():
            self._number()
        elif _is_word(char):
            word = self._word(escapes=False)
            boolean = _BOOLEANS.get(word)
            self.steps.append(Word(word) if boolean is None else Literal(boolean))
        else:
            raise JSONPathError(f"unrecognized character in action: {_shown(char)}")

    def _field(self) -> None:
        name = self._word(escapes=True)
        self.steps.append(EveryMember() if name == "*" else Field(name.replace("\\", "")))

    def _word(self, *, escapes: bool) -> str:
        start = self.at
        while (char := self._peek()) and char not in _TERMINATORS:
            self.at += 2 if escapes and char == "\\" else 1
        return self.text[start : self.at]

    def _number(self) -> None:
        start = self.at
        self.at += 1
        while self._peek() == "." or self._next_is(str.isdigit):
            self.at += 1
        text = self.text[start : self.at]
        number: float = _number_of(text) if _NUMBER.fullmatch(text) else math.inf
        if math.isinf(number):
            raise JSONPathError(f"cannot parse number {text}")
        self.steps.append(Literal(number))

    def _array(self) -> None:
        closing = self._find("]", "unterminated array")
        text = self.text[self.at + 1 : closing]
        self.at = closing + 1
        parts = text.split(",")
        if len(parts) > 1:
            result = tuple(self._nested(f"[{part.strip(' ')}]") for part in parts)
            self.steps.append(Union(result))
            return
        key = _DICT_KEY.fullmatch(text)
        if key is not None:
            self.steps += self._nested(f".{key[1]}")
            return
        self.steps.append(_slice(":" if text == "*" else text))

    def _filter(self) -> None:
        closing = self._end_of_filter()
        text = self.text[self.at : closing]
        self.at = closing + 1
        if self._peek() != "]":
            raise JSONPathError("unclosed array expect ]")
        self.at += 1
        compared = _FILTER.fullmatch(text)
        if compared is None:
            self.steps.append(Filter(self._nested(text)))
            return
        left = self._nested(compared[1])
        self.steps.append(Filter(left, compared[2], self._nested(compared[3])))

    def _end_of_filter(self) -> int:
        quote, closed = "", False
        for index in range(self.at, len(self.text)):
            char = self.text[index]
            if char == "\n":
                break
            if char in {'"', "'"}:
                if not quote:
                    quote = char
                elif char == quote and self.text[index - 1] != "\\":
                    closed = True
            elif char == ")" and bool(quote) == closed:
                return index
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
        self.steps.append(Literal(_ESCAPE.sub(_unescaped, text[1:-1])))

    def _nested(self, text: str) -> Steps:
        if self.depth >= _MAX_DEPTH:
            raise JSONPathError("unterminated filter")
        return _Parser(f"{{{text}}}", self.depth + 1).template()

    def _find(self, char: str, missing: str) -> int:
        position = self.text.find(char, self.at)
        line = self.text.find("\n", self.at)
        if position < 0 or 0 <= line < position:
            raise JSONPathError(missing)
        return position

    def _skips(self, prefix: str) -> bool:
        if self.text.startswith(prefix, self.at):
            self.at += len(prefix)
            return True
        return False

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _next_is(self, kind: Callable[[str], bool]) -> bool:
        return kind(self._peek())


def _number_of(text: str) -> float:
    """Return the number in a text, an integer if it is one of 64 bits."""
    try:
        return parse_int(text)
    except ValueError:
        return float(text)


def _slice(text: str) -> Slice:
    match = _SLICE.fullmatch(text)
    if match is None:
        raise JSONPathError(f"invalid array index {text}")
    numbers: list[int | None] = []
    for group in match.groups():
        digits = (group or "").removeprefix(":")
        try:
            numbers.append(parse_int(digits) if digits else None)
        except ValueError as error:
            raise JSONPathError(f"array index {digits} is not a number") from error
    start, end, step = numbers
    return Slice(start, end, step, single=match[2] is None)


def _unescaped(match: re.Match[str]) -> str:
    escape = match[0]
    if escape[1] in "xuU":
        return chr(int(escape[2:], 16))
    if escape[1].isdigit():
        return chr(int(escape[1:], 8))
    return _NAMED_ESCAPES.get(escape[1], escape[1])


def _is_word(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdigit()


# --- Jsonpath values ---------------------------------------------------------
#
# What a JSONPath selects of a JSON value, and how a value found by one is printed.
#
# As k8s.io/client-go `util/jsonpath/jsonpath.go` with missing keys allowed. Where that reports
# an error (an index beyond the end, a filter on what is no list, a comparison of a text with a
# number) nothing is selected: None, between the functions of this module.

Values: TypeAlias = Sequence[Json]

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EQUALITIES: Final = frozenset({"==", "!="})

MOST_VALUES: Final = 1_000_000
"""Of all steps together: an object of a megabyte has half as many at most."""


def selected(steps: Steps, value: Json) -> Values:
    """Return the values that the steps lead to, in order; none if there are more than a million
    on the way, as each `..` and each union may multiply them."""
    try:
        return _Walk().through(steps, [value])
    except (_NoValuesError, _TooManyError):
        return ()


def printed(value: Json) -> str:
    """Return a value as Go prints it: texts as they are, objects and lists as JSON with sorted
    members."""
    if value is None:
        return "<no value>"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return text.go_float(value)
    return json_text(sorted_members(value))


class _NoValuesError(Exception):
    """A step cannot be taken from some value."""


class _TooManyError(Exception):
    """Values have been met without end."""


class _Walk:
    """Takes steps from values to values, and counts these."""

    def __init__(self) -> None:
        self._left = MOST_VALUES

    def through(self, steps: Steps, values: Values) -> Values:
        """Return what all the steps lead to. Raises _NoValuesError, _TooManyError."""
        for step in steps:
            values = list(itertools.islice(self._stepped(step, values), self._left))
            self._left -= len(values) + 1
            if self._left <= 0:
                raise _TooManyError
        return values

    def _stepped(self, step: Step, values: Values) -> Iterable[Json]:
        match step:
            case Literal(value):
                return [value] if isinstance(value, str) else [value for _ in values]
            case Field(name):
                return [
                    value[name] for value in values if isinstance(value, Mapping) and name in value
                ]
            case EveryMember():
                return (inner for value in values for inner in _members(value))
            case Slice():
                return _sliced(step, values)
            case Union(alternatives):
                return (inner for steps in alternatives for inner in self.through(steps, values))
            case Filter():
                return self._filtered(step, values)
            case Descent():
                return _descended(values)
            case Word():
                raise _NoValuesError
            case _:
                assert_never(step)

    def _filtered(self, step: Filter, values: Values) -> Iterator[Json]:
        for value in values:
            if not isinstance(value, list):
                raise _NoValuesError
            for element in value:
                if self._passes(step, element):
                    yield element

    def _passes(self, step: Filter, element: Json) -> bool:
        if not step.operator:
            with contextlib.suppress(_NoValuesError):
                return bool(self.through(step.left, [element]))
            return False
        left, right = (self.through(side, [element]) for side in (step.left, step.right))
        if len(left) > 1 or len(right) > 1:
            raise _NoValuesError
        return _compared(left[0], step.operator, right[0]) if left and right else False


def _members(value: Json) -> Values:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else ()


def _descended(values: Values) -> Iterator[Json]:
    """Yield each value and, depth first, what is in it; only those that hold something
    themselves."""
    stack = list(reversed(values))
    while stack:
        value = stack.pop()
        members = _members(value)
        if members:
            yield value
            stack += reversed(members)


def _sliced(step: Slice, values: Values) -> Iterator[Json]:
    for value in values:
        if value is None:
            continue
        if not isinstance(value, list):
            raise _NoValuesError
        start, end = _bounds(step, len(value))
        if start == end:
            return
        if not (0 <= start < len(value) and 0 <= end <= len(value) and start < end):
            raise _NoValuesError
        if step.step is not None and step.step <= 0:
            raise _NoValuesError
        yield from value[start : end : step.step or 1]


def _bounds(step: Slice, length: int) -> tuple[int, int]:
    first = step.start or 0
    end = first + 1 if step.single else step.end
    if end is None:
        end = length
    elif end < 0 or (end == 0 and step.single):
        end += length
    return first + length if first < 0 else first, end


def _compared(left: Json, sign: str, right: Json) -> bool:
    compare = _COMPARISONS.get(sign)
    comparable = type(left) is type(right) and isinstance(left, str | int | float)
    if compare is None or not comparable:
        raise _NoValuesError
    if isinstance(left, bool) and sign not in _EQUALITIES:
        raise _NoValuesError
    return compare(left, right)
