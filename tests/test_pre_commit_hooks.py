"""`.pre-commit-hooks.yaml`: each hook is a command line that Celadon takes, and can fail."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.cli.main import command_of, main, parser_of
from tests.cli.files import binding, config_map, policy, write
from tests.paths import ROOT

HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
TEST = {
    "apiVersion": "celadon.dev/v1",
    "kind": "PolicyTest",
    "cases": [{"name": "ok", "object": config_map(x="ok"), "expect": "admit"}],
}


def words(hook: dict[str, Any]) -> list[str]:
    """The command line behind `celadon`, as pre-commit makes it without any file."""
    program, *rest = shlex.split(hook["entry"])
    assert program == "celadon"
    return [*rest, *hook["args"]]


def test_they_are_the_three() -> None:
    assert [hook["id"] for hook in HOOKS] == ["celadon-lint", "celadon-check", "celadon-test"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_the_command_line_is_a_real_one(hook: dict[str, Any]) -> None:
    known = {"id", "name", "description", "entry", "args", "language", "types_or"}
    assert set(hook) == known | {"pass_filenames"}
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    line = words(hook)
    command = command_of(line)
    assert command is not None
    assert hook["name"] == f"celadon {command.name}"
    parser_of(command).parse_args(line[len(command.name.split()) :])


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_it_passes_and_fails(
    hook: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("policies", "manifests"):
        (tmp_path / name).mkdir()
    rule = tmp_path / "policies" / "limit.yaml"
    write(rule, policy(expression="has(object.data) && object.data.x == 'ok'"), binding())
    write(tmp_path / "policies" / "limit.policytest.yaml", TEST)
    write(tmp_path / "manifests" / "cm.yaml", config_map(x="ok"))
    assert main(words(hook)) == 0, capsys.readouterr()
    write(rule, policy(expression="object.data.x == 1 || object.dat"), binding())
    write(tmp_path / "manifests" / "cm.yaml", config_map(x="no"))
    assert main(words(hook)) != 0
