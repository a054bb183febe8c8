"""The recipes of docs/testing.md, run as a reader would run them."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.programs import program
from tests.paths import ROOT

pytestmark = pytest.mark.thorough

_BLOCK = re.compile(r"```(?:python|yaml)\n# (\S+)\n(.*?)```\n", re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With all files that the page shows."""
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    for name, text in _BLOCK.findall(page):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    """What our own interpreter says, with the plugin and no other."""
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONWARNINGS": "default"}
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(  # our own interpreter, our own code
        [sys.executable, *arguments],
        cwd=folder,
        env=environment | {"PATH": places},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_page_shows_its_files(folder: Path) -> None:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found >= {
        *("test_shop.py", "test_other_clients.py", "test_release.py", "test_in_process.py"),
        "test_operator.py",
    }


def test_the_page_says_what_to_install(folder: Path) -> None:
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    installed = {
        name for line in re.findall("pip install ([^`\n]+)", page) for name in line.split()
    }
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in folder.glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    named = [one.name for node in nodes if isinstance(node, ast.Import) for one in node.names]
    named += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    needed = {name.partition(".")[0] for name in named} - sys.stdlib_module_names - {"celadon"}
    assert installed == needed | {"'celadon[serve]'"}


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (["test_shop.py"], 3),
        (["test_other_clients.py", "-k", "not kubectl"], 2),
        (["test_operator.py"], 1),
    ],
    ids=["pytest", "other-clients", "kopf"],
)
def test_with_pytest(folder: Path, arguments: list[str], passed: int) -> None:
    said = run(folder, "-m", "pytest", "-p", "celadon.pytest_plugin", *arguments)
    assert f"{passed} passed" in said, said


def test_programs_with_pytest(folder: Path) -> None:
    program("kubectl")  # or the test is skipped
    kubectl = ["test_other_clients.py", "-k", "kubectl"]
    assert "1 passed" in run(folder, "-m", "pytest", "-p", "celadon.pytest_plugin", *kubectl)


def test_with_unittest(folder: Path) -> None:
    run(folder, "-m", "unittest", "test_in_process", "test_release.Release.test_policy")


def test_programs_with_unittest(folder: Path) -> None:
    program("kubectl")  # or the test is skipped
    run(folder, "-m", "unittest", "test_release.Release.test_program")
