"""Files of revisions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from celadon.cli.diff import GitError, Range, revisions, write_files


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two commits and a branch."""
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    git("init", "-q", "-b", "main")
    git("config", "user.email", "a@example.com")
    git("config", "user.name", "a")
    commit("policies/a.yaml", "a: 1\n")
    git("branch", "other")
    commit("policies/deep/b.yaml", "b: 2\n")
    return tmp_path


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)
    git("add", name)
    git("commit", "-q", "-m", name)


def test_what_a_revision_has_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert write_files("HEAD", ["policies"], folder) == [str(folder / "policies")]
    assert (folder / "policies/deep/b.yaml").read_text() == "b: 2\n"
    old = tmp_path / "old"
    assert write_files("other", ["policies", "none"], old) == [str(old / "policies")]
    assert not (old / "policies/deep").exists()


def _tree(*entries: tuple[str, str, str]) -> str:
    """A tree as somebody may send it: git itself makes none with such names."""
    rows = (f"{mode} {name}\0".encode() + bytes.fromhex(content) for mode, name, content in entries)
    making = ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    made = subprocess.run(making, input=b"".join(rows), check=True, capture_output=True)
    return made.stdout.decode().strip()


def test_nothing_is_written_elsewhere(tmp_path: Path) -> None:
    blob = git("hash-object", "-w", "policies/a.yaml")
    above = _tree(("40000", "..", _tree(("40000", "..", _tree(("100644", "evil.yaml", blob))))))
    policies = _tree(("40000", "..", above), ("100644", "a.yaml", blob))
    revision = git("commit-tree", _tree(("40000", "policies", policies)), "-m", "evil")
    folder = tmp_path / "a" / "b" / "out"
    with pytest.raises(GitError, match=r"whose name leads out of its folder: `policies/\.\./"):
        write_files(revision, ["policies"], folder)
    assert not list(tmp_path.rglob("evil.yaml"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("main..HEAD", Range("main", "HEAD")),
        ("main..", Range("main", "HEAD")),
        ("..main", None),
        ("main...", Range("MAIN", "HEAD")),
        ("...other", Range("OTHER", "other")),
        ("other...main", Range("OTHER", "main")),
        ("../policies", None),
        ("policies", None),
    ],
)
def test_ranges(text: str, found: Range | None) -> None:
    """Three dots begin where both have parted, which is a commit."""
    if found is not None and found.old.isupper():
        command = ["git", "rev-parse", found.old.lower()]
        commit = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = Range(commit.strip(), found.new)
    assert revisions(text) == found


def test_three_dots_are_what_both_come_from() -> None:
    git("checkout", "-q", "other")
    commit("c.yaml", "c: 3\n")
    found = revisions("main...other")
    assert found is not None
    assert found.new == "other"
    assert len(found.old) == 40


@pytest.mark.parametrize(
    ("revision", "paths", "said"),
    [
        ("nope", ["policies"], "git knows no revision `nope`"),
        ("HEAD", ["../elsewhere"], "must be a path below the working directory"),
    ],
)
def test_what_is_wrong_is_said(revision: str, paths: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(GitError, match=said):
        write_files(revision, paths, tmp_path / "out")
