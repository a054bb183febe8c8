"""What is written of public policies can be read: laid out, of the right types, within limits.

`CELADON_POLICIES` names a folder with policies of Kyverno or Gatekeeper, such as a checkout of
kyverno/policies; without it, the tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.exit_codes import Exit
from celadon.cli.migration.migration_run import Migration, RuleOutcome, migrated_files
from celadon.kube.releases import answering_as
from tests.cli.files import run

POLICIES = os.environ.get("CELADON_POLICIES", "")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not POLICIES, reason="CELADON_POLICIES names no folder with policies"),
]

ABOUT_THE_ORIGINAL = frozenset({"expensive", "order-dependence"})
"""Findings that say something of what the policy wants, which is the same in the original."""


VERSIONS = ("1.30", "1.33", "1.36")


def is_ours(outcome: RuleOutcome) -> bool:
    """Whether the expressions of a rule are written by the translation; CEL is taken over."""
    value = outcome.document.value
    return outcome.home is None and "'cel'" not in str(value) and value["kind"] in (
        "ClusterPolicy", "Policy"
    )  # fmt: skip


def is_cel(outcome: RuleOutcome) -> bool:
    """Whether a policy is CEL, which the translation writes anew for the controllers of Pods."""
    return str(outcome.document.value["apiVersion"]).startswith("policies.kyverno.io/")


def written_files(folder: Path, version: str, takes: Callable[[RuleOutcome], bool]) -> Path:
    """Translate what is taken of the policies for a release."""
    with answering_as(version):
        outcomes = filter(takes, Migration.of([POLICIES]).outcomes)
        for name, text in migrated_files(outcomes):
            (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def written(version: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_files(tmp_path_factory.mktemp("written"), version, is_ours)


def findings(folder: Path, version: str, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """What the linter finds for a release."""
    arguments = ("lint", "-o", "json", "--kubernetes-version", version, str(folder))
    _, out, err = run(capsys, *arguments)
    assert out, err
    found: list[Any] = json.loads(out)["findings"]
    return found


def test_it_is_laid_out(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fmt", "--check", "--line-width", "100", str(written))[0] == Exit.OK


def test_it_is_of_the_right_types(
    version: str, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = [
        one
        for one in findings(written, version, capsys)
        if one["severity"] != "info" and one["rule"] not in ABOUT_THE_ORIGINAL
    ]
    assert not wrong, Counter((one["rule"], one["object"]) for one in wrong)


def test_cel_for_controllers_is_of_the_types_that_it_is_of_for_pods(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = findings(written_files(tmp_path, version, is_cel), version, capsys)
    errors = {(one["object"], one["field"]) for one in found if one["severity"] == "error"}
    wrong = {
        (name, field)
        for name, field in errors
        if (plain := _OF_CONTROLLERS.sub(lambda it: it[1] or "", name)) != name
        and (plain, field) not in errors
    }
    assert not wrong


_OF_CONTROLLERS = re.compile(r"-(?:controllers|cronjobs)(-[0-9]+)?$")
