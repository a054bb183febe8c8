"""What runs in pipelines are command lines of ours, and they pass."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from celadon.cli.commands.init import COMMANDS, GITHUB, GITLAB, PRE_COMMIT, write_project
from tests.cli.files import run


def lines(of: str) -> list[str]:
    """The command lines of a pipeline, without what puts their output into files."""
    if of == "pre-commit":
        return [hook["entry"] for hook in yaml.safe_load(PRE_COMMIT)["repos"][0]["hooks"]]
    if of == "github":
        steps = yaml.safe_load(GITHUB)["jobs"]["celadon"]["steps"]
        found = [step["run"] for step in steps if "run" in step]
    else:
        found = yaml.safe_load(GITLAB)["policies"]["script"]
    assert found[0] == "pip install celadon"
    return [line.split(" > ")[0] for line in found[1:]]


@pytest.mark.parametrize("of", ["pre-commit", "github", "gitlab"])
def test_they_pass(
    of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert len(lines(of)) == len(COMMANDS)
    for line in lines(of):
        program, *words = shlex.split(line)
        assert program == "celadon"
        code, out, err = run(capsys, *words)
        assert (code, err) == (0, ""), (line, out)
    assert run(capsys, *shlex.split(COMMANDS[-1])[1:], "--strict")[0] == 0


def test_policies_and_cluster_files_are_found_by_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    manifest = tmp_path / "manifests" / "web.yaml"
    manifest.write_text(manifest.read_text().replace("owner: storefront", "owner: Ann"))
    code, out, _ = run(capsys, "check", "manifests")
    assert code == 1
    assert "`Ann` is not the name of a team" in out


def test_reports_of_gitlab_are_written() -> None:
    job = yaml.safe_load(GITLAB)["policies"]
    written = [line.split(" > ")[1] for line in job["script"] if " > " in line]
    assert job["artifacts"]["reports"]["junit"] == written
