"""Formats of strings that custom resources are checked for, and durations as they are written.

The formats that an API server knows in a CRD, as k8s.io/kube-openapi `pkg/validation/strfmt`. The
dashes in a format's name do not count; a format that is not here checks nothing.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Final

from celadon.cel.extend import re2
from celadon.kube import name_rules
from celadon.kube.go import go_url as net_url
from celadon.kube.go.go_time import DurationError, parse_duration
from celadon.kube.library.named_formats import FORMATS as NAMED
from celadon.kube.releases import is_since
from celadon.kube.validation import text_rules
from celadon.patterns import late_pattern

_HEX: Final = "[0-9a-f]"


def _pattern(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _uuid(version: str, variant: str = _HEX) -> Callable[[str], bool]:
    last = f"{version}{_HEX}{{3}}-?{variant}{_HEX}{{3}}"
    return _pattern(f"{_HEX}{{8}}-?{_HEX}{{4}}-?{last}-?{_HEX}{{12}}")


def _named(name: str) -> Callable[[str], bool]:
    complaints = NAMED[name].complaints
    return lambda text: not complaints(text)


def _is_uri(text: str) -> bool:
    try:
        net_url.parse_request_uri(text)
    except net_url.URLError:
        return False
    return True


_MAC_DIGITS: Final = frozenset({12, 16, 40})
_EMAIL: Final = late_pattern(
    r"(?:[^<>@\"]*<)?[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-]+)*"
    r"@[^\s@<>,;:\"()\[\]\\]+>?"
)
_HOSTNAME: Final = (
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)"
    r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}"
    r"([a-zA-Z\p{L}]){2,63})$"
)
"""One label with a dash after its first character at most, or several and a last one of letters."""


@functools.cache
def _hostname() -> re2.Pattern:
    """Made when needed: it takes long."""
    return re2.compile(_HOSTNAME)


def _is_email(text: str) -> bool:
    found = _EMAIL.fullmatch(text.strip(" \t"))
    return found is not None and text.count("<") == text.count(">")


def _is_hostname(text: str) -> bool:
    if not _hostname().search(text) or len(text.encode()) > 255:
        return False
    return all(len(label.encode()) <= 63 for label in text.split("."))


def _is_ip(text: str, mark: str) -> bool:
    return mark in text and text_rules.address(text) is not None


def _is_cidr(text: str) -> bool:
    return text_rules.network(text) is not None


def _is_mac(text: str) -> bool:
    """6, 8 or 20 bytes: in pairs of digits, in fours, or without any separator."""
    for separator, digits in ((":", 2), ("-", 2), (".", 4)):
        if separator in text:
            parts = text.split(separator)
            return len(parts) * digits in _MAC_DIGITS and all(
                re.fullmatch(f"[0-9A-Fa-f]{{{digits}}}", part) for part in parts
            )
    return len(text) in _MAC_DIGITS and re.fullmatch("[0-9A-Fa-f]+", text) is not None


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[0-9]{9}[0-9X]", digits):
        return False
    numbers = [10 if digit == "X" else int(digit) for digit in digits]
    return sum((i + 1) * number for i, number in enumerate(numbers)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[0-9]{13}", digits):
        return False
    return sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(digits)) % 10 == 0


_CARD: Final = late_pattern(
    "(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]"
    "|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
    r"|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})"
)


def _is_credit_card(text: str) -> bool:
    digits = re.sub("[^0-9]+", "", text)
    if not _CARD.fullmatch(digits):
        return False
    total = 0
    for i, digit in enumerate(reversed(digits)):
        number = int(digit) * (2 if i % 2 else 1)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def is_duration(text: str) -> bool:
    """Whether `parse_duration` takes it."""
    try:
        parse_duration(text)
    except DurationError:
        return False
    return True


_COLOR: Final = r"\s*([01]?[0-9]?[0-9]|2[0-4][0-9]|25[0-5])\s*"

FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "bsonobjectid": _pattern(f"{_HEX}{{24}}"),
    "uri": _is_uri,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": lambda text: _is_ip(text, "."),
    "ipv6": lambda text: _is_ip(text, ":"),
    "cidr": _is_cidr,
    "mac": _is_mac,
    "uuid": _uuid(_HEX),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4", "[89ab]"),
    "uuid5": _uuid("5", "[89ab]"),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": _pattern(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _pattern(f"#?({_HEX}{{3}}|{_HEX}{{6}})"),
    "rgbcolor": _pattern(rf"rgb\({_COLOR},{_COLOR},{_COLOR}\)"),
    "byte": _named("byte"),
    "password": lambda text: True,
    "date": _named("date"),
    "duration": is_duration,
    "datetime": _named("datetime"),
    "k8sshortname": lambda text: not name_rules.dns1123_label(text),
    "k8slongname": lambda text: not name_rules.dns1123_subdomain(text),
}


_SINCE_1_35: Final = frozenset({"k8sshortname", "k8slongname"})
"""They came in 1.34, and are checked where the release before knows them."""
_NUMBER_FORMATS: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}


def known_format(name: str, type_: str) -> str:
    """The format as it is checked; empty for one that an API server ignores, as one that is not
    for the type. As `formats.go` in k8s.io/apiextensions-apiserver `pkg/apiserver/validation`.
    Before 1.36, nobody asked for the type, and numbers had no formats."""
    if type_ in ("", "string") or not is_since("1.36"):
        return name if is_of_texts(name) else ""
    return name if name in _NUMBER_FORMATS.get(type_, ()) else ""


def is_of_texts(name: str) -> bool:
    """Whether `matches` knows a format."""
    plain = name.replace("-", "")
    return plain in FORMATS and (plain not in _SINCE_1_35 or is_since("1.35"))


def matches(name: str, text: str) -> bool:
    """Whether a text has a known format."""
    return FORMATS[name.replace("-", "")](text)
