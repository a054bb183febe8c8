"""The command line that the runners of recordings share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar


class Result(Protocol):
    """What a runner found for one scenario; `wrong` is empty when everything agrees."""

    @property
    def wrong(self) -> Sequence[object]: ...


R = TypeVar("R", bound=Result)


def run(
    description: str,
    results: Callable[[list[Path]], list[R]],
    report: Callable[[list[R], int], str],
) -> int:
    """Run the scenarios named on the command line, print the report; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=0, help="differences of the first N failures")
    args = parser.parse_args()
    found = results(args.paths)
    sys.stdout.write(report(found, args.show) + "\n")
    return 1 if any(one.wrong for one in found) else 0
