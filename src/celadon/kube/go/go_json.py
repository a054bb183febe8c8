"""Go's JSON scanner, for its complaints: what is wrong with a text, and in which words.

As `encoding/json` `scanner.go`. Bytes, not characters: a byte that is not ASCII is shown as the
Latin-1 character of its value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed lacks it
from math import isinf
from typing import Any, Final, NoReturn, TypeAlias

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import escaped_html, json_text, sorted_members
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

_SPACE: Final = b" \t\r\n"
_HEX: Final = b"0123456789abcdefABCDEF"
_DIGITS: Final = b"0123456789"
_ESCAPES: Final = b'"\\/bfnrt'
_LITERALS: Final = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_PLAIN_TEXT: Final = late_pattern(rb'[^"\\\x00-\x1f]*')
_TEXT_OR_NUMBER: Final = late_pattern(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?[0-9][-+.0-9eE]*')
_LARGE: Final = late_pattern(r"[eE]\+?[0-9]{3}|[0-9]{200}")
_END: Final = "unexpected end of JSON input"
MAX_DEPTH: Final = 10_000
"""Nesting that Go's decoder accepts."""
TOO_DEEP: Final = "exceeded max depth"
"""What Go says of more, and we where a walk over a value has no stack left."""


class JsonSyntaxError(MalformedText):
    """Says that a text is no JSON; `str()` is the text of Go's error."""


def check_syntax(text: str) -> None:
    """Check a text. Raises `JsonSyntaxError` for what is not one JSON value."""
    _Scanner(text.encode("utf-8", "surrogateescape")).scan()


def without_double(text: str) -> str:
    """Return the first number of a JSON text that no double is large enough for, as it is written.

    Go keeps what is read without a type as doubles. `text` is one JSON value; "" where all fit.
    """
    if not _LARGE.search(text):
        return ""
    for match in _TEXT_OR_NUMBER.finditer(text):
        token = match[0]
        if token[0] != '"' and isinf(float(token)):
            return token
    return ""


def unreadable_number(value: object) -> str:
    """Return what Go says of the first number in a value read here that no double is large enough
    for, "" where all fit: it would not read the raw JSON of such a value."""
    if isinstance(value, float) and isinf(value):
        text = value.text if isinstance(value, NumberText) else str(value)
        return f"json: cannot unmarshal number {text} into Go value of type float64"
    inner: Iterable[object] = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    return next(filter(None, map(unreadable_number, inner)), "")


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
        """Read one value, and nothing but white space around it. A stack, not recursion."""
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
                context = "object key:value pair" if closer == ord("}") else "array element"
                self._refuse(f"after {context}")

    def _value(self, closers: list[int]) -> None:
        """Read a scalar, or the beginning of a container, with as many more as stand first in
        it."""
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


# --- Json reader -------------------------------------------------------------
#
# JSON as Go reads it: its complaints to the letter, members given twice, where things stand.
#
# `read_json` gives the value as `json.loads` would, with what a dict cannot hold on the side:
# `Document.repeated` has, for each object with a member that occurs more than once, all its
# members in their order. Typed readers merge such members (Go decodes the second one into what
# the first one left), which `merge` asks for; untyped ones take the last.
#
# A document that is no JSON is a `JsonSyntaxError` with the text of Go's `encoding/json`
# (`invalid character 'x' looking for beginning of value`). The fast path is Python's own
# decoder; the text is found by a second reading that follows Go's scanner.

Pairs = Sequence[tuple[str, Any]]

_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_USUAL_DEPTH: Final = 32
"""Levels below which brackets are taken away in pairs, to see how many are left."""


class NumberText(float):
    """A number that is not written as Python prints it; `text` is how it was written."""

    __slots__ = ("text",)
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """Holds a document that was read. `repeated` is keyed by the identity of the objects inside
    `value`."""

    value: Any
    repeated: Mapping[int, Pairs] = field(default_factory=dict)

    def members(self, obj: JsonObject) -> Pairs:
        """Return all members of an object inside the document, repeated ones too, in their
        order."""
        return self.repeated.get(id(obj)) or tuple(obj.items())


def read_json(text: str, *, merge: bool = False, data: bytes = b"") -> Document:
    """Read a JSON text. Raises `JsonSyntaxError`, which shows bytes of `data`, of which the text
    was made, that are no UTF-8."""
    if may_nest_deeper(text, MAX_DEPTH):
        check_syntax(text)
    whole = _without_halves(text) if "\\ud" in text or "\\uD" in text else text
    try:
        return Document(_ONCE.decode(whole))
    except _Repeated:
        return _read_repeated(whole, data, merge=merge)
    except (ValueError, RecursionError):
        raise _complaint(data.decode("utf-8", "surrogateescape") if data else text) from None


_ESCAPE: Final = late_pattern(
    r"\\(?:[^u]|u(?:[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2}))?)"
)


def _without_halves(text: str) -> str:
    """JSON with what Go reads in place of halves of surrogate pairs: they are no characters, and
    cannot be written as UTF-8."""
    return _ESCAPE.sub(lambda match: r"\ufffd" if match["half"] else match[0], text)


