"""Celadon beside kube-apiserver's own CEL, in turns, by processor time.

    python -m bench.kube_cel KUBERNETES [--rounds 5] [--check] [--write]

KUBERNETES is a checkout of Kubernetes 1.36 with its vendored modules; `go` must be found. Its
compiler of admission policies is built into a program (`kube_cel.go`), outside of the checkout.
Both sides compile and evaluate the expressions of the set in one run, in turns; what they charge
must be the same. kube-apiserver always counts costs, so that its one evaluation stands beside both
of ours.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, Final

from bench.engines import celadon_environment, celadon_program
from bench.evaluation import COST_LIMIT
from bench.expressions import CASES
from bench.measure import ROUNDS, geometric_mean
from bench.objects import ACTIVATIONS
from bench.page import MISSED, add_check, record

PLAIN: Final = "evaluation"
COUNTED: Final = "evaluation, costs counted"
COMPILING: Final = "compiling, until it can be evaluated"
BY_HAND: Final = "the same checks, written by hand in Python"

Seconds = Mapping[str, float]
"""Of one call, by the name of the expression."""


@dataclass(frozen=True, slots=True)
class Floor:
    """How many times as fast as kube-apiserver Celadon is to be: in the geometric mean, and for
    each expression."""

    mean: float
    least: float


FLOORS: Final = {PLAIN: Floor(17, 6), COUNTED: Floor(9, 4), COMPILING: Floor(1, 0.6)}


@dataclass(frozen=True, slots=True)
class Row:
    """The ratios of one kind of work: for each round, by expression."""

    what: str
    rounds: Sequence[Seconds]

    @property
    def means(self) -> list[float]:
        """The geometric mean of each round."""
        return [geometric_mean(one.values()) or 0.0 for one in self.rounds]

    @property
    def least(self) -> tuple[float, str]:
        """The smallest median of an expression, and which."""
        names = self.rounds[0]
        return min((median(one[name] for one in self.rounds), name) for name in names)

    @property
    def holds(self) -> bool:
        """Is it as fast as it is to be?"""
        floor = FLOORS.get(self.what, Floor(0, 0))
        return median(self.means) >= floor.mean and self.least[0] >= floor.least


def _inputs(kind: str, variables: Sequence[str]) -> dict[str, Any]:
    activation = ACTIVATIONS[kind][0]
    return {name: activation[name] for name in variables}


@contextmanager
def _peer(checkout: Path) -> Iterator[Callable[[str], Mapping[str, Any]]]:
    """The program, built and running: a command in, an answer out."""
    with tempfile.TemporaryDirectory() as folder:
        program, cases = Path(folder, "kube_cel"), Path(folder, "cases.json")
        overlay = Path(folder, "overlay.json")
        source = Path(__file__).with_suffix(".go")
        place = checkout / "cmd" / "celadon-bench" / "main.go"
        overlay.write_text(json.dumps({"Replace": {str(place): str(source)}}), "utf-8")
        build = ["go", "build", "-mod=vendor", "-overlay", str(overlay)]
        target = ["-o", str(program), "./cmd/celadon-bench"]
        subprocess.run([*build, *target], cwd=checkout, check=True)
        given = [
            {"Name": c.name, "Text": c.expression, "Inputs": _inputs(c.kind, c.variables)}
            for c in CASES
        ]
        cases.write_text(json.dumps(given), "utf-8")
        pipe = subprocess.PIPE
        with subprocess.Popen([program, cases], stdin=pipe, stdout=pipe, text=True) as running:
            sent, answers = running.stdin, running.stdout
            assert sent is not None
            assert answers is not None

            def ask(command: str) -> Mapping[str, Any]:
                sent.write(f"{command}\n")
                sent.flush()
                found: Mapping[str, Any] = json.loads(answers.readline())
                return found

            yield ask
            sent.close()


def _least(samples: int, calls: int, call: Callable[..., Any], *arguments: object) -> float:
    found = float("inf")
    for _ in range(samples):
        begun = process_time()
        for _ in range(calls):
            call(*arguments)
        found = min(found, (process_time() - begun) / calls)
    return found


def rows(checkout: Path, rounds: int) -> list[Row]:
    """All that is measured."""
    environment = celadon_environment()
    programs = {case.name: celadon_program(environment, case.expression) for case in CASES}
    found: dict[str, list[Seconds]] = {name: [] for name in (PLAIN, COUNTED, COMPILING, BY_HAND)}
    with _peer(checkout) as ask:
        gc.disable()
        for _ in range(rounds):
            theirs = ask("evaluate")
            seconds: Seconds = theirs["seconds"]
            ours: dict[str, dict[str, float]] = {name: {} for name in found}
            for case in CASES:
                program, name = programs[case.name], case.name
                inputs = _inputs(case.kind, case.variables)
                assert program.counted_source, "each has such a variant"
                cost = program.evaluate_metered(inputs, COST_LIMIT)[1]
                if cost != theirs["costs"][name]:
                    raise ValueError(f"{name} costs {cost}, there {theirs['costs'][name]}")
                ours[PLAIN][name] = _least(8, 200, program.hot(), inputs)
                counted = program.evaluate_metered
                ours[COUNTED][name] = _least(8, 200, counted, inputs, COST_LIMIT)
                ours[BY_HAND][name] = _least(8, 200, case.by_hand, *inputs.values())
            compiling: Seconds = ask("compile")["seconds"]
            for case in CASES:
                text = case.expression
                ours[COMPILING][case.name] = _least(5, 10, celadon_program, environment, text)
            for what, own in ours.items():
                other = compiling if what == COMPILING else seconds
                found[what].append({name: other[name] / own[name] for name in own})
        gc.enable()
    return [Row(what, ratios) for what, ratios in found.items()]


def part(measured: Sequence[Row]) -> str:
    """The table of the page."""
    lines = [_HEAD]
    for row in measured:
        means, (least, name) = row.means, row.least
        floor = FLOORS.get(row.what)
        said = "" if floor is None else "held" if row.holds else MISSED
        goal = "" if floor is None else f"≥ {floor.mean:g}, each ≥ {floor.least:g}"
        lines.append(
            f"| {row.what} | {median(means):.1f} | {min(means):.1f} to {max(means):.1f} |"
            f" {least:.1f} ({name}) | {goal} | {said} |"
        )
    return "\n".join([*lines, ""])


_HEAD: Final = """\
| | median | rounds | the least expression | floor | |
| --- | ---: | ---: | ---: | ---: | --- |"""


def main() -> int:
    """Measure; with `--write` put it into the page, with `--check` fail under a floor."""
    parser = argparse.ArgumentParser(prog="python -m bench.kube_cel", description=__doc__)
    parser.add_argument("kubernetes", type=Path, help="a checkout of Kubernetes, vendored")
    parser.add_argument("--rounds", type=int, default=ROUNDS // 5)
    parser.add_argument("--write", action="store_true", help="put the figures into the docs")
    add_check(parser)
    options = parser.parse_args()
    os.environ.setdefault("CGO_ENABLED", "0")
    measured = rows(options.kubernetes, options.rounds)
    made = part(measured)
    sys.stdout.write(made)
    if options.write:
        counts = {
            "kube-cel-count": str(len(CASES)),
            "kube-cel-rounds": str(len(measured[0].rounds)),
        }
        record({"kube-cel": made.splitlines()}, counts)
    return int(options.check and not all(row.holds for row in measured))


if __name__ == "__main__":
    sys.exit(main())
