"""Folders of programs: made whole, kept, made anew, taken away."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from celadon.cli.envtest import asset_folders
from celadon.cli.envtest.asset_folders import (
    LONGEST_FIRST_LINE,
    AssetError,
    AssetVersion,
    default_root,
    first_lines,
    holds_programs,
    installed_folders,
    launcher_of,
    make_folder,
    parse_selector,
    remove_folders,
    this_platform,
    windows_program,
)

VERSION = AssetVersion(1, 33, 4)
ALL = parse_selector("")


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    path = make_folder(tmp_path, VERSION)
    assert path == tmp_path / "k8s" / f"1.33.4-{'-'.join(this_platform())}"
    assert holds_programs(path)
    assert "1.33" in (path / "kube-apiserver").read_text()
    before = path.stat().st_ino
    assert make_folder(tmp_path, VERSION).stat().st_ino == before
    assert make_folder(tmp_path, VERSION, anew=True).stat().st_ino != before
    assert [one.name for one in (tmp_path / "k8s").iterdir()] == [path.name]  # nothing left over


def test_a_folder_of_another_celadon_is_made_anew(tmp_path: Path) -> None:
    path = make_folder(tmp_path, VERSION)
    (path / "celadon.json").write_text("{}")
    (path / "etcd").unlink()
    assert (make_folder(tmp_path, VERSION) / "etcd").is_file()
    assert json.loads((path / "celadon.json").read_text())["python"] == sys.executable


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "k8s" / f"1.33.4-{'-'.join(this_platform())}"
    path.mkdir(parents=True)
    (path / "etcd").write_text("theirs")
    with pytest.raises(AssetError, match="was not made by Celadon"):
        make_folder(tmp_path, VERSION)
    folders = installed_folders(tmp_path, ALL)
    assert [one.is_own for one in folders] == [False]
    assert list(remove_folders(folders)) == []
    assert (path / "etcd").read_text() == "theirs"


def test_what_is_installed_newest_first(tmp_path: Path) -> None:
    for minor in (9, 31, 30):
        make_folder(tmp_path, AssetVersion(1, minor, 0))
    assert [one.version.minor for one in installed_folders(tmp_path, ALL)] == [31, 30, 9]
    gone = remove_folders(installed_folders(tmp_path, parse_selector("<1.31")))
    assert [one.version.minor for one in gone] == [30, 9]
    assert [one.version.minor for one in installed_folders(tmp_path, ALL)] == [31]


def test_somebody_else_is_quicker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = asset_folders._fill

    def late(folder: Path, version: AssetVersion, marker: str) -> None:
        monkeypatch.setattr(asset_folders, "_fill", fill)
        make_folder(tmp_path, version)
        fill(folder, version, marker)

    monkeypatch.setattr(asset_folders, "_fill", late)
    assert holds_programs(make_folder(tmp_path, VERSION))
    assert len(list((tmp_path / "k8s").iterdir())) == 1


def test_the_default_root_has_the_version_in_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    root = default_root({"XDG_CACHE_HOME": "/c"})
    assert root.parent == Path("/c/celadon/envtest")
    assert root.name.startswith("0.")
    monkeypatch.setattr("platform.system", lambda: "Windows")
    assert default_root({"LOCALAPPDATA": "/l"}).parent == Path("/l/celadon/envtest")
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert "Caches" in default_root({}).parts


def test_the_python_of_a_program(tmp_path: Path) -> None:
    assert first_lines("/usr/bin/python", "-S") == "#!/usr/bin/python -S\n"
    python = tmp_path / "a folder with $HOME in it" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    lines = first_lines(str(python), "-IS")
    program = tmp_path / "program"
    program.write_text(f"{lines}\nimport sys\nsys.stdout.write(repr(sys.argv[1:]))\n")
    program.chmod(0o755)
    done = subprocess.run([program, "a b", "'"], capture_output=True, text=True, check=True)
    assert ast.literal_eval(done.stdout) == ["a b", "'"]


@pytest.mark.parametrize(
    ("python", "options", "lines"),
    [
        ("/p", "", "#!/p\n"),
        (f"/{'p' * (LONGEST_FIRST_LINE - 6)}", "-S", f"#!/{'p' * (LONGEST_FIRST_LINE - 6)} -S\n"),
        ("/a p", "", "#!/bin/sh\n'''exec' \"/a p\" \"$0\" \"$@\"\n' '''\n"),
        (
            "/a \"$`\\X' p",
            "-S",
            "#!/bin/sh\n'''exec' \"/a \\\"\\$\\`\\\\X' p\" -S \"$0\" \"$@\"\n' '''\n",
        ),
    ],
)
def test_first_lines(python: str, options: str, lines: str) -> None:
    assert first_lines(python, options) == lines


def test_a_python_whose_path_is_too_long_is_begun_by_the_shell() -> None:
    python = "/" + "p" * (LONGEST_FIRST_LINE - 5)
    assert first_lines(python, "-S").startswith("#!/bin/sh\n")


def test_programs_for_windows() -> None:
    """What pip installs is the launcher, a line that names Python, and an archive."""
    installed = windows_program(b"MZ launcher #! in it ", r"C:\P y\python.exe", "", "1")
    assert launcher_of(installed) == b"MZ launcher #! in it "
    made = windows_program(launcher_of(installed), r"C:\P y\python.exe", "-IS", "import sys")
    assert made.startswith(b'MZ launcher #! in it #!"C:\\P y\\python.exe" -IS\r\nPK')
    with zipfile.ZipFile(io.BytesIO(made)) as files:
        assert files.read("__main__.py") == b"import sys"
    assert launcher_of(b"MZ another kind of program") == b""


@pytest.mark.parametrize("launcher", [b"", b"MZ"])
def test_a_folder_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: bytes
) -> None:
    assert asset_folders.WINDOWS == "nt"
    monkeypatch.setattr(asset_folders, "WINDOWS", os.name)
    monkeypatch.setattr(asset_folders, "_launcher", lambda: launcher)
    path = make_folder(tmp_path, VERSION)
    names = sorted(one.name for one in path.iterdir())
    if launcher:
        assert names == ["celadon.json", "etcd.exe", "kube-apiserver.exe", "kubectl.exe"]
    else:
        assert "etcd.cmd" in names
        command = (path / "etcd.cmd").read_bytes()
        assert command == f'@"{sys.executable}" -IS "%~dp0etcd.py" %*\r\n'.encode()
    assert holds_programs(path)
