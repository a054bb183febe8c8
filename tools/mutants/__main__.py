"""`python -m tools.mutants`: draws, tries, and lists what nobody noticed. See the package."""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import multiprocessing
import os
import pickle
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from tools.mutants.mutations import Mutation, mutations
from tools.mutants.relevant_tests import Place, Relevance, measure, mirrored
from tools.mutants.replaced_code import is_replaceable
from tools.mutants.trials import Fate, Trial, run_all, run_cold
from tools.mutants.warm_trials import run_warm

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src"
CACHE = ROOT / ".mutants"

ROOMS = (
    "kube/registry",
    "kube/fieldmanager",
    "kube/crd",
    "admission",
    "apiserver",
    "storage",
    "webhook",
    "cli",
    "cel",
)
"""The folders of `src/celadon` whose tests are tested, each by the folder of `tests` with its name,
without what is marked `thorough`. Recordings and sessions of clients would notice more; but they do
not say where the mistake is."""

FILES = 8
"""Files whose tests are tried on a mistake that shows on import: each takes time of its own."""

SECONDS_OF_TESTS = 12.0
"""How long the tests of one mutation may take without it; the slowest of more are left out."""

LEAST = 85.0
"""Percent of mutations that tests must notice, in each room."""


def main() -> int:
    options = _options()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(SOURCE)]
    # Examples of properties are few, as in `make test`, and do not depend on luck.
    os.environ["CELADON_HYPOTHESIS"] = "quick"
    scores = [_score(target, options) for target in options.target or ROOMS]
    return int(min(scores) < LEAST)


def _score(target: str, options: argparse.Namespace) -> float:
    """Percent of the mutations of the room, or of a part of it, that its tests notice."""
    started = time.monotonic()
    room = next((room for room in ROOMS if f"{target}/".startswith(f"{room}/")), target)
    relevance = _relevance(room, fresh=not options.keep)
    drawn = _drawn(target, options.sample, options.seed, _equivalent())
    trials = [_trial(mutation, relevance, room) for mutation in drawn]
    cold = [trial for trial in trials if trial.cold]
    warm = [trial for trial in trials if not trial.cold]
    files = sorted({test.partition("::")[0] for trial in warm for test in trial.tests})
    fates: list[Fate] = []
    until = time.monotonic() + 60 * options.minutes
    for trial, fate in chain(
        run_warm(warm, files, options.workers, until),
        run_all(cold, options.workers, until, run_cold),
    ):
        fates.append(fate)
        if fate in (Fate.SURVIVED, Fate.UNTESTED):
            say(f"{fate.value}: {trial.mutation}")
    noticed = sum(fate in (Fate.KILLED, Fate.TIMED_OUT) for fate in fates)
    late = sum(fate is Fate.TIMED_OUT for fate in fates)
    score = 100 * noticed / max(len(fates), 1)
    seconds = time.monotonic() - started
    say(
        f"{target}: {noticed} of {len(fates)} noticed ({score:.0f} %), {late} late; {seconds:.0f} s"
    )
    return score


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument(
        "target", nargs="*", metavar="ROOM", help="rooms, or modules of them: cel/checking"
    )
    parser.add_argument("--sample", type=int, default=30, help="mutations of each room")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    parser.add_argument(
        "--minutes", type=float, default=10, help="begin no trial of a room after so many"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="which tests run what: as last time")
    return parser.parse_args()


def _relevance(room: str, *, fresh: bool) -> Relevance:
    """Measured in a process of its own, so that this one never imports the product."""
    kept = CACHE / f"{room.replace('/', '.')}.pickle"
    if fresh or not kept.exists():
        CACHE.mkdir(exist_ok=True)
        worker = multiprocessing.get_context("fork").Process(target=_measure, args=(room, kept))
        worker.start()
        worker.join()
        if worker.exitcode:
            raise SystemExit(worker.exitcode)
    relevance: Relevance = pickle.loads(kept.read_bytes())
    return relevance


def _measure(room: str, kept: Path) -> None:
    package = f"celadon.{room.replace('/', '.')}"
    measured = measure([package], [f"tests/{room}"], kept.with_suffix(".coverage"))
    kept.write_bytes(pickle.dumps(measured))


