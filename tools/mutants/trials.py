"""One mutation at a time, in a process of its own that runs the tests.

Where the mistake shows on import (`run_cold`), the process is forked from one that has imported
pytest and nothing of the product, so that a trial costs the imports of the tests it needs and no
more; all others are in `warm_trials`. A trial that takes too much time is a mutation that was
noticed: the tests would not end.
"""

from __future__ import annotations

import contextlib
import enum
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

import hypothesis
import hypothesis.strategies  # noqa: F401 - loaded before the fork, for all trials
import pytest
import yaml  # noqa: F401 - likewise

from tools.mutants.mutations import Mutation, mutated
from tools.mutants.relevant_tests import PYTEST_OPTIONS

PATIENCE = 6
"""How many times the processor time that a trial may take it may last."""


class Fate(enum.Enum):
    """What became of a mutation."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True)
class Trial:
    """A mutation and the tests that might notice it, within so many seconds; `cold` if it shows on
    import."""

    mutation: Mutation
    path: Path
    tests: tuple[str, ...]
    seconds: float
    cold: bool


class _MistakenLoader(importlib.machinery.SourceFileLoader):
    """Loads a module with a mistake."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial.mutation.module, str(trial.path))
        self._number = trial.mutation.number

    def exec_module(self, module: ModuleType) -> None:
        tree = mutated(Path(self.path).read_text(encoding="utf-8"), self._number)
        exec(compile(tree, self.path, "exec"), module.__dict__)  # noqa: S102 - our own code


class _MistakenFinder(MetaPathFinder):
    """Finds that one module."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial

    def find_spec(
        self, fullname: str, path: object, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._trial.mutation.module:
            return None
        file = self._trial.path
        is_package = file.name == "__init__.py"
        return importlib.util.spec_from_file_location(
            fullname,
            file,
            loader=_MistakenLoader(self._trial),
            submodule_search_locations=[str(file.parent)] if is_package else None,
        )


class _Selection:
    """Keeps the chosen tests, in their order; behind them cases that have no name yet, of tests
    that have lost one: a mistake may be in what the cases are named after."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: at for at, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        there = {item.nodeid for item in items}
        changed = {_without_case(test) for test in self._order if test not in there}
        items[:] = sorted(
            (i for i in items if i.nodeid in self._order or _without_case(i.nodeid) in changed),
            key=lambda item: self._order.get(item.nodeid, len(self._order)),
        )


def _without_case(test: str) -> str:
    return test.partition("[")[0]


def run_all(
    trials: Sequence[Trial], workers: int, until: float, run: Callable[[Trial], int]
) -> Iterator[tuple[Trial, Fate]]:
    """The fates, as they are known; stops beginning trials at `until` (of `time.monotonic`). `run`
    is called in a process of the trial's own and returns 0 if no test failed."""
    waiting = list(reversed(trials))
    running: dict[int, tuple[Trial, float]] = {}
    while waiting or running:
        while waiting and len(running) < workers and time.monotonic() < until:
            trial = waiting.pop()
            if trial.tests:
                # On a busy machine a second of the processor takes many on the clock.
                running[_begin(trial, run)] = (trial, time.monotonic() + PATIENCE * trial.seconds)
            else:
                yield trial, Fate.UNTESTED
        if not running:
            return
        yield from _ended(running)


def _ended(running: dict[int, tuple[Trial, float]]) -> Iterator[tuple[Trial, Fate]]:
    """Those that have ended by now; waits a moment if none has."""
    time.sleep(0.02)
    for process, (trial, deadline) in list(running.items()):
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            del running[process]
            timed_out = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            survived = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
            fate = Fate.SURVIVED if survived else Fate.KILLED
            yield trial, Fate.TIMED_OUT if timed_out else fate
        elif time.monotonic() > deadline:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)


def _begin(trial: Trial, run: Callable[[Trial], int]) -> int:
    """The id of the process in which the trial runs; it leads a group of its own."""
    process = os.fork()
    if process:
        with contextlib.suppress(OSError):
            os.setpgid(process, process)
        return process
    code = 1
    try:
        os.setpgid(0, 0)
        seconds = int(trial.seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        code = run(trial)
    finally:
        os._exit(code)


def run_cold(trial: Trial) -> int:
    """Import the mistaken module and whatever the tests need, and run them."""
    sys.meta_path.insert(0, _MistakenFinder(trial))
    files = dict.fromkeys(test.partition("::")[0] for test in trial.tests)
    arguments = ["-q", "-x", *PYTEST_OPTIONS, *files]
    return int(pytest.main(arguments, plugins=[_Selection(trial.tests)]))
