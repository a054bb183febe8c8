"""Copies of data files: whole, checked, never over what is there."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from celadon.storage import Compacted, delete, open_sqlite, put, sqlite_file
from celadon.storage.contract import MAX_OPERATIONS, FileLocked, FileUnavailable, NotAStore
from celadon.storage.sqlite_file import (
    DataReport,
    DurableMark,
    FileDamaged,
    FileExists,
    backup,
    check,
    checksum_of_change,
    restore,
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


def fill(path: str, count: int = 20) -> None:
    with open_sqlite(path) as store:
        for number in range(count):
            store.submit(put(f"/{number}", b"x" * 1000)).result()


def spoil(path: str) -> None:
    content = bytearray(Path(path).read_bytes())
    content[content.index(b"x" * 500) + 250] ^= 1
    Path(path).write_bytes(content)


def test_a_copy_of_a_store_that_is_written_has_what_was_acknowledged(
    path: str, tmp_path: Path
) -> None:
    done = threading.Event()
    with open_sqlite(path) as store:

        def write() -> None:
            number = 0
            while not done.is_set():
                number += 1
                store.submit(put(f"/{number % 50}", b"%d" % number * 300)).result()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(5):
                target = str(tmp_path / f"copy{number}.db")
                acknowledged = store.revision()
                report = backup(path, target)
                assert report.revision >= acknowledged
                with open_sqlite(target) as copy:
                    assert copy.revision() == report.revision
                    while store.revision() < report.revision:  # written, and not applied yet
                        pass
                    assert (
                        copy.range("").entries == store.range("", revision=copy.revision()).entries
                    )
        finally:
            done.set()
            writer.join()


@pytest.mark.parametrize("mask", [0, 0o777])
def test_all_files_are_their_owners(mask: int, path: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    Path(f"{target}-draft").touch(0o644)
    before = os.umask(mask)
    try:
        with open_sqlite(path) as store:
            store.submit(put("/a", b"x")).result()
            backup(path, str(target))
            restore(str(target), str(tmp_path / "other.db"), 0, force=False)
            modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    finally:
        os.umask(before)
    beside = {f"store.db{end}" for end in ("", "-wal", "-mark", "-reserve")}
    assert modes == dict.fromkeys({*beside, "copy.db", "other.db"}, 0o600)
    assert not [one for one in os.listdir(tmp_path) if "draft" in one]


def test_nothing_is_written_over(path: str, tmp_path: Path) -> None:
    fill(path)
    target = str(tmp_path / "copy.db")
    backup(path, target)
    with pytest.raises(FileExists, match="it is there already"):
        backup(path, target)
    with pytest.raises(FileExists, match="it is there already"):
        restore(target, path, 0, force=False)


def test_a_file_that_came_meanwhile_is_not_written_over(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path)
    target = tmp_path / "copy.db"

    def report(*arguments: object) -> sqlite_file.DataReport:
        target.write_text("somebody else's")
        return sqlite_file.DataReport(2, 0, 0, 0, ())

    monkeypatch.setattr(sqlite_file, "_report", report)
    with pytest.raises(FileExists, match="it is there already"):
        backup(path, str(target))
    with pytest.raises(FileExists, match="it is there already"):
        restore(path, str(target), 0, force=False)
    assert target.read_text() == "somebody else's"


@pytest.mark.parametrize("name", ["copy.db-draft", "copy.db"])
def test_links_are_not_followed(path: str, tmp_path: Path, name: str) -> None:
    fill(path)
    victim = tmp_path / "victim"
    (tmp_path / name).symlink_to(victim)
    if name == "copy.db":
        with pytest.raises(FileExists):
            backup(path, str(tmp_path / "copy.db"))
    else:
        victim.mkdir()
        (victim / "kept").touch()
        backup(path, str(tmp_path / "copy.db"))
        assert [one.name for one in victim.iterdir()] == ["kept"]
    assert name == "copy.db-draft" or not victim.exists()


def test_a_draft_is_made_where_nobody_else_can_put_anything(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal beside a file is played back into it by SQLite."""
    fill(path)
    modes = []
    real = sqlite_file._copy

    def copy(source: str, draft: str) -> int:
        folder = Path(draft).parent
        modes.append((stat.S_IMODE(folder.stat().st_mode), list(folder.iterdir())))
        return real(source, draft)

    monkeypatch.setattr(sqlite_file, "_copy", copy)
    Path(tmp_path / "copy.db-draft").mkdir()
    (tmp_path / "copy.db-draft" / "data.db-journal").touch()
    backup(path, str(tmp_path / "copy.db"))
    assert modes == [(0o700, [])]


def test_a_store_that_is_open_is_not_replaced(path: str, tmp_path: Path) -> None:
    fill(path)
    target = str(tmp_path / "copy.db")
    backup(path, target)
    with open_sqlite(path) as store:
        with pytest.raises(FileLocked):
            restore(target, path, 0, force=True)
        assert store.submit(put("/more", b"")).result().revision == 22


def test_a_restored_store_is_the_one_that_was_copied(path: str, tmp_path: Path) -> None:
    fill(path)
    target = str(tmp_path / "copy.db")
    backup(path, target)
    with open_sqlite(path) as store:
        entries = store.range("").entries
        store.submit(put("/later", b"")).result()
        log = Path(f"{path}-wal").read_bytes()
    spoil(path)
    Path(f"{path}-wal").write_bytes(log)  # as after a crash
    restore(target, path, 0, force=True)
    with open_sqlite(path) as store:
        assert (store.revision(), store.range("").entries) == (21, entries)


