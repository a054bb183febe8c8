"""Opening the file of a store: its settings, its schema, and what can be wrong with it.

`application_id` tells a store from other SQLite databases, `user_version` is the number of
migrations that were applied: a new file has had none, so creating the schema is the first of them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from itertools import chain
from typing import Final

from celadon import owner_only
from celadon.store.errors import (
    DiskFull,
    FileDamaged,
    FileError,
    FileLocked,
    FileReadOnly,
    FileUnavailable,
    NewerSchema,
    NotAStore,
)
from celadon.store.files.durable_mark import read_mark
from celadon.store.files.row_checksums import MASK, checksum_of_change, checksum_of_compaction

APPLICATION_ID: Final = 0x43454C41
"""`CELA` in ASCII, in the header of the file."""

CACHED_STATEMENTS: Final = 256
"""Python's default of 128 and then some: there is one statement for each size of a batch."""

OWNERSHIP: Final = "PRAGMA locking_mode = EXCLUSIVE"
"""First of all: one connection owns the file, and WAL needs no shared memory beside it."""

SETTINGS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # a commit is on the disk when it returns
    "PRAGMA fullfsync = ON",  # also on macOS
    "PRAGMA journal_size_limit = 67108864",  # bytes the write-ahead log may keep after a burst
    "PRAGMA trusted_schema = OFF",
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        # value: NULL for a deletion; created: the create_revision, NULL for a deletion.
        "CREATE TABLE log (position INTEGER PRIMARY KEY, key TEXT NOT NULL, created INTEGER, "
        "value BLOB)",
        "CREATE TABLE state (compacted INTEGER NOT NULL)",
        "INSERT INTO state VALUES (0)",
    ),
    (
        # in seconds since 1970; NULL for what does not go by itself
        "ALTER TABLE log ADD COLUMN expires INTEGER",
    ),
    (
        # checksum: see `row_checksums`. In `sums`, `changes` and `checksums` are over all rows.
        "CREATE TABLE changes (position INTEGER PRIMARY KEY, key TEXT NOT NULL, created INTEGER, "
        "value BLOB, expires INTEGER, checksum INTEGER NOT NULL)",
        "CREATE TABLE sums (compacted INTEGER NOT NULL, changes INTEGER NOT NULL, "
        "checksums INTEGER NOT NULL)",
        "CREATE TRIGGER added AFTER INSERT ON changes BEGIN UPDATE sums SET changes = changes + 1, "
        f"checksums = (checksums + NEW.checksum) & {MASK}; END",
        "CREATE TRIGGER removed AFTER DELETE ON changes BEGIN UPDATE sums SET changes = changes "
        f"- 1, checksums = (checksums - OLD.checksum) & {MASK}; END",
        "INSERT INTO sums SELECT compacted, 0, checksum_of_compaction(compacted) FROM state",
        "INSERT INTO changes SELECT position, key, created, value, expires, "
        "checksum_of_change(position, key, created, value, expires) FROM log",
        "DROP TABLE log",
        "DROP TABLE state",
    ),
)
"""Statements by the schema version they lead from. Only ever appended to. From the third on tables
are made, never altered: their texts are compared with those in a file, and what an alteration
leaves there depends on the version of SQLite."""

FIRST_MARKED: Final = 3
"""Schema version of the first files with a mark: an older one beside a mark is what is left of a
newer one whose log is lost."""

SCHEMA: Final = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"

KINDS: Final[dict[int, tuple[type[FileError], str]]] = {
    sqlite3.SQLITE_BUSY: (FileLocked, "it is in use by another process or store"),
    sqlite3.SQLITE_LOCKED: (FileLocked, "it is in use by another process or store"),
    sqlite3.SQLITE_READONLY: (FileReadOnly, "it is read-only"),
    sqlite3.SQLITE_FULL: (DiskFull, "the disk or the quota is full"),
    sqlite3.SQLITE_NOTADB: (NotAStore, "not a SQLite database"),
    sqlite3.SQLITE_CORRUPT: (FileDamaged, "it is damaged"),
}
"""By SQLite's primary result code. Others are FileUnavailable, in SQLite's words."""


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """SQLite's errors become ours."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code == sqlite3.SQLITE_CANTOPEN:
            raise _not_opened(path) from error
        if code == sqlite3.SQLITE_IOERR and not os.access(path, os.W_OK):
            code = sqlite3.SQLITE_READONLY  # a file that cannot even be locked
        kind, text = KINDS.get(code, (FileUnavailable, str(error)))
        raise kind(path, text) from error


def _not_opened(path: str) -> FileError:
    """SQLite does not say why; look what could be the reason."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return FileUnavailable(path, "its folder does not exist")
    if os.path.isdir(path):
        return FileUnavailable(path, "it is a folder")
    if os.path.exists(path) and not os.access(path, os.R_OK):
        return FileUnavailable(path, "permission denied")
    if os.path.exists(path) and not os.access(path, os.W_OK):
        return FileReadOnly(path, "it is read-only")
    if not os.access(folder, os.W_OK | os.X_OK):
        return FileReadOnly(path, "its folder is read-only")
    return FileUnavailable(path, "it cannot be opened")


