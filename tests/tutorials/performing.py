"""A tutorial, performed from top to bottom in an empty folder.

A block that begins with `# NAME` is a file: it is written, or replaces the one of that name. Of a
`console` block, each command is run and its output compared; `pytest` has to pass.
`python -m tests.tutorials.performing PAGE...` writes the actual outputs into pages.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.docs import in_process
from tests.paths import ROOT

PAGES: Final = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_FILE: Final = re.compile(r"# ([\w./-]+\.\w+)\n")
_COMMAND: Final = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)

Said = Callable[[str, str, str], None]


def perform(page: Path, folder: Path, said: Said) -> str:
    """Do what the page says, in the folder; `said` gets each command, the output that the page
    shows and the actual one. Returns the page with the actual outputs."""

    def command(match: re.Match[str]) -> str:
        actual = run(match[1], folder)
        said(match[1], match[2], actual)
        return f"$ {match[1]}\n{actual}"

    def block(match: re.Match[str]) -> str:
        language, text = match.groups()
        if language == "console":
            text = _COMMAND.sub(command, text)
        elif named := _FILE.match(text):
            file = folder / named[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return f"```{language}\n{text}```\n"

    return _BLOCK.sub(block, page.read_text(encoding="utf-8"))


def run(line: str, folder: Path) -> str:
    """What a command prints in the folder; of pytest, nothing, since it passes."""
    words = shlex.split(line)
    if words[0] == "celadon":
        return in_process(words, folder)
    assert words == ["pytest"], f"only celadon and pytest are run: {line}"
    done = subprocess.run(  # our own interpreter, a test of the page
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return ""


def update(page: Path) -> None:
    """Write the actual outputs into the page."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        text = perform(page, Path(folder), lambda command, shown, actual: None)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        update(Path(name).resolve())
