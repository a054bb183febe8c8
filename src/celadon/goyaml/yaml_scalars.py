"""The part that all readers of YAML share: the meaning of scalars without quotes, documents,
limits.

kubectl reads YAML with sigs.k8s.io/yaml: its fork of go-yaml v2 decides what a word means
(`goyaml.v2/resolve.go`), the value becomes JSON text, and that text is read again by the JSON
decoder of the API machinery. The two steps together are the rules of this module:

- YAML 1.1 booleans: `y`, `yes`, `on`, `true` and their opposites, in three spellings each;
- integers in base 2, 8 (`0o17` and `017`), 10 and 16, underscores ignored; no base 60;
- an integer beyond 64 bits becomes a double; a double without a fraction becomes an integer;
- timestamps stay the text they are;
- NaN and the infinities have no JSON form and are refused.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final, NamedTuple

from celadon.kube.go import TOO_DEEP
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1

WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE"), True),
    **dict.fromkeys(("on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE"), False),
    **dict.fromkeys(("off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
"""Words that are neither text nor number."""

_NOT_JSON: Final = frozenset(
    sign + word for word in (".inf", ".Inf", ".INF") for sign in ("", "+", "-")
) | {".nan", ".NaN", ".NAN"}

_INTEGER: Final = late_pattern(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]([0-7]+)|0[bB]([01]+)|0([0-7]+)|(0|[1-9][0-9]*))"
)
_BASES: Final = (16, 8, 2, 8, 10)
_FLOAT: Final = late_pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
DECIMAL_PARTS: Final = late_pattern(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:e([-+][0-9]+))?")
"""Sign, digits, fraction and exponent of what `repr` says of a finite double."""
_NUMBER_START: Final = frozenset("0123456789+-.")
_LONGEST_EXACT: Final = 20
"""More characters than any integer of 64 bits has; longer ones are read as doubles at once."""


class NotJsonError(ValueError):
    """Says that a text is a number that JSON cannot express."""


def resolve_plain(text: str) -> str | int | float | bool | None:
    """Return the value of an unquoted scalar. Raises `NotJsonError` for NaN and infinities."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    if text in _NOT_JSON:
        raise NotJsonError(text)
    plain = text.replace("_", "") if text[0] != "." else text
    integer = _INTEGER.fullmatch(plain)
    if integer is not None:
        return _integer(plain, integer)
    if _FLOAT.fullmatch(plain) is not None:
        value = float(plain)
        # Out of range is no number to go-yaml, so it stays text.
        return text if value in (float("inf"), float("-inf")) else whole(value)
    return text


def _integer(plain: str, match: re.Match[str]) -> int | float | str:
    if match[6] is not None:
        return integer_or_double(plain.removeprefix("+"))
    for base, digits in zip(_BASES, match.groups()[1:], strict=True):
        if digits is not None:
            value = int(digits, base)
            return _in_range(-value if match[1] == "-" else value)
    raise AssertionError(plain)


def _in_range(value: int) -> int | float:
    if INT64_MIN <= value <= INT64_MAX:
        return value
    try:
        return float(value)
    except OverflowError:
        # in decimal, Python refuses to write long ones
        raise NotJsonError(hex(value)) from None


def integer_or_double(digits: str) -> int | float:
    """Return a decimal integer literal as Kubernetes reads it: int64 if it fits, otherwise a
    double."""
    if len(digits) <= _LONGEST_EXACT:
        return _in_range(int(digits))
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise NotJsonError(digits)
    return value


def whole(value: float) -> int | float:
    """Return a double as it is after kubectl wrote it as JSON: an integer if its text has no
    fraction.

    Go writes doubles below 1e21 without an exponent, in the fewest digits that identify them,
    filled up with zeros; those digits are the integer.
    """
    if value != value // 1 or not -1e21 < value < 1e21:
        return value
    match = DECIMAL_PARTS.fullmatch(repr(value))
    assert match is not None
    sign, digits, fraction, exponent = match.groups()
    fraction = "" if fraction in (None, "0") else fraction
    integer = int(digits + fraction) * 10 ** (int(exponent or 0) - len(fraction))
    signed = -integer if sign else integer
    return signed if INT64_MIN <= signed <= INT64_MAX else value