def may_nest_deeper(text: str, levels: int) -> bool:
    """Return whether some value may be nested deeper. Quick, and sure only where it says no:
    brackets in texts count, too."""
    if text.count("{") + text.count("[") <= levels:
        return False
    brackets = text.encode("utf-8", "surrogatepass").translate(None, _NO_BRACKETS)
    for _ in range(_USUAL_DEPTH):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return brackets.count(b"{") + brackets.count(b"[") > levels - _USUAL_DEPTH


def _read_repeated(text: str, data: bytes, *, merge: bool) -> Document:
    """Read a document in which some member is given twice, as most have none."""
    repeated: dict[int, Pairs] = {}

    def make(pairs: list[tuple[str, Any]]) -> JsonDict:
        result = dict(pairs)
        if len(result) != len(pairs):
            if merge:
                result = merged_members(pairs)
            repeated[id(result)] = pairs
        return result

    try:
        value = _decoder(make).decode(text)
    except (ValueError, RecursionError):
        raise _complaint(data.decode("utf-8", "surrogateescape") if data else text) from None
    return Document(value, repeated)


def _complaint(text: str) -> JsonSyntaxError:
    """Return what Go says. Raises it, where Go's scanner finds it."""
    check_syntax(text)
    return JsonSyntaxError(TOO_DEEP)


def merged_members(pairs: Iterable[tuple[str, Json]]) -> dict[str, object]:
    """Return an object as a typed reader has it, of members some of which are given twice."""
    result: dict[str, object] = {}
    for key, value in pairs:
        result[key] = _merged(result.get(key), value)
    return result


def _merged(first: object, second: object) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        result = dict(first)
        for key, value in second.items():
            result[key] = _merged(result.get(key), value)
        return result
    return second


def _number(text: str) -> float:
    value = float(text)
    if repr(value) == text:
        return value
    number_text = NumberText(text)
    number_text.text = text
    return number_text


LONGEST_INTEGER: Final = 20
"""Characters of the longest integers that Go has, signed and unsigned."""


def _integer(text: str) -> int | float:
    """Return what is longer than any integer is read as a double, as Go does for untyped values."""
    return int(text) if len(text) <= LONGEST_INTEGER else _number(text)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


class _Repeated(Exception):
    """Some member is given twice."""


def _members_once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _Repeated
    return result


def _decoder(make: Callable[[list[tuple[str, Any]]], JsonObject]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=make,
        parse_float=_number,
        parse_int=_integer,
        parse_constant=_refuse_constant,
    )


_ONCE: Final = _decoder(_members_once)
"""Made once: that takes as long as reading half a kilobyte."""


# --- Untyped numbers ---------------------------------------------------------
#
# Numbers where no type says what they are, as in custom resources: read and written as Go does.
#
# Read, a number without fraction and exponent is an int64 if it is one, and everything else a
# double. Written, a double without a fraction has none: 2.0 comes back as 2. As
# sigs.k8s.io/json and Go's `encoding/json`.

MIN_INT64: Final = -(1 << 63)
MAX_INT64: Final = (1 << 63) - 1
EXPONENT_FROM: Final = 1e21
"""Doubles from here on are written with an exponent."""


def as_read(value: object) -> Any:
    """Return a JSON value with the numbers that Go has. What was given is not changed."""
    return _changed(value, _read)


def as_written(value: Json) -> Any:
    """Return the value as it is read after it was written. The argument is not changed."""
    return _changed(value, _written)


def _read(number: int | float) -> int | float:
    if isinstance(number, int):
        return number if MIN_INT64 <= number <= MAX_INT64 else float(number)
    return float(number)


def _written(number: int | float) -> int | float:
    if isinstance(number, float) and not (number.is_integer() and abs(number) < EXPONENT_FROM):
        return number
    return _read(int(number))


def _changed(value: object, change: Callable[[int | float], int | float]) -> Any:
    if isinstance(value, dict):
        return {key: _changed(member, change) for key, member in value.items()}
    if isinstance(value, list):
        return [_changed(item, change) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return change(value)
    return value


# --- Raw JSON ----------------------------------------------------------------
#
# Objects that a server keeps as the bytes that were sent (`runtime.RawExtension`).
#
# Such an object reads like any other, but two are equal only if their texts are: blanks, the order
# of members, the way in which numbers are written and repeated members count. Clients get the text
# without its blanks; the store and protobuf have it as it is. Who asks for values (server-side
# apply, strategic merges, expressions) gets them without the text, and what is made of values is
# written anew, as `json.Marshal` writes a map.


class RawJson(dict[str, Any]):
    """A JSON object with the `text` that it was read from. Nobody changes it."""

    __slots__ = ("text",)

    def __init__(self, members: JsonObject, text: str) -> None:
        super().__init__(members)
        self.text = text

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RawJson):
            return self.text == other.text
        return dict.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None


RawWays: TypeAlias = "Mapping[str, RawWays]"
"""Where a kind has raw JSON: by member, what leads on to it; nothing leads on from itself. What
holds for a list holds for each of its items."""

