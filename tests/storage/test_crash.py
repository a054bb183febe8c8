"""The process is killed while it writes, again and again: nothing acknowledged or shown is lost.

`CELADON_CRASH_ROUNDS=1000 pytest tests/storage/test_crash.py` for as long as you like.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from celadon.storage import Compacted, Event, Retention, open_sqlite
from celadon.storage.local_store import LocalStore

ROUNDS = int(os.environ.get("CELADON_CRASH_ROUNDS", "3"))


@dataclass
class Told:
    """What the killed processes said: the last one, and in `newest` all of them."""

    acknowledged: dict[tuple[int, str], str] = field(default_factory=dict)
    """Revision and key to value; `-` for a deletion."""
    seen: list[tuple[int, str]] = field(default_factory=list)
    """The events that the watch showed: revision and key."""
    newest: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Key to the last acknowledged revision and value."""

    def hear(self, output: bytes) -> None:
        self.seen, self.acknowledged = [], {}
        for line in output.decode().splitlines(keepends=True):
            if not line.endswith("\n"):
                continue  # cut off by the kill
            kind, number, key, *value = line.split()
            revision = int(number)
            if kind == "E":
                self.seen.append((revision, key))
                continue
            assert (revision, key) not in self.acknowledged, "a revision was used twice"
            self.acknowledged[revision, key] = value[0]
            self.newest[key] = max(self.newest.get(key, (0, "")), (revision, value[0]))


def run_and_kill(path: str, name: str, seconds: float) -> bytes:
    """What a process said until it was killed, `seconds` after its first word."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.storage.crash_writer", path, name], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    with process:
        first = process.stdout.read(1)
        killer = threading.Timer(seconds, process.kill)
        killer.start()
        rest = process.stdout.read()
        killer.join()
    assert process.returncode == -signal.SIGKILL
    return first + rest


def check_file(path: str) -> None:
    """As SQLite sees it, which recovers it from its log first."""
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def check_acknowledged(store: LocalStore, told: Told) -> None:
    later = {event.key for event in history(store, 0)}
    for key, (revision, value) in told.newest.items():
        entry = store.get(key)
        if entry is None:
            assert value == "-" or key in later, f"{key} of {revision} is lost"
        elif entry.mod_revision == revision:
            assert entry.value.decode() == value
        else:
            assert entry.mod_revision > revision, f"{key} of {revision} is lost"
        # What came later without being acknowledged is settled now, and may be forgotten.
        if entry is not None:
            told.newest[key] = entry.mod_revision, entry.value.decode()
        elif value != "-":
            told.newest[key] = store.revision(), "-"
    for event in history(store, 0):
        said = told.acknowledged.get((event.revision, event.key))
        kept = event.entry.value.decode() if event.entry else "-"
        assert said in (None, kept)


def check_pairs(store: LocalStore) -> None:
    entries = store.range("/pair/").entries
    for left, right in zip(entries[::2], entries[1::2], strict=True):
        assert (left.value, left.mod_revision) == (right.value, right.mod_revision)


def history(store: LocalStore, after: int) -> tuple[Event, ...]:
    """All events after a revision, or as many of them as there still are."""
    try:
        return store.watch("", after).take().events
    except Compacted as compacted:
        return store.watch("", compacted.oldest).take().events


def check_watches(store: LocalStore, told: Told) -> None:
    """What was seen before and what is replayed now make one sequence without a gap."""
    seen = told.seen
    assert seen == sorted(set(seen))
    last = seen[-1][0] if seen else 0
    # The process may have been killed between the two events of one transaction.
    resumed = [
        (e.revision, e.key) for e in history(store, last - 1) if (e.revision, e.key) not in seen
    ]
    assert all(revision >= last for revision, _ in resumed)
    revisions = [revision for revision, _ in [*seen, *resumed]]
    if seen:
        assert sorted(set(revisions)) == list(range(revisions[0], store.revision() + 1))
    kept = {(event.revision, event.key) for event in history(store, 0)}
    oldest = min(kept)[0]
    assert {one for one in seen if one[0] >= oldest} <= kept, "something shown is lost"


@pytest.mark.thorough
def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path: Path) -> None:
    path, told, revision, acknowledged = str(tmp_path / "store.db"), Told(), 1, 0
    random = Random()
    for number in range(ROUNDS):
        told.hear(run_and_kill(path, f"round-{number}", random.uniform(0, 0.5)))
        if number % 2:  # not always: it recovers the file before we do
            check_file(path)
        with open_sqlite(path, Retention(events=None)) as store:
            assert all(one > revision for one, _ in told.acknowledged), "a revision was used twice"
            assert store.revision() >= max(one for one, _ in [*told.acknowledged, (revision, "")])
            revision, acknowledged = store.revision(), acknowledged + len(told.acknowledged)
            check_acknowledged(store, told)
            check_pairs(store)
            check_watches(store, told)
    assert acknowledged > 10 * ROUNDS
