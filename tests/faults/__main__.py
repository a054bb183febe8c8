"""The long run: `python -m tests.faults [ROUNDS]`, 1,000 without a number; an hour or so. What a
store has to survive alone comes first: `python -m tests.faults 0` ends behind that."""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from celadon.storage import open_sqlite
from tests.faults.crash_rounds import CrashRounds
from tests.faults.failing_calls import run_preloaded
from tests.faults.flipped_bytes import FlippedBytes
from tests.faults.floods import Floods
from tests.faults.power_loss import PowerLosses
from tests.faults.server_under_test import Process
from tests.linearizability.checker import faults
from tests.linearizability.histories import History

ROUNDS = 1000
FLIPS = 5000
LOSSES = 2000
HISTORIES = 50
CONNECTIONS = 10_000


def soak_stores(seed: int) -> None:
    """Raises AssertionError for what should not be."""
    with tempfile.TemporaryDirectory(prefix="celadon-soak-") as folder:
        flipped = FlippedBytes(Path(folder), seed).run(FLIPS)
        counted = Counter[str]()
        for (_, result), count in flipped.items():
            counted[result] += count
        print(f"{FLIPS} flipped bytes: {dict(counted)}", flush=True)  # noqa: T201
        assert not counted["another state"]
    with tempfile.TemporaryDirectory(prefix="celadon-soak-") as folder:
        outcomes = run_preloaded(Path(folder), "tests.faults.failing_calls", "1")
        print(f"{sum(count for *_, count in outcomes)} calls that failed")  # noqa: T201
    with tempfile.TemporaryDirectory(prefix="celadon-soak-") as folder:
        looked_for = PowerLosses(Path(folder), seed).run(LOSSES)
        print(f"{LOSSES} losses of power, {looked_for} acknowledged writes there")  # noqa: T201
    with tempfile.TemporaryDirectory(prefix="celadon-soak-") as folder:
        count = 0
        for number in range(HISTORIES):
            history = History()
            with open_sqlite(f"{folder}/{number}.db") as store:
                history.run(store, clients=8, count=200, seed=seed + number)
            assert not faults(history.operations, history.listings)
            count += len(history.operations)
        print(f"{HISTORIES} histories of {count} operations are explained")  # noqa: T201


def soak(rounds: int, seed: int) -> None:
    """Raises AssertionError for what should not be."""
    began = time.monotonic()
    print(f"seed {seed}")  # noqa: T201
    soak_stores(seed)
    if not rounds:
        return
    with tempfile.TemporaryDirectory(prefix="celadon-soak-") as folder:
        crashes = CrashRounds(Path(folder), seed)
        crashes.run(rounds)
        written = sum(len(one.revisions) for one in crashes.writers)
        seen = len(crashes.watcher.seen)
        print(f"{rounds} deaths, {written} acknowledged writes, {seen} events")  # noqa: T201
    with tempfile.TemporaryDirectory(prefix="celadon-soak-") as folder:
        server = Process(Path(folder) / "data.db")
        floods = Floods(server, random.Random(seed))
        floods.dropped_connections(CONNECTIONS)
        floods.noise(CONNECTIONS // 2)
        floods.slow_requests(400)
        floods.large_requests(50)
        floods.deaf_watchers(300, 1000)
        floods.check()
        memory = server.memory >> 20
        server.end(signal.SIGTERM)
        print(f"{CONNECTIONS} connections dropped, {memory} MiB at the end")  # noqa: T201
    print(f"all is well after {time.monotonic() - began:.0f} s")  # noqa: T201


if __name__ == "__main__":
    soak(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS, random.SystemRandom().randrange(10**6))
