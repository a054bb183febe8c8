"""The files of a revision of a git repository, written into a folder to be read there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from celadon.records import dataclass

_PLAIN_FILES: Final = (b"100644", b"100755")
"""The modes of what is neither a link nor another repository."""


class GitError(Exception):
    """Git cannot say; the text is its own."""


@dataclass(frozen=True, slots=True)
class Range:
    """Two revisions, as `git diff` takes them: `A..B`, `A...B` (B against what both come from)."""

    old: str
    new: str


def revisions(text: str) -> Range | None:
    """The revisions of a text; None if it is no range, but a path. Raises GitError."""
    if ".." not in text or os.path.exists(text):
        return None
    old, dots, new = text.partition("...")
    if not dots:
        old, _, new = text.partition("..")
        if old in ("", ".") or "/" in new[:1]:
            return None
        return Range(old, new or "HEAD")
    old, new = old or "HEAD", new or "HEAD"
    _require_revision(old)
    _require_revision(new)
    return Range(_git("merge-base", old, new).decode().strip(), new)


def write_files(revision: str, paths: Sequence[str], folder: Path) -> list[str]:
    """Write what a revision has of paths below the working directory into a folder; the paths of
    that, without those that the revision does not have. Raises GitError."""
    _require_revision(revision)
    for path in paths:
        if os.path.isabs(path) or os.pardir in Path(path).parts:
            raise GitError(f"`{path}` must be a path below the working directory")
    listed = _git("ls-tree", "-r", "-z", revision, "--", *(os.path.normpath(one) for one in paths))
    for line in listed.split(b"\0"):
        about, _, name = line.partition(b"\t")
        if about[:6] not in _PLAIN_FILES:
            continue
        file = folder / os.fsdecode(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_git("cat-file", "blob", about.split()[2].decode()))
    there = (str(folder / path) for path in map(os.path.normpath, paths))
    return [one for one in there if os.path.exists(one)]


def _require_revision(revision: str) -> None:
    unknown = f"git knows no revision `{revision}`"
    if revision.startswith("-"):  # git would take it for an option
        raise GitError(unknown)
    _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", wrong=unknown)


def _git(*words: str, wrong: str = "") -> bytes:
    """What git prints. `wrong` is said if it fails without a word."""
    try:
        done = subprocess.run(
            ["git", *words],
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise GitError(f"git cannot be run: {(error.strerror or str(error)).lower()}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise GitError(wrong or said.splitlines()[0].lower())
    return done.stdout
