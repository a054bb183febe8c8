"""Runs recorded expressions and the public conformance suite.

    python -m tests.conformance.cel PATH... [--show N] [--write]

PATH is a file or a folder of cases. A table says for each file how many cases agree in each grade;
`--show` prints the first N failures; `--write` keeps the numbers of folders for `docs/fidelity.md`.
Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.conformance.grading import Tally
from tests.conformance.suite import Failure, case_files, run_file
from tests.recorded import agreement

GRADES = ("class", "value", "cost", "text", "estimate", "type", "plain")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.cel")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="failures to print")
    parser.add_argument("--write", action="store_true", help="keep the numbers for the page")
    options = parser.parse_args(arguments)

    shown: list[Failure] = []

    def remember(failure: Failure) -> None:
        if len(shown) < options.show:
            shown.append(failure)

    total = Tally()
    folders: dict[str, Tally] = {}
    _write(_heading())
    for path in case_files(options.paths):
        tally = run_file(path, remember)
        total.add(tally)
        parent = path.parent
        folder = parent.name if parent.parent.name != "fuzz" else f"fuzz/{parent.name}"
        folders.setdefault(folder, Tally()).add(tally)
        _write(_row(path.stem, tally))
    if options.write:
        agreement.note(agreement.EXPRESSIONS, {name: _numbers(t) for name, t in folders.items()})
    _write(_row("total", total))
    for failure in shown:
        _write(_explained(failure))
    _write(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed else 0


def _numbers(tally: Tally) -> dict[str, int]:
    return {"all": tally.cases, "agree": tally.passed, "skipped": tally.skipped}


def _heading() -> str:
    grades = "".join(f"{grade:>13}" for grade in GRADES)
    return f"{'file':16}{'cases':>7}{'passed':>8}{'failed':>8}{'skipped':>9}{grades}"


def _row(name: str, tally: Tally) -> str:
    cells = "".join(f"{_fraction(tally, grade):>13}" for grade in GRADES)
    return f"{name:16}{tally.cases:>7}{tally.passed:>8}{tally.failed:>8}{tally.skipped:>9}{cells}"


def _fraction(tally: Tally, grade: str) -> str:
    possible = tally.possible.get(grade, 0)
    return f"{tally.reached.get(grade, 0)}/{possible}" if possible else "-"


def _explained(failure: Failure) -> str:
    notes = "\n    ".join(failure.grades.notes)
    return f"\n{failure.id}\n    {failure.expr}\n    {notes}"


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