def connect(path: str) -> sqlite3.Connection:
    """A connection that owns the file, with the newest schema in it. It may be used by one thread
    at a time. Raises FileError, and then the file holds what it held before."""
    with suppress(OSError):  # SQLite says what is wrong; it gives the log beside the file its mode
        owner_only.create(path)
    with file_errors(path):
        connection = sqlite3.connect(
            path,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=CACHED_STATEMENTS,
        )
        try:
            _prepare(path, connection)
        except BaseException:
            close_untouched(path, connection)
            raise
        return connection


def close_untouched(path: str, connection: sqlite3.Connection) -> None:
    """Without what SQLite does at the end: it takes over what it understands of the write-ahead
    log and removes it, with everything behind the place of a damage. It does not find the log under
    another name."""
    log, aside = f"{path}-wal", f"{path}-wal-kept"
    try:
        os.rename(log, aside)
    except OSError:
        connection.close()
        return
    connection.close()
    os.rename(aside, log)


def _prepare(path: str, connection: sqlite3.Connection) -> None:
    connection.execute(OWNERSHIP)
    version = _version(path, connection)
    _must_be_whole(path, connection, version)
    for setting in SETTINGS:
        connection.execute(setting)
    connection.execute("BEGIN EXCLUSIVE")  # also takes the lock that is kept from now on
    if version < len(MIGRATIONS):  # else nothing is written, so that a full disk is no hindrance
        migrate(connection, MIGRATIONS[version:])
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection, migrations: Iterable[Iterable[str]]) -> None:
    """Carry out migrations, with the functions that they call."""
    for function, parameters in ((checksum_of_change, 5), (checksum_of_compaction, 1)):
        connection.create_function(function.__name__, parameters, function, deterministic=True)
    for statement in chain.from_iterable(migrations):
        connection.execute(statement)


def _version(path: str, connection: sqlite3.Connection) -> int:
    """The schema version in the file, after looking whether it is ours."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and (objects or version or application):
        raise NotAStore(path, "the database of another application")
    if version > len(MIGRATIONS):
        raise NewerSchema(
            path,
            f"its schema version is {version}, this Celadon knows up to {len(MIGRATIONS)}",
        )
    return int(version)


def _must_be_whole(path: str, connection: sqlite3.Connection, version: int) -> None:
    """As far as SQLite can tell: each page has its place, and tables are those of the version. What
    is in the rows is for checksums. Raises FileDamaged."""
    found = connection.execute(SCHEMA).fetchall()
    if found != _schema_of(MIGRATIONS[:version]):
        raise FileDamaged(path, f"it is damaged: its tables are not those of version {version}")
    ((said, *_),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    if said != "ok":
        raise FileDamaged(path, f"it is damaged: {said.splitlines()[-1]}")
    if version < FIRST_MARKED and (marked := read_mark(path)):
        raise FileDamaged(path, f"it is damaged: {without_log(path, 0, marked)}")


def without_log(path: str, revision: int, marked: int) -> str:
    """What is wrong with a file that ends before its mark."""
    return (
        f"it ends at revision {revision}, and {marked} was acknowledged: `{path}-wal` is damaged "
        "or missing"
    )


@lru_cache
def _schema_of(migrations: tuple[tuple[str, ...], ...]) -> list[tuple[str, str, str]]:
    """What migrations make of nothing, in SQLite's table of tables."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, migrations)
        return connection.execute(SCHEMA).fetchall()
