"""`celadon data`: what it says, and its exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.storage import open_sqlite, put
from tests.cli.files import run


@pytest.fixture
def path(tmp_path: Path) -> str:
    made = str(tmp_path / "cluster.db")
    with open_sqlite(made) as store:
        store.submit(put("/a", b"x" * 1000)).result()
    return made


def test_a_file_is_checked_copied_and_put_back(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = str(tmp_path / "copy.db")
    told = "revision 2, 1 objects, 1 changes, history since revision 0\n"
    assert run(capsys, "data", "check", path) == (0, f"{path}: {told}", "")
    assert run(capsys, "data", "backup", path, copy) == (0, f"{copy}: {told}", "")
    code, _, err = run(capsys, "data", "restore", copy, path)
    assert (code, err) == (2, f"error: `{path}`: it is there already: see `--force`\n")
    assert run(capsys, "data", "restore", copy, path, "--force") == (0, f"{path}: {told}", "")


def test_damage_is_told(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    content = bytearray(Path(path).read_bytes())
    content[content.index(b"x" * 500)] ^= 1
    Path(path).write_bytes(content)
    code, out, err = run(capsys, "data", "check", path)
    assert (code, out, err) == (1, "", "damaged: the change of `/a` at revision 2\n")
    code, _, err = run(capsys, "data", "backup", path, f"{path}.copy")
    assert (code, err) == (
        1,
        f"error: `{path}`: it is damaged: the change of `/a` at revision 2\n",
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["check", "https://127.0.0.1:2379"], "`etcdctl snapshot save`"),
        (["backup", "http://a,http://b", "copy"], "`etcdutl snapshot restore`"),
        (["backup", "a.db"], "`backup` needs a file and a target"),
        (["check", "a.db", "b.db"], "`check` takes one file"),
        (["check", "a.db", "--force"], "are for `restore`"),
        (["check", "missing.db"], "`missing.db`: No such file or directory"),
    ],
)
def test_what_cannot_be_done(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "data", *words)
    assert (code, out) == (2, "")
    assert text in err