_BLANKS: Final = late_pattern(r"[ \t\r\n]*+")
_STRING_OR_BLANKS: Final = late_pattern(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[ \t\r\n]++')
_BLANK: Final = frozenset(" \t\r\n")


def raw_json(value: object) -> Any:
    """Return a value for a field of raw JSON: one that was not read there gets the text that Go
    writes of a map."""
    if value.__class__ is not dict:
        return value
    members = sorted_members(as_written(value))
    return RawJson(members, json_text(members))


def read_raw(text: str) -> Any:
    """Return the value of a text for a field of raw JSON. Raises JsonSyntaxError."""
    value = read_json(text).value
    return RawJson(value, text) if value.__class__ is dict else value


def shown_raw(raw: RawJson) -> str:
    """Return the text of raw JSON as `json.Marshal` writes it into other JSON."""
    return escaped_html(
        _STRING_OR_BLANKS.sub(lambda match: "" if match[0][0] in _BLANK else match[0], raw.text)
    )


def keep_raw(obj: JsonDict, text: str, ways: RawWays) -> None:
    """Put raw JSON into an object, which was read from the text, where the ways lead."""
    start = _after_blanks(text, 0)
    if ways and text.startswith("{", start):
        _keep_members(obj, text, start, ways)


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    assert match is not None
    return match.end()


def _keep_members(obj: JsonDict, text: str, at: int, ways: RawWays) -> int:
    """Work on the object whose text begins here; return where it ends."""
    at = _after_blanks(text, at + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1, True)  # noqa: FBT003 - of json
        at = _after_blanks(text, _after_blanks(text, at) + 1)
        at = _after_blanks(text, _keep_value(obj, key, text, at, ways.get(key)))
        if text[at] == ",":
            at = _after_blanks(text, at + 1)
    return at + 1


def _keep_items(items: list[Any], text: str, at: int, ways: RawWays) -> int:
    at, index = _after_blanks(text, at + 1), 0
    while text[at] != "]":
        # Of a list that is given twice, the text of another one may be longer.
        below = ways if index < len(items) else None
        at = _after_blanks(text, _keep_value(items, index, text, at, below))
        index += 1
        if text[at] == ",":
            at = _after_blanks(text, at + 1)
    return at + 1


def _keep_value(holder: Any, key: str | int, text: str, at: int, ways: RawWays | None) -> int:
    """Work on one value, to which `ways` lead; return where its text ends."""
    if ways and text[at] == "{" and holder[key].__class__ is dict:
        return _keep_members(holder[key], text, at, ways)
    if ways and text[at] == "[" and holder[key].__class__ is list:
        return _keep_items(holder[key], text, at, ways)
    _, end = _SKIPPER.raw_decode(text, at)
    if ways is not None and not ways and text[at] == "{":
        holder[key] = read_raw(text[at:end])
    return int(end)


_SKIPPER: Final = json.JSONDecoder()


def with_raw(obj: Any, ways: RawWays, change: Callable[[RawJson], object]) -> Any:
    """Return an object with something in place of all raw JSON. The argument is not changed."""
    if obj.__class__ is RawJson:
        return change(obj)
    if isinstance(obj, list):
        return [with_raw(item, ways, change) for item in obj]
    if not isinstance(obj, dict):
        return obj
    changed = {key: with_raw(obj[key], below, change) for key, below in ways.items() if key in obj}
    return {**obj, **changed} if changed else obj


def indented(text: str) -> str:
    """Return compact JSON as `json.Indent` writes it, two spaces a level."""
    parts: list[str] = []
    level = 0
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token in "]}":
            level -= 1
        if token in _BREAKS_BEFORE:
            parts.append("\n" + "  " * level)
        parts.append(token)
        if token in "[{":
            level += 1
        if token in _BREAKS_AFTER:
            parts.append("\n" + "  " * level)
        elif token == ":":
            parts.append(" ")
    return "".join(parts)


_TOKENS: Final = late_pattern(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|\{\}|\[\]|[][{},:]|[^][{},:"]++')
_BREAKS_BEFORE: Final = frozenset("]}")
_BREAKS_AFTER: Final = frozenset("[{,")


def json_with_raw(value: object, write: Callable[[RawJson], str] = shown_raw) -> str:
    """Work as `json_text`, and write raw JSON with its own text."""
    text = _text_around_raw(value, write)
    return json_text(value) if text is None else text


def _text_around_raw(value: object, write: Callable[[RawJson], str]) -> str | None:
    """Return the JSON of a value in which there is raw JSON; None where there is none."""
    if isinstance(value, RawJson):
        return write(value)
    if not isinstance(value, dict | list):
        return None
    members = list(value.values()) if isinstance(value, dict) else value
    texts = [_text_around_raw(member, write) for member in members]
    if not any(texts):
        return None
    written = [
        json_text(member) if text is None else text
        for member, text in zip(members, texts, strict=True)
    ]
    if not isinstance(value, dict):
        return f"[{','.join(written)}]"
    pairs = zip(value, written, strict=True)
    return f"{{{','.join(f'{json_text(key)}:{text}' for key, text in pairs)}}}"
