"""The workflows of the forge and its forms: well-formed, harmless, and about what is there."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from celadon import __version__
from tests.paths import ROOT
from tools import release_version

GITHUB: Final = ROOT / ".github"
WORKFLOWS: Final = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS: Final = sorted(
    one for one in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if one.stem != "config"
)
SCHEMAS: Final = [
    *((one, "vendor.github-workflows") for one in WORKFLOWS),
    *((one, "vendor.github-issue-forms") for one in FORMS),
    (GITHUB / "ISSUE_TEMPLATE" / "config.yml", "vendor.github-issue-config"),
    (ROOT / "action.yml", "vendor.github-actions"),
]
IDENTIFIED: Final = {"attest", "index", "image"}
"""The jobs that say to others who they are: for attestations, and to publish without a token."""


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = read(path)["jobs"]
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(path).values() for step in job["steps"]]


@pytest.mark.thorough
@pytest.mark.skipif(
    importlib.util.find_spec("check_jsonschema") is None, reason="check-jsonschema is not installed"
)
@pytest.mark.parametrize(("path", "schema"), SCHEMAS, ids=[one.name for one, _ in SCHEMAS])
def test_the_schema_of_the_forge(path: Path, schema: str) -> None:
    words = ["-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda one: one.name)
def test_a_workflow_may_little(path: Path) -> None:
    """Only what a job asks for itself, for so long; and no text from outside becomes a script."""
    assert read(path)["permissions"] == {"contents": "read"}
    for name, job in jobs(path).items():
        assert job["timeout-minutes"] <= 120, name
        asked = job.get("permissions", {})
        assert ("id-token" in asked) == (path.stem == "release" and name in IDENTIFIED), name
    for step in steps(path):
        assert "${{" not in step.get("run", ""), step["run"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda one: one.name)
def test_actions_have_a_major_version(path: Path) -> None:
    for step in steps(path):
        assert re.search(r"@(?:release/)?v\d+$", step.get("uses", "@v1")), step


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda one: one.name)
def test_what_is_run_is_there(path: Path) -> None:
    scripts = "\n".join(step.get("run", "") for step in steps(path))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in re.findall(r"^make ([a-z -]+)", scripts, re.MULTILINE):
        for target in line.split():
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for module in re.findall(r"-m (tools\.\w+)", scripts):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module
    for folder in re.findall(r"\b(?:examples|deploy|editors)/[\w/]+", scripts):
        assert (ROOT / folder).exists() or folder.startswith("editors/vscode/celadon"), folder


def test_pythons_are_those_that_the_package_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)'", str(project["classifiers"]))
    tested = jobs(GITHUB / "workflows" / "ci.yml")["tests"]["strategy"]["matrix"]["python"]
    assert tested == named
    assert project["requires-python"] == f">={named[0]}"


def test_what_publishes_waits_for_what_builds() -> None:
    found = jobs(GITHUB / "workflows" / "release.yml")
    for name in found:
        needed, waiting = set[str](), [name]
        while waiting:
            one = waiting.pop()
            needs = found[one].get("needs", [])
            needs = [needs] if isinstance(needs, str) else needs
            needed |= {*needs}
            waiting += needs
        assert name == "build" or "build" in needed
        assert name in ("build", "same-bytes", "attest") or "attest" in needed


def test_all_parts_have_one_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(release_version.versions().values()) == {__version__}
    assert release_version.main("v999.0.0") == 1
    assert "deploy/helm/celadon/Chart.yaml: " in capsys.readouterr().err


def test_forms_ask_for_what_reproduces() -> None:
    texts = {one.stem: one.read_text(encoding="utf-8") for one in FORMS}
    assert "celadon explain" in texts["wrong-answer"]
    assert "celadon --version" in texts["wrong-answer"]
