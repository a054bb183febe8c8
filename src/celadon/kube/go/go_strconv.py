"""Numbers and booleans in texts, as Go's `strconv` reads them."""

from __future__ import annotations

import re
from typing import Final

from celadon.kube.go.go_text import quote
from celadon.patterns import late_pattern

_INTEGER: Final = late_pattern(r"[+-]?[0-9]+", re.ASCII)
_DIGITS: Final = late_pattern(r"[0-9]+", re.ASCII)
_MOST_DIGITS: Final = 64
"""Longer texts are not worth converting: no integer of 64 bits has as many, save for zeros."""


_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


def parse_bool(text: str) -> bool | None:
    """None for what `ParseBool` refuses."""
    return _BOOLEANS.get(text)


def parse_int(text: str, bits: int = 64) -> int:
    """A decimal integer of so many bits. Raises ValueError with the text of Go's error."""
    if _INTEGER.fullmatch(text) is None:
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("+-0")
    value = int(digits or "0") if len(digits) < _MOST_DIGITS else 1 << bits
    value = -value if text[0] == "-" else value
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return value


def parse_uint(text: str, bits: int = 64) -> int:
    """A decimal number without a sign. Raises ValueError with the text of Go's error."""
    if _DIGITS.fullmatch(text) is None:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("0")
    value = int(digits or "0") if len(digits) < _MOST_DIGITS else 1 << bits
    if value >= 1 << bits:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return value
