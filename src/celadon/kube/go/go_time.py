"""Timestamps in objects: RFC 3339 in, UTC out, and Go's complaints about anything else.

`Time` has whole seconds, `MicroTime` exactly six fraction digits (k8s.io/apimachinery
`pkg/apis/meta/v1`). The errors are those of Go's `time.Parse`, which walks the layout element by
element and names the first one the text does not fit.
"""

from __future__ import annotations

import datetime
import re
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.late_patterns import late_pattern
from celadon.memoization import remembering

RFC3339: Final = "2006-01-02T15:04:05Z07:00"
RFC3339_MICRO: Final = "2006-01-02T15:04:05.000000Z07:00"
_DATE: Final = "2006-01-02"

_CANONICAL: Final = late_pattern(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)
_FRACTION: Final = late_pattern(r"[.,]\d+", re.ASCII)
_MICRO_FRACTION: Final = late_pattern(r"[.,]\d{6}", re.ASCII)
_ZONE: Final = late_pattern(r"[+-](\d\d):(\d\d)", re.ASCII)
_YEAR: Final = late_pattern(r"\d{4}", re.ASCII)
_TWO_DIGITS: Final = late_pattern(r"\d\d", re.ASCII)
_ONE_OR_TWO_DIGITS: Final = late_pattern(r"\d\d?", re.ASCII)

_ELEMENTS: Final = (
    ("2006", _YEAR),
    ("-", None),
    ("01", _TWO_DIGITS),
    ("-", None),
    ("02", _TWO_DIGITS),
    ("T", None),
    ("15", _ONE_OR_TWO_DIGITS),
    (":", None),
    ("04", _TWO_DIGITS),
    (":", None),
    ("05", _TWO_DIGITS),
)
"""The layouts up to the seconds: what is shown of an element in errors, what it accepts."""

_RANGES: Final = {
    "01": (1, 12, "month"),
    "15": (0, 23, "hour"),
    "04": (0, 59, "minute"),
    "05": (0, 59, "second"),
}


def quote(text: str) -> str:
    """Return a text as Go's package `time` quotes it: bytes beyond ASCII one by one."""
    return f'"{"".join(map(_quoted_char, text))}"'


def _quoted_char(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if " " <= char <= "\x7f":
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode(errors="replace"))


class TimeError(MalformedText):
    """Says that a text is no timestamp; the message is Go's."""


def _refuse(text: str, layout: str, rest: str, element: str) -> TimeError:
    return TimeError(
        f"parsing time {quote(text)} as {quote(layout)}: cannot parse {quote(rest)} as "
        f"{quote(element)}"
    )


def _out_of_range(text: str, subject: str) -> TimeError:
    return TimeError(f"parsing time {quote(text)}: {subject} out of range")


def date_complaint(text: str) -> str:
    """Return what Go says of a text that is no date like `2006-01-02`; empty for one that is."""
    try:
        rest = _walk_elements(text, _DATE, 5)
        if not rest:
            _instant(f"{text}T00:00:00Z", RFC3339)
    except TimeError as error:
        return str(error).replace("T00:00:00Z", "")
    return f"parsing time {quote(text)}: extra text: {quote(rest)}" if rest else ""


def _walk(text: str, layout: str) -> None:
    """Walk through a text and its layout. Raises the error Go gives for a text that does not fit
    the layout."""
    rest = _walk_elements(text, layout, len(_ELEMENTS))
    if layout == RFC3339_MICRO:
        match = _MICRO_FRACTION.match(rest)
        if match is None:
            raise _refuse(text, layout, rest, ".000000")
    else:
        match = _FRACTION.match(rest)
    if match is not None:
        rest = rest[match.end() :]
    _walk_zone(text, layout, rest)


def _walk_elements(text: str, layout: str, count: int) -> str:
    """Return what follows the first elements of a layout, so many. Raises TimeError."""
    rest = text
    for element, pattern in _ELEMENTS[:count]:
        if pattern is None:
            if not rest.startswith(element):
                raise _refuse(text, layout, rest, element)
            rest = rest[1:]
            continue
        match = pattern.match(rest)
        if match is None:
            raise _refuse(text, layout, rest, element)
        if element in _RANGES:
            low, high, subject = _RANGES[element]
            if not low <= int(match.group()) <= high:
                raise _out_of_range(text, subject)
        rest = rest[match.end() :]
    return rest


def _walk_zone(text: str, layout: str, rest: str) -> None:
    if rest.startswith("Z"):
        rest = rest[1:]
    else:
        match = _ZONE.match(rest)
        if match is None:
            raise _refuse(text, layout, rest, "Z07:00")
        if int(match[1]) > 24:
            raise _out_of_range(text, "time zone offset hour")
        if int(match[2]) > 60:
            raise _out_of_range(text, "time zone offset minute")
        rest = rest[match.end() :]
    if rest:
        raise TimeError(f"parsing time {quote(text)}: extra text: {quote(rest)}")