def key_text(value: str | int | float | bool | None, written: str = "") -> str | None:
    """Return a scalar in the place of a key as the text JSON needs; None if it cannot be a key.
    Doubles, which may be `written` as such and yet be whole, have the form of Go's float32."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    plain = written.replace("_", "")
    is_double = _FLOAT.fullmatch(plain) is not None
    if isinstance(value, int) and (not is_double or _INTEGER.fullmatch(plain) is not None):
        return str(value)
    return _float32_text(float(plain if is_double else value))


def _float32_text(value: float) -> str:
    """Return the fewest digits that are the same float32, as Go's `%g` writes them."""
    nearest = _float32(value)
    if nearest in _ENDLESS:
        return _ENDLESS[nearest]
    texts = (f"{nearest:.{places}e}" for places in range(_FLOAT32_DIGITS))
    text = next(text for text in texts if _float32(float(text)) == nearest)
    number, _, power = text.partition("e")
    return f"{Decimal(text):f}" if -5 < int(power) < 6 else f"{number}e{power}"


def _float32(value: float) -> float:
    try:
        number: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return number


_ENDLESS: Final = {math.inf: ".inf", -math.inf: "-.inf"}
_FLOAT32_DIGITS: Final = 9
"""So many digits tell any float32 from all others."""


# --- Yaml parts --------------------------------------------------------------
#
# A file of several YAML documents, cut into their texts as Kubernetes' own programs do.
#
# A line that begins with `---` ends a document, and nothing but a comment may follow on it; at
# the beginning of a document it is a part of it. As k8s.io/apimachinery `pkg/util/yaml`
# `YAMLReader`.

_SEPARATOR: Final = b"---"
_BLANK: Final = b" \t\r\n\v\f"


class SeparatorError(ValueError):
    """Says that something else stands behind a separator; the text is upstream's."""


def yaml_parts(data: bytes) -> Iterator[bytes]:
    """Yield the documents, without blank ones and without blank ends. Raises SeparatorError."""
    lines: list[bytes] = []
    for line in data.split(b"\n"):
        if line.startswith(_SEPARATOR):
            behind = line[len(_SEPARATOR) :].strip(_BLANK)
            if behind and not behind.startswith(b"#"):
                text = behind.decode("utf-8", "replace")
                raise SeparatorError(f"invalid Yaml document separator: {text}")
            if lines:
                yield from _part(lines)
                lines = []
                continue
        lines.append(line.removesuffix(b"\r"))
    yield from _part(lines)


def _part(lines: list[bytes]) -> Iterator[bytes]:
    part = b"\n".join(lines).strip(_BLANK)
    if part:
        yield part


# --- Repeated keys -----------------------------------------------------------
#
# Keys that are given twice, of which the last one counts, and what Go says about them.


class RepeatedKey(NamedTuple):
    """Names a key that a map has already: how Go prints it, where it begins in the text (line from
    1, character from 0), and the line of the second value, which counts."""

    key_text: str
    offset: int
    line: int
    value_line: int

    @property
    def text(self) -> str:
        """Go's complaint, which is about the line of the value."""
        return f"line {self.value_line}: {self.complaint}"

    @property
    def complaint(self) -> str:
        """Return the complaint without the line."""
        return f"key {self.key_text} already set in map"


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """Holds one document that was read. `repeated` has a text for every key that is given twice:
    `line 7: key "a" already set in map`, in the order in which Go finds them."""

    value: Any
    repeated: tuple[str, ...] = ()

    def strict_error(self) -> str:
        """Return the text of the error of strict reading; empty if there is none."""
        return strict_error(self.repeated) if self.repeated else ""


def strict_error(repeated: Iterable[str]) -> str:
    """Return the text of the error of strict reading, from those about single keys."""
    return "yaml: unmarshal errors:" + "".join(f"\n  {text}" for text in repeated)


# --- Yaml limits -------------------------------------------------------------
#
# How deep a document may nest, and how much of it may come from aliases.
#
# A kilobyte of YAML can ask for the memory of a data centre; here it is refused.

MAX_DEPTH: Final = 10_000
"""Nested flow collections, and nested indentations, in one document (go-yaml `scannerc.go`)."""

MAX_QUICK_FLOWS: Final = 500
"""Nested flow collections that libyaml may read: before each token it looks at every one of them,
and from some 2,500 on it is slower than the flow parser of `yaml_events`."""

UNCOUNTED_LEVELS: Final = 100
"""Open collections up to which nobody counts of which sort they are: no limit is so low."""

MAX_QUICK_TAG_DIRECTIVES: Final = 100
"""`%TAG` lines that libyaml may read: it compares each with all before it."""

ALIAS_FREE_COUNT: Final = 100
"""Values reached through YAML aliases that are never questioned."""

ALIAS_SMALL_DOCUMENT: Final = 1000
"""Values in a document below which aliases are never questioned."""

