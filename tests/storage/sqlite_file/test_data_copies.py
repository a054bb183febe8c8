"""Copies of data files: whole, checked, never over what is there."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from celadon.storage import Compacted, open_sqlite, put, sqlite_file
from celadon.storage.contract import FileLocked, FileUnavailable, NotAStore
from celadon.storage.sqlite_file import FileDamaged, FileExists, backup, check, restore


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
