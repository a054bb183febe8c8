"""Strings and bytes: UTF-8, and how Go prints strings and doubles.

Error texts and `string()` show values the way Go's `fmt` does: `go_float` (`%g`, shortest digits)
and `go_quote` (`%q`) are here, `%v` of any value is in `conversions`. A CEL string is a Python
`str`; both count code points. Lone surrogates cannot come from CEL source or decoded JSON; `utf8`
still turns them into U+FFFD rather than fail. The last section takes format strings apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from celadon.cel.errors import CostLimitExceeded, EvaluationError, no_such_overload
from celadon.late_patterns import late_pattern
from celadon.memoization import remembering
from celadon.records import dataclass

#: Exponents from which Go's `%g` switches to scientific notation when digits are the shortest.
_LOWEST_PLAIN_EXPONENT = -4
_FIRST_LARGE_EXPONENT = 6

_QUOTE_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}

#: No function builds a longer string, whatever it costs elsewhere: memory is finite. (Looking at
#: more characters, for a tenth each, is over what one expression may cost in Kubernetes.)
MAX_LENGTH = 10_000_000
#: No value is longer in writing: what shares structure is small and yet endless when written down.
MAX_WRITTEN = 4_000_000


def check_length(length: int) -> None:
    """Refuses to build a string that long; called before building it."""
    if length > MAX_LENGTH:
        raise too_long()


def too_long() -> EvaluationError:
    """Return the error of what would be more than memory is for."""
    return EvaluationError(CostLimitExceeded().message)


def written(parts: Iterable[str], separator: str = ", ") -> str:
    """Return the parts of a list or map one after another, up to `MAX_WRITTEN` characters. Raises
    EvaluationError."""
    result: list[str] = []
    left = MAX_WRITTEN
    for part in parts:
        left -= len(part) + len(separator)
        if left < 0:
            raise too_long()
        result.append(part)
    return separator.join(result)


def utf8(s: str) -> bytes:
    """Return the text as UTF-8, lone surrogates as U+FFFD."""
    try:
        return s.encode()
    except UnicodeEncodeError:
        return s.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def shortest_digits(value: float) -> tuple[str, str, int]:
    """Sign, digits without trailing zeros, decimal exponent: value = ±d.ddd × 10^exponent.

    The digits are the fewest that read back as the same double. `value` must be finite.
    """
    sign, mantissa = ("-", repr(value)[1:]) if repr(value)[0] == "-" else ("", repr(value))
    mantissa, _, exponent_text = mantissa.partition("e")
    whole, _, fraction = mantissa.partition(".")
    exponent = len(whole) - 1 + int(exponent_text or 0)
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return sign, "0", 0
    exponent -= len(whole + fraction) - len(digits)
    return sign, digits.rstrip("0"), exponent


def go_float(value: float) -> str:
    """Go's `%g` with the shortest digits: `1`, `0.0001`, `1e+06`, `NaN`, `+Inf`."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = shortest_digits(value)
    if _LOWEST_PLAIN_EXPONENT <= exponent < _FIRST_LARGE_EXPONENT:
        return sign + _plain(digits, exponent)
    point = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def go_plain_float(value: float) -> str:
    """Go's `%f` with the shortest digits: never an exponent; `NaN`, `+Inf`, `-Inf`."""
    if value != value or value in (float("inf"), float("-inf")):
        return go_float(value)
    sign, digits, exponent = shortest_digits(value)
    return sign + _plain(digits, exponent)


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


def go_quote(s: str) -> str:
    """Go's `%q`: double quotes; control and non-printable code points escaped."""
    if s.isprintable() and '"' not in s and "\\" not in s:
        return f'"{s}"'
    return '"' + "".join(map(_quoted, s)) + '"'


def _quoted(c: str) -> str:
    if c in _QUOTE_ESCAPES:
        return _QUOTE_ESCAPES[c]
    if c.isprintable():
        return c
    code = ord(c)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if 0xD800 <= code < 0xE000:
        return "\\ufffd"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# --- Remembered texts --------------------------------------------------------