ALIAS_RATIO_LOW: Final = 400_000
"""Values in a document up to which 99 of 100 may come from aliases (as go-yaml `decode.go`)."""

ALIAS_RATIO_HIGH: Final = 4_000_000
"""Values in a document from which only 10 of 100 may come from aliases; in between, a line."""


# --- Unreadable --------------------------------------------------------------
#
# Why a document cannot be read: in our words for people, in Go's words for clients of a server.


class UnreadableError(Exception):
    """Says that a document cannot be read; commands make a `Problem` of it, a server a Status.

    `line` counts from 1 inside the text that was given to the reader. `message` obeys the house's
    second law. `upstream` is what sigs.k8s.io/yaml says, which is often the same; it does not
    mention the line where Go does not.
    """

    def __init__(self, line: int, message: str, help: str = "", upstream: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.help = help
        self.upstream = upstream or f"yaml: {message}"


class UnknownAnchor(UnreadableError):
    """Says that there is no such anchor, which go-yaml finds before it looks further."""

    def __init__(self, line: int, name: str) -> None:
        super().__init__(
            line,
            f"unknown anchor `{name}` referenced",
            upstream=f"yaml: unknown anchor '{name}' referenced",
        )


# --- Nesting -----------------------------------------------------------------
#
# How deep a YAML text may nest: go-yaml's limits while it scans, then those of its JSON.
#
# go-yaml `scannerc.go` counts flow collections and indentations apart, and gives up at the first
# that is too much, whatever else is wrong. What it has read becomes JSON, which has a limit of its
# own.

_SCANNED_TOO_DEEP = f"exceeded max depth of {MAX_DEPTH}"


class NotQuick(Exception):
    """More flow collections are open than libyaml can work with in linear time."""


class TooDeep(UnreadableError):
    """A scanner gives up here: nothing behind this place counts."""


class OpenLevels:
    """The collections that are open, from their events. `quick` is for a parser whose work grows
    with the flow collections that are open."""

    def __init__(self, *, quick: bool) -> None:
        self._most_flows = MAX_QUICK_FLOWS if quick else MAX_DEPTH
        self._quick = quick
        self._flows = 0
        self._indents: list[int] = []
        self._kinds: list[int] = []

    def opened(self, event: Any) -> None:
        """Note that a collection begins. Raises TooDeep, NotQuick."""
        start = event.start_mark
        if event.flow_style:
            # `[a: b]` has a map in it without a bracket of its own
            level = 1 if event.end_mark.index > start.index else 0
            self._kinds.append(level)
            self._flows += level
            if self._flows > self._most_flows:
                if self._quick:
                    raise NotQuick
                raise _too_deep(start.line)
            return
        column = start.column
        if self._indents and column <= self._indents[-1]:
            self._kinds.append(0)  # a list whose dashes stand below the key before it
            return
        self._kinds.append(-1)
        self._indents.append(column)
        if len(self._indents) > MAX_DEPTH:
            raise _too_deep(start.line)

    def closed(self) -> None:
        """Note that the last of them ends."""
        kind = self._kinds.pop() if self._kinds else 0
        if kind < 0:
            self._indents.pop()
        else:
            self._flows -= kind

    def closed_all(self) -> None:
        """Note that no collection is open any more."""
        self._flows = 0
        self._indents.clear()
        self._kinds.clear()


def _too_deep(line: int) -> TooDeep:
    """`line` from 0, which Go does not name."""
    where = f"line {line + 1}: " if line else ""
    message = f"nested deeper than {MAX_DEPTH} levels"
    return TooDeep(line + 1, message, upstream=f"yaml: {where}{_SCANNED_TOO_DEEP}")


def check_depth(value: object, line: int) -> None:
    """Check the depth of a value. Raises `UnreadableError` if maps and lists are nested deeper than
    JSON may be.

    Walks level by level, so the check itself never nests.
    """
    level: list[Any] = [[value]]
    depth = -1
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels"
            raise UnreadableError(line, message, upstream=TOO_DEEP)
        level = [
            child
            for item in level
            for child in (item.values() if item.__class__ is dict else item)
            if child.__class__ is dict or child.__class__ is list
        ]


def copy_of(value: dict[str, object] | list[object]) -> Any:
    """Return a deep copy of a JSON value, without recursion."""
    copied = value.copy()
    pending: list[Any] = [copied]
    while pending:
        container = pending.pop()
        places = container.items() if container.__class__ is dict else enumerate(container)
        for place, item in places:
            if item.__class__ is dict or item.__class__ is list:
                container[place] = item = item.copy()
                pending.append(item)
    return copied
