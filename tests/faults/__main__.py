"""The long run: `python -m tests.faults [ROUNDS]`, 200 without a number."""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.crash_rounds import CrashRounds
from tests.faults.floods import Floods
from tests.faults.server_under_test import Process

ROUNDS = 200
CONNECTIONS = 10_000


def soak(rounds: int, seed: int) -> None:
    """Raises AssertionError for what should not be."""
    began = time.monotonic()
    print(f"seed {seed}")  # noqa: T201
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
