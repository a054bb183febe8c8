"""What a store has on the disk: one SQLite file, checksums in it, a mark and a reserve beside it.

`sqlite_file` opens it and tells, by checksums of rows and a mark, whether it is as it was written.
This module makes and checks copies, which are backups.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from celadon import owner_only
from celadon.records import dataclass
from celadon.storage.contract import (
    FIRST_REVISION,
    MAX_OPERATIONS,
    FileDamaged,
    FileError,
    FileLocked,
    FileUnavailable,
)
from celadon.storage.sqlite_file import (
    MASK,
    Sum,
    checksum_of_compaction,
    connect,
    file_errors,
    is_as_written,
    mark_path,
    read_mark,
)

__all__ = ["DataReport", "FileDamaged", "FileExists", "backup", "check", "restore"]


# --- Data copies -------------------------------------------------------------
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


class FileExists(FileError):
    """Nothing is written over."""


@dataclass(frozen=True, slots=True)
class DataReport:
    """What is in a data file, and what is wrong with it."""

    revision: int
    compacted: int
    entries: int
    changes: int
    findings: tuple[str, ...]


def check(path: str) -> DataReport:
    """Of a copy: a server may have the file open. Raises FileError for what is no data file."""
    with tempfile.TemporaryDirectory(prefix="celadon-") as folder:
        copy = os.path.join(folder, "copy.db")
        marked = _copy(path, copy)
        try:
            return _report(copy, marked)
        except FileError as error:
            if not isinstance(error, FileDamaged):
                raise type(error)(path, error.message) from error
            return DataReport(0, 0, 0, 0, (error.message,))


def backup(path: str, target: str) -> DataReport:
    """A copy at `target`, which must not be there, with everything that was acknowledged before.
    It is there as a whole or not at all. Raises FileError."""
    if os.path.lexists(target):
        raise FileExists(target, "it is there already")
    with _draft(target) as draft:
        report = _report(draft, _copy(path, draft))
        if report.findings:
            raise FileDamaged(path, f"it is damaged: {report.findings[0]}")
        _put_in_place(draft, target, force=False)
    return report


def restore(source: str, path: str, more_revisions: int, *, force: bool) -> DataReport:
    """Put a copy where a server looks for its data; `force`: also over data that is there. All
    revisions up to `more_revisions` beyond its own count as used, and as compacted. Raises
    FileError."""
    if os.path.lexists(path) and not force:
        raise FileExists(path, "it is there already")
    with _draft(path) as draft:
        report = _report(draft, _copy(source, draft))
        if report.findings:
            raise FileDamaged(source, f"it is damaged: {report.findings[0]}")
        if more_revisions:
            _compact(draft, report, report.revision + more_revisions)
        if os.path.exists(path):
            _remove(path)
        _put_in_place(draft, path, force=force)
    return report


@contextmanager
def _draft(target: str) -> Iterator[str]:
    """A path in a new folder beside it that nobody else may enter: where others may write, they
    could put a link, or a journal of SQLite's, in the way of what is made. Raises
    FileUnavailable."""
    folder = Path(f"{target}-draft")
    try:
        _clear(folder)  # of what an earlier copy has left
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)  # a umask may have taken even the owner's rights
    except OSError as error:
        raise FileUnavailable(str(folder), error.strerror or str(error)) from error
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
    """Both files, as one state. Gives the revision up to which everything must be in it."""
    log = f"{path}-wal"
    for _ in range(ATTEMPTS):
        marked, header = read_mark(path), _header(log)
        try:
            _copy_file(path, target)
        except OSError as error:
            raise FileUnavailable(path, error.strerror or str(error)) from error
        with suppress(FileNotFoundError):
            _copy_file(log, f"{target}-wal")
        if _header(log) == header == _header(f"{target}-wal"):
            return marked
        _unlink(f"{target}-wal")
    raise FileLocked(path, "it is written faster than it can be copied")


def _copy_file(path: str, target: str) -> None:
    with open(path, "rb") as source:
        owner_only.create(target)
        with open(target, "wb") as copied:
            shutil.copyfileobj(source, copied, BLOCK)


def _header(log: str) -> bytes:
    """Empty if there is no log."""
    try:
        with open(log, "rb") as file:
            return file.read(HEADER_BYTES)
    except FileNotFoundError:
        return b""


def _report(copy: str, marked: int) -> DataReport:
    """Of a copy that is nobody else's, whose log goes into it. Raises FileError."""
    with closing(connect(copy)) as connection, file_errors(copy):
        compacted, changes, checksums = connection.execute(
            "SELECT compacted, changes, checksums FROM sums"
        ).fetchone()
        total, findings, revision = Sum(compacted), [], max(FIRST_REVISION, compacted)
        created: dict[str, int] = {}
        for row in connection.execute("SELECT * FROM changes ORDER BY position"):
            position, key, began, value, _, checksum = row
            revision = max(revision, position // MAX_OPERATIONS)
            total.add(checksum)
            if not is_as_written(*row):
                findings.append(f"the change of `{key}` at revision {position // MAX_OPERATIONS}")
            elif value is None:
                created.pop(key, None)
            elif began > position // MAX_OPERATIONS or created.setdefault(key, began) != began:
                findings.append(f"the order of the changes of `{key}`")
    if wrong := total.difference(changes, checksums):
        findings.append(wrong)
    if revision < marked:
        findings.append(f"it ends at revision {revision}, and {marked} was acknowledged")
    return DataReport(revision, compacted, len(created), changes, tuple(findings))


def _compact(path: str, report: DataReport, revision: int) -> None:
    """As if all that is there had been there at a revision, and nothing happened before."""
    difference = checksum_of_compaction(revision) - checksum_of_compaction(report.compacted)
    with closing(connect(path)) as connection, file_errors(path):
        connection.execute(
            f"UPDATE sums SET compacted = ?, checksums = (checksums + ?) & {MASK}",
            (revision, difference),
        )


def _remove(path: str) -> None:
    """What a store has left; not if one has it open. The log goes before the file, so that it is
    never found beside another one."""
    try:
        connect(path).close()
    except FileLocked:
        raise
    except FileError:
        pass  # it is damaged, which may be why it is replaced
    _unlink(f"{path}-wal", mark_path(path))


def _put_in_place(draft: str, target: str, *, force: bool) -> None:
    """On the disk before it has its name. Without `force` nobody's file is written over, not even
    one that is there only now."""
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
        raise FileUnavailable(target, error.strerror or str(error)) from error


def _has_links(draft: str) -> bool:
    """Whether a file of this file system may have two names."""
    trial = f"{draft}-name"
    try:
        os.link(draft, trial)
        os.unlink(trial)
    except OSError:
        return False
    return True
