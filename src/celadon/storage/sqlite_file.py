"""The file of a store: its settings, its schema, what can be wrong with it, its checksums, and
copies of it.

`application_id` tells a store from other SQLite databases, `user_version` is the number of
migrations that were applied: a new file has had none, so creating the schema is the first of them.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Final

from celadon import private_files
from celadon.records import dataclass
from celadon.storage import contract
from celadon.storage.contract import FileDamaged as FileDamaged

# --- Durable mark ------------------------------------------------------------
#
# The mark beside a data file: how far its changes were acknowledged.
#
# SQLite ends its recovery at the first frame of the write-ahead log that is not as it was
# written. It cannot tell damage from a transaction that was never finished, and goes on without
# what came later. The mark can: it says the newest revision that was durable, is written behind
# each commit, and goes when the log does, at an orderly end. A file that ends before its mark
# has lost something.
#
# It has two places that are written in turns, each with a checksum. It is not flushed: after a
# loss of power it may say less than there is, never more.

_PLACES: Final = 2
_DISTANCE: Final = 512
"""Bytes between places: a sector each."""


def mark_path(path: str) -> str:
    """Return the path of the mark beside a data file."""
    return f"{path}-mark"


def read_mark(path: str) -> int:
    """Return the revision that the mark of a data file says; 0 without a mark that can be read."""
    try:
        with open(mark_path(path), "rb") as file:
            content = file.read(_PLACES * _DISTANCE)
    except OSError:
        return 0
    return max(_revision(content[_DISTANCE * place :]) for place in range(_PLACES))


def _revision(place: bytes) -> int:
    digits = place[:20]
    return int(digits) if place.startswith(_written(digits)) and digits.isdigit() else 0


def _written(digits: bytes) -> bytes:
    checksum = blake2b(digits, digest_size=8).hexdigest()
    return digits + b" " + checksum.encode() + b"\n"


class DurableMark:
    """The mark of a data file that is open. It never fails: without room for it, the file has
    none."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._place = 0
        self._file: int | None = None
        with suppress(OSError):
            private_files.create(mark_path(path))
            self._file = os.open(mark_path(path), os.O_RDWR)

    def say(self, revision: int) -> None:
        """Say that all up to a revision is durable."""
        if self._file is None:
            return
        self._place = (self._place + 1) % _PLACES
        with suppress(OSError):
            os.pwrite(self._file, _written(b"%020d" % revision), self._place * _DISTANCE)

    def close(self) -> None:
        """Close the mark of the data file. It goes, unless there is still a write-ahead
        log."""
        if self._file is None:
            return
        os.close(self._file)
        self._file = None
        if not os.path.exists(f"{self._path}-wal"):
            with suppress(OSError):
                os.unlink(mark_path(self._path))


# --- Row checksums -----------------------------------------------------------
#
# Checksums over what a file holds, so that what has changed by itself is noticed.
#
# SQLite reads what is in its pages, and has no checksums for them. So each change in the file
# has one over everything that is in it, and the file keeps how many changes there are and the
# sum of their checksums: a change that is gone, or an older page in place of a newer one, makes
# the sum another. The sum is kept current by triggers of the database, in the transaction that
# changes it.

MASK: Final = (1 << 62) - 1
"""Checksums and their sums have 62 bits: two of them can be added in SQLite's signed 64."""


def checksum_of_change(
    position: int, key: str, created: int | None, value: bytes | None, expires: int | None
) -> int:
    """Return the checksum of all columns of a change and their types. Raises TypeError, ValueError
    for what can not have been written."""
    kind = "deleted" if value is None else "put"
    head = f"{position} {created} {expires} {kind} {len(key)} {key}"
    digest = blake2b(head.encode(), digest_size=8)
    if value is not None:
        digest.update(value)
    return int.from_bytes(digest.digest(), "big") & MASK


def is_as_written(
    position: int,
    key: str,
    created: int | None,
    value: bytes | None,
    expires: int | None,
    checksum: int,
) -> bool:
    """Return whether a change, as it was read, is the one that the checksum is of. What was read
    may be of any type."""
    try:
        return checksum_of_change(position, key, created, value, expires) == checksum
    except (TypeError, ValueError):
        return False


