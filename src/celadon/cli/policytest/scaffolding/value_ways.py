"""Ways: which values at which places, and how several become one.

A way is a map of places to values. `GONE` stands for a place with nothing in it, `THERE` for one
with anything, a `Length` for a value of that length. A place may end in `KEY`, any key of a map, or
in `ANY_VALUE`, the value of any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, Final

from celadon.cli.reading.json_text import Path
from celadon.records import dataclass

Way = Mapping[Path, Any]


class _Mark:
    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


GONE: Final = _Mark("GONE")
THERE: Final = _Mark("THERE")
KEY: Final = "\0key"
"""The last step of a place that is any key of a map, not a value in it."""

ANY_VALUE: Final = "\0value"
"""The last step of a place that is the value of any key."""


@dataclass(frozen=True, slots=True)
class Length:
    """A value that is wanted for its length."""

    count: int


NOTHING: Final[Way] = MappingProxyType({})

_FLIPPED: Final = {"_<_": "_>_", "_>_": "_<_", "_<=_": "_>=_", "_>=_": "_<=_"}
NEGATED: Final = {
    "_==_": "_!=_",
    "_!=_": "_==_",
    "_<_": "_>=_",
    "_>=_": "_<_",
    "_>_": "_<=_",
    "_<=_": "_>_",
}
COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "_==_": lambda one, other: bool(one == other),
    "_!=_": lambda one, other: bool(one != other),
    "_<_": lambda one, other: bool(one < other),
    "_<=_": lambda one, other: bool(one <= other),
    "_>_": lambda one, other: bool(one > other),
    "_>=_": lambda one, other: bool(one >= other),
}


@dataclass(frozen=True, slots=True)
class Term:
    """This is what a part of an expression stands for: a `place`, or a `constant` where that is
    None, if what `needs` says is so."""

    place: Path | None
    constant: Any = None
    needs: Way = field(default_factory=lambda: NOTHING)


Bound = Mapping[str, Term]
NO_NAMES: Final[Bound] = {}


def merged(one: Way, other: Way) -> Way | None:
    """Both at once; None if they contradict each other."""
    if not one or not other:
        return one or other
    found = dict(one)
    for place, value in other.items():
        known = found.get(place, value)
        if known is THERE or (known is value) or known == value:
            found[place] = value
        elif value is not THERE or known is GONE:
            return None
    for place, value in found.items():
        if value is GONE and any(
            place == longer[: len(place)] and below is not GONE for longer, below in found.items()
        ):
            return None
    return found


def both_of(ones: Iterable[Way], others: Iterable[Way]) -> Iterator[Way]:
    """Every way of the first with every one of the second; likely pairs first."""
    firsts, seconds = list(ones), list(others)
    for distance in range(len(firsts) + len(seconds)):
        for i in range(max(0, distance - len(seconds) + 1), min(distance + 1, len(firsts))):
            found = merged(firsts[i], seconds[distance - i])
            if found is not None:
                yield found


def different(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON
    """Values of the same type that are others."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1)
    elif isinstance(value, str):
        yield from ("x", f"{value}x")
    elif value is None:
        yield THERE


def _beside(function: str, value: object) -> Iterator[object]:
    """Values that compare so with a constant."""
    if isinstance(value, str) or value is None or isinstance(value, bool):
        yield from [value] if function == "_==_" else different(value)
        if isinstance(value, str) and function in ("_>_", "_>=_"):
            yield f"{value}0"
        return
    if not isinstance(value, int | float):
        return
    for one in (value, value + 1, value - 1):
        if COMPARED[function](one, value):
            yield one


def with_value(term: Term, place: Path, value: object) -> Iterator[Way]:
    """A value at a place, and what the term needs."""
    found = merged(term.needs, {place: value})
    if found is not None:
        yield found


def needing(terms: Iterable[Term], needs: Sequence[Way]) -> Iterator[Term]:
    """Terms that each need one of several ways besides their own."""
    for term in terms:
        for need in needs:
            both = merged(term.needs, need)
            if both is not None:
                yield replace(term, needs=both)


def alternating(ones: Iterable[Way], others: Iterable[Way]) -> Iterator[Way]:
    """One of these, one of those, as long as there are any."""
    for pair in zip_longest(ones, others):
        yield from (one for one in pair if one is not None)


def turned(function: str) -> str:
    """The comparison with its sides changed over."""
    return _FLIPPED.get(function, function)


def compared(function: str, one: Term, other: Term) -> Iterator[Way]:
    """Yield what makes two terms compare so."""
    if one.place is None and other.place is None:
        try:
            holds = COMPARED[function](one.constant, other.constant)
        except TypeError:
            return
        yield from [NOTHING] if holds else ()
    elif one.place is None or other.place is None:
        place = one.place or other.place
        assert place is not None, "one of them is a place"
        constant = one.constant if one.place is None else other.constant
        asked = turned(function) if one.place is None else function
        for value in _beside(asked, constant):
            yield {place: value}
    elif function == "_==_":
        yield {one.place: "x", other.place: "x"}
        yield {one.place: 1, other.place: 1}
    else:
        first, second = (2, 1) if function in ("_>_", "_>=_") else (1, 2)
        yield {one.place: "x", other.place: "y"}
        yield {one.place: first, other.place: second}
