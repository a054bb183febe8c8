"""The whole corpus, then damaged inputs: `python -m tests.hostile [--only TEXT] [--mutated N]`."""

from __future__ import annotations

import argparse
import sys

from bench.pace import measured_slowness

from tests.hostile.confinement import run
from tests.hostile.corpus import CORPUS
from tests.hostile.mutated_inputs import Mutations


def attack(only: str) -> int:
    """Runs every case whose name has the text in it; how many were not withstood."""
    slowness = max(1.0, measured_slowness())
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
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the cases whose name has this in it")
    parser.add_argument("--mutated", type=int, default=0, help="so many damaged inputs, too")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = attack(options.only)
    if options.mutated:
        failed += Mutations(options.seed).run(options.mutated)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
