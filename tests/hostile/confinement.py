"""One command in a process of its own, with limits, and what it took."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.hostile import launcher
from tests.hostile.hostile_case import HostileCase
from tests.paths import ROOT

ADDRESS_SPACE: Final = 2 << 30
"""Bytes; a process that wants more ends with an error instead of taking the machine down."""
_PATIENCE: Final = 4
"""A process ends when it has taken so many times the processor time that it may."""
SIGNS: Final = ("Traceback (most recent call last)", "internal error")
"""What no answer says."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`seconds` of the processor; `megabytes` at most at a time."""

    exit: int
    seconds: float
    megabytes: int
    output: str

    def complaints(self, case: HostileCase, slowness: float) -> list[str]:
        """What is wrong with it; `slowness` scales the bound on time."""
        found = []
        if self.exit not in case.exits:
            found.append(f"exit code {self.exit}, not one of {sorted(case.exits)}")
        if self.seconds > case.seconds * slowness:
            found.append(f"{self.seconds:.1f} s, may take {case.seconds * slowness:.1f} s")
        if self.megabytes > case.megabytes:
            found.append(f"{self.megabytes} MB, may take {case.megabytes} MB")
        found += [f"says `{sign}`" for sign in SIGNS if sign in self.output]
        return found


def run(case: HostileCase, slowness: float) -> Outcome:
    """Runs it in an empty folder with nothing but its files."""
    with tempfile.TemporaryDirectory(prefix="celadon-hostile-") as folder:
        for name, content in case.contents().items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return _run(case, folder, int(_PATIENCE * case.seconds * slowness) + 1)


def _run(case: HostileCase, folder: str, most_seconds: int) -> Outcome:
    with tempfile.NamedTemporaryFile() as report:
        limits = [str(most_seconds), str(ADDRESS_SPACE), report.name]
        command = [sys.executable, "-m", "celadon", *case.arguments]
        ended = subprocess.run(
            [sys.executable, "-I", "-S", launcher.__file__, *limits, *command],
            cwd=folder,
            input=case.stdin.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            check=True,
        )
        exit_code, seconds, kibibytes = report.read().split()
    output = ended.stdout.decode(errors="replace")
    return Outcome(int(exit_code), float(seconds), int(kibibytes) >> 10, output)
