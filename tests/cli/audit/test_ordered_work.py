"""Results come in the order of tasks, whatever happens to who works on them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from random import Random
from typing import Any

import pytest

from celadon.cli.audit.fleet_parts import NothingKept
from celadon.cli.audit.fleet_run import ATTEMPTS, Failure, Task, in_order


class Sloppy:
    """Fails at times, by chance, or whenever it is given `bad`; works only when it is asked."""

    workers = 2

    def __init__(self, seed: int, odds: float) -> None:
        self.random, self.odds = Random(seed), odds
        self.broken = False
        self.most = self.under_way = 0

    def share(self, value: object) -> object:
        return value

    def submit(self, work: Callable[..., Any], *arguments: object) -> Future[Any]:
        if self.broken:
            raise RuntimeError("broken")
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        future: Future[Any] = Future()
        if "bad" in arguments or self.random.random() < self.odds:
            self.broken = "bad" not in arguments
            future.set_exception(RuntimeError("died"))
        else:
            future.set_result(work(*arguments))
        return future

    def renew(self) -> None:
        self.broken = False

    def close(self) -> None:
        pass


def tasks(*values: object) -> list[Task]:
    return [Task(str, str, (one,), one, str(one)) for one in values]


@pytest.mark.parametrize("seed", range(20))
def test_order(seed: int) -> None:
    engine = Sloppy(seed, 0.2)
    values = list(range(30))
    found = list(in_order(engine, tasks(*values), NothingKept(), 4))
    assert [task.payload for task, _ in found] == values
    done = [result for _, result in found if not isinstance(result, Failure)]
    assert len(done) >= 28  # three deaths in a row are rare
    assert all(result == str(task.payload) for task, result in found if result in done)


def test_what_always_fails_is_said_and_stops_nobody() -> None:
    found = list(in_order(Sloppy(0, 0.0), tasks(1, "bad", 2), NothingKept(), 2))
    assert [result for _, result in found] == [
        "1",
        Failure(f"given up after {ATTEMPTS} attempts: RuntimeError: died"),
        "2",
    ]


def test_no_more_ahead_than_wanted() -> None:
    taken = []

    def coming() -> Any:
        for one in tasks(*range(50)):
            taken.append(one)
            yield one

    results = in_order(Sloppy(0, 0.0), coming(), NothingKept(), 5)
    for number in range(10):
        next(results)
        assert len(taken) <= number + 5
