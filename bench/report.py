"""`docs/performance.md` and `docs/performance.svg`, from the results of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.evaluation import BY_HAND, CELADON, METERED, Outcome, fresh, shared
from bench.objects import ACTIVATIONS
from bench.pace import goal_here, slowness
from bench.page import MISSED, record
from bench.peers import PEERS
from bench.plot import svg
from bench.results import Bar, Results, bars, machine

SHOWN: Final = ("replicas-limit", "label-suffix", "run-as-non-root", "image-prefix")
"""The expressions that the table shows; the picture shows all."""


def write(results: Results, docs: Path) -> None:
    """The picture, and what the page is told."""
    (docs / "performance.svg").write_text(svg(results), encoding="utf-8")
    around = results.around
    record(
        {
            "bars": bar_table(results),
            "expressions": _expressions(results),
            "peers": _peers(results),
        },
        {
            "machine": machine(),
            "slowness": f"{slowness(results.outcomes):.2f}",
            "expressions-count": str(len(results.outcomes)),
            "inputs": str(sum(map(len, ACTIVATIONS.values()))),
            "rounds": str(results.rounds),
            "validating": f"{around.policies_validated:.1f} s",
            "size-unknown": f"{around.review_size_unknown * 1e6:.0f} µs",
            "thousand-yaml": f"{around.commands.thousand['yaml']:.2f} s",
        },
    )


def bar_table(results: Results) -> Iterator[str]:
    """What was promised, what was measured."""
    return bar_rows(bars(results), slowness(results.outcomes))


def bar_rows(held: Iterable[Bar], slowness: float) -> Iterator[str]:
    """Bars as a table, judged by the goals that are worth the same on this machine."""
    yield "| | measured | goal | the same here | |"
    yield "| --- | ---: | ---: | ---: | --- |"
    for bar in held:
        sign = "≥" if bar.at_least else "≤"
        here = goal_here(bar, slowness)
        measured = "not measured" if bar.measured is None else f"{_number(bar.measured)} {bar.unit}"
        goal = f"{sign} {bar.goal:g} {bar.unit}"
        scaled = "" if here == bar else f"{sign} {_number(here.goal)} {bar.unit}"
        yield f"| {bar.what} | {measured} | {goal} | {scaled} | {_judged(here)} |"


def _judged(bar: Bar) -> str:
    return {True: "reached", False: MISSED, None: ""}[bar.holds]


def _expressions(results: Results) -> Iterator[str]:
    peers = [peer.name for peer in results.installed]
    titles = ["expression", "by hand", "Celadon", "ratio", "spread", "metered", *peers]
    yield _row(titles)
    yield _row(["---", *["---:"] * (len(titles) - 1)])
    for outcome in results.outcomes:
        if outcome.case.name in SHOWN:
            yield _row(_cells(outcome, peers))
    yield _row(["geometric mean", "", "", *_mean_cells(results, peers)])


def _peers(results: Results) -> Iterator[str]:
    yield "| engine | can do | times Celadon's, with a fresh object | converted before |"
    yield "| --- | ---: | ---: | ---: |"
    for peer in results.installed:
        ways = (fresh(peer.name), shared(peer.name))
        ratios = [_ratio(results.mean_ratio(way, CELADON)) for way in ways]
        able = f"{results.count(ways[0])} of {len(results.outcomes)}"
        yield _row([f"{peer.name} {peer.version}", able, *ratios])
    for name in PEERS:
        if name not in {peer.name for peer in results.installed}:
            yield _row([f"{name} could not be installed", "", "", ""])


def _cells(outcome: Outcome, peers: Sequence[str]) -> list[str]:
    timings = outcome.timings
    cells = [
        outcome.case.name,
        _micros(timings.best(BY_HAND)),
        _micros(timings.best(CELADON)),
        _ratio(timings.ratio(CELADON, BY_HAND)),
        _spread(timings.ratios(CELADON, BY_HAND)),
        _ratio(timings.ratio(METERED, CELADON)),
    ]
    for peer in peers:
        both = timings.best(fresh(peer)), timings.best(shared(peer))
        cells.append("" if None in both else " / ".join(map(_micros, both)))
    return cells


def _mean_cells(results: Results, peers: Sequence[str]) -> list[str]:
    cells = [
        _ratio(results.mean_ratio(CELADON, BY_HAND)),
        "",
        _ratio(results.mean_ratio(METERED, CELADON)),
    ]
    for peer in peers:
        both = (results.mean_ratio(way(peer), CELADON) for way in (fresh, shared))
        cells.append(" / ".join(map(_ratio, both)))
    return cells


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _micros(seconds: float | None) -> str:
    return "" if seconds is None else _number(seconds * 1e6)


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{_number(ratio)}×"


def _spread(ratios: Sequence[float]) -> str:
    return f"{_number(min(ratios))} to {_number(max(ratios))}" if ratios else ""


def _number(value: float) -> str:
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
