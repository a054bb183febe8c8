"""`python -m tests.attacks [WORD ...]`: every repair is undone, and its test has to fail.

With words, only those whose attack has one of them. Prints a line for each; exits with 1 if a test
passes without the repair that it is for, or if a repair is no longer where it was.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.attacks.undone_repairs import UNDONE, Undone
from tests.paths import ROOT

_COPIED = ("src", "tests", "examples", "data", "pyproject.toml")
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider")
_FAILED = 1
"""How pytest ends when tests have failed; otherwise if it could not run them."""


def outcome(folder: Path, undone: Undone) -> str:
    """Empty if the test fails without the repair."""
    path = folder / "src" / "celadon" / undone.module
    text = path.read_text(encoding="utf-8")
    if text.count(undone.was) != 1:
        return "the repair is no longer there"
    path.write_text(text.replace(undone.was, undone.becomes), encoding="utf-8")
    try:
        done = subprocess.run(
            [*_PYTEST, undone.test],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder / "src")},
            capture_output=True,
            timeout=120,
        )
    except subprocess.TimeoutExpired:
        return ""  # it waits for what does not come
    finally:
        path.write_text(text, encoding="utf-8")
    if done.returncode != _FAILED:
        return f"the test does not fail ({done.returncode}): {done.stdout.decode()[-300:]}"
    return ""


def main(words: list[str]) -> int:
    bad = 0
    with tempfile.TemporaryDirectory(prefix="celadon-undone-") as name:
        folder = Path(name)
        for one in _COPIED:
            source = ROOT / one
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, folder / one, ignore=ignored, symlinks=True)
            elif source.exists():
                shutil.copy(source, folder / one)
        for undone in UNDONE:
            if words and not any(word in undone.attack for word in words):
                continue
            wrong = outcome(folder, undone)
            bad += bool(wrong)
            sys.stdout.write(f"{undone.attack}: {wrong or 'its test fails without the repair'}\n")
            sys.stdout.flush()
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
