"""The library on the disk: a folder for each policy, with its page, its policy and its test.

A page (`README.md`) begins with three lines of facts: the title, an empty one, and which topics the
policy belongs to and from which release on it compiles. What else stands there is for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

SHELF: Final = Path(__file__).parent / "policies"
"""Where the folders are."""

PAGE: Final = "README.md"

_FACTS: Final = re.compile(
    r"# (?P<title>[^\n]+)\n\n"
    r"\*Topics: (?P<topics>[a-z, ]+)\. Kubernetes (?P<since>1\.\d+) and later\.\*\n\n"
)


class LibraryPolicy(NamedTuple):
    """One policy, and what is known of it without reading it."""

    name: str
    title: str
    topics: tuple[str, ...]
    since: str
    """The first release that compiles it, as `1.30`."""
    page: str
    """What the page tells below its facts."""

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return SHELF / self.name

    @property
    def policy_text(self) -> str:
        """The file with the policy and its binding."""
        return (self.folder / f"{self.name}.yaml").read_text(encoding="utf-8")


class CopyError(Exception):
    """Why nothing (or not all) was copied; the text says where."""


def library() -> dict[str, LibraryPolicy]:
    """All policies by name, in its order."""
    names = sorted(folder.name for folder in SHELF.iterdir() if (folder / PAGE).is_file())
    return {name: _policy(name) for name in names}


def _policy(name: str) -> LibraryPolicy:
    page = (SHELF / name / PAGE).read_text(encoding="utf-8")
    facts = _FACTS.match(page)
    if facts is None:
        raise ValueError(f"the page of {name} does not begin with its facts")
    topics = tuple(facts["topics"].split(", "))
    return LibraryPolicy(name, facts["title"], topics, facts["since"], page[facts.end() :])


def copy(policies: Iterable[LibraryPolicy], into: Path) -> list[Path]:
    """Copies the files of policies, each into a folder of its own, and returns what was written.
    Raises `CopyError`: before the first one if any of them is there."""
    files = {
        into / policy.name / file.name: file
        for policy in policies
        for file in sorted(policy.folder.iterdir())
        if file.suffix in (".yaml", ".md")
    }
    for path in files:
        if path.exists() or path.is_symlink():
            raise CopyError(f"`{path}` is there already: nothing was written")
    for path, file in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as copied:
                copied.write(file.read_bytes())
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CopyError(f"`{path}` cannot be written: {reason}") from error
    return list(files)
