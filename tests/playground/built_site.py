"""The page as `make site` builds it, of this very tree: built once, where it can be built."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.paths import ROOT

WEB: Final = ROOT / "web"
_PACKAGES: Final = WEB / "node_modules" / "pyodide" / "package.json"
_SOLVERS: Final = sorted((ROOT / "build" / "solver").glob("*.whl"))

needs_site = pytest.mark.skipif(
    shutil.which("node") is None or not _PACKAGES.exists(),
    reason="the page takes node and the packages of web/: make web/node_modules/.installed",
)
needs_solver = pytest.mark.skipif(
    not _SOLVERS, reason="the page's proofs take z3 for Pyodide: make build/solver/.installed"
)


@functools.cache
def built_site() -> Path:
    """The folder; a quarter of a minute of work."""
    folder = Path(tempfile.mkdtemp(prefix="celadon-site-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build_site(folder / "site", WEB)


def build_site(site: Path, web: Path) -> Path:
    """Build the page into a folder, with the scripts of another."""
    words = ["--out", str(site), "--yaml", str(Path(yaml.__file__).parent)]
    for solver in _SOLVERS[:1]:
        words += ["--solver", str(solver)]
    subprocess.run(
        ["node", str(web / "build.mjs"), *words], check=True, capture_output=True, timeout=600
    )
    return site
