"""What commands print, whole: every form of every report, over the examples.

A file of `tests/cases/screens` holds command lines, each as a shell shows it: `$ celadon ...`, what
is printed, what is complained, and the exit code. `pytest --update-golden` performs the lines that
begin with `$` again and rewrites the rest, which is then read like code.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from celadon import __version__
from tests.cli.files import run
from tests.paths import ROOT

SCREENS: Final = sorted((ROOT / "tests" / "cases" / "screens").glob("*.txt"))
_PROMPT: Final = "$ celadon "
_CREATED: Final = re.compile(r"(creationTimestamp\D{1,20})[-0-9T:]+Z")
"""The moment of the run, which objects are given."""


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith(_PROMPT)]


def _blocks(path: Path) -> dict[str, str]:
    """Every command line with what stands below it."""
    found = re.split(r"^(\$ celadon .*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        pytest.param(path, line, id=f"{path.stem}: {line.removeprefix(_PROMPT)}")
        for path in SCREENS
        for line in _lines(path)
    ],
)
def test_screen(
    path: Path,
    line: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "--mutate" in line or "test init" in line:
        pytest.importorskip("z3")  # more is proved, and found, with it
    monkeypatch.chdir(ROOT / "examples")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    code, out, err = run(capsys, *shlex.split(line.removeprefix(_PROMPT)))
    said = "".join(f"stderr: {one}\n" for one in err.splitlines())
    shown = f"{out.rstrip()}\n{said}exit code {code}\n\n".lstrip("\n")
    shown = _CREATED.sub(r"\1MOMENT", shown.replace(__version__, "VERSION"))
    blocks = _blocks(path)
    if request.config.getoption("--update-golden"):
        blocks[line] = shown
        text = "".join(f"{one}\n{below}" for one, below in blocks.items())
        path.write_text(text.replace(os.sep, "/"), encoding="utf-8")
    assert shown.splitlines() == _blocks(path)[line].splitlines()
