"""A store in one SQLite file: survives the death of the process and the loss of power.

The file holds a log of changes, as etcd's does: one row for each change since the last compaction,
and for every key its last change before. Everything is read into a keyspace when the file is
opened, and reads are served from there; the file is only written afterwards, by one thread, a batch
of writes in one transaction. docs/decisions/0009-sqlite-store.md says why, and what is promised.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from celadon.store.contract import MAX_OPERATIONS, Entry, Event
from celadon.store.keyspace import Keyspace
from celadon.store.local_store import Carrier, Clocks, LocalStore, at_once
from celadon.store.retention import Retention
from celadon.store.sqlite_file import connect, file_errors
from celadon.store.writers import ThreadedWriter

MAX_VARIABLES: Final = 999
"""In one statement, in SQLite before 3.32."""

COLUMNS: Final = 5
Row: TypeAlias = tuple[Any, ...]
SELECT: Final = "SELECT position, key, created, value, expires FROM log ORDER BY position"
INSERT: Final = "INSERT INTO log (position, key, created, value, expires) VALUES {}"
FORGET: Final = "DELETE FROM log WHERE position IN (VALUES {})"
COMPACTED: Final = "UPDATE state SET compacted = ?"


def open_sqlite(
    path: str,
    retention: Retention | None = None,
    clocks: Clocks | None = None,
    max_bytes: int | None = None,
    carry: Carrier = at_once,
) -> LocalStore:
    """The store in that file, which is created if missing (its folder is not). Raises FileError.

    `retention` as `Retention()` unless given; `clocks` the system's. `max_bytes`: a quota for the
    file; what would make it larger fails with DiskFull. Beside the file, SQLite keeps its
    write-ahead log (`-wal`), usually some megabytes, until the store is closed. `carry`: how
    acknowledgements get from the writing thread to where they are wanted, see `LocalStore`.
    """
    journal = _Log(path, connect(path, max_bytes))
    try:
        keyspace = journal.load()
    except BaseException:
        journal.close()
        raise
    return LocalStore(
        keyspace, journal, ThreadedWriter, retention or Retention(), clocks or Clocks(), carry
    )


class _Log:
    """A `local_store.Journal`. A change's position is its revision times MAX_OPERATIONS plus its
    place in its transaction.

    Statements are few and long. Python gives up its lock around each, and has to wait for it again
    while another thread computes: a statement for each row makes a writer beside a busy event loop
    several times slower (`bench.store` measures it).
    """

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._compacted = 0
        self._places: dict[tuple[int, str], int] = {}
        """Of the changes (revision, key) that are not the first of their transaction."""

    def load(self) -> Keyspace:
        with file_errors(self._path):
            (self._compacted,) = self._connection.execute("SELECT compacted FROM state").fetchone()
            return Keyspace.restored(self._changes(), self._compacted)

    def _changes(self) -> Iterator[tuple[int, str, Entry | None]]:
        for position, key, created, value, expires in self._connection.execute(SELECT):
            revision, place = divmod(position, MAX_OPERATIONS)
            if place:
                self._places[revision, key] = place
            entry = None if value is None else Entry(key, value, created, revision, expires)
            yield revision, key, entry

    def append(
        self, events: Sequence[Event], compacted: int, obsolete: Sequence[tuple[int, str]]
    ) -> None:
        places = dict(_places(events))
        rows = [self._row(event, places) for event in events]
        gone = [(self._position(revision, key, self._places),) for revision, key in obsolete]
        with file_errors(self._path):
            if compacted == self._compacted and len(rows) <= MAX_VARIABLES // COLUMNS:
                self._execute(INSERT, rows)  # a single statement is a transaction
            else:
                self._execute_all(gone, compacted, rows)
        self._compacted = compacted
        self._places.update(places)
        for one in obsolete:
            self._places.pop(one, None)

    @staticmethod
    def _position(revision: int, key: str, places: dict[tuple[int, str], int]) -> int:
        return revision * MAX_OPERATIONS + places.get((revision, key), 0)

    def _row(self, event: Event, places: dict[tuple[int, str], int]) -> Row:
        position = self._position(event.revision, event.key, places)
        if event.entry is None:
            return position, event.key, None, None, None
        entry = event.entry
        return position, entry.key, entry.create_revision, entry.value, entry.expires

    def _execute_all(self, gone: Sequence[Row], compacted: int, rows: Sequence[Row]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            # What is forgotten first makes room for what is written then.
            for part in _parts(gone, MAX_VARIABLES):
                self._execute(FORGET, part)
            self._connection.execute(COMPACTED, (compacted,))
            for part in _parts(rows, MAX_VARIABLES // COLUMNS):
                self._execute(INSERT, part)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # SQLite may have rolled back already
                self._connection.execute("ROLLBACK")
            raise

    def _execute(self, statement: str, rows: Sequence[Row]) -> None:
        row = f"({', '.join('?' * len(rows[0]))})"
        marks = ", ".join([row] * len(rows))
        self._connection.execute(statement.format(marks), list(chain.from_iterable(rows)))

    def close(self) -> None:
        self._connection.close()


def _places(events: Iterable[Event]) -> Iterator[tuple[tuple[int, str], int]]:
    """Of those events that are not the first of their transaction."""
    revision = place = 0
    for event in events:
        place = place + 1 if event.revision == revision else 0
        revision = event.revision
        if place:
            yield (revision, event.key), place


def _parts(rows: Sequence[Row], length: int) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), length):
        yield rows[start : start + length]
