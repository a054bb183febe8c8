"""`python -m tests.faults [PART ...] [--rounds N]`: the figures of what has to be borne.

    python -m tests.faults                  a few minutes
    python -m tests.faults --rounds 1000    as `make soak`; some hours
    python -m tests.faults store deaths     these parts only

Everything grows with the rounds: deaths of a server on SQLite are so many, the rest in proportion.
Raises AssertionError for what should not be; what the machine does not allow (no etcd, no compiler)
is said, and left out.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

import pytest

from celadon.storage import Store, open_sqlite
from tests.etcd.etcd_members import etcd_program
from tests.etcd.fault_rounds import EXHAUSTED, FAULTS
from tests.etcd.fault_rounds import run as etcd_rounds
from tests.faults.crash_rounds import CrashRounds
from tests.faults.failing_calls import run_preloaded
from tests.faults.flipped_bytes import FlippedBytes
from tests.faults.floods import Floods
from tests.faults.hostile_load import LOADS, figures
from tests.faults.power_loss import PowerLosses
from tests.faults.server_under_test import Process
from tests.fuzz.byte_readers import READERS
from tests.fuzz.fast_search import FastSearch
from tests.linearizability.broken_stores import (
    ForgottenWrites,
    LostUpdates,
    RevisionsUsedTwice,
    StaleReads,
)
from tests.linearizability.checker import faults
from tests.linearizability.histories import History

SHORT: Final = 10
STRIDE: Final = 9
"""In a short run every so-manieth call fails, in a long one each."""

LONG: Final = 100
"""Rounds from which on a run is a long one."""

READER_SECONDS: Final = 600.0
"""Longer than this, no reader is searched."""


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def stores(folder: Path, rounds: int, seed: int) -> None:
    """What a store alone has to survive."""
    flips, losses = 50 * rounds, 20 * rounds
    parts = [folder / name for name in ("flips", "calls", "losses", "histories")]
    for one in parts:
        one.mkdir()
    counted = Counter[str]()
    for (_, result), count in FlippedBytes(parts[0], seed).run(flips).items():
        counted[result] += count
    say(f"{flips} flipped bytes: {dict(counted)}")
    assert not counted["another state"]
    stride = 1 if rounds >= LONG else STRIDE
    outcomes = run_preloaded(parts[1], "tests.faults.failing_calls", str(stride))
    say(f"{sum(count for *_, count in outcomes)} calls that failed, nothing lost")
    looked_for = PowerLosses(parts[2], seed).run(losses)
    say(f"{losses} losses of power, {looked_for} acknowledged writes there")
    count = 0
    for number in range(max(1, rounds // 20)):
        history = History()
        with open_sqlite(str(parts[3] / f"{number}.db")) as store:
            history.run(store, clients=8, count=200, seed=seed + number)
        assert not faults(history.operations, history.listings)
        count += len(history.operations)
    say(f"histories of {count} operations are explained")
    for broken in (StaleReads, LostUpdates, ForgottenWrites, RevisionsUsedTwice):
        history = History()
        history.run(cast(Store, broken()), clients=4, count=100, seed=1)
        assert faults(history.operations, history.listings), broken.__name__
    say("four planted mistakes are found in histories")


def deaths(folder: Path, rounds: int, seed: int) -> None:
    """kill -9 of a server on SQLite."""
    crashes = CrashRounds(folder, seed)
    crashes.run(rounds)
    written = sum(len(one.revisions) for one in crashes.writers)
    seen = len(crashes.watcher.seen)
    say(f"{rounds} deaths on SQLite, {written} acknowledged writes, {seen} events: none lost")


def etcd(_: Path, rounds: int, seed: int) -> None:
    """Members and servers that are killed, stopped and slowed down, and an etcd without room."""
    etcd_program()
    for line in etcd_rounds(max(1, rounds // 10), seed, [*FAULTS, *EXHAUSTED]).lines():
        say(line)


def readers(_: Path, rounds: int, seed: int) -> None:
    """Every reader of bytes."""
    finds, total = 0, 0
    for reader in READERS:
        search = FastSearch(reader, seed)
        search.run(250 * rounds, min(READER_SECONDS, rounds / 5))
        total += search.inputs
        finds += len(search.finds)
        for wrong, data in search.finds.items():
            say(f"{reader.name}: {wrong}: {data!r}")
    say(f"{total} inputs for {len(READERS)} readers, {finds} finds")
    assert not finds


def floods(folder: Path, rounds: int, seed: int) -> None:
    """Clients without manners."""
    server = Process(folder / "data.db")
    flood = Floods(server, random.Random(seed))
    flood.dropped_connections(10 * rounds)
    flood.noise(5 * rounds)
    flood.slow_requests(min(400, 10 * rounds))
    flood.large_requests(min(50, rounds))
    flood.deaf_watchers(min(300, 3 * rounds), min(1000, 10 * rounds))
    flood.check()
    memory = server.memory >> 20
    server.end(signal.SIGTERM)
    say(f"{10 * rounds} connections dropped, {memory} MiB at the end")


def load(folder: Path, rounds: int, _: int) -> None:
    """Clients with manners beside hostile ones, on a server and on a webhook."""
    for name, load_of in LOADS.items():
        own = folder / name
        own.mkdir()
        running = load_of(own)
        try:
            say(f"{name}, {figures(running, min(20.0, 0.2 * rounds), 3 if rounds >= LONG else 1)}")
        finally:
            running.close()


PARTS: Final[dict[str, Callable[[Path, int, int], None]]] = {
    "store": stores,
    "deaths": deaths,
    "etcd": etcd,
    "readers": readers,
    "floods": floods,
    "load": load,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=SHORT, metavar="N")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args(arguments)
    say(f"seed {options.seed}, {options.rounds} rounds")
    for name in options.parts or PARTS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="celadon-faults-") as folder:
            try:
                PARTS[name](Path(folder), options.rounds, options.seed)
            except pytest.skip.Exception as why:
                say(f"{name}: left out: {why}")
        say(f"{name}: all is well after {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
