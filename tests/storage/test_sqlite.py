"""The store in a file: what it keeps, and everything that can be wrong with the file."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from celadon.storage import (
    Committed,
    Compacted,
    Condition,
    Delete,
    Entry,
    FileError,
    Put,
    Retention,
    Transaction,
    create,
    delete,
    open_sqlite,
    put,
    update,
)
from celadon.storage import sqlite_file as file_module
from celadon.storage.contract import (
    MAX_OPERATIONS,
    DiskFull,
    Event,
    FileDamaged,
    FileLocked,
    FileUnavailable,
    NewerSchema,
    NotAStore,
)
from celadon.storage.local_store import LocalStore
from celadon.storage.sqlite import COLUMNS, MAX_VARIABLES, DiskReserve, PageBound, SqliteJournal

KEEP_ALL = Retention(events=None, seconds=None)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


def rows(path: str) -> list[tuple[int, str, int | None, bytes | None]]:
    """The log of a store that is closed, positions as revisions."""
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT position, key, created, value FROM changes").fetchall()
    connection.close()
    return [(position // MAX_OPERATIONS, *rest) for position, *rest in found]


# What is kept


def test_everything_is_there_again(path: str) -> None:
    with open_sqlite(path) as store:
        for transaction in (
            create("/a", b"1"),
            update("/a", b"", 2),
            create("/b", b"\x00\xff"),
            Transaction((), (Put("/c\x00", b"c"), Delete("/b"), Put("/a", b"3"))),
        ):
            assert isinstance(store.submit(transaction).result(), Committed)
        events = store.watch("", 1).take()
        pages = [store.range("", revision=revision) for revision in range(1, 6)]
    with open_sqlite(path) as store:
        assert store.revision() == 5
        assert store.watch("", 1).take() == events
        assert [store.range("", revision=revision) for revision in range(1, 6)] == pages
        assert store.submit(put("/d", b"")).result().revision == 6


def test_revisions_are_never_used_again(path: str) -> None:
    with open_sqlite(path) as store:
        store.submit(put("/a", b"")).result()
        store.submit(delete("/a")).result()
        store.compact(3).result()
    assert rows(path) == []
    with open_sqlite(path) as store:
        assert store.revision() == 3
        with pytest.raises(Compacted):
            store.watch("", 2)
        assert store.submit(create("/a", b"")).result().revision == 4


def test_compaction_leaves_what_is_in_force_and_what_came_later(path: str) -> None:
    with open_sqlite(path) as store:
        for transaction in (
            put("/a", b"2"),
            put("/b", b"3"),
            put("/a", b"4"),
            delete("/b"),
            Transaction((), (Put("/c", b"6"), Put("/d", b"6"))),
            put("/a", b"7"),
            delete("/c"),
        ):
            store.submit(transaction).result()
        store.compact(6).result()
    assert rows(path) == [
        (4, "/a", 2, b"4"),
        (6, "/c", 6, b"6"),
        (6, "/d", 6, b"6"),
        (7, "/a", 2, b"7"),
        (8, "/c", None, None),
    ]
    with open_sqlite(path) as store:
        assert [event.previous for event in store.watch("", 6).take().events] == [
            Entry("/a", b"4", 2, 4),
            Entry("/c", b"6", 6, 6),
        ]
        store.compact(8).result()
    assert rows(path) == [(6, "/d", 6, b"6"), (7, "/a", 2, b"7")]


@pytest.mark.parametrize("reopened", [False, True])
def test_compaction_tells_the_changes_of_a_transaction_apart(path: str, reopened: bool) -> None:
    store = open_sqlite(path)
    store.submit(Transaction((), (Put("/a", b""), Put("/b", b""), Put("/c", b"")))).result()
    if reopened:
        store.close()
        store = open_sqlite(path)
    with store:
        store.submit(Transaction((Condition("/b", 2),), (Put("/b", b"new"),))).result()
        store.compact(3).result()
    assert [(revision, key) for revision, key, _, _ in rows(path)] == [
        (2, "/a"),
        (2, "/c"),
        (3, "/b"),
    ]


def test_compaction_keeps_the_file_small(path: str) -> None:
    with open_sqlite(path, Retention(events=100)) as store:
        for _ in range(30):
            for future in [store.submit(put("/a", bytes(10_000))) for _ in range(100)]:
                future.result()
    assert len(rows(path)) <= 1 + 110 + 100  # the last batch may have been of a hundred
    assert os.path.getsize(path) < 8_000_000  # of 30 MB that were written


def test_an_object_that_is_written_again_and_again_takes_the_room_of_a_few(path: str) -> None:
    with open_sqlite(path, Retention(events=2)) as store:
        for number in range(100):
            store.submit(put("/a", os.urandom(1_000_000) + bytes([number]))).result()
    assert len(rows(path)) <= 5
    assert os.path.getsize(path) < 12_000_000  # of 100 MB
    with open_sqlite(path) as store:
        (entry,) = store.range("").entries
        assert (len(entry.value), entry.value[-1]) == (1_000_001, 99)


_KILLED: Final = """
import os, signal, sys
from celadon.storage import Retention, open_sqlite, put
from celadon.storage import sqlite as module

