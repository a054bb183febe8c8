"""The panes of modes, by the script beside the page's: it needs no browser."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.paths import ROOT

NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="no node")
def test_a_mode_has_panes_of_its_own() -> None:
    assert NODE is not None
    done = subprocess.run(  # a script of ours
        [NODE, str(ROOT / "web" / "test_kept_modes.mjs")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
