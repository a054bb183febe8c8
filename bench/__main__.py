"""`python -m bench`: measure everything, write the page.

`--only NAME` measures some expressions and nothing else, and prints their rows. `--check` fails
when a row is under its floor.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import audit, check, engine, load, mutation, peers
from bench.case import Case
from bench.evaluation import BY_HAND, CELADON, METERED, Outcome, evaluate
from bench.expressions import CASES
from bench.measure import ROUNDS, geometric_mean
from bench.page import add_check, under_floor
from bench.report import bar_table, write
from bench.results import Around, Results

DOCS = Path(__file__).parent.parent / "docs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these expressions")
    parser.add_argument("--no-peers", action="store_true", help="leave the other engines out")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    add_check(parser)
    options = parser.parse_args()
    competitors = () if options.no_peers else peers.installed()
    _say(f"expressions, with {len(competitors)} other engines ...")
    outcomes = evaluate(_chosen(options.only), competitors, options.rounds)
    if options.only or options.no_peers:
        _show(outcomes)
        return 0
    results = Results(outcomes, competitors, _around(), options.rounds)
    write(results, DOCS)
    lines = list(bar_table(results))
    for line in lines:
        _say(line)
    return int(options.check and bool(under_floor(lines)))


def _chosen(names: Sequence[str] | None) -> Sequence[Case]:
    return CASES if names is None else [case for case in CASES if case.name in names]


def _around() -> Around:
    _say("compiling ...")
    ready, hot = load.mean_compile_seconds()
    _say("loading policies ...")
    loading, validating, again = load.best_policies_seconds()
    _say("deciding ...")
    known, unknown = engine.review_seconds()
    _say("mutating ...")
    mutating, by_hand = mutation.mutation_seconds()
    _say("celadon check ...")
    commands = check.measured()
    _say("celadon audit ...")
    return Around(
        *(ready, hot, loading, validating, again, known, unknown, mutating, by_hand),
        commands,
        audit.measured(),
    )


def _show(outcomes: Sequence[Outcome]) -> None:
    """The slowest in comparison first."""
    for outcome in sorted(outcomes, key=lambda one: -(one.timings.ratio(CELADON, BY_HAND) or 0)):
        timings = outcome.timings
        hand, plain = timings.best(BY_HAND), timings.best(CELADON)
        _say(
            f"{outcome.case.name:24} {(hand or 0) * 1e9:8.0f} ns by hand {(plain or 0) * 1e9:8.0f}"
            f" ns ×{timings.ratio(CELADON, BY_HAND):.2f}"
            f"   metered ×{timings.ratio(METERED, CELADON):.2f}"
        )
    means = [
        geometric_mean(outcome.timings.ratio(name, to) for outcome in outcomes)
        for name, to in ((CELADON, BY_HAND), (METERED, CELADON))
    ]
    _say(f"geometric means: ×{means[0]:.2f} by hand, metered ×{means[1]:.2f}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