#
# Remembering what texts were read as.
#
# The same limits, addresses and versions come with one request after the other, and reading one
# takes longer than everything else an expression does with it.

T = TypeVar("T")

#: How many texts one function remembers; then it begins anew.
MAX_TEXTS: Final = 1024
#: Longer texts are not worth their memory, in characters.
LONGEST_REMEMBERED_TEXT: Final = 256


class Remembered(dict[str, T]):
    """A function of one text with its results kept, which must be immutable; errors are not.

    `read(text)` is the function, `read[text]` the same for generated code: a text that is known
    costs one look-up and no call. Whatever is no text is `no such overload`.
    """

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[str], T]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: str) -> T:
        if text.__class__ is not str:
            raise no_such_overload()
        value = self._read(text)
        if len(text) <= LONGEST_REMEMBERED_TEXT:
            if len(self) >= MAX_TEXTS:
                self.clear()
            self[text] = value
        return value

    __call__ = dict.__getitem__

    def __bool__(self) -> bool:
        """Return True, as every function is: also while nothing is known."""
        return True


# --- Numbers -----------------------------------------------------------------
#
# uint as a class, and the ranges of the three number types.
#
# int is Python's `int` (never bool), double is `float`. `Uint` is a subclass of int: equality
# and hashing across int, uint and double then agree with CEL's for free, and only results have
# to be wrapped again.

MIN_INT = -(1 << 63)
MAX_INT = (1 << 63) - 1
MAX_UINT = (1 << 64) - 1


class Uint(int):
    """Holds an unsigned 64-bit number. The constructor does not check the range; operations do."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Uint({int(self)})"


# --- Format strings ----------------------------------------------------------
#
# Format strings taken apart: literal pieces, clauses, and what cannot be understood.
#
# A clause is `%[.precision]verb`. Problems become pieces too, because cel-go finds them only when
# it gets there: after the clauses before them, and after asking for their argument.

VERBS = frozenset("sdfebxXo")

_PIECE = late_pattern(r"[^%]+|%%|%(\.([0-9]*))?(.)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Clause:
    """Holds a verb of a format. `%.2f` is the verb `f` with the precision 2; None leaves that to
    the verb."""

    verb: str
    precision: int | None


@dataclass(frozen=True, slots=True)
class Broken:
    """A clause that cannot be understood. `at_end`: a single `%` ends the string."""

    message: str
    at_end: bool = False


Piece = str | Clause | Broken


@remembering(64)
def parse(text: str) -> tuple[Piece, ...]:
    """Literal pieces and clauses; the first broken clause ends the tuple."""
    pieces: list[Piece] = []
    for match in _PIECE.finditer(text):
        piece = _piece(match)
        pieces.append(piece)
        if isinstance(piece, Broken):
            break
    return tuple(pieces)


def _piece(match: re.Match[str]) -> Piece:
    whole, point, digits, verb = match[0], match[1], match[2], match[3]
    if whole[0] != "%":
        return whole
    if whole == "%%":
        return "%"
    if whole == "%":
        return Broken("unexpected end of string", at_end=True)
    if point is None:
        return _clause(verb, None)
    if verb is None:
        return _unparsable(
            "error while parsing precision: could not find end of precision specifier"
        )
    if not digits:
        return _not_a_number(digits, "invalid syntax")
    significant = digits.lstrip("0") or "0"
    if len(significant) > 19 or int(significant) > MAX_INT:
        return _not_a_number(digits, "value out of range")
    return _clause(verb, int(significant))


def _not_a_number(digits: str, problem: str) -> Broken:
    return _unparsable(
        "error while parsing precision: error while converting precision to integer: "
        f"strconv.Atoi: parsing {go_quote(digits)}: {problem}"
    )


def _clause(verb: str, precision: int | None) -> Piece:
    if verb in VERBS:
        return Clause(verb, precision)
    # cel-go looks at bytes: of another character it shows the first one
    text = chr(utf8(verb)[0])
    return _unparsable(f'unrecognized formatting clause "{text}"')


def _unparsable(reason: str) -> Broken:
    return Broken(f"could not parse formatting clause: {reason}")
