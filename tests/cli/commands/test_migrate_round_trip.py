"""What is written of public policies can be read: laid out, of the right types, within limits.

`CELADON_POLICIES` names a folder with policies of Kyverno or Gatekeeper, such as a checkout of
kyverno/policies; without it, the tests are skipped.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from celadon.cli.exits import Exit
from celadon.cli.migration.migration_run import Migration, RuleOutcome, migrated_files
from tests.cli.files import run

POLICIES = os.environ.get("CELADON_POLICIES", "")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not POLICIES, reason="CELADON_POLICIES names no folder with policies"),
]

ABOUT_THE_ORIGINAL = frozenset(
    {
        "expensive",
        "missing-parent",
        "not-idempotent",
        "order-dependence",
        "refused-field",
        "replaced-list",
        "unanchored-regex",
    }
)
"""Findings that say something of what the policy wants, which is the same in the original."""


def is_ours(outcome: RuleOutcome) -> bool:
    """Whether the expressions of a rule are written by the translation; CEL is taken over."""
    value = outcome.document.value
    return outcome.home is None and "'cel'" not in str(value) and value["kind"] in (
        "ClusterPolicy", "Policy"
    )  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    outcomes = filter(is_ours, Migration.of([POLICIES]).outcomes)
    for name, text in migrated_files(outcomes):
        (folder / name).write_text(text)
    return folder


def test_it_is_laid_out(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fmt", "--check", "--line-width", "100", str(written))[0] == Exit.OK


@pytest.mark.parametrize("version", ["1.33", "1.36"])
def test_it_is_of_the_right_types(
    version: str, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("lint", "-o", "json", "--kubernetes-version", version, str(written))
    _, out, err = run(capsys, *arguments)
    assert out, err
    wrong = [
        one
        for one in json.loads(out)["findings"]
        if one["severity"] != "info"
        and one["rule"] not in ABOUT_THE_ORIGINAL
        # A release that has no policies that mutate says only that.
        and not (version == "1.33" and one["object"].startswith("Mutating"))
    ]
    assert not wrong, Counter((one["rule"], one["object"]) for one in wrong)
