"""`docs/performance.md` and `docs/performance.svg`, from the results of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.evaluation import BY_HAND, CELADON, METERED, Outcome, fresh, shared
from bench.objects import ACTIVATIONS
from bench.pace import goal_here, slowness
from bench.page_parts import kept_parts
from bench.peers import PEERS
from bench.plot import svg
from bench.results import Bar, Results, bars, machine

SHOWN: Final = ("replicas-limit", "label-suffix", "run-as-non-root", "image-prefix")
"""The expressions that the table shows; the picture shows all."""

_METHOD: Final = """\
`make bench` measures this part of the page and writes it, in an environment of its own
(`.venv-bench`, with the engines of `bench/requirements.txt`).

## How it is measured

- **Expressions**: {count} typical expressions of policies (`bench/expressions/`) on a Pod, a
  Deployment, an Ingress and a custom resource (`bench/objects.py`).
- **By hand**: the same checks as one writes them in Python. A test proves that they give the same
  answers on {inputs} variants of the objects.
- **Side by side**: all engines evaluate an expression in one process, in turns, {rounds} times. A
  time is the least; a ratio is taken within each round, and the median counts. Means of ratios are
  geometric.
- **Other engines** get their best shape: compiled before, the fastest runner, their own libraries.
  *Fresh object* includes converting the object, *converted before* does not. Celadon and the
  functions by hand convert nothing.
- **Metered** evaluation counts costs as kube-apiserver does.
- **Compiling** is from text to a program that can be evaluated; one in use becomes a
  **function**. **Loading** is from the JSON of policies,
  **deciding** a review of a request. All count processor time on one core.
- **`celadon check`** is the whole command by the clock; **one object of a stream** is the processor
  time that it adds, **memory** the most that the process held.
"""


def write(results: Results, docs: Path) -> None:
    """Both files."""
    (docs / "performance.svg").write_text(svg(results), encoding="utf-8")
    page = docs / "performance.md"
    kept = kept_parts(page.read_text(encoding="utf-8"))
    page.write_text(f"{markdown(results)}\n{kept}", encoding="utf-8")


def markdown(results: Results) -> str:
    """The page."""
    return "\n".join([*_head(results), *_expressions(results), ""])


def _head(results: Results) -> Iterator[str]:
    yield "# Performance\n"
    yield f"*Reference.* Measured with {machine()}. Times depend on the machine, ratios hardly.\n"
    pace = slowness(results.outcomes)
    yield "The goals are for a machine on which the functions by hand take 0.35 µs in the geometric"
    yield f"mean. This one took {pace:.2f} times as long for them, and is judged by goals that are"
    yield "scaled by it (`bench/pace.py`).\n"
    yield from bar_table(results)
    yield ""
    yield _METHOD.format(
        count=len(results.outcomes),
        inputs=sum(map(len, ACTIVATIONS.values())),
        rounds=results.rounds,
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
    return {True: "reached", False: "**missed**", None: ""}[bar.holds]


def _expressions(results: Results) -> Iterator[str]:
    yield "## Expressions\n"
    yield "![Times of all expressions in all engines](performance.svg)\n"
    yield "Microseconds; the picture has all expressions. The ratios are Celadon's to the function"
    yield "by hand, and the metered variant's to the plain one. Other engines: with a fresh object,"
    yield "and with one that was converted before.\n"
    peers = [peer.name for peer in results.installed]
    titles = ["expression", "by hand", "Celadon", "ratio", "metered", *peers]
    yield _row(titles)
    yield _row(["---", *["---:"] * (len(titles) - 1)])
    for outcome in results.outcomes:
        if outcome.case.name in SHOWN:
            yield _row(_cells(outcome, peers))
    yield _row(["geometric mean", "", "", *_mean_cells(results, peers)])
    yield ""
    for peer in results.installed:
        able = results.count(fresh(peer.name))
        yield (
            f"- {peer.name} {peer.version} can do {able} of {len(results.outcomes)}:"
            f" {_ratio(results.mean_ratio(fresh(peer.name), CELADON))} Celadon's time with a fresh"
            f" object, {_ratio(results.mean_ratio(shared(peer.name), CELADON))} with one that was"
            " converted before."
        )
    for name in PEERS:
        if name not in peers:
            yield f"- {name} could not be installed."
    around = results.around
    yield (
        f"- Validating 1,000 policies, as the API server does when they are written, takes"
        f" {around.policies_validated:.1f} s on top of loading them."
    )
    yield (
        f"- A decision on a request of unknown size takes {around.review_size_unknown * 1e6:.0f}"
        f" µs; `celadon check` of 1,000 YAML manifests {around.commands.thousand['yaml']:.2f} s.\n"
    )


def _cells(outcome: Outcome, peers: Sequence[str]) -> list[str]:
    timings = outcome.timings
    cells = [
        outcome.case.name,
        _micros(timings.best(BY_HAND)),
        _micros(timings.best(CELADON)),
        _ratio(timings.ratio(CELADON, BY_HAND)),
        _ratio(timings.ratio(METERED, CELADON)),
    ]
    for peer in peers:
        both = timings.best(fresh(peer)), timings.best(shared(peer))
        cells.append("" if None in both else " / ".join(map(_micros, both)))
    return cells


def _mean_cells(results: Results, peers: Sequence[str]) -> list[str]:
    cells = [
        _ratio(results.mean_ratio(CELADON, BY_HAND)),
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


def _number(value: float) -> str:
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
