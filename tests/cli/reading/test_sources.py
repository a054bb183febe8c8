"""What the user typed to texts."""

from __future__ import annotations

import errno
import glob
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from celadon import private_files
from celadon.cli.audit_logs import log_files
from celadon.cli.reading import documents
from celadon.cli.reading.documents import Exclusion, Problem, Text, expand_paths, read_text
from celadon.private_files import matching


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b.yaml", "a.json", "c.txt", ".hidden.yaml", "sub/d.YML", ".git/e.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("a: 1\n")
    return tmp_path


@pytest.mark.parametrize(
    "pattern",
    [
        *("**", "**/*.yaml", "./**/*.yaml", "a//*.yaml", "a/**", "a/**/b/*.yaml", ".*"),
        *("[a]/y*", "a/../*.yaml", "a/b/*", "nothing/*", "*/*/*", "a/?.yaml", "{folder}/*/*.yaml"),
    ],
)
def test_patterns_match_what_they_always_matched(pattern: str, tmp_path: Path) -> None:
    for name in ("x.yaml", "a/y.yaml", "a/b/z.yaml", ".h.yaml", ".hidden/y.yaml", "c/[d].yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    asked = pattern.replace("{folder}", str(tmp_path))
    expected = sorted(glob.glob(asked, root_dir=tmp_path, recursive=True))
    found = [name for name in matching(asked, tmp_path) if name]
    assert found == [name.rstrip("/") for name in expected]


def test_patterns_look_once_into_folders_that_links_lead_back_to(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.yaml").touch()
    for number in range(9):
        (tmp_path / "a" / f"self{number}").symlink_to(".")
    assert matching("**/*.yaml", tmp_path) == ["a/x.yaml"]
    assert matching("**/" * 20 + "*.yaml", tmp_path) == ["a/x.yaml"]
    assert len(matching("*/" * 20 + "*.yaml", tmp_path)) == 1


def test_patterns_do_not_look_at_names_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (tmp_path / f"{number}.yaml").touch()
    monkeypatch.setattr(private_files, "_MOST_NAMES", 10)
    assert list(expand_paths([f"{tmp_path}/*.yaml"])) == [
        Problem(f"{tmp_path}/*.yaml", 0, "too many files to look at for this pattern")
    ]


def test_folders_files_and_globs(folder: Path) -> None:
    assert list(expand_paths(["."])) == [
        os.path.join(".", "a.json"),
        os.path.join(".", "b.yaml"),
        os.path.join(".", "sub", "d.YML"),
    ]
    assert list(expand_paths(["c.txt", "c.txt", "-"])) == ["c.txt", "-"]
    assert list(expand_paths(["*.yaml", "b.yaml", "**/*.YML"])) == [
        "b.yaml",
        os.path.join("sub", "d.YML"),
    ]


def test_arguments_that_mean_nothing(folder: Path) -> None:
    (folder / "empty").mkdir()
    assert list(expand_paths(["empty", "*.nope", "missing"])) == [
        Problem(
            "empty",
            0,
            "no .yaml, .yml or .json file in this folder",
            "is it the right one? `celadon init` writes a first project",
        ),
        Problem("*.nope", 0, "no file matches this pattern"),
        "missing",
    ]
    assert read_text("missing") == Problem(
        "missing", 0, "cannot be read: no such file or directory"
    )
    assert isinstance(read_text("a\0b"), Problem)


def test_what_nobody_may_read_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder inside of a folder, too: what lies there was not judged."""
    scan = os.scandir

    def scandir(path: str) -> Iterator[os.DirEntry[str]]:
        if os.path.basename(path) == "sub":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr("os.scandir", scandir)
    closed = Problem(
        "./sub", 0, "cannot be read: permission denied", "`ls -ld ./sub` tells who may"
    )
    assert log_files(["."])[-1] == closed
    found = [*expand_paths(["."]), *expand_paths(["sub"]), *expand_paths(["."], Exclusion(["sub"]))]
    assert found == [
        "./a.json",
        "./b.yaml",
        closed,
        Problem("sub", 0, closed.message, "`ls -ld sub` tells who may"),
        "./a.json",
        "./b.yaml",
    ]


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    for data in (
        b"a: \xc3\xa4\r\n",
        b"\xef\xbb\xbfa: \xc3\xa4\n",
        "\ufeffa: ä\n".encode("utf-16-le"),
    ):
        path.write_bytes(data)
        assert read_text(str(path)) == Text(str(path), "a: ä\n")
    path.write_bytes(b"a: 1\nb: \xff\n")
    assert read_text(str(path)) == Problem(
        str(path), 2, "invalid UTF-8: byte 0xff", "save the file as UTF-8"
    )


def test_standard_input_and_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"a: 1\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    assert read_text("-") == Text("<stdin>", "a: 1\n")
    monkeypatch.setattr(documents, "MAX_FILE_BYTES", 3)
    Stdin.buffer = io.BytesIO(b"a: 1\n")
    assert read_text("-") == Problem(
        "<stdin>", 0, "larger than 0 MiB", "split it into several files"
    )


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ((), ["a.yaml", "b/c.yaml", "b/d/e.yaml"]),
        (("b",), ["a.yaml"]),
        (("./b/",), ["a.yaml"]),
        (("d",), ["a.yaml", "b/c.yaml"]),
        (("*/e.yaml",), ["a.yaml", "b/c.yaml"]),
        (("c.yaml", "a.*"), ["b/d/e.yaml"]),
        (("?",), ["a.yaml"]),
    ],
)
def test_exclusion(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patterns: tuple[str, ...],
    left: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b" / "d").mkdir(parents=True)
    for name in ("a.yaml", "b/c.yaml", "b/d/e.yaml"):
        (tmp_path / name).touch()
    found = [str(one) for one in expand_paths(["."], Exclusion(patterns))]
    assert [one.removeprefix("./") for one in found] == left
    assert [*expand_paths(["**/*.yaml"], Exclusion(patterns))] == left
    assert [*expand_paths(["a.yaml"], Exclusion(patterns))] == ["a.yaml"]


def test_tests_of_policies_are_left_out_of_folders(tmp_path: Path) -> None:
    names = [
        "a.yaml",
        "a.policytest.yaml",
        "b_policytest.yml",
        "policytest.json",
        "notpolicytest.yaml",
    ]
    for name in names:
        (tmp_path / name).write_text("", encoding="utf-8")

    def found(*arguments: str, tests: bool = False) -> list[str]:
        return [Path(str(one)).name for one in expand_paths(arguments, tests=tests)]

    assert found(str(tmp_path)) == ["a.yaml", "notpolicytest.yaml"]
    assert found(str(tmp_path), tests=True) == sorted(names)
    assert found(str(tmp_path / "a.policytest.yaml")) == ["a.policytest.yaml"]
