"""The whole corpus, then damaged inputs: `python -m tests.hostile [--only TEXT] [--mutated N]`."""

from __future__ import annotations

import argparse
import os
import sys

from bench.pace import measured_slowness

from tests.hostile.confinement import run
from tests.hostile.corpus import CORPUS
from tests.hostile.forked_batches import Tally, attack
from tests.hostile.hostile_case import MOST_SECONDS

_LINE = 5_000
"""After so many damaged inputs their number is told."""


def withstood(only: str, slowness: float) -> bool:
    """Runs every case whose name has the text in it."""
    failed = 0
    cases = [case for case in CORPUS if only in case.name]
    for case in cases:
        outcome = run(case, slowness)
        complaints = outcome.complaints(case, slowness)
        failed += bool(complaints)
        took = f"{outcome.seconds / slowness:5.1f} s {outcome.megabytes:4} MB {outcome.exit:3}"
        sys.stdout.write(f"{took}  {case.name}{''.join(f'; {c}' for c in complaints)}\n")
        if complaints:
            sys.stdout.write(f"{outcome.output[:1000]}\n")
        sys.stdout.flush()
    sys.stdout.write(
        f"{len(cases) - failed} of {len(cases)}; this machine is {slowness:.1f}× slow\n"
    )
    return not failed


def answered(options: argparse.Namespace, slowness: float) -> bool:
    """Runs damaged inputs."""
    total = Tally()
    told = 0
    for one in attack(options.seed, options.mutated, options.jobs, MOST_SECONDS * slowness):
        total.exits += one.exits
        total.found += one.found
        sys.stdout.writelines(f"{text}\n" for text in one.found)
        if total.count // _LINE > told or total.count >= options.mutated:
            told = total.count // _LINE
            exits = dict(sorted(total.exits.items()))
            sys.stdout.write(f"{total.count} damaged inputs, {len(total.found)} found: {exits}\n")
        sys.stdout.flush()
    return not total.found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the cases whose name has this in it")
    parser.add_argument("--mutated", type=int, default=0, help="so many damaged inputs, too")
    parser.add_argument("--seed", type=int, default=1, help="of the damage")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="damaged inputs at a time")
    options = parser.parse_args()
    slowness = max(1.0, measured_slowness())
    good = withstood(options.only, slowness)
    return 0 if answered(options, slowness) and good else 1


if __name__ == "__main__":
    sys.exit(main())
