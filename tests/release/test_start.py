"""`celadon --version` loads little: counted, since a clock would say how busy the machine is."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from tests.paths import ROOT

MAX_OURS, MAX_ALL = 12, 100
"""Modules of Celadon, and all that a bare interpreter has not loaded."""
_COUNTED: Final = """\
import sys
before = set(sys.modules)
from celadon.cli.main import main
try:
    main(["--version"])
except SystemExit:
    pass
loaded = set(sys.modules) - before
print(sum(one.partition(".")[0] == "celadon" for one in loaded), len(loaded))
"""


def test_the_version_loads_little() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-c", _COUNTED],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    ours, everything = map(int, done.stdout.splitlines()[-1].split())
    assert ours <= MAX_OURS
    assert everything <= MAX_ALL
