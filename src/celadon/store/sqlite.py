"""A store in one SQLite file: survives the death of the process and the loss of power.

The file holds a log of changes, as etcd's does: one row for each change since the last compaction,
and for every key its last change before. Everything is read into a keyspace when the file is
opened, and reads are served from there; the file is only written afterwards, by one thread, a batch
of writes in one transaction. docs/decisions/0009-sqlite-store.md says why, and what is promised.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from celadon.store.contract import MAX_OPERATIONS, Entry, Event
from celadon.store.keyspace import Keyspace
from celadon.store.local_store import LocalStore
from celadon.store.retention import Retention
from celadon.store.sqlite_file import connect, file_errors
from celadon.store.writers import ThreadedWriter

INSERT: Final = "INSERT INTO log (position, key, created, value) VALUES (?, ?, ?, ?)"
FORGET: Final = "DELETE FROM log WHERE position >= ? AND position < ? AND key = ?"
SELECT: Final = "SELECT position, key, created, value FROM log ORDER BY position"


def open_sqlite(
    path: str,
    retention: Retention | None = None,
    clock: Callable[[], float] = time.monotonic,
    max_bytes: int | None = None,
) -> LocalStore:
    """The store in that file, which is created if missing (its folder is not). Raises FileError.

    `retention` as `Retention()` unless given; `clock` in seconds. `max_bytes`: a quota for the
    file; what would make it larger fails with DiskFull. Beside the file, SQLite keeps its
    write-ahead log (`-wal`), usually some megabytes, until the store is closed.
    """
    journal = _Log(path, connect(path, max_bytes))
    try:
        keyspace = journal.load()
    except BaseException:
        journal.close()
        raise
    return LocalStore(keyspace, journal, ThreadedWriter, retention or Retention(), clock)


class _Log:
    """A `local_store.Journal`. A change's position is its revision times MAX_OPERATIONS plus its
    place in its transaction."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def load(self) -> Keyspace:
        with file_errors(self._path):
            (compacted,) = self._connection.execute("SELECT compacted FROM state").fetchone()
            return Keyspace.restored(self._changes(), compacted)

    def _changes(self) -> Iterator[tuple[int, str, Entry | None]]:
        for position, key, created, value in self._connection.execute(SELECT):
            revision = position // MAX_OPERATIONS
            yield revision, key, None if value is None else Entry(key, value, created, revision)

    def append(
        self, events: Sequence[Event], compacted: int, obsolete: Sequence[tuple[int, str]]
    ) -> None:
        spans = [
            (revision * MAX_OPERATIONS, (revision + 1) * MAX_OPERATIONS, key)
            for revision, key in obsolete
        ]
        with file_errors(self._path):
            run = self._connection.execute
            run("BEGIN IMMEDIATE")
            try:
                # What is forgotten first makes room for what is written then.
                self._connection.executemany(FORGET, spans)
                run("UPDATE state SET compacted = ? WHERE compacted < ?", (compacted, compacted))
                self._connection.executemany(INSERT, _rows(events))
                run("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite may have rolled back already
                    run("ROLLBACK")
                raise

    def close(self) -> None:
        self._connection.close()


def _rows(events: Sequence[Event]) -> Iterator[tuple[int, str, int | None, bytes | None]]:
    revision = place = 0
    for event in events:
        place = place + 1 if event.revision == revision else 0
        revision = event.revision
        position = revision * MAX_OPERATIONS + place
        entry = event.entry
        if entry is None:
            yield position, event.key, None, None
        else:
            yield position, event.key, entry.create_revision, entry.value
