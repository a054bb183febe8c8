"""Commands take from celadon.toml what their options do not say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.files import binding, config_map, policy, run, write
from tests.cli.replay.events import event, lines

Capture = pytest.CaptureFixture[str]
CONFIG = """\
policies = ["policies"]
kubernetes-version = "1.33"
exclude = ["drafts"]
[profiles.strict]
policies = ["more.json"]
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("policies/drafts", "manifests"):
        Path(folder).mkdir(parents=True)
    write(Path("policies/p.json"), policy(), binding())
    write(Path("policies/drafts/d.json"), policy("draft", "false"), binding("draft"))
    write(Path("more.json"), policy("more", "object.data.x != 'ok'"), binding("more"))
    write(Path("manifests/cm.json"), config_map(x="ok"))
    Path("audit.log").write_text(lines([event(x="ok")]), encoding="utf-8")
    Path("celadon.toml").write_text(CONFIG, encoding="utf-8")


COMMANDS = [
    ["check", "manifests"],
    ["check", "."],
    ["check", "-f", "policies", "manifests"],
    ["explain", "manifests"],
    ["audit", "manifests"],
    ["replay", "audit.log"],
]


@pytest.mark.parametrize("words", COMMANDS)
def test_policies_need_no_option(words: list[str], capsys: Capture) -> None:
    if words == ["check", "."]:
        Path("more.json").unlink()
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert "limit" in out or "1 policy" in out


@pytest.mark.parametrize("words", [one for one in COMMANDS if "." not in one])
def test_a_profile_adds_policies(words: list[str], capsys: Capture) -> None:
    code, out, _ = run(capsys, *words, "--profile", "strict")
    assert code == 1
    assert "more" in out


@pytest.mark.parametrize(
    "words",
    [*COMMANDS[2:], ["lint"], ["webhook", "manifest", "--only", "ConfigMap"], ["fmt", "--check"]],
)
def test_verbose_says_what_was_used(words: list[str], capsys: Capture) -> None:
    told = "configuration: celadon.toml: -f policies --exclude drafts --kubernetes-version 1.33\n"
    words = [*words, "policies"] if words[0] == "fmt" else words
    assert told in run(capsys, *words, "-v")[2]
    assert "configuration:" not in run(capsys, *words)[2]
    assert "configuration:" not in run(capsys, *words, "-v", "--no-config")[2]


def test_a_release_on_the_command_line_goes_before_the_file(capsys: Capture) -> None:
    write(Path("policies/p.json"), policy(expression="semver('1.2.3').major() == 1"), binding())
    code, out, _ = run(capsys, "check", "manifests")
    assert code == 3
    assert "semver" in out
    assert run(capsys, "check", "manifests", "--kubernetes-version", "1.35")[0] == 0


def test_from_a_folder_below(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("manifests/cm.json"), config_map(x="no"))
    monkeypatch.chdir("manifests")
    code, out, _ = run(capsys, "check", "cm.json")
    assert code == 1
    assert "rule    ../policies/p.json:" in out


def test_no_configuration_is_wanted(capsys: Capture) -> None:
    assert run(capsys, "audit", "manifests", "--no-config")[0] == 2
    code, _, err = run(capsys, "check", "manifests", "--no-config", "--profile", "strict")
    assert code == 2
    assert "`--profile` and `--no-config` exclude each other" in err


@pytest.mark.parametrize(
    "words", [*COMMANDS, ["lint"], ["webhook", "manifest"], ["test"], ["fmt", "policies"]]
)
def test_a_wrong_file_is_wrong_use(words: list[str], capsys: Capture) -> None:
    Path("celadon.toml").write_text("polices = []", encoding="utf-8")
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(
        "error: celadon.toml:1:1: `polices`: there is no such key, did you mean `policies`?\n"
    )


def test_lint_reads_the_project_if_no_paths_are_given(capsys: Capture) -> None:
    write(Path("policies/p.json"), policy(expression="semver('1.2.3').major() == 1"), binding())
    code, out, _ = run(capsys, "lint")
    assert code == 1
    assert "policies/p.json" in out
    assert "drafts" not in out
    assert run(capsys, "lint", "--kubernetes-version", "1.35")[0] == 0
    Path("celadon.toml").write_text(CONFIG + '[lint]\nkubernetes-versions = ["1.35"]\n')
    assert run(capsys, "lint")[0] == 0
    assert run(capsys, "lint", "--no-config")[0] == 2


def test_manifests_of_a_webhook(capsys: Capture) -> None:
    code, out, _ = run(capsys, "webhook", "manifest", "--only", "ConfigMap", "-o", "json")
    assert code == 0
    (found,) = json.loads(out)["items"]
    assert "name: limit" in found["data"]["policies.yaml"]
    assert "name: draft" not in found["data"]["policies.yaml"]


def test_layout_leaves_out_what_is_excluded(capsys: Capture) -> None:
    Path("policies/drafts/d.json").write_text("{", encoding="utf-8")
    assert run(capsys, "fmt", "--check", "policies")[0] == 0


def test_tests_run_for_the_release_of_the_project(capsys: Capture) -> None:
    write(Path("policies/p.json"), policy(expression="semver('1.2.3').major() == 1"), binding())
    case = {"name": "a", "object": config_map(x="ok"), "expect": "admit"}
    test = {"apiVersion": "celadon.dev/v1", "kind": "PolicyTest"}
    write(Path("a.policytest.json"), {**test, "policies": ["policies/p.json"], "cases": [case]})
    assert run(capsys, "test", "a.policytest.json")[0] == 3
    assert run(capsys, "test", "a.policytest.json", "--kubernetes-version", "1.35")[0] == 0
    assert run(capsys, "test", "a.policytest.json", "--no-config")[0] == 0
