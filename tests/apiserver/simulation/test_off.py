"""A server that simulates nothing has loaded nothing of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from celadon.testing import KubeApi

PROGRAM = """
import sys
from celadon.testing import KubeApi
with KubeApi() as api:
    api.settle()
print([name for name in sys.modules if name.startswith("celadon.apiserver.simulation")])
"""


def test_nothing_is_loaded() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "[]\n"


def test_there_is_no_clock_to_move() -> None:
    with KubeApi() as api, pytest.raises(RuntimeError, match="there is no clock to move"):
        api.advance(seconds=1)
