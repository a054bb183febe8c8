"""A byte that changes by itself is noticed, or changes nothing: never another object."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from celadon.storage import contract, open_sqlite, put
from celadon.storage.sqlite_file import (
    DurableMark,
    FileDamaged,
    checksum_of_change,
    file_errors,
    is_as_written,
    mark_path,
    read_mark,
)
from tests.faults.flipped_bytes import FlippedBytes

FLIPS = int(os.environ.get("CELADON_FLIPS", "60"))


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


@pytest.mark.parametrize(
    "changed",
    [
        (385, "/a", 3, b"1", None),
        (384, "/b", 3, b"1", None),
        (384, "/a", 2, b"1", None),
        (384, "/a", 3, b"2", None),
        (384, "/a", 3, None, None),
        (384, "/a", 3, "1", None),
        (384, "/a", 3.0, b"1", None),
        (384, "/a", 3, b"1", 0),
        (384, None, 3, b"1", None),
    ],
)
def test_a_checksum_is_over_everything(changed: tuple[object, ...]) -> None:
    checksum = checksum_of_change(384, "/a", 3, b"1", None)
    assert is_as_written(384, "/a", 3, b"1", None, checksum)
    assert not is_as_written(*changed, checksum)  # type: ignore[call-arg, arg-type]  # as read from a file


@pytest.mark.thorough
def test_flipped_bytes_never_give_another_object(tmp_path: Path) -> None:
    results = FlippedBytes(tmp_path, seed=1).run(FLIPS)
    assert not {name for name, result in results if result == "another state"}
    assert sum(count for (_, result), count in results.items() if result == "FileDamaged") > 10


def _lose_a_change(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TRIGGER removed")
    connection.execute("DELETE FROM changes WHERE key = '/a'")


def _repeat_a_change(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE changes SET value = x'00' WHERE key = '/a'")


def _keep_less_history(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE sums SET compacted = 2")


def _keep_no_number(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE sums SET compacted = 'a'")


def _lose_the_sums(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM sums")


def _lose_a_count(connection: sqlite3.Connection) -> None:
    ((tables,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'sums'")
    for sql in (tables.replace("changes INTEGER NOT NULL", "changes INTEGER"), tables):
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'sums'", (sql,))
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute("UPDATE sums SET changes = NULL" if sql != tables else "SELECT 1")


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (_keep_no_number, "it is damaged: its sums are no numbers$"),
        (_lose_the_sums, "it is damaged: its sums are no numbers$"),
        (_lose_a_count, "it is damaged: NULL value in sums.changes$"),
        (_lose_a_change, "its tables are not those of version 3"),
        (_repeat_a_change, "the change of `/a` at revision 2"),
        (_keep_less_history, "its changes do not add up to what was written"),
    ],
)
def test_what_is_damaged_is_said(path: str, spoil: object, text: str) -> None:
    with open_sqlite(path) as store:
        for key in ("/a", "/b"):
            store.submit(put(key, b"1")).result()
    connection = sqlite3.connect(path)
    spoil(connection)  # type: ignore[operator]
    connection.commit()
    connection.close()
    with pytest.raises(FileDamaged, match=text):
        open_sqlite(path)


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        (sqlite3.SQLITE_BUSY, contract.FileLocked, "it is in use by another process or store"),
        (sqlite3.SQLITE_LOCKED, contract.FileLocked, "it is in use by another process or store"),
        (sqlite3.SQLITE_READONLY, contract.FileReadOnly, "it is read-only"),
        (sqlite3.SQLITE_FULL, contract.DiskFull, "the disk or the quota is full"),
        (sqlite3.SQLITE_NOTADB, contract.NotAStore, "not a SQLite database"),
        (sqlite3.SQLITE_CORRUPT, FileDamaged, "it is damaged"),
        (sqlite3.SQLITE_CORRUPT_VTAB, FileDamaged, "it is damaged"),
        (sqlite3.SQLITE_IOERR, contract.FileUnavailable, "in its words"),
    ],
)
def test_errors_of_sqlite_are_those_of_the_store(
    code: int, kind: type[contract.FileError], text: str, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    path.touch()
    error = sqlite3.DatabaseError("in its words")
    error.sqlite_errorcode = code
    with pytest.raises(kind) as raised, file_errors(str(path)):
        raise error
    assert (type(raised.value), str(raised.value)) == (kind, f"`{path}`: {text}")


def killed_store(path: str, folder: Path) -> Mapping[str, bytes]:
    """The files of a store that did not come to its end."""
    with open_sqlite(path) as store:
        for number in range(20):
            store.submit(put("/a", b"%d" % number)).result()
        return {one.name: one.read_bytes() for one in folder.iterdir()}


@pytest.mark.parametrize("lost", ["log", "header", "last frame"])
def test_a_log_that_ends_early_is_noticed_and_left_alone(
    path: str, tmp_path: Path, lost: str
) -> None:
    files = killed_store(path, tmp_path)
    log = bytearray(files["store.db-wal"])
    if lost == "header":
        log[20] ^= 1
    elif lost == "last frame":
        log[-10] ^= 1
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    Path(f"{path}-wal").write_bytes(b"" if lost == "log" else bytes(log))
    for _ in range(2):
        with pytest.raises(FileDamaged, match=r"was acknowledged: `.*-wal` is damaged or missing"):
            open_sqlite(path)
        assert Path(f"{path}-wal").read_bytes() == (b"" if lost == "log" else bytes(log))


def test_the_mark_goes_at_an_orderly_end(path: str) -> None:
    with open_sqlite(path) as store:
        assert read_mark(path) == 0
        store.submit(put("/a", b"")).result()
        assert read_mark(path) == 2
    assert not os.path.exists(mark_path(path))


@pytest.mark.parametrize("has_log", [False, True])
def test_the_mark_stays_beside_a_log(path: str, has_log: bool) -> None:
    """What the log has is not in the file yet; and whoever is closed says nothing any more."""
    mark = DurableMark(path)
    mark.say(7)
    if has_log:
        Path(f"{path}-wal").touch()
    for _ in range(2):
        mark.close()
        assert read_mark(path) == (7 if has_log else 0)
        assert os.path.exists(mark_path(path)) is has_log
        mark.say(8)


def test_where_no_mark_can_be_there_is_none(path: str) -> None:
    os.mkdir(mark_path(path))
    mark = DurableMark(path)
    mark.say(7)
    mark.close()
    assert read_mark(path) == 0


def test_a_mark_is_written_in_turn(path: str) -> None:
    """Over the older of two, so that the newer is whole if the power is lost meanwhile."""
    mark = DurableMark(path)
    for revision in range(1, 10):
        mark.say(revision)
        assert read_mark(path) == revision
        assert revision == 1 or b"%020d" % (revision - 1) in Path(mark_path(path)).read_bytes()
    mark.close()


def test_a_torn_mark_says_what_was_before(path: str) -> None:
    mark = DurableMark(path)
    mark.say(7)
    mark.say(8)
    assert read_mark(path) == 8
    content = bytearray(Path(mark_path(path)).read_bytes())
    content[3] ^= 1
    Path(mark_path(path)).write_bytes(content)
    assert read_mark(path) == 7
    mark.close()
