"""Values come out of a worker as it yields them; one that ends, in whatever way, says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from celadon.cli.processes import possible_workers, received, started


def test_values_in_their_order() -> None:
    with ExitStack() as stack:
        pipe = started(lambda: iter(["a" * 100_000, {"b": 1}]), stack)
        assert [received(pipe), received(pipe), received(pipe)] == ["a" * 100_000, {"b": 1}, None]


def test_a_worker_that_fails() -> None:
    def failing() -> Iterator[object]:
        yield 1
        raise ValueError("no")

    with ExitStack() as stack:
        pipe = started(failing, stack)
        assert [received(pipe), received(pipe)] == [1, None]


def test_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2, 3}, raising=False)
    assert (possible_workers(0), possible_workers(7)) == (3, 7)
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert possible_workers(0) == 5
    monkeypatch.delattr(os, "fork")
    assert possible_workers(2) == 1
