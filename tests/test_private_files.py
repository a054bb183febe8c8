"""Files with secrets are for their owner, whatever the umask, and others are pointed out; what is
replaced keeps what it has."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from celadon import private_files
from celadon.apiserver.audit import METADATA_FOR_ALL, AuditLog
from celadon.apiserver.http import CredentialsFolder
from celadon.cli.audit.audit_report import Findings
from celadon.cli.audit.fleet_parts import KeptResults
from celadon.storage import open_sqlite
from celadon.webhook.service import DecisionLogSettings
from celadon.webhook.service.decision_log import DecisionLog
from tests.cli.files import full_disk


def made_by_store(folder: Path) -> None:
    with contextlib.closing(open_sqlite(str(folder / "cluster.db"))):
        assert {"cluster.db", "cluster.db-wal"} < {one.name for one in folder.iterdir()}
        assert modes(folder) == {0o600}


def made_by_credentials(folder: Path) -> None:
    CredentialsFolder(folder / "keys").administrator_token()


def made_by_audit_log(folder: Path) -> None:
    with AuditLog(folder / "audit.log", METADATA_FOR_ALL) as log:
        log.write({"a": 1})


def made_by_decision_log(folder: Path) -> None:
    DecisionLog(DecisionLogSettings(folder / "d.log", 1, False), lambda: 0, lambda: 0).close()


def made_by_audit(folder: Path) -> None:
    KeptResults(str(folder / "state")).keep("k", Findings())


def made_by_write(folder: Path) -> None:
    private_files.write(folder / "admin.kubeconfig", b"secret")


MAKERS = [
    made_by_store,
    made_by_credentials,
    made_by_audit_log,
    made_by_decision_log,
    made_by_audit,
    made_by_write,
]


def modes(folder: Path, *, of_folders: bool = False) -> set[int]:
    found = [one for one in folder.rglob("*") if one.is_dir() == of_folders]
    return {stat.S_IMODE(one.stat().st_mode) for one in found}


@contextlib.contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0, 0o022, 0o777])
@pytest.mark.parametrize("make", MAKERS)
def test_what_is_made_is_for_its_owner(
    make: Callable[[Path], None], mask: int, tmp_path: Path
) -> None:
    with umask(mask):
        make(tmp_path)
    assert modes(tmp_path) == {0o600}
    assert modes(tmp_path, of_folders=True) <= {0o700}


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"theirs")
    names = [f".mine.{os.getpid()}", "mine"]
    for name in names:
        (tmp_path / name).symlink_to("other")
    private_files.write(tmp_path / "mine", b"secret")
    assert (tmp_path / "other").read_bytes() == b"theirs"
    assert not (tmp_path / "mine").is_symlink()
    assert not (tmp_path / names[0]).exists()


def test_what_is_appended_to_stays_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a")
    path.chmod(0o640)
    descriptor = private_files.open_to_append(path)
    os.write(descriptor, b"b")
    os.close(descriptor)
    private_files.create(path)
    assert (path.read_bytes(), modes(tmp_path)) == (b"ab", {0o640})
    (tmp_path / "link").symlink_to("nothing")
    with pytest.raises(FileNotFoundError):
        private_files.open_to_append(tmp_path / "link")


@pytest.mark.parametrize(
    ("folder", "file", "told"),
    [
        (0o700, 0o600, []),
        (0o755, 0o400, []),
        (0o755, 0o640, ["`{file}` can be read by others: chmod 600 {file}"]),
        (0o755, 0o622, ["`{file}` can be changed by others: chmod 600 {file}"]),
        (0o775, 0o600, ["`{folder}` can be changed by others: chmod go-w {folder}"]),
        (0o1777, 0o600, []),
        (0o700, None, []),
    ],
)
def test_what_others_can_do_is_said(
    folder: int, file: int | None, told: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "f"
    if file is not None:
        path.touch()
        path.chmod(file)
    tmp_path.chmod(folder)
    expected = [one.format(file=path, folder=tmp_path) for one in told]
    assert list(private_files.exposures([path, None, path])) == expected


def test_what_belongs_to_others_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    path.touch(0o600)
    tmp_path.chmod(0o700)
    assert list(private_files.exposures([path])) == []
    real = Path.stat

    def stat_of_others(self: Path, **more: bool) -> os.stat_result:
        found = list(real(self, **more))
        found[4] = 12345
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", stat_of_others)
    said = "belongs to another user, who may change it: chown"
    user = os.geteuid()
    assert list(private_files.exposures([path])) == [
        f"`{one}` {said} {user} {one}" for one in (path, tmp_path)
    ]


def test_what_has_no_end_is_not_read_to_it(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"secret\r\n")
    assert private_files.content(key) == b"secret\r\n"
    with key.open("wb") as stream:
        stream.truncate((64 << 20) + 1)
    with pytest.raises(OSError, match="too large"):
        private_files.content(key)


def test_a_disk_that_is_full_leaves_a_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a" * 10_000)
    with full_disk(5_000), pytest.raises(OSError, match=r"a\.yaml"):
        private_files.replace_content(path, b"b" * 10_000)
    assert path.read_bytes() == b"a" * 10_000
    assert os.listdir(tmp_path) == ["a.yaml"]


@pytest.mark.skipif(sys.platform == "win32", reason="no links and modes there")
def test_new_content_keeps_modes_and_links(tmp_path: Path) -> None:
    file, link, other = (tmp_path / name for name in ("file", "link", "other"))
    file.write_bytes(b"a")
    file.chmod(0o640)
    link.symlink_to(file)
    private_files.replace_content(link, b"b")
    assert (link.is_symlink(), file.read_bytes()) == (True, b"b")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    other.hardlink_to(file)
    private_files.replace_content(file, b"c")
    assert other.read_bytes() == b"c"