def _drawn(target: str, size: int, seed: int, equivalent: re.Pattern[str]) -> list[Mutation]:
    """A sample of the mutations of the room, the same for the same seed."""
    base = SOURCE / "celadon" / target
    paths = sorted(base.rglob("*.py")) if base.is_dir() else [base.with_suffix(".py")]
    every = [
        mutation
        for path in paths
        for mutation in mutations(_module(path), path.read_text(encoding="utf-8"))
        if not equivalent.fullmatch(mutation.key)
    ]
    return in_order_of_lots(every, seed)[:size]


def in_order_of_lots(every: Iterable[Mutation], seed: int) -> list[Mutation]:
    """Where a mutation stands in the draw; it stays there when other code changes. Those of one
    key have lots of their own: what is wrong with one would count several times."""
    count: Counter[str] = Counter()
    lots: list[tuple[bytes, Mutation]] = []
    for mutation in every:
        count[mutation.key] += 1
        lot = f"{seed} {mutation.key} {count[mutation.key]}"
        lots.append((hashlib.sha256(lot.encode()).digest(), mutation))
    return [mutation for _, mutation in sorted(lots, key=lambda one: one[0])]


def _module(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def _path(module: str) -> Path:
    base = SOURCE.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def _trial(mutation: Mutation, relevance: Relevance, room: str) -> Trial:
    own = mutation.module, mutation.line, mutation.end_line
    cold = _is_cold(mutation, relevance)
    places = [own] if mutation.function else _uses(own, relevance)
    files = FILES if cold else None
    testers = _testers(room).get(mutation.module, [])
    near = _near(mutation.module, room, testers) if cold else ()
    tests = relevance.of(mutation.module, places, SECONDS_OF_TESTS, files, testers, near)
    expected = sum(relevance.seconds.get(test, 0.0) for test in tests)
    return Trial(mutation, _path(mutation.module), tuple(tests), 20 + 5 * expected, cold)


def _near(module: str, room: str, testers: Iterable[str]) -> list[str]:
    """The tests of the module, of the packages around it, and of modules that import it: they may
    read a table without running a line."""
    parts = module.split(".")
    around = [".".join(parts[:end]) for end in range(len(parts), 2, -1)]
    tests = (mirrored(one) for one in (*around, *_importers().get(module, ())))
    return [*testers, *(test for test in tests if test.startswith(f"tests/{room}/"))]


@functools.cache
def _importers() -> dict[str, list[str]]:
    """Module, and those that name it in an import."""
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for name in _imported(path):
            found.setdefault(name, []).append(_module(path))
    return found


@functools.cache
def _testers(room: str) -> dict[str, list[str]]:
    """Module, and the tests of the room that name it in an import, whatever they are called."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests" / room).rglob("test_*.py")):
        for name in _imported(path):
            found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    return found


def _imported(path: Path) -> set[str]:
    """Modules and names that a file imports by name."""
    return {
        name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    }


def _uses(place: Place, relevance: Relevance) -> list[Place]:
    """Where functions use the constants that are made there."""
    module, line, end_line = place
    names = {
        target.id
        for node in ast.parse(_path(module).read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.lineno <= line
        and end_line <= (node.end_lineno or node.lineno)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    if not names:
        return [place]
    word = re.compile(rf"\b(?:{'|'.join(names)})\b")
    return [
        (one, at, at)
        for one in relevance.lines
        for at, text in enumerate(_path(one).read_text(encoding="utf-8").splitlines(), 1)
        if word.search(text)
    ]


def _is_cold(mutation: Mutation, relevance: Relevance) -> bool:
    """Whether the mistake shows on import, or the code cannot be replaced where it stands."""
    place = mutation.module, mutation.line, mutation.end_line
    if not mutation.function or relevance.on_import(place):
        return True
    return not is_replaceable(_path(mutation.module), mutation.line, mutation.number)


def _equivalent() -> re.Pattern[str]:
    """Mutations that nobody could notice: lines of `equivalent.txt`, without the reasons above."""
    lines = Path(__file__).with_name("equivalent.txt").read_text(encoding="utf-8").splitlines()
    known = (line for line in lines if line and not line.startswith("#"))
    return re.compile("|".join(re.escape(line).replace(r"\*", ".*") for line in known))


if __name__ == "__main__":
    sys.exit(main())
