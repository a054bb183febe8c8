"""The package as `make dist` builds it, in copies of this tree and without the network."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.paths import ROOT
from tests.playground.built_site import built_site, needs_site
from tools import release_files

EPOCH: Final = "1767225600"
_FILES: Final = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE", ".gitignore")
_MISSING: Final = [one for one in ("build", "hatchling") if not importlib.util.find_spec(one)]

needs_builder = pytest.mark.skipif(
    bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)} (make .venv/.developed)"
)
has_site: Final = not needs_site.args[0]


@dataclass(frozen=True, slots=True)
class Built:
    """The files of a release."""

    sdist: Path
    wheel: Path


def build(folder: Path) -> Built:
    """Build both in the folder, from a copy of the tree, whose files are as old as the copy."""
    tree = folder / "tree"
    unwanted = shutil.ignore_patterns("__pycache__", "site")
    shutil.copytree(ROOT / "src", tree / "src", ignore=unwanted, copy_function=shutil.copyfile)
    for name in _FILES:
        shutil.copyfile(ROOT / name, tree / name)
    if has_site:
        shutil.copytree(built_site(), tree / "src/celadon/cli/playground/site")
    release_files.write(tree / "build" / "release")
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist")]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    done = subprocess.run(  # our own interpreter, our own tree
        words, cwd=tree, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = (list((folder / "dist").glob(one)) for one in ("*.tar.gz", "*.whl"))
    return Built(sdist, wheel)


@functools.cache
def built() -> Built:
    """Both, built once for all tests."""
    folder = Path(tempfile.mkdtemp(prefix="celadon-dist-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build(folder)


@functools.cache
def installed() -> Path:
    """The folder of programs of a new environment with the wheel and PyYAML, and nothing else.

    PyYAML is the one that is installed here: no index is asked.
    """
    folder = Path(tempfile.mkdtemp(prefix="celadon-installed-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    words = ["--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run(  # our own interpreter, our own wheel
        [sys.executable, "-m", "pip", *words, str(built().wheel)], check=True, timeout=300
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    for package in (Path(yaml.__file__).parent, Path(yaml.__file__).parents[1] / "_yaml"):
        if package.exists():
            shutil.copytree(package, packages / package.name)
    return python.parent
