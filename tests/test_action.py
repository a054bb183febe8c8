"""`action.yml`: its scripts run Celadon with the inputs, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.cli.main import command_of
from tests.cli.files import binding, config_map, policy, write
from tests.paths import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
DEFAULTS = {name: one["default"] for name, one in ACTION["inputs"].items()}
_INPUT = re.compile(r"\$\{\{ (?:inputs\.)?([\w.-]+) \}\}")


def step(name: str) -> dict[str, Any]:
    """The step that is called so."""
    return next(one for one in STEPS if one.get("name") == name)


def shell(
    name: str, folder: Path, programs: Path, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """Runs a step as the runner does, with only these programs before those of the system."""
    values = {**DEFAULTS, "github.action_path": "/action", **inputs}
    given = {key: values[_INPUT.fullmatch(text)[1]] for key, text in step(name)["env"].items()}  # type: ignore[index]  # a None is a failure too
    env = {"PATH": f"{programs}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src"), **given}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]]
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with `celadon`, and with a `python` that shows its arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    scripts = {
        "celadon": f'exec "{sys.executable}" -m celadon "$@"',
        "python": "printf '%s\\n' \"$@\"",
    }
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A policy that denies an object."""
    folder = tmp_path / "work"
    folder.mkdir()
    write(folder / "limit.yaml", policy(), binding())
    write(folder / "cm.yaml", config_map(x="no"))
    return folder


def test_inputs_stay_out_of_scripts() -> None:
    """What an input says could otherwise become a command."""
    assert ACTION["runs"]["using"] == "composite"
    assert not [one for one in STEPS if "${{" in one.get("run", "")]
    used = _INPUT.findall((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(used) == {*DEFAULTS, "github.action_path"}
    assert command_of([DEFAULTS["command"]])


@pytest.mark.parametrize(("version", "package"), [("", "/action"), ("1.2.3", "celadon==1.2.3")])
def test_what_is_installed(version: str, package: str, tmp_path: Path, programs: Path) -> None:
    done = shell("Install Celadon", tmp_path, programs, version=version)
    assert done.stdout.split() == ["-m", "pip", "install", "--quiet", package]


@pytest.mark.thorough
def test_lines_are_annotated(project: Path, programs: Path) -> None:
    done = shell("Run Celadon", project, programs)
    assert done.returncode == 1, done
    assert re.match(r"::error file=(\./)?cm\.yaml,line=1,", done.stdout)


@pytest.mark.thorough
def test_sarif_goes_to_a_file(project: Path, programs: Path) -> None:
    options = {"args": "-f limit.yaml", "paths": "c*.yaml", "sarif": "out.sarif"}
    done = shell("Run Celadon", project, programs, **options)
    assert (done.returncode, done.stdout) == (1, ""), done
    assert json.loads((project / "out.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"


@pytest.mark.thorough
@pytest.mark.parametrize(("command", "code"), [("lint", 1), ("test", 2), ("nothing; true", 2)])
def test_other_commands(command: str, code: int, project: Path, programs: Path) -> None:
    """The policy has a finding, and no test; a command is never given to the shell."""
    done = shell("Run Celadon", project, programs, command=command)
    assert done.returncode == code, done
