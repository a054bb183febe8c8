"""Counters, gauges and histograms, and how Prometheus reads them.

A series is found by the values of its family's labels, in their order, and costs well under a
microsecond to add to: one thread writes, so there are no locks. docs/decisions/0017-metrics.md says
why this is not prometheus-client.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import accumulate
from typing import Final, Protocol, TypeAlias

from celadon.records import dataclass

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""Of an exposition."""

Labels: TypeAlias = tuple[str, ...]
"""The values of a family's labels, in their order."""

_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True, slots=True)
class Description:
    """`stability` is upstream's (STABLE, BETA, ALPHA), empty for what upstream does not have."""

    name: str
    help: str
    labels: Labels = ()
    stability: str = ""

    def head(self, kind: str) -> str:
        """The two lines above the series."""
        help = f"[{self.stability}] {self.help}" if self.stability else self.help
        return f"# HELP {self.name} {help}\n# TYPE {self.name} {kind}\n"

    def sample(self, values: Labels, value: float, suffix: str = "", bound: str = "") -> str:
        """One line."""
        pairs = [
            f'{name}="{text.translate(_ESCAPED)}"'
            for name, text in zip(self.labels, values, strict=True)
        ]
        pairs += [f'le="{bound}"'] if bound else []
        labels = f"{{{','.join(pairs)}}}" if pairs else ""
        return f"{self.name}{suffix}{labels} {number(value)}\n"


class Family(Protocol):
    """What `/metrics` shows."""

    def lines(self) -> Iterator[str]: ...


@dataclass(slots=True)
class Counter:
    """How often something happened."""

    about: Description
    values: dict[Labels, float] = field(default_factory=dict)

    def add(self, labels: Labels = (), amount: float = 1) -> None:
        self.values[labels] = self.values.get(labels, 0) + amount

    def lines(self) -> Iterator[str]:
        yield from _plain(self.about, "counter", self.values)


@dataclass(frozen=True, slots=True)
class Gauge:
    """What is now: `read` is asked when somebody wants to know."""

    about: Description
    read: Callable[[], Mapping[Labels, float]]

    def lines(self) -> Iterator[str]:
        yield from _plain(self.about, "gauge", self.read())


@dataclass(frozen=True, slots=True)
class ReadCounter:
    """A counter that somebody else keeps."""

    about: Description
    read: Callable[[], Mapping[Labels, float]]

    def lines(self) -> Iterator[str]:
        yield from _plain(self.about, "counter", self.read())


class Series:
    """Of a histogram: how many values fell below each bound but not below the one before."""

    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self._bounds, value)] += 1
        self.total += value


@dataclass(slots=True)
class Histogram:
    """How values are distributed; `bounds` are the upper ends of the buckets."""

    about: Description
    bounds: Sequence[float]
    values: dict[Labels, Series] = field(default_factory=dict)

    def series(self, labels: Labels = ()) -> Series:
        """To be kept by who observes often."""
        found = self.values.get(labels)
        if found is None:
            found = self.values[labels] = Series(self.bounds)
        return found

    def observe(self, value: float, labels: Labels = ()) -> None:
        self.series(labels).observe(value)

    def lines(self) -> Iterator[str]:
        if self.values:
            yield self.about.head("histogram")
        for labels, series in sorted(self.values.items()):
            counts = list(accumulate(series.counts))
            for bound, count in zip((*self.bounds, float("inf")), counts, strict=True):
                yield self.about.sample(labels, count, "_bucket", number(bound))
            yield self.about.sample(labels, series.total, "_sum")
            yield self.about.sample(labels, counts[-1], "_count")


def exposition(families: Iterable[Family]) -> str:
    """All families as Prometheus reads them; one without series is left out."""
    return "".join(line for family in families for line in family.lines())


def number(value: float) -> str:
    """Shortest, without a fraction that is none."""
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(float(value))


def _plain(about: Description, kind: str, values: Mapping[Labels, float]) -> Iterator[str]:
    if values:
        yield about.head(kind)
    for labels, value in sorted(values.items()):
        yield about.sample(labels, value)
