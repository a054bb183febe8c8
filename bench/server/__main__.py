"""`python -m bench.server`: measure and print; `--write` also writes the page, `--check` fails when
a row is under its floor."""

from __future__ import annotations

import argparse
import sys

from bench.page import add_check, under_floor
from bench.report import bar_rows
from bench.server import figures, page
from bench.server.measuring import measure
from bench.undisturbed import add_real_time, come_first


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.server", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the figures into the docs")
    add_check(parser)
    add_real_time(parser)
    options = parser.parse_args()
    if options.real_time:
        come_first()
    measured = measure(_say)
    goals = list(bar_rows(figures.bars(measured), measured.slowness))
    for line in (*goals, "", *figures.rate_table(measured)):
        _say(line)
    if options.write:
        page.write(measured)
    return int(options.check and bool(under_floor(goals)))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