def test_revisions_can_go_on_later(path: str, tmp_path: Path) -> None:
    fill(path)
    target = str(tmp_path / "copy.db")
    backup(path, target)
    restore(target, path, 1000, force=True)
    with open_sqlite(path) as store:
        assert store.revision() == 1021
        assert len(store.range("").entries) == 20
        with pytest.raises(Compacted):
            store.watch("", 21)
        assert store.submit(put("/more", b"")).result().revision == 1022


def test_what_is_damaged_is_told_and_not_copied(path: str, tmp_path: Path) -> None:
    fill(path)
    assert check(path).findings == ()
    spoil(path)
    before = Path(path).read_bytes()
    (finding,) = check(path).findings
    assert finding.startswith("the change of `/")
    with pytest.raises(FileDamaged):
        backup(path, str(tmp_path / "copy.db"))
    with pytest.raises(FileDamaged):
        restore(path, str(tmp_path / "other.db"), 0, force=False)
    assert Path(path).read_bytes() == before
    assert not [one for one in os.listdir(tmp_path) if one.startswith(("copy", "other"))]


def test_each_says_what_is_in_the_file(path: str, tmp_path: Path) -> None:
    target, other = str(tmp_path / "copy.db"), str(tmp_path / "other.db")
    open_sqlite(path).close()
    assert check(path) == DataReport(1, 0, 0, 0, ())
    with open_sqlite(path) as store:
        for transaction in (put("/a", b""), put("/b", b""), put("/a", b""), delete("/b")):
            store.submit(transaction).result()
        store.submit(put("/c", b"")).result()
        store.compact(4).result()
    report = DataReport(revision=6, compacted=4, entries=2, changes=4, findings=())
    assert check(path) == report
    assert backup(path, target) == report
    assert restore(target, other, 0, force=False) == report
    assert check(other) == report
    assert restore(target, path, 1000, force=True) == report
    assert check(path) == DataReport(1006, 1006, 2, 4, ())


def _change(revision: int, key: str, created: int) -> tuple[str, tuple[object, ...]]:
    """What writes a change with a checksum that is right."""
    columns = revision * MAX_OPERATIONS, key, created, b"", None
    return "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)", (*columns, checksum_of_change(*columns))


@pytest.mark.parametrize(
    ("spoil", "revision", "findings"),
    [
        (_change(9, "/z", 9), 9, []),
        (_change(9, "/a", 2), 9, []),
        (_change(9, "/z", 10), 9, ["the order of the changes of `/z`"]),
        (_change(9, "/a", 8), 9, ["the order of the changes of `/a`"]),
        (
            ("UPDATE changes SET value = x'00' WHERE key = '/b'", ()),
            3,
            ["the change of `/b` at revision 3"],
        ),
        (
            ("UPDATE sums SET compacted = 2", ()),
            3,
            ["its changes do not add up to what was written"],
        ),
        (("UPDATE sums SET changes = 7", ()), 3, ["7 changes should be in it, 2 are"]),
        (("DROP TRIGGER added", ()), 0, ["it is damaged: its tables are not those of version 3"]),
    ],
)
def test_what_is_found_in_a_file(
    path: str, spoil: tuple[str, tuple[object, ...]], revision: int, findings: list[str]
) -> None:
    with open_sqlite(path) as store:
        for key in ("/a", "/b"):
            store.submit(put(key, b"1")).result()
    connection = sqlite3.connect(path)
    connection.execute(*spoil)
    connection.commit()
    connection.close()
    found = check(path)
    assert (found.revision, list(found.findings)) == (revision, findings)
    assert revision or found == DataReport(0, 0, 0, 0, tuple(findings))


@pytest.mark.parametrize("marked", [2, 3, 4])
def test_what_was_acknowledged_has_to_be_there(path: str, marked: int) -> None:
    with open_sqlite(path) as store:
        for key in ("/a", "/b"):
            store.submit(put(key, b"1")).result()
    DurableMark(path).say(marked)
    missing = ("it ends at revision 3, and 4 was acknowledged",) if marked > 3 else ()
    assert check(path).findings == missing


def test_a_copy_that_lacks_its_log_is_found_out(path: str, tmp_path: Path) -> None:
    with open_sqlite(path) as store:
        store.submit(put("/a", b"")).result()
        state = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    for name, content in state.items():
        (tmp_path / name).write_bytes(b"" if name.endswith("-wal") else content)
    assert any("was acknowledged" in one or "tables" in one for one in check(path).findings)


def test_what_is_no_data_file(path: str) -> None:
    with pytest.raises(FileUnavailable, match="No such file"):
        check(path)
    Path(path).write_bytes(b"x" * 5000)
    with pytest.raises(NotAStore, match="not a SQLite database") as caught:
        check(path)
    assert caught.value.path == path


@pytest.mark.parametrize("name", ["zero", "folder", "pipe"])
def test_what_is_no_file_is_not_copied(name: str, tmp_path: Path) -> None:
    """A device has no end, and a pipe may have no beginning."""
    source = tmp_path / name
    if name == "folder":
        source.mkdir()
    elif name == "pipe":
        os.mkfifo(source)
    else:
        source.symlink_to("/dev/zero")
    with pytest.raises(FileUnavailable, match="not a file"):
        check(str(source))


def test_what_is_no_store_is_named_as_it_was_given(tmp_path: Path) -> None:
    source = tmp_path / "junk.db"
    source.write_bytes(b"junk" * 5000)
    target = str(tmp_path / "other.db")
    with pytest.raises(NotAStore, match=f"^`{source}`: not a SQLite database$"):
        backup(str(source), target)
    with pytest.raises(NotAStore, match=f"^`{source}`: not a SQLite database$"):
        restore(str(source), target, 0, force=False)
    assert [one.name for one in tmp_path.iterdir()] == ["junk.db"]
