"""Trials in copies of a process that has loaded everything: product, tests, pytest's items.

A process of its own collects the tests once. For each mistake it forks; the copy replaces the code
of the functions in question and runs the tests that reach them. A trial costs its tests and little
more.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection

import pytest

from tools.mutants.relevant_tests import PYTEST_OPTIONS
from tools.mutants.replaced_code import replace_code
from tools.mutants.trials import Fate, Trial, run_all


def run_warm(
    trials: Sequence[Trial], tests: Sequence[str], workers: int, until: float
) -> Iterator[tuple[Trial, Fate]]:
    """As `trials.run_all`; `tests` are the files to collect."""
    theirs, ours = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_collect_and_run, args=(trials, tests, workers, until, ours)
    )
    process.start()
    ours.close()
    try:
        while True:
            index, fate = theirs.recv()
            yield trials[index], Fate(fate)
    except EOFError:
        process.join()


def _collect_and_run(
    trials: Sequence[Trial], tests: Sequence[str], workers: int, until: float, told: Connection
) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    loop = _Loop(trials, workers, until, told)
    options = ("-q", "--continue-on-collection-errors", *PYTEST_OPTIONS)
    pytest.main([*options, *tests], plugins=[loop])


class _Loop:
    """Runs trials where pytest would run tests."""

    def __init__(
        self, trials: Sequence[Trial], workers: int, until: float, told: Connection
    ) -> None:
        self._trials = trials
        self._workers = workers
        self._until = until
        self._told = told

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Every fate is told as soon as it is known."""
        items = {item.nodeid: item for item in session.items}
        positions = {id(trial): at for at, trial in enumerate(self._trials)}
        gc.collect()
        gc.freeze()

        def run(trial: Trial) -> int:
            gc.unfreeze()
            replace_code(trial.mutation.module, trial.path, trial.mutation.number)
            chosen = [items[test] for test in trial.tests if test in items]
            return int(_fails(session, chosen))

        for trial, fate in run_all(self._trials, self._workers, self._until, run):
            self._told.send((positions[id(trial)], fate.value))
        return True


def _fails(session: pytest.Session, items: Sequence[pytest.Item]) -> bool:
    """Whether one of the tests does; the others are not run."""
    for at, item in enumerate(items):
        following = items[at + 1] if at + 1 < len(items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return True
    return False
