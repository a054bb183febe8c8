"""`python -m bench.server`: measure and print; `--only NAME` a part of it, while working on it."""

from __future__ import annotations

import argparse
import sys

from bench.report import bar_rows
from bench.server import figures
from bench.server.measuring import measure


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.server", description=__doc__)
    parser.parse_args()
    measured = measure(_say)
    for line in (*bar_rows(figures.bars(measured)), "", *figures.rate_table(measured)):
        _say(line)
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
