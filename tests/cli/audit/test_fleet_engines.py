"""Those who work: processes here, and a cluster of Dask."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path

import pytest

from celadon.cli.audit.fleet_parts import NothingKept
from celadon.cli.audit.fleet_run import EngineError, Task, engine_for, in_order


def dying_once(marker: str, value: int) -> int:
    """Kills its process the first time somebody works on it."""
    if value == 3 and not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return value * 2


def shared_length(shared: list[int], number: int) -> int:
    return len(shared) + number


@pytest.mark.parametrize("jobs", [1, 2])
def test_shared_values_arrive(jobs: int) -> None:
    engine = engine_for("", jobs)
    try:
        assert engine.workers == jobs
        shared = engine.share([1, 2, 3])
        assert [engine.submit(shared_length, shared, n).result() for n in range(4)] == [3, 4, 5, 6]
    finally:
        engine.close()


def test_a_process_that_is_killed(tmp_path: Path) -> None:
    engine = engine_for("", 2)
    marker = str(tmp_path / "dead")
    try:
        tasks = [Task(dying_once, int, (marker, n), n, str(n)) for n in range(8)]
        found = [result for _, result in in_order(engine, tasks, NothingKept(), 4)]
    finally:
        engine.close()
    assert found == [n * 2 for n in range(8)]
    assert Path(marker).exists()


@pytest.mark.parametrize(
    ("address", "wrong"),
    [("ray://h:1", "expected `dask://HOST:PORT`"), ("dask://127.0.0.1:1", "no scheduler of Dask")],
)
def test_engines_that_cannot_be_had(
    address: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    with pytest.raises(EngineError, match=wrong):
        engine_for(address, 0)


def test_what_dask_tells_of_lost_connections_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    shown: list[str] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", lambda record: shown.append(record.name))
    monkeypatch.setattr(logging.getLogger("distributed"), "handlers", [handler])
    with pytest.raises(EngineError):
        engine_for("dask://127.0.0.1:1", 0)
    logging.getLogger("distributed.batched").info("a connection that was closed")
    logging.getLogger("distributed.client").warning("a result that is asked for again")
    assert shown == []
    logging.getLogger("distributed.client").error("the scheduler is gone")
    assert shown == ["distributed.client"]
