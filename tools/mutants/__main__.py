"""`python -m tools.mutants`: draws, tries, and lists what nobody noticed. See the package."""

from __future__ import annotations

import argparse
import ast
import functools
import multiprocessing
import os
import pickle
import random
import re
import sys
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from tools.mutants.mutations import Mutation, mutations
from tools.mutants.relevant_tests import Place, Relevance, measure, mirrored, together
from tools.mutants.replaced_code import is_alone
from tools.mutants.trials import Fate, Trial, run_all, run_cold
from tools.mutants.warm_trials import run_warm

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src"
CACHE = ROOT / ".mutants"

TARGETS = ("celadon.cel.checking", "celadon.cel.analysis", "celadon.admission")
"""The packages whose tests are tested."""

TESTS = {
    "celadon.admission": ("tests/admission", "tests/properties/test_damaged_policies.py"),
    "celadon.cel": ("tests/cel", "tests/properties/test_engine.py"),
}
"""Where tests of them are looked for, by room: one part of the measuring each, at the same time.
The language has the tests of policies, too; policies have none of the language. Recordings and
conformance vectors would notice more; each of them is one test that takes too long to be tried on
every mutation."""

FILES = 8
"""Files whose tests are tried on a mistake that shows on import: each takes time of its own."""

SECONDS_OF_TESTS = 8.0
"""How long the tests of one mutation may take without it; the slowest of more are left out."""

LEAST = 85.0
"""Percent of mutations that tests must notice, in each target."""


def main() -> int:
    options = _options()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(SOURCE)]
    started = time.monotonic()
    relevance = _relevance(options.target or TARGETS, fresh=not options.keep)
    equivalent = _equivalent()
    drawn = [
        mutation
        for target in options.target or TARGETS
        for mutation in _drawn(target, options.sample, options.seed, equivalent)
    ]
    trials = [_trial(mutation, relevance) for mutation in drawn]
    random.Random(options.seed).shuffle(trials)
    cold = [trial for trial in trials if trial.cold]
    warm = [trial for trial in trials if not trial.cold]
    say(f"{len(warm)} and {len(cold)} mutations, {time.monotonic() - started:.0f} s so far")
    fates: dict[Mutation, Fate] = {}
    until = started + 60 * options.minutes
    files = sorted({test.partition("::")[0] for trial in warm for test in trial.tests})
    for trial, fate in chain(
        run_warm(warm, files, options.workers, until),
        run_all(cold, options.workers, until, run_cold),
    ):
        fates[trial.mutation] = fate
        if fate in (Fate.SURVIVED, Fate.UNTESTED):
            say(f"{fate.value}: {trial.mutation}")
    return _report(fates, options.target or TARGETS, time.monotonic() - started)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("target", nargs="*", help="packages or modules instead of the usual ones")
    parser.add_argument("--sample", type=int, default=60, help="mutations of each target")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    parser.add_argument("--minutes", type=float, default=10, help="begin no trial after that")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="which tests run what: as last time")
    return parser.parse_args()


def _relevance(targets: Sequence[str], *, fresh: bool) -> Relevance:
    """Measured in processes of their own, so that this one never imports the product."""
    needed = "celadon.cel" if any(one.startswith("celadon.cel") for one in targets) else ""
    parts = [room for room in TESTS if room in ("celadon.admission", needed)]
    kept = [CACHE / f"{room}.pickle" for room in parts]
    if fresh or not all(file.exists() for file in kept):
        CACHE.mkdir(exist_ok=True)
        fork = multiprocessing.get_context("fork")
        workers = [
            fork.Process(target=_measure, args=(TESTS[room], file))
            for room, file in zip(parts, kept, strict=True)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            if worker.exitcode:
                raise SystemExit(worker.exitcode)
    return together(pickle.loads(file.read_bytes()) for file in kept)


def _measure(tests: tuple[str, ...], kept: Path) -> None:
    measured = measure(TARGETS, tests, kept.with_suffix(".coverage"))
    kept.write_bytes(pickle.dumps(measured))


def _drawn(target: str, size: int, seed: int, equivalent: re.Pattern[str]) -> list[Mutation]:
    """A sample of the target's mutations, the same for the same seed and text."""
    base = SOURCE.joinpath(*target.split("."))
    paths = sorted(base.rglob("*.py")) if base.is_dir() else [base.with_suffix(".py")]
    every = [
        mutation
        for path in paths
        for mutation in mutations(_module(path), path.read_text(encoding="utf-8"))
        if not equivalent.fullmatch(mutation.key)
    ]
    return random.Random(f"{seed} {target}").sample(every, min(size, len(every)))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def _path(module: str) -> Path:
    base = SOURCE.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def _trial(mutation: Mutation, relevance: Relevance) -> Trial:
    own = mutation.module, mutation.line, mutation.end_line
    cold = _is_cold(mutation, relevance)
    places = [own] if mutation.function else _uses(own, relevance)
    files = FILES if cold else None
    near = _near(mutation.module) if cold else ()
    tests = relevance.of(mutation.module, places, SECONDS_OF_TESTS, files, near)
    expected = sum(relevance.seconds.get(test, 0.0) for test in tests)
    return Trial(mutation, _path(mutation.module), tuple(tests), 20 + 5 * expected, cold)


def _near(module: str) -> list[str]:
    """The tests of the module, of the packages around it, and of modules that import it: they may
    read a table without running a line."""
    parts = module.split(".")
    around = [".".join(parts[:end]) for end in range(len(parts), 2, -1)]
    return [mirrored(one) for one in (*around, *_importers().get(module, ()))]


@functools.cache
def _importers() -> dict[str, list[str]]:
    """Module, and those that name it in an import."""
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for one in {node.module, *(f"{node.module}.{name.name}" for name in node.names)}:
                    found.setdefault(one, []).append(_module(path))
    return found


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
    """Whether the mistake shows on import, or is in one of several lambdas of a line."""
    place = mutation.module, mutation.line, mutation.end_line
    if not mutation.function or relevance.on_import(place):
        return True
    return not is_alone(_path(mutation.module), mutation.line)


def _equivalent() -> re.Pattern[str]:
    """Mutations that nobody could notice: lines of `equivalent.txt`, without the reasons above."""
    lines = Path(__file__).with_name("equivalent.txt").read_text(encoding="utf-8").splitlines()
    known = (line for line in lines if line and not line.startswith("#"))
    return re.compile("|".join(re.escape(line).replace(r"\*", ".*") for line in known))


def _report(fates: dict[Mutation, Fate], targets: tuple[str, ...], seconds: float) -> int:
    """Print the scores; 1 if one is below `LEAST`."""
    scores = []
    for target in targets:
        own = [fate for one, fate in fates.items() if f"{one.module}.".startswith(f"{target}.")]
        noticed = sum(fate in (Fate.KILLED, Fate.TIMED_OUT) for fate in own)
        scores.append(100 * noticed / max(len(own), 1))
        late = sum(fate is Fate.TIMED_OUT for fate in own)
        say(f"{target}: {noticed} of {len(own)} noticed, {scores[-1]:.1f} %; {late} by their time")
    say(f"{seconds:.0f} s")
    return int(min(scores) < LEAST)


if __name__ == "__main__":
    sys.exit(main())
