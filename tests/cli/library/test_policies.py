"""What holds for every policy of the library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celadon.cli.commands.library import params, worst_cost
from celadon.cli.library import PAGE, SHELF, library
from celadon.cli.options import VERSIONS
from celadon.kube.library import RUNTIME_COST_BUDGET
from tests.cli.files import run

NAMES = sorted(library())

EQUIVALENT = {
    ("namespace-deletion-guard", "`''` becomes `'x'`"): "any text but `true` is as good as none",
    ("tenants-stay-in-namespaces", "nothing becomes `Exact`"): "the rule covers every version",
}
"""Mutants of which no case can tell, and why."""


@pytest.fixture(autouse=True)
def _no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_folder_is_a_policy() -> None:
    assert sorted(folder.name for folder in SHELF.iterdir()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_files_are_as_after_celadon_init(name: str) -> None:
    names = {file.name for file in (SHELF / name).iterdir()} - {"params.yaml"}
    assert names == {PAGE, f"{name}.yaml", f"{name}.policytest.yaml"}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_why_and_what_to_change(name: str) -> None:
    page = library()[name].page
    assert page.startswith("## Why\n\n")
    assert "\n## Adapt it\n\n" in page


@pytest.mark.parametrize("name", NAMES)
def test_params_are_explained(name: str) -> None:
    policy = library()[name]
    assert set(policy.own) <= set(params(policy))
    for param in params(policy):
        assert f"`{param}`" in policy.page


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_large_object_is_affordable(name: str) -> None:
    assert 0 < worst_cost(library()[name], "1.36") < RUNTIME_COST_BUDGET


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_lint_and_layout(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    policy = str(SHELF / name / f"{name}.yaml")
    since = library()[name].since
    for version in (since, "1.36"):
        code, out, err = run(
            capsys, "lint", "--fail-on", "warning", "--kubernetes-version", version, policy
        )
        assert code == 0, out + err
    code, out, err = run(capsys, "fmt", "--check", policy)
    assert code == 0, out + err


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_its_test_passes_and_means_something(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """On the last release that the page names; on those before it: below."""
    assert_tested(name, ["1.36"], capsys)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_it_passes_on_every_release(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    since = int(library()[name].since[2:])
    assert_tested(name, [one for one in VERSIONS if since <= int(one[2:]) <= 36], capsys)


def assert_tested(name: str, versions: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    asked = [word for one in versions for word in ("--kubernetes-version", one)]
    code, out, err = run(
        capsys, "test", "--strict", "--fail-under", "100", "--jobs", "1", *asked, str(SHELF / name)
    )
    assert code == 0, out + err


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_every_mutant_is_noticed_or_equivalent(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing but the failure policy is left out for a search's sake: no expression of the library
    fails for a valid object, so that it is never asked."""
    code, out, err = run(capsys, "test", "--mutate", "-o", "json", "--jobs", "1", str(SHELF / name))
    assert code == 0, out + err
    (counted,) = json.loads(out)["mutants"]["policies"]
    assert counted["mutants"]
    left = [
        mutant
        for mutant in counted["mutants"]
        if mutant["fate"] not in ("killed", "same")
        and not (mutant["kind"] == "failure-policy" and mutant["fate"] in ("alike", "open"))
        and (name, mutant["change"]) not in EQUIVALENT
    ]
    assert left == []