path, place, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
calls = 0


def deadly(name):
    method = getattr(module.SqliteJournal, name)

    def wrapped(self, *given):
        global calls
        result = method(self, *given)
        calls += given[0] is module.FORGET if name == "_execute" else 1
        if calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(module.SqliteJournal, name, wrapped)


give_back = module.FreeRoom.give_back


def killed_giving_back(self):
    global calls
    give_back(self)
    calls += self.is_loose
    if calls == count:
        os.kill(os.getpid(), signal.SIGKILL)


if place == "given back":
    module.FreeRoom.give_back = killed_giving_back
else:
    deadly({"forgotten": "_execute", "compacted": "_execute_all"}[place])
store = open_sqlite(path, Retention(events=3, seconds=None))
store.submit(put("/kept", b"kept")).result()
for number in range(300):
    # Ten keys: what is in force is forgotten with what is not, if it is forgotten wrongly.
    store.submit(put(f"/{number % 10}", bytes(1_000_000 if number < 30 else 10))).result()
    print(number, flush=True)
"""


@pytest.mark.parametrize("place", ["forgotten", "compacted", "given back"])
@pytest.mark.parametrize("count", [1, 7])
def test_a_kill_amid_a_compaction_loses_nothing(path: str, place: str, count: int) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, path, place, str(count)],
        stdout=subprocess.PIPE,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    acknowledged = [int(line) for line in ended.stdout.split()]
    with open_sqlite(path) as store:
        assert store.revision() >= 2 + len(acknowledged)
        found = {entry.key: entry for entry in store.range("").entries}
        newest = {f"/{number % 10}": number for number in acknowledged}
        assert found.keys() >= {"/kept", *newest}
        for key, number in newest.items():
            assert found[key].mod_revision >= number + 3
        store.submit(put("/kept", b"more")).result()


def _filled_and_emptied(path: str, objects: int) -> LocalStore:
    """A store that held so many objects of 10 KB, and has forgotten them."""
    store = open_sqlite(path, Retention(events=10, seconds=None))
    for future in [store.submit(put(f"/{n}", os.urandom(10_000))) for n in range(objects)]:
        future.result()
    for future in [store.submit(delete(f"/{n}")) for n in range(objects)]:
        future.result()
    return store


def test_a_file_gives_back_what_it_does_not_need(path: str) -> None:
    with _filled_and_emptied(path, 2_000) as store:
        full = os.path.getsize(path)
        for _ in range(200):
            store.submit(put("/a", b"a")).result()
            store.submit(delete("/a")).result()
        assert full > 12_000_000  # 20 MB, of which some may have been given back by now
        assert os.path.getsize(path) < 8_000_000
        assert os.path.getsize(f"{path}-wal") < 10_000_000  # less than half of what was written
        store.submit(put("/b", b"b")).result()
    with open_sqlite(path) as store:
        assert [entry.value for entry in store.range("").entries] == [b"b"]


def test_an_older_file_is_written_anew_if_most_of_it_is_free(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "SHRINKS", "PRAGMA auto_vacuum = NONE")
    with _filled_and_emptied(path, 1_000) as store:
        for _ in range(30):
            store.submit(put("/a", b"a")).result()
    monkeypatch.undo()
    full = os.path.getsize(path)
    assert full > 10_000_000
    with open_sqlite(path) as store:
        assert [entry.value for entry in store.range("").entries] == [b"a"]
    assert os.path.getsize(path) < 1_000_000
    connection = file_module.connect(path)
    assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    connection.close()


def test_only_the_file_itself_stays(path: str, tmp_path: Path) -> None:
    with open_sqlite(path) as store:
        store.submit(put("/a", b"")).result()
        assert {one.name for one in tmp_path.iterdir()} == {
            "store.db",
            "store.db-wal",
            "store.db-mark",
            "store.db-reserve",
        }
    assert {one.name for one in tmp_path.iterdir()} == {"store.db", "store.db-reserve"}


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 2), ("locking_mode", "exclusive"), ("fullfsync", 1)],
)
def test_the_settings_that_promise_durability(path: str, pragma: str, value: object) -> None:
    connection = file_module.connect(path)
    assert connection.execute(f"PRAGMA {pragma}").fetchone() == (value,)
    connection.close()


# What can be wrong


def _is_open(path: str) -> bool:
    """Whether this process has it open, where the system says so."""
    links = Path("/proc/self/fd")
    for one in links.iterdir() if links.is_dir() else ():
        with suppress(OSError):
            if os.readlink(one) == path:
                return True
    return False


def test_locked_by_another_store(path: str) -> None:
    with open_sqlite(path) as store:
        with pytest.raises(FileLocked, match="in use by another process or store"):
            open_sqlite(path)
        assert store.submit(put("/a", b"")).result().revision == 2
    open_sqlite(path).close()


OTHER_PROCESS = """
import sys
from celadon.storage import open_sqlite
store = open_sqlite(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def test_locked_by_another_process(path: str) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", OTHER_PROCESS, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "open\n"
    with pytest.raises(FileLocked, match=r"store\.db`: it is in use") as caught:
        open_sqlite(path)
    assert caught.value.path == path
    other.kill()
    other.communicate()
    open_sqlite(path).close()  # a lock dies with its process


def _garbage(path: str) -> None:
    Path(path).write_bytes(b"apiVersion: v1\nkind: List\n" * 100)


def _another_application(path: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE users (name)")
    connection.close()


def _another_application_without_tables(path: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 7")
    connection.close()


def _newer(path: str) -> None:
    open_sqlite(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def _damaged(path: str) -> None:
    with open_sqlite(path) as store:
        for number in range(200):
            store.submit(put(f"/{number}", bytes(1000))).result()
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (os.path.getsize(path) - 8192))


def _cut_off(path: str) -> None:
    with open_sqlite(path) as store:
        for number in range(200):
            store.submit(put(f"/{number}", bytes(1000))).result()
    os.truncate(path, os.path.getsize(path) // 2 + 100)


def _binary(path: str) -> None:
    Path(path).write_bytes(bytes(range(256)) * 100)


@pytest.mark.parametrize(
    ("spoil", "kind", "text"),
    [
        (_binary, NotAStore, "not a SQLite database"),
        (_cut_off, FileDamaged, "it is damaged"),
        (_garbage, NotAStore, "not a SQLite database"),
        (_another_application, NotAStore, "the database of another application"),
        (_another_application_without_tables, NotAStore, "the database of another application"),
        (_newer, NewerSchema, "its schema version is 99, this Celadon knows up to 3"),
        (_damaged, FileDamaged, "it is damaged"),
        (os.mkdir, FileUnavailable, "it is a folder"),
    ],
)
def test_files_that_are_refused_and_left_alone(
    path: str, spoil: Callable[[str], object], kind: type[FileError], text: str
) -> None:
    spoil(path)
    before = None if os.path.isdir(path) else Path(path).read_bytes()
    with pytest.raises(kind) as caught:
        open_sqlite(path)
    assert str(caught.value).startswith(f"`{path}`: {text}")
    if before is not None:
        assert Path(path).read_bytes() == before
        assert not _is_open(path)  # by what has been raised


def test_an_empty_file_is_a_new_store(path: str) -> None:
    Path(path).touch()
    with open_sqlite(path) as store:
        assert store.revision() == 1


def test_the_folder_must_be_there(path: str) -> None:
    with pytest.raises(FileUnavailable, match="its folder does not exist"):
        open_sqlite(f"{path}/none/store.db")


READ_ONLY = """
import os, sys
from celadon.storage import FileError, open_sqlite
if os.getuid() == 0:
    os.setuid(65534)  # nothing is read-only for root
try:
    open_sqlite(sys.argv[1])
except FileError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "answer"),
    [
        (0o444, 0o777, "FileReadOnly `store.db`: it is read-only"),
        (0o666, 0o555, "FileReadOnly `store.db`: its folder is read-only"),
        (0o000, 0o777, "FileUnavailable `store.db`: permission denied"),
    ],
)
def test_read_only(path: str, file_mode: int, folder_mode: int, answer: str) -> None:
    open_sqlite(path).close()
    os.chmod(path, file_mode)
    folder = os.path.dirname(path)
    os.chmod(folder, folder_mode)
    # The folder is made current before rights are given up: those above it may not be open to all.
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, "store.db"],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    os.chmod(folder, 0o755)
    assert done.stdout.strip() == answer


def test_a_full_disk_fails_writes_and_nothing_else(path: str) -> None:
    quota = 1_000_000
    written: list[str] = []
    with open_sqlite(path, KEEP_ALL, max_bytes=quota) as store:
        watch = store.watch("/")
        with pytest.raises(DiskFull, match="the disk or the quota is full"):  # noqa: PT012
            for number in range(1000):
                store.submit(create(f"/{number:03}", bytes(10_000))).result()
                written.append(f"/{number:03}")
        assert 50 < len(written) < 100
        before = store.revision()
        assert before == 1 + len(written)
        with pytest.raises(DiskFull):
            store.submit(create("/more", bytes(10_000))).result()
        assert store.get("/more") is None
        assert [event.key for event in watch.take().events] == written
        assert store.submit(delete("/000")).result().revision == before + 1
        store.compact(before + 1).result()  # makes room
        assert store.submit(create("/more", bytes(5_000))).result().revision == before + 2
    with open_sqlite(path, KEEP_ALL) as store:
        assert [one.key for one in store.range("").entries] == [*written[1:], "/more"]
        assert store.revision() == before + 2
    assert os.path.getsize(path) <= quota


def test_a_full_disk_leaves_no_compaction_half_done(path: str) -> None:
    """Without history, each write forgets what was before, in the same transaction."""
    with open_sqlite(path, Retention(events=0), max_bytes=100_000) as store:
        for key in ("/a", "/b", "/a"):
            store.submit(put(key, bytes(10_000))).result()
        for _ in range(2):
            with pytest.raises(DiskFull):
                store.submit(put("/a", bytes(200_000))).result()
            assert store.get("/a") == Entry("/a", bytes(10_000), 2, 4)
            with pytest.raises(Compacted):
                store.get("/a", 2)
            assert store.get("/a", 3) == Entry("/a", bytes(10_000), 2, 2)
        assert store.submit(put("/c", b"")).result().revision == 5
    assert [(revision, key) for revision, key, _, _ in rows(path)] == [
        (3, "/b"),
        (4, "/a"),
        (5, "/c"),
    ]


@pytest.mark.parametrize("count", [1, MAX_VARIABLES // COLUMNS, MAX_VARIABLES // COLUMNS + 1, 999])
def test_a_large_batch_keeps_to_the_variables_of_any_sqlite(
    path: str, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Each row has several variables, and an older SQLite takes few in one statement."""
    connect = sqlite3.connect

    def limited(*args: object, **options: object) -> sqlite3.Connection:
        connection = connect(*args, **options)  # type: ignore[call-overload]
        connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, MAX_VARIABLES)
        return connection  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", limited)
    entries = [Entry(f"/{number:04}", b"x", number + 2, number + 2) for number in range(count)]
    events = [Event(one.mod_revision, one.key, one, None) for one in entries]
    places = [(one.mod_revision, one.key) for one in entries]
    journal = SqliteJournal(path, None)
    journal.load()
    journal.append(events, 0, ())  # as one statement, where it has few rows
    journal.close()
    assert len(rows(path)) == count
    journal = SqliteJournal(path, None)
    journal.load()
    changed = [replace(one, revision=one.revision + count) for one in events]
    journal.append(changed, 1, places)  # with a compaction
    journal.close()
    assert [revision for revision, *_ in rows(path)] == [one.revision for one in changed]


def test_what_is_not_bytes_is_not_submitted() -> None:
    with pytest.raises(TypeError, match="a value is not bytes"):
        put("/a", [])  # type: ignore[arg-type]  # that is the point


def _mount(folder: Path) -> bool:
    """Whether a small file system is there now."""
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    if not _mount(folder):
        pytest.skip("mounting a small file system is not allowed here")
    try:
        path, ballast = str(folder / "store.db"), folder / "ballast"
        ballast.write_bytes(bytes(300_000))
        with open_sqlite(path) as store:
            written = 0
            with pytest.raises(DiskFull):  # noqa: PT012
                while True:
                    store.submit(put(f"/{written}", bytes(10_000))).result()
                    written += 1
            assert 10 < written < 100
            assert len(store.range("").entries) == written
            ballast.unlink()
            assert store.submit(put("/more", bytes(10_000))).result().revision == written + 2
        with open_sqlite(path) as store:
            assert len(store.range("").entries) == written + 1
    finally:
        subprocess.run(["umount", str(folder)], check=True)


# Schema versions

FIRST_SCHEMA = """
PRAGMA application_id = 0x43454C41;
PRAGMA user_version = 1;
CREATE TABLE log (position INTEGER PRIMARY KEY, key TEXT NOT NULL, created INTEGER, value BLOB);
CREATE TABLE state (compacted INTEGER NOT NULL);
INSERT INTO state VALUES (4);
INSERT INTO log VALUES (3 * 128 + 1, '/a', 2, x'61');
INSERT INTO log VALUES (5 * 128, '/b', 5, x'62');
"""


def _first_schema(path: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(FIRST_SCHEMA)
    connection.close()


def test_files_of_the_first_schema_can_be_read(path: str) -> None:
    _first_schema(path)
    with open_sqlite(path) as store:
        assert store.range("").entries == (Entry("/a", b"a", 2, 3), Entry("/b", b"b", 5, 5))
        assert store.revision() == 5
        assert [event.key for event in store.watch("", 4).take().events] == ["/b"]


def test_older_files_are_migrated(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _first_schema(path)
    another = ("DELETE FROM changes WHERE key = '/b'",)
    monkeypatch.setattr(file_module, "MIGRATIONS", (*file_module.MIGRATIONS, another))
    for _ in range(2):
        with open_sqlite(path) as store:
            assert [entry.value for entry in store.range("").entries] == [b"a"]
    monkeypatch.undo()
    with pytest.raises(NewerSchema, match="its schema version is 4, this Celadon knows up to 3"):
        open_sqlite(path)


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _first_schema(path)
    broken = ("DELETE FROM changes", "DELETE FROM missing")
    monkeypatch.setattr(file_module, "MIGRATIONS", (*file_module.MIGRATIONS, broken))
    with pytest.raises(FileUnavailable, match="no such table: missing"):
        open_sqlite(path)
    monkeypatch.undo()
    with open_sqlite(path) as store:
        assert len(store.range("").entries) == 2


# Room on the disk


@pytest.mark.parametrize(
    ("disk", "size", "pages"),
    [
        (1 << 40, 2 << 20, 128),
        (16 << 20, 2 << 20, 128),
        (8 << 20, 1 << 20, 64),
        (1 << 20, 1 << 17, 16),
        (0, 1, 16),
    ],
)
def test_a_reserve_is_a_share_of_the_disk(
    path: str, disk: int, size: int, pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the log may wait for so many pages: they find room where the reserve was."""
    about = SimpleNamespace(f_blocks=disk >> 9, f_frsize=1 << 9)
    monkeypatch.setattr(os, "statvfs", lambda folder: about)
    reserve = DiskReserve(path)
    assert (os.path.getsize(f"{path}-reserve"), reserve.pages_in_log) == (size, pages)


def _no_room(*arguments: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_what_a_full_disk_takes(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deletions, and then what finds room where the deleted was; also if it is opened anew."""
    with open_sqlite(path, KEEP_ALL, max_bytes=1_000_000) as store:
        for key in ("/a", "/b"):
            store.submit(put(key, bytes(100_000))).result()
        monkeypatch.setattr(os, "posix_fallocate", _no_room)
        for size in (2_000_000, 100_000, 10_000):
            with pytest.raises(DiskFull):
                store.submit(put("/c", bytes(size))).result()
        assert os.path.getsize(f"{path}-reserve") == 0
        with pytest.raises(DiskFull):
            store.submit(Transaction((), (Delete("/b"), Put("/c", bytes(10_000))))).result()
        assert isinstance(store.submit(delete("/a")).result(), Committed)
        assert isinstance(store.submit(put("/d", bytes(10_000))).result(), Committed)
    journal = SqliteJournal(path, 1_000_000)
    assert (journal.trouble(), journal.is_short_of_room) == ("the disk or the quota is full", True)
    journal.close()
    monkeypatch.undo()
    with open_sqlite(path, KEEP_ALL, max_bytes=1_000_000) as store:
        assert [one.key for one in store.range("").entries] == ["/b", "/d"]
    journal = SqliteJournal(path, 1_000_000)
    assert (journal.trouble(), journal.is_short_of_room) == ("", False)
    journal.close()


def test_a_disk_has_room_again(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_sqlite(path, KEEP_ALL, max_bytes=1_000_000) as store:
        monkeypatch.setattr(os, "posix_fallocate", _no_room)
        with pytest.raises(DiskFull):
            store.submit(put("/a", bytes(2_000_000))).result()
        monkeypatch.undo()
        assert isinstance(store.submit(put("/a", bytes(200_000))).result(), Committed)
        assert os.path.getsize(f"{path}-reserve") > 0


@pytest.mark.parametrize(
    ("number", "is_full"),
    [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EIO, False), (None, False)],
)
@pytest.mark.parametrize("step", ["open", "posix_fallocate"])
def test_a_disk_is_full_if_a_page_more_finds_no_room(
    path: str, step: str, number: int | None, is_full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve = DiskReserve(path)
    usual = getattr(os, step)

    def refused(*arguments: Any) -> Any:
        if number is not None:
            raise OSError(number, "refused")
        return usual(*arguments)

    monkeypatch.setattr(os, step, refused)
    assert reserve.is_disk_full() is is_full
    monkeypatch.undo()
    assert step == "open" or not os.path.exists(f"{path}-trial")


def test_a_bound_of_pages_may_be_moved_up_to_the_quota() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (v)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()

        def most() -> int:
            (found,) = connection.execute("PRAGMA max_page_count").fetchone()
            return int(found)

        bound = PageBound(connection, (pages + 10) * size)
        assert most() == pages + 10
        bound.allow(4)
        assert most() == pages + 4
        bound.allow(0)
        assert most() == pages
        bound.allow(40)
        assert most() == pages + 10
        bound.allow(1)
        bound.open()
        assert most() == pages + 10
