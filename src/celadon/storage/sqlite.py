"""A store in one SQLite file: survives the death of the process and the loss of power.

The file holds a log of changes, as etcd's does: one row for each change since the last compaction,
and for every key its last change before. Everything is read into a keyspace when the file is
opened, and reads are served from there; the file is only written afterwards, by one thread, a batch
of writes in one transaction. docs/decisions/0009-sqlite-store.md says why, and what is promised.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias

from celadon import private_files
from celadon.storage import contract, sqlite_file
from celadon.storage.keyspace import Carrier, Keyspace, Retention, ThreadedWriter, at_once
from celadon.storage.local_store import Clocks, LocalStore

# --- Disk reserve ------------------------------------------------------------
#
# Room on the disk that is kept for the day on which there is no other.
#
# On a full disk nothing can be deleted, either: a deletion has to be written down. So a file
# beside the data takes some room as long as there is any. When the disk is full it gives it
# back, and takes it again as soon as it can.

MOST: Final = 2 << 20
"""Bytes: more than what waits in the write-ahead log (`pages_in_log`), which has to go into the
data file before deletions can be written over it."""

SHARE: Final = 8
"""Of a small disk only one part in so many is taken."""

PAGE_BYTES: Final = 4096
LOG_SHARE: Final = 4
"""The log may have one part in so many of the reserve before it is taken over."""

FEWEST_PAGES: Final = 16


class DiskReserve:
    """Keeps some space of the disk for one data file. Nothing here fails; without a reserve, a full
    disk takes no deletions."""

    def __init__(self, path: str) -> None:
        self._path = f"{path}-reserve"
        self._size = 0
        with suppress(OSError):
            about = os.statvfs(os.path.dirname(path) or ".")
            self._size = min(MOST, about.f_blocks * about.f_frsize // SHARE)
        self.is_released = self._was_released() and not self.take()

    def _was_released(self) -> bool:
        """Return whether there is one. A reserve that is there is as large as it was when it was
        taken."""
        try:
            return not os.path.getsize(self._path)
        except OSError:
            self.take()
            return False

    @property
    def pages_in_log(self) -> int:
        """Pages after which the write-ahead log is to be taken over."""
        return max(FEWEST_PAGES, self._size // LOG_SHARE // PAGE_BYTES)

    def take(self) -> bool:
        """Return whether there is room for it."""
        try:
            private_files.create(self._path)
            file = os.open(self._path, os.O_WRONLY)
        except OSError:
            return False
        try:
            os.posix_fallocate(file, 0, max(1, self._size))
        except OSError:
            with suppress(OSError):
                os.ftruncate(file, 0)
            return False
        finally:
            os.close(file)
        self.is_released = False
        return True

    def release(self) -> None:
        """Give the reserved room on the disk back."""
        self.is_released = True
        with suppress(OSError):
            os.truncate(self._path, 0)

    def is_disk_full(self) -> bool:
        """Return whether what failed has failed for want of room: SQLite does not tell a quota of
        the file system from other failures."""
        trial = f"{self._path}-trial"
        try:
            private_files.create(trial)
            file = os.open(trial, os.O_WRONLY)
        except OSError as error:
            return error.errno in (errno.ENOSPC, errno.EDQUOT)
        try:
            os.posix_fallocate(file, 0, PAGE_BYTES)
        except OSError as error:
            return error.errno in (errno.ENOSPC, errno.EDQUOT)
        finally:
            os.close(file)
            with suppress(OSError):
                os.unlink(trial)
        return False


MAX_VARIABLES: Final = 999
"""In one statement, in SQLite before 3.32."""

COLUMNS: Final = 6
Row: TypeAlias = tuple[Any, ...]
SELECT: Final = (
    "SELECT position, key, created, value, expires, checksum FROM changes ORDER BY position"
)
INSERT: Final = "INSERT INTO changes (position, key, created, value, expires, checksum) VALUES {}"
FORGET: Final = "DELETE FROM changes WHERE position IN (VALUES {})"
COMPACTED: Final = (
    f"UPDATE sums SET compacted = ?, checksums = (checksums + ?) & {sqlite_file.MASK}"
)

MOST_PAGES: Final = 1073741823
"""Of SQLite, in versions that have a bound at all."""

FOR_DELETIONS: Final = 16
"""Pages that they may need before what they delete is forgotten."""

DISK_IS_FULL: Final = "the disk or the quota is full"


def open_sqlite(
    path: str,
    retention: Retention | None = None,
    clocks: Clocks | None = None,
    max_bytes: int | None = None,
    carry: Carrier = at_once,
    soon: Carrier = at_once,
) -> LocalStore:
    """Return the store in that file, which is created if missing (its folder is not). Raises
    FileError.

    `retention` as `Retention()` unless given; `clocks` the system's. `max_bytes`: a quota for the
    file; what would make it larger fails with DiskFull. Beside the file, SQLite keeps its
    write-ahead log (`-wal`), usually some megabytes, until the store is closed. `carry`: how
    acknowledgements get from the writing thread to where they are wanted, see `LocalStore`; `soon`:
    when the writing thread learns of writes, see `ThreadedWriter`.
    """
    journal = SqliteJournal(path, max_bytes)
    try:
        keyspace = journal.load()
    except BaseException:
        journal.abandon()
        raise
    writer = partial(ThreadedWriter, soon=soon)
    return LocalStore(
        keyspace, journal, writer, retention or Retention(), clocks or Clocks(), carry
    )


FREE_PAGES: Final = 1024
"""So many pages (four megabytes) may be free in any file."""
FREE_SHARE: Final = 4
"""In a larger one a part in so many."""
GIVEN_PAGES: Final = 64
"""Pages that are given back at once: a quarter of a megabyte in the log."""
INCREMENTAL: Final = 2
"""What SQLite calls the setting in numbers."""


class SqliteJournal:
    """A `local_store.Journal`. A change's position is its revision times MAX_OPERATIONS plus its
    place in its transaction.

    Statements are few and long. Python gives up its lock around each, and has to wait for it again
    while another thread computes: a statement for each row makes a writer beside a busy event loop
    several times slower (`bench.store` measures it).

    On a full disk the reserve is given back, and pages that are not in the file yet are for
    deletions alone.
    """

    def __init__(self, path: str, max_bytes: int | None) -> None:
        self._path = path
        self._connection = sqlite_file.connect(path)
        self._reserve = DiskReserve(path)
        self._pages = PageBound(self._connection, max_bytes)
        self._room = FreeRoom(self._connection)
        self._mark: sqlite_file.DurableMark | None = None
        self._compacted = 0
        self._trouble = DISK_IS_FULL if self._reserve.is_released else ""
        self._places: dict[tuple[int, str], int] = {}
        """Of the changes (revision, key) that are not the first of their transaction."""
        with sqlite_file.file_errors(path):
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {self._reserve.pages_in_log}")
        if self._reserve.is_released:
            self._take_over_log()

    def load(self) -> Keyspace:
        """Load everything from the file. Raises FileDamaged for anything that is not as it was
        written."""
        with sqlite_file.file_errors(self._path):
            sums = sqlite_file.read_sums(self._connection, self._path)
            self._compacted, changes, checksums = sums
            total = sqlite_file.Sum(self._compacted)
            space = Keyspace.restored(self._changes(total), self._compacted)
        wrong = total.difference(changes, checksums)
        marked = sqlite_file.read_mark(self._path)
        if not wrong and space.revision < marked:
            wrong = sqlite_file.without_log(self._path, space.revision, marked)
        if wrong:
            raise contract.FileDamaged(self._path, f"it is damaged: {wrong}")
        self._mark = sqlite_file.DurableMark(self._path)
        self._room.take_over_older_file()
        return space

    def _changes(self, total: sqlite_file.Sum) -> Iterator[tuple[int, str, contract.Entry | None]]:
        rows = self._connection.execute(SELECT)
        for position, key, created, value, expires, checksum in rows:
            revision, place = divmod(position, contract.MAX_OPERATIONS)
            if not sqlite_file.is_as_written(position, key, created, value, expires, checksum):
                raise contract.FileDamaged(
                    self._path, f"it is damaged: the change of `{key}` at revision {revision}"
                )
            total.add(checksum)
            if place:
                self._places[revision, key] = place
            entry = (
                None if value is None else contract.Entry(key, value, created, revision, expires)
            )
            yield revision, key, entry

    def trouble(self) -> str:
        return self._trouble

    @property
    def is_short_of_room(self) -> bool:
        return self._reserve.is_released

    def append(
        self, events: Sequence[contract.Event], compacted: int, obsolete: Sequence[tuple[int, str]]
    ) -> None:
        if self._reserve.is_released and not self._has_room_again():
            is_deletion = all(event.entry is None for event in events)
            self._pages.allow(FOR_DELETIONS if is_deletion else 0)
        try:
            self._append(events, compacted, obsolete)
        except contract.FileError as error:
            raise self._noted(error) from error
        if events and self._mark is not None:
            self._mark.say(events[-1].revision)
        if self._reserve.is_released:
            self._take_over_log()
            return
        self._trouble = ""
        if obsolete or self._room.is_loose:
            self._room.give_back()

    def _noted(self, error: contract.FileError) -> contract.FileError:
        """Return what has failed, seen as what is behind it."""
        if isinstance(error, contract.FileUnavailable) and self._reserve.is_disk_full():
            error = contract.DiskFull(self._path, DISK_IS_FULL)
        if isinstance(error, contract.DiskFull) and not self._reserve.is_released:
            self._reserve.release()
            self._pages.allow(FOR_DELETIONS)
            self._take_over_log()
        self._trouble = error.message
        return error

    def _has_room_again(self) -> bool:
        if self._reserve.take():
            self._pages.open()
        return not self._reserve.is_released

    def _take_over_log(self) -> None:
        """Move the log into the data file, so that the next transaction is written over it."""
        with suppress(sqlite3.Error):  # it is tried again behind each write
            self._connection.execute("PRAGMA wal_checkpoint")

    def _append(
        self, events: Sequence[contract.Event], compacted: int, obsolete: Sequence[tuple[int, str]]
    ) -> None:
        places = dict(_places(events))
        rows = [self._row(event, places) for event in events]
        obsolete_rows = [
            (self._position(revision, key, self._places),) for revision, key in obsolete
        ]
        with sqlite_file.file_errors(self._path):
            if rows and compacted == self._compacted and len(rows) <= MAX_VARIABLES // COLUMNS:
                self._execute(INSERT, rows)  # a single statement is a transaction
            else:
                self._execute_all(obsolete_rows, compacted, rows)
        self._compacted = compacted
        self._places.update(places)
        for item in obsolete:
            self._places.pop(item, None)

    @staticmethod
    def _position(revision: int, key: str, places: dict[tuple[int, str], int]) -> int:
        return revision * contract.MAX_OPERATIONS + places.get((revision, key), 0)

    def _row(self, event: contract.Event, places: dict[tuple[int, str], int]) -> Row:
        position = self._position(event.revision, event.key, places)
        entry = event.entry
        columns: tuple[Any, ...] = position, event.key, None, None, None
        if entry is not None:
            columns = position, entry.key, entry.create_revision, entry.value, entry.expires
        return *columns, sqlite_file.checksum_of_change(*columns)

    def _execute_all(
        self, obsolete_rows: Sequence[Row], compacted: int, rows: Sequence[Row]
    ) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            # What is forgotten first makes room for what is written then.
            for part in _parts(obsolete_rows, MAX_VARIABLES):
                self._execute(FORGET, part)
            change = sqlite_file.checksum_of_compaction(
                compacted
            ) - sqlite_file.checksum_of_compaction(self._compacted)
            self._connection.execute(COMPACTED, (compacted, change))
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
        if self._mark is not None:
            self._mark.close()

    def abandon(self) -> None:
        """Close a file that is not as it should be, and leave it as it is."""
        sqlite_file.close_untouched(self._path, self._connection)


class FreeRoom:
    """Pages of a file that hold nothing any more. Some of them stay for what is written next; all
    above that are given back to the disk, a few behind each write."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.is_loose = False
        """Whether there is more to give back."""

    def give_back(self) -> None:
        """Make the file shorter when the log has been taken over into it the next time."""
        free, pages = self._pragma("freelist_count"), self._pragma("page_count")
        self.is_loose = free > max(FREE_PAGES, pages // FREE_SHARE) and self._can_shrink()
        if self.is_loose:
            with suppress(sqlite3.Error):  # it is tried again behind each write
                # a script, for `execute` would only take the first page's step
                self._connection.executescript(f"PRAGMA incremental_vacuum({GIVEN_PAGES})")

    def take_over_older_file(self) -> None:
        """Write a file that was made before files could shrink anew, if most of it is free. It
        stays as it is if there is no room for that."""
        free, pages = self._pragma("freelist_count"), self._pragma("page_count")
        if free > max(FREE_PAGES, pages // 2) and not self._can_shrink():
            with suppress(sqlite3.Error):
                self._connection.execute(sqlite_file.SHRINKS)
                self._connection.execute("VACUUM")

    def _can_shrink(self) -> bool:
        return self._pragma("auto_vacuum") == INCREMENTAL

    def _pragma(self, name: str) -> int:
        (result,) = self._connection.execute(f"PRAGMA {name}").fetchone()
        return int(result)


class PageBound:
    """Bounds how many pages a file may have: those of its quota, and on a full disk those it
    has."""

    def __init__(self, connection: sqlite3.Connection, max_bytes: int | None) -> None:
        self._connection = connection
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        self._quota = MOST_PAGES if max_bytes is None else max(1, max_bytes // page_bytes)
        self.open()

    def open(self) -> None:
        """Allow as many pages as the quota has."""
        self._set(self._quota)

    def allow(self, more: int) -> None:
        """Allow so many more pages than there are."""
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        self._set(min(self._quota, pages + more))

    def _set(self, pages: int) -> None:
        self._connection.execute(f"PRAGMA max_page_count = {pages}")


def _places(events: Iterable[contract.Event]) -> Iterator[tuple[tuple[int, str], int]]:
    """Yield the places of those events that are not the first of their transaction."""
    revision = place = 0
    for event in events:
        place = place + 1 if event.revision == revision else 0
        revision = event.revision
        if place:
            yield (revision, event.key), place


def _parts(rows: Sequence[Row], length: int) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), length):
        yield rows[start : start + length]
