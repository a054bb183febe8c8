"""What a YAML scalar without quotes means to Kubernetes.

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

import re
from typing import Final

from celadon.patterns import late_pattern

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
    """A number that JSON cannot express."""


def resolve_plain(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar. Raises `NotJsonError` for NaN and infinities."""
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
    """A decimal integer literal as Kubernetes reads it: int64 if it fits, otherwise a double."""
    if len(digits) <= _LONGEST_EXACT:
        return _in_range(int(digits))
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise NotJsonError(digits)
    return value


def whole(value: float) -> int | float:
    """A double as it is after kubectl wrote it as JSON: an integer if its text has no fraction.

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


def key_text(value: str | int | float | bool | None) -> str | None:
    """A scalar in the place of a key as the text JSON needs; None if it cannot be a key."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
