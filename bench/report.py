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

SHOWN_FIRST: Final = ("replicas-limit", "label-suffix", "run-as-non-root", "image-prefix")
"""Four that are compared with other engines elsewhere, too."""

_METHOD: Final = """\
`make bench` measures everything on this page and writes it. It makes an environment of its own,
`.venv-bench`, with the engines of `bench/requirements.txt`; none of them is needed for anything
else.

## How it is measured

- **The expressions** ({count} of them, `bench/expressions/`) are what policies consist of: tests of
  fields, labels, quantifiers over containers, images by prefix and by regular expression,
  quantities, versions, addresses and networks, sets, messages, optional fields. **The objects**
  (`bench/objects.py`) are a Pod, a Deployment, an Ingress and a custom resource, with all the
  fields such objects have.
- **The functions by hand** are written the way such checks are written in Python: comprehensions,
  `all` and `any`, `dict.get`, constants and patterns outside, `re`, `ipaddress`, `decimal`. They
  test for absent fields where the expression does. A test proves that they give the same answers
  on {inputs} variants of the objects.
- **Side by side.** Every engine evaluates an expression in the same process, one right after the
  other, {rounds} times. A time is the least of these; a ratio is taken within each round, and the
  median counts. A mean of ratios is a geometric mean, over the expressions that both can do.
- **Other engines** are given their best shape: programs compiled before, the fastest runner, their
  own function libraries. *Fresh object* includes the conversion of the object, which each request
  brings; *converted before* leaves it out. Celadon and the functions by hand have nothing to
  convert. What an engine cannot do, or answers differently, is left blank.
- **Metered** evaluation counts the costs as kube-apiserver does. The engine only meters where a
  bound proven from the expression cannot rule out that a limit is reached.
- **Compiling** is from text to a loaded function, in a process that has never seen the expression.
  **Loading** starts with the JSON of the policies. Both count the processor's time, on one core.
- **Deciding** is a review of a request by an engine: which policies match, what they say, the
  verdict. The size of the request's text is known, as it is to a server.
- **Mutating** is twenty configurations merged into a Pod one after the other, and what each brings
  read and defaulted as a server does; by hand, the same edits copy what they change and nothing
  else. Fourteen say the same of every object; six set something in each of its containers.
- **`celadon check`** is the whole command, by the clock on the wall: Python started, files read and
  judged against twenty policies, the report written. **One object of a stream** is the processor's
  time that it adds to a command, against nine policies and in one process (`--jobs 1`). **Memory**
  is the most that the process has held at any time.
"""


def write(results: Results, docs: Path) -> None:
    """Both files."""
    (docs / "performance.svg").write_text(svg(results), encoding="utf-8")
    page = docs / "performance.md"
    kept = kept_parts(page.read_text(encoding="utf-8"))
    page.write_text(f"{markdown(results)}\n{kept}", encoding="utf-8")


def markdown(results: Results) -> str:
    """The page."""
    return "\n".join([*_head(results), *_expressions(results), *_texts(results), ""])


def _head(results: Results) -> Iterator[str]:
    yield "# Performance\n"
    yield f"Measured with {machine()}. Times depend on the machine; ratios hardly do.\n"
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
    yield "## Expression by expression\n"
    yield "![Times of all expressions in all engines](performance.svg)\n"
    yield "Microseconds; the ratios are Celadon's to the function by hand, and the metered"
    yield "variant's to the plain one. Of the other engines, the first time is with a fresh object,"
    yield "the second with one that was converted before.\n"
    peers = [peer.name for peer in results.installed]
    titles = ["expression", "by hand", "Celadon", "ratio", "metered", *peers]
    yield _row(titles)
    yield _row(["---", *["---:"] * (len(titles) - 1)])
    for outcome in _ordered(results.outcomes):
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


def _ordered(outcomes: Sequence[Outcome]) -> list[Outcome]:
    first = [one for name in SHOWN_FIRST for one in outcomes if one.case.name == name]
    return first + [one for one in outcomes if one.case.name not in SHOWN_FIRST]


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


def _texts(results: Results) -> Iterator[str]:
    yield "## The expressions\n"
    for outcome in results.outcomes:
        case = outcome.case
        yield f"**{case.name}**, on a {case.kind}\n\n```cel\n{case.expression}\n```\n"


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