def _instant(text: str, layout: str) -> tuple[datetime.datetime, str]:
    """Return the instant in UTC with whole seconds, and the fraction digits."""
    _walk(text, layout)
    match = _CANONICAL.fullmatch(text) or _CANONICAL.fullmatch(_lenient(text))
    assert match is not None  # whatever passed the walk is of this form
    year, month, day, hour, minute, second = (int(match[i]) for i in range(1, 7))
    try:
        moment = datetime.datetime(max(year, 1), month, day, hour, minute, second)
    except ValueError:
        raise _out_of_range(text, "day") from None
    if match[8]:
        offset = datetime.timedelta(hours=int(match[9]), minutes=int(match[10]))
        try:
            moment = moment - offset if match[8] == "+" else moment + offset
        except OverflowError:
            raise _out_of_range(text, "year") from None
    return moment, match[7] or ""


def _lenient(text: str) -> str:
    """Go takes a one-digit hour and a comma before the fraction."""
    return re.sub(r"T(\d):", r"T0\1:", text.replace(",", "."), count=1)


@remembering(1024)
def canonical_time(text: str) -> str:
    """Return a timestamp in the form `2026-01-02T03:04:05Z`. TimeError when the text is no RFC 3339
    timestamp."""
    moment, _ = _instant(text, RFC3339)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


@remembering(1024)
def canonical_micro_time(text: str) -> str:
    """`2026-01-02T03:04:05.000006Z`; the input must have six fraction digits."""
    moment, fraction = _instant(text, RFC3339_MICRO)
    return f"{moment.strftime('%Y-%m-%dT%H:%M:%S').rjust(19, '0')}.{fraction}Z"


# --- Go duration -------------------------------------------------------------
#
# Durations as Kubernetes reads them from JSON: Go's, and those with longer units.
#
# `3h20m` is Go's way to write one; `3 weeks`, `1d 12h` are understood as well. As
# k8s.io/kube-openapi `pkg/validation/strfmt/duration.go`.

_SECOND: Final = 1_000_000_000
_UNITS: Final = (
    (1, ("ns", "nano")),
    (1_000, ("us", "µs", "micro")),
    (1_000_000, ("ms", "milli")),
    (_SECOND, ("s", "sec")),
    (60 * _SECOND, ("m", "min")),
    (3600 * _SECOND, ("h", "hr", "hour")),
    (24 * 3600 * _SECOND, ("d", "day")),
    (7 * 24 * 3600 * _SECOND, ("w", "wk", "week")),
)
"""Of each unit the last name stands for everything that begins with it."""
_GO_UNITS: Final = frozenset({"ns", "us", "µs", "μs", "ms", "s", "m", "h"})
_NUMBER: Final = late_pattern(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_UNIT: Final = late_pattern(r"[^0-9.]*")
_PART: Final = late_pattern(r"(?<![0-9])([0-9]++)\s*+([A-Za-zµ]++)")


class DurationError(MalformedText):
    """Says that a text is no duration; `str()` is upstream's complaint."""


def parse_go_duration(text: str) -> int:
    """Nanoseconds, as `time.ParseDuration`. Raises `DurationError`."""
    # late: few texts are durations, and the names of Kubernetes need no language.
    from celadon.cel.value_functions import parse_duration as read

    duration = read(text)
    if duration is None:
        raise DurationError(f"time: {_fault(text)}")
    return duration.nanoseconds


def _fault(text: str) -> str:
    end = 1 if text[:1] in ("-", "+") else 0
    while (number := _NUMBER.match(text, end)) is not None:
        unit = _UNIT.match(text, number.end())
        assert unit is not None  # it may be empty
        if not unit[0]:
            return f"missing unit in duration {quote(text)}"
        if unit[0] not in _GO_UNITS:
            return f"unknown unit {quote(unit[0])} in duration {quote(text)}"
        end = unit.end()
    return f"invalid duration {quote(text)}"


def parse_duration(text: str) -> int:
    """Nanoseconds. Raises `DurationError`."""
    try:
        return parse_go_duration(text)
    except DurationError:
        pass
    total, false = 0, False
    for match in _PART.finditer(text):
        if len(match[1]) > 18:
            raise DurationError(f'strconv.Atoi: parsing "{match[1]}": value out of range')
        factor = _factor(match[2].lower())
        if factor:
            false = True
            total += int(match[1]) * factor
    if not false:
        raise DurationError(f"unable to parse {text} as duration")
    return (total + (1 << 63)) % (1 << 64) - (1 << 63)


def _factor(unit: str) -> int:
    """Return the sum over all units that it names, as upstream has it; 0 for no unit."""
    return sum(
        size
        for size, names in _UNITS
        for name in names
        if unit == name or (name is names[-1] and unit.startswith(name))
    )