def checksum_of_compaction(revision: int) -> int:
    """Return the checksum of the oldest revision that is kept: part of the sum, so that it cannot
    change either."""
    digest = blake2b(f"compacted {revision}".encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big") & MASK


def read_sums(connection: sqlite3.Connection, path: str) -> tuple[int, int, int]:
    """Return the oldest revision that is kept, how many changes there are, and the sum of their
    checksums. Raises FileDamaged."""
    rows = connection.execute("SELECT compacted, changes, checksums FROM sums").fetchall()
    if len(rows) != 1 or not all(isinstance(number, int) for number in rows[0]):
        raise FileDamaged(path, "it is damaged: its sums are no numbers")
    compacted, changes, checksums = rows[0]
    return compacted, changes, checksums


class Sum:
    """Adds up the changes in a file, to compare them with what the file says in the end."""

    def __init__(self, compacted: int) -> None:
        self._changes = 0
        self._checksums = checksum_of_compaction(compacted)

    def add(self, checksum: int) -> None:
        self._changes += 1
        self._checksums = (self._checksums + checksum) & MASK

    def difference(self, changes: int, checksums: int) -> str:
        """Return what is wrong, empty if nothing is."""
        if self._changes != changes:
            return f"{changes} changes should be in it, {self._changes} are"
        if self._checksums != checksums:
            return "its changes do not add up to what was written"
        return ""


APPLICATION_ID: Final = 0x43454C41
"""`CELA` in ASCII, in the header of the file."""

CACHED_STATEMENTS: Final = 256
"""Python's default of 128 and then some: there is one statement for each size of a batch."""

OWNERSHIP: Final = "PRAGMA locking_mode = EXCLUSIVE"
"""First of all: one connection owns the file, and WAL needs no shared memory beside it."""

SHRINKS: Final = "PRAGMA auto_vacuum = INCREMENTAL"
"""Before anything is in the file: pages that are free can be given back to the disk."""

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
        # checksum. In `sums`, `changes` and `checksums` are over all rows.
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

KINDS: Final[dict[int, tuple[type[contract.FileError], str]]] = {
    sqlite3.SQLITE_BUSY: (contract.FileLocked, "it is in use by another process or store"),
    sqlite3.SQLITE_LOCKED: (contract.FileLocked, "it is in use by another process or store"),
    sqlite3.SQLITE_READONLY: (contract.FileReadOnly, "it is read-only"),
    sqlite3.SQLITE_FULL: (contract.DiskFull, "the disk or the quota is full"),
    sqlite3.SQLITE_NOTADB: (contract.NotAStore, "not a SQLite database"),
    sqlite3.SQLITE_CORRUPT: (FileDamaged, "it is damaged"),
}
"""By SQLite's primary result code. Others are FileUnavailable, in SQLite's words."""


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code == sqlite3.SQLITE_CANTOPEN:
            raise _not_opened(path) from error
        if code == sqlite3.SQLITE_IOERR and not os.access(path, os.W_OK):
            code = sqlite3.SQLITE_READONLY  # a file that cannot even be locked
        kind, text = KINDS.get(code, (contract.FileUnavailable, str(error)))
        raise kind(path, text) from error


def _not_opened(path: str) -> contract.FileError:
    """SQLite does not say why; look what could be the reason."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return contract.FileUnavailable(path, "its folder does not exist")
    if os.path.isdir(path):
        return contract.FileUnavailable(path, "it is a folder")
    if os.path.exists(path) and not os.access(path, os.R_OK):
        return contract.FileUnavailable(path, "permission denied")
    if os.path.exists(path) and not os.access(path, os.W_OK):
        return contract.FileReadOnly(path, "it is read-only")
    if not os.access(folder, os.W_OK | os.X_OK):
        return contract.FileReadOnly(path, "its folder is read-only")
    return contract.FileUnavailable(path, "it cannot be opened")


def connect(path: str) -> sqlite3.Connection:
    """Return a connection that owns the file, with the newest schema in it. It may be used by one
    thread at a time. Raises FileError, and then the file holds what it held before."""
    with suppress(OSError):  # SQLite says what is wrong; it gives the log beside the file its mode
        private_files.create(path)
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
    """Close the file without what SQLite does at the end: it takes over what it understands of the
    write-ahead log and removes it, with everything behind the place of a damage. It does not find
    the log under another name."""
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
    for setting in (SHRINKS, *SETTINGS) if version == 0 else SETTINGS:
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
    """Return the schema version in the file, after looking whether it is ours."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and (objects or version or application):
        raise contract.NotAStore(path, "the database of another application")
    if version > len(MIGRATIONS):
        raise contract.NewerSchema(
            path, f"its schema version is {version}, this Celadon knows up to {len(MIGRATIONS)}"
        )
    return int(version)


def _must_be_whole(path: str, connection: sqlite3.Connection, version: int) -> None:
    """Check as far as SQLite can tell: each page has its place, and tables are those of the
    version. What is in the rows is for checksums. Raises FileDamaged."""
    schema = connection.execute(SCHEMA).fetchall()
    if schema != _schema_of(MIGRATIONS[:version]):
        raise FileDamaged(path, f"it is damaged: its tables are not those of version {version}")
    ((verdict, *_),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    if verdict != "ok":
        raise FileDamaged(path, f"it is damaged: {verdict.splitlines()[-1]}")
    if version < FIRST_MARKED and (marked := read_mark(path)):
        raise FileDamaged(path, f"it is damaged: {without_log(path, 0, marked)}")


def without_log(path: str, revision: int, marked: int) -> str:
    """Return what is wrong with a file that ends before its mark."""
    return (
        f"it ends at revision {revision}, and {marked} was acknowledged: `{path}-wal` is damaged "
        "or missing"
    )


@lru_cache
def _schema_of(migrations: tuple[tuple[str, ...], ...]) -> list[tuple[str, str, str]]:
    """Return what migrations make of nothing, in SQLite's table of tables."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, migrations)
        return connection.execute(SCHEMA).fetchall()


# --- Copies ------------------------------------------------------------------
#
# Copies of a data file that are whole: made while a server writes, checked, put in its place.
#
# Nobody else can connect to a file that a store has open, so a copy is made of the files
# themselves. SQLite changes the file only by taking over what its write-ahead log has, and
# begins the log anew (with another header) only when all of it has been. So if the log that is
# read behind the file has the header that it had before, every page that has changed meanwhile
# is in it, and SQLite makes of both what it would make of them after a crash: the state of the
# last commit in the log.

ATTEMPTS: Final = 100
HEADER_BYTES: Final = 32
"""Of a write-ahead log: two numbers in it are others whenever it is begun anew."""

BLOCK: Final = 1 << 20


class FileExists(contract.FileError):
    """Nothing is written over."""


@dataclass(frozen=True, slots=True)
class DataReport:
    """Says what is in a data file, and what is wrong with it."""

    revision: int
    compacted: int
    entries: int
    changes: int
    findings: tuple[str, ...]


def check(path: str) -> DataReport:
    """Check a copy of a data file: a server may have the file open. Raises FileError for what is no
    data file."""
    with tempfile.TemporaryDirectory(prefix="celadon-") as folder:
        copy = os.path.join(folder, "copy.db")
        marked = _copy(path, copy)
        try:
            return _report(copy, marked)
        except contract.FileError as error:
            if not isinstance(error, FileDamaged):
                raise type(error)(path, error.message) from error
            return DataReport(0, 0, 0, 0, (error.message,))


def backup(path: str, target: str) -> DataReport:
    """Return a copy at `target`, which must not be there, with everything that was acknowledged
    before. It is there as a whole or not at all. Raises FileError."""
    if os.path.lexists(target):
        raise FileExists(target, "it is there already")
    with _draft(target) as draft:
        report = _copied(path, draft)
        _put_in_place(draft, target, force=False)
    return report


def restore(source: str, path: str, more_revisions: int, *, force: bool) -> DataReport:
    """Put a copy where a server looks for its data; `force`: also over data that is there. All
    revisions up to `more_revisions` beyond its own count as used, and as compacted. Raises
    FileError."""
    if os.path.lexists(path) and not force:
        raise FileExists(path, "it is there already")
    with _draft(path) as draft:
        report = _copied(source, draft)
        if more_revisions:
            _compact(draft, report, report.revision + more_revisions)
        if os.path.exists(path):
            _remove(path)
        _put_in_place(draft, path, force=force)
    return report


def _copied(source: str, draft: str) -> DataReport:
    """Copy a data file, and report what is in the copy. Raises FileError, which names the source,
    whatever is wrong with the copy."""
    revision = _copy(source, draft)
    try:
        report = _report(draft, revision)
    except contract.FileError as error:
        raise type(error)(source, error.message) from error
    if report.findings:
        raise FileDamaged(source, f"it is damaged: {report.findings[0]}")
    return report


@contextmanager
def _draft(target: str) -> Iterator[str]:
    """Give a path in a new folder beside it that nobody else may enter: where others may write,
    they could put a link, or a journal of SQLite's, in the way of what is made. Raises
    FileUnavailable."""
    folder = Path(f"{target}-draft")
    try:
        _clear(folder)  # of what an earlier copy has left
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)  # a umask may have taken even the owner's rights
    except OSError as error:
        raise contract.FileUnavailable(str(folder), error.strerror or str(error)) from error
    try:
        yield str(folder / "data.db")
    finally:
        _clear(folder)


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _unlink(*paths: str) -> None:
    for path in paths:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _copy(path: str, target: str) -> int:
    """Copy both files, as one state. Gives the revision up to which everything must be in it."""
    log = f"{path}-wal"
    for _ in range(ATTEMPTS):
        marked, header = read_mark(path), _header(log)
        try:
            _copy_file(path, target)
        except OSError as error:
            raise contract.FileUnavailable(path, error.strerror or str(error)) from error
        with suppress(FileNotFoundError):
            _copy_file(log, f"{target}-wal")
        if _header(log) == header == _header(f"{target}-wal"):
            return marked
        _unlink(f"{target}-wal")
    raise contract.FileLocked(path, "it is written faster than it can be copied")


def _copy_file(path: str, target: str) -> None:
    if not stat.S_ISREG(os.stat(path).st_mode):  # a device has no end, a pipe may never begin
        raise OSError("not a file")
    with open(path, "rb") as source:
        private_files.create(target)
        with open(target, "wb") as copied:
            shutil.copyfileobj(source, copied, BLOCK)


def _header(log: str) -> bytes | None:
    """Return None if there is no log."""
    try:
        with open(log, "rb") as file:
            return file.read(HEADER_BYTES)
    except FileNotFoundError:
        return None


def _report(copy: str, marked: int) -> DataReport:
    """Report what is in a copy that is nobody else's, whose log goes into it. Raises FileError."""
    with closing(connect(copy)) as connection, file_errors(copy):
        compacted, changes, checksums = read_sums(connection, copy)
        total, findings, revision = Sum(compacted), [], max(contract.FIRST_REVISION, compacted)
        created: dict[str, int] = {}
        for row in connection.execute("SELECT * FROM changes ORDER BY position"):
            position, key, began, value, _, checksum = row
            revision = max(revision, position // contract.MAX_OPERATIONS)
            total.add(checksum)
            if not is_as_written(*row):
                findings.append(
                    f"the change of `{key}` at revision {position // contract.MAX_OPERATIONS}"
                )
            elif value is None:
                created.pop(key, None)
            elif (
                began > position // contract.MAX_OPERATIONS
                or created.setdefault(key, began) != began
            ):
                findings.append(f"the order of the changes of `{key}`")
    if wrong := total.difference(changes, checksums):
        findings.append(wrong)
    if revision < marked:
        findings.append(f"it ends at revision {revision}, and {marked} was acknowledged")
    return DataReport(revision, compacted, len(created), changes, tuple(findings))


def _compact(path: str, report: DataReport, revision: int) -> None:
    """Write the file as if all that is there had been there at a revision, and nothing happened
    before."""
    difference = checksum_of_compaction(revision) - checksum_of_compaction(report.compacted)
    with closing(connect(path)) as connection, file_errors(path):
        connection.execute(
            f"UPDATE sums SET compacted = ?, checksums = (checksums + ?) & {MASK}",
            (revision, difference),
        )


def _remove(path: str) -> None:
    """Remove what a store has left, unless one has it open. The log goes before the file, so that
    it is never found beside another one."""
    try:
        connect(path).close()
    except contract.FileLocked:
        raise
    except contract.FileError:
        pass  # it is damaged, which may be why it is replaced
    _unlink(f"{path}-wal", mark_path(path))


def _put_in_place(draft: str, target: str, *, force: bool) -> None:
    """Put a file in its place: it is on the disk before it has its name. Without `force` nobody's
    file is written over, not even one that is there only now."""
    try:
        with open(draft, "rb+") as file:
            os.fsync(file.fileno())
        if force or not _has_links(draft):
            os.replace(draft, target)
        else:
            os.link(draft, target)
        folder = os.open(Path(target).parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except FileExistsError:
        raise FileExists(target, "it is there already") from None
    except OSError as error:
        raise contract.FileUnavailable(target, error.strerror or str(error)) from error


def _has_links(draft: str) -> bool:
    """Return whether a file of this file system may have two names."""
    trial = f"{draft}-name"
    try:
        os.link(draft, trial)
        os.unlink(trial)
    except OSError:
        return False
    return True
