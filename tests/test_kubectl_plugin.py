"""`kubectl celadon`: kubectl runs any program that is called `kubectl-celadon`."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from celadon import __version__
from tests.clients.programs import program
from tests.paths import ROOT

SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]


def test_it_is_the_command() -> None:
    assert SCRIPTS["kubectl-celadon"] == SCRIPTS["celadon"]


@pytest.mark.thorough
def test_kubectl_finds_it(tmp_path: Path) -> None:
    module, _, function = SCRIPTS["kubectl-celadon"].partition(":")
    plugin = tmp_path / "kubectl-celadon"
    plugin.write_text(
        f"#!{sys.executable}\nfrom {module} import {function}\nraise SystemExit({function}())\n",
        encoding="utf-8",
    )
    plugin.chmod(0o755)
    env = {"PATH": str(tmp_path), "PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path)}

    def kubectl(*words: str) -> subprocess.CompletedProcess[str]:
        line = [program("kubectl"), "celadon", *words]
        return subprocess.run(line, env=env, capture_output=True, text=True, check=False)

    assert kubectl("--version").stdout == f"celadon {__version__}\n"
    assert kubectl("lint", "--explain", "nothing").returncode == 2
