"""Values to try at a place: nothing, and what expressions compare it with.

Of each literal both neighbours are tried: one more and one less, a text with something before or
behind it, texts as long as a number says. That is where comparisons change their minds. So are
parts of texts, which may be put together again, and what is opposite to a number. The fewer inputs
there are, the more values each has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.cli.policy_tests.telling_apart.combining.read_inputs import Inputs
from celadon.cli.reading.json_places import Path
from celadon.patterns import late_pattern
from celadon.records import dataclass

_ALL_VALUES: Final = 64
"""Values of all inputs together, of which each has its share."""
_LEAST_VALUES: Final = 6
_LONGEST: Final = 300
"""Characters of a text that is made to be as long as a number says."""
_RANGE: Final = 40
"""Up to such a number all that are less are tried as well."""
_OTHERS: Final[tuple[Any, ...]] = (
    *("other", 1, True, 0, False, {}, [], ""),
    *(["other"], ["other", "more"], {"other": "more"}),
)
"""Something of every type."""
_WORD: Final = late_pattern(r"\w+")


@dataclass(frozen=True, slots=True)
class Value:
    """What may stand at a place; `second` says that it stands in an item behind the one that is
    there, of the first list on the way. None is nothing."""

    place: Path
    value: Any
    second: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """An input, and what it may be besides what it is. `place` is that of the input."""

    place: Path
    values: tuple[Value, ...]


def choices(inputs: Inputs, now: Mapping[Path, Any]) -> Iterator[Choice]:
    """All inputs, those that stand in others behind these. `now` is what stands at places."""
    places = sorted(inputs.related, key=len)
    most = max(_LEAST_VALUES, _ALL_VALUES // max(1, len(places)))
    second: dict[Path, list[Value]] = {}
    for place in places:
        found = list(_values(now[place], inputs.related[place], most))
        yield Choice(place, tuple(Value(place, one) for one in found))
        first = next((i for i, step in enumerate(place) if isinstance(step, int)), None)
        if first is not None:
            known = second.setdefault(place[:first], [])
            there = [now[place], *found]
            known += [Value(place, one, second=True) for one in there if one is not None]
    for place, values in second.items():
        yield Choice((*place, 1), tuple(values[:most]))


def _values(now: object, related: Iterable[Any], most: int) -> Iterator[Any]:
    """Nothing, then others than what is there, the most telling first. Where nothing is, nobody
    knows what may be there: something of every type is tried besides."""
    tried: list[Any] = [now]
    if now is not None:
        yield None
    most += len(_OTHERS) if now is None else 0
    for one in _compared(list(related), now):
        is_known = any(type(one) is type(other) and one == other for other in tried)
        if (now is None or type(one) is type(now)) and not is_known:
            tried.append(one)
            yield one
            if len(tried) > most:
                return


def _compared(related: list[Any], now: object) -> Iterator[Any]:
    """The literals, then what is like them."""
    yield from related
    numbers = [int(one) for one in related if isinstance(one, int) and not isinstance(one, bool)]
    texts = [one for one in related if isinstance(one, str)]
    beside = [number + more for number in numbers for more in (1, -1)]
    beside += [more - number for number in numbers for more in (0, 1, -1)]
    beside += range(max([one for one in numbers if one <= _RANGE], default=0))
    yield from dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    if isinstance(now, list):
        yield from ([one] for one in texts)
    yield from _OTHERS
    yield from beside
    if isinstance(now, str) or now is None:
        yield from map(str, (*numbers, *beside))
        yield from ("x" * one for one in (*numbers, *beside) if 0 <= one <= _LONGEST)
    for text in texts:
        yield from (f"{text}x", f"x{text}", f"x{text}x")
