"""`python -m bench.webhook`: measure and print; `--write` also writes the page, `--check` fails
when a row is under its floor, `--memory` asks a million times and looks at the memory."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from bench.page import add_check, under_floor
from bench.undisturbed import add_real_time, come_first
from bench.webhook import comparison, reviews, webhook_processes
from bench.webhook.review_loads import flood

MILLION: Final = 1_000_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.webhook", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the figures into the docs")
    parser.add_argument("--memory", action="store_true", help="only the memory, for long")
    parser.add_argument("--reviews", type=int, default=MILLION, help="for --memory")
    parser.add_argument("--rounds", type=int, default=5)
    add_check(parser)
    add_real_time(parser)
    options = parser.parse_args()
    if options.real_time:
        come_first()
    if options.memory:
        memory(options.reviews)
        return 0
    with tempfile.TemporaryDirectory() as name:
        compared = comparison.compare(Path(name), options.rounds, _say)
    lines = list(comparison.table(compared))
    for line in lines:
        _say(line)
    if options.write:
        comparison.write(compared)
    return int(options.check and bool(under_floor(lines)))


def memory(count: int) -> None:
    """Resident memory, again and again."""
    part = max(count // 20, 1)
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        tls = webhook_processes.new_certificate(folder)
        served = stack.enter_context(webhook_processes.celadon(folder, tls))
        call = reviews.call(served.path)
        seen = []
        for number in range(20):
            flood(served, call, part, 16)
            seen.append(served.process.resident_bytes() / (1 << 20))
            _say(f"{(number + 1) * part:9,} reviews: {seen[-1]:.1f} MiB")
        _say(
            f"middle of the first five {median(seen[:5]):.1f}, of the last {median(seen[-5:]):.1f}"
        )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
