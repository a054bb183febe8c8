"""A copy of the repository that a recipe may change, and the commands that show the effect.

Every insertion names the line it follows, which must be there exactly once: if a recipe's place has
moved, its test says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.paths import ROOT

COPIED = (
    *("src/celadon", "tests", "docs", "deploy", "examples", "data", "tools"),
    *("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "NOTICE", "README.md"),
    *("SECURITY.md", "action.yml", "Makefile", "pyproject.toml"),
)

_PASSING = shutil.ignore_patterns("*.pyc.*", "site")
"""What other tests may be writing while it is copied: modules that are being compiled, and the
playground."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Paths are relative to the root of the repository."""

    root: Path

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """A new file; its folder is there already."""
        with (self.root / path).open("x", encoding="utf-8") as file:
            file.write(text)

    def insert(self, path: str, after: str, text: str) -> None:
        """Put the text behind a passage that the file has once."""
        self.replace(path, after, after + text)

    def replace(self, path: str, old: str, new: str) -> None:
        """Put the text in place of a passage that the file has once."""
        content = self.read(path)
        assert content.count(old) == 1, f"{path} has {content.count(old)} times: {old!r}"
        (self.root / path).write_text(content.replace(old, new), encoding="utf-8")

    def celadon(self, *arguments: str, code: int = 0) -> str:
        """What the command prints, standard error first; it must end with the code."""
        return self.python("-m", "celadon", *arguments, code=code)

    def pytest(self, *arguments: str) -> str:
        """Tests of the copy, run in the copy; they must pass."""
        return self.python("-m", "pytest", "-p", "no:cacheprovider", *arguments)

    def python(self, *arguments: str, code: int = 0) -> str:
        environment = os.environ | {
            "PYTHONPATH": str(self.root / "src"),
            "PYTHONHASHSEED": "0",
            # A file that is changed twice in one second, and keeps its size, would stay what was
            # compiled of it first.
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(  # our own interpreter, our own code
            [sys.executable, *arguments],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{done.returncode}: {done.stderr}{done.stdout}"
        return done.stderr + done.stdout


def copy_to(folder: Path) -> Copy:
    """Everything a recipe may touch. Compiled modules come along, so that commands start soon."""
    for path in COPIED:
        source = ROOT / path
        if source.is_dir():
            shutil.copytree(source, folder / path, ignore=_PASSING)
        elif source.exists():
            shutil.copy2(source, folder / path)
    return Copy(folder)
