"""Durations as Kubernetes reads them from JSON: Go's, and those with longer units.

`3h20m` is Go's way to write one; `3 weeks`, `1d 12h` are understood as well. As k8s.io/kube-openapi
`pkg/validation/strfmt/duration.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.errors import MalformedText
from celadon.patterns import late_pattern

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
_PART: Final = late_pattern(r"([0-9]+)\s*([A-Za-zµ]+)")


class DurationError(MalformedText):
    """A text that is no duration; `str()` is upstream's complaint."""


def parse_duration(text: str) -> int:
    """Nanoseconds. Raises `DurationError`."""
    # late: few texts are durations, and the names of Kubernetes need no language.
    from celadon.cel.value_functions import parse_duration as parse_go_duration

    written_as_in_go = parse_go_duration(text)
    if written_as_in_go is not None:
        return written_as_in_go.nanoseconds
    total, known = 0, False
    for match in _PART.finditer(text):
        if len(match[1]) > 18:
            raise DurationError(f'strconv.Atoi: parsing "{match[1]}": value out of range')
        factor = _factor(match[2].lower())
        if factor:
            known = True
            total += int(match[1]) * factor
    if not known:
        raise DurationError(f"unable to parse {text} as duration")
    return (total + (1 << 63)) % (1 << 64) - (1 << 63)


def _factor(unit: str) -> int:
    """The sum over all units that it names, as upstream has it; 0 for no unit."""
    return sum(
        size
        for size, names in _UNITS
        for name in names
        if unit == name or (name is names[-1] and unit.startswith(name))
    )
