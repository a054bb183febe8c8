"""The first policy does what its test says, and says it well."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.commands.init import POLICY, TEST, write_project
from tests.cli.files import run


def test_the_test_means_something(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --strict, what is only pointed out fails, too."""
    write_project(tmp_path)
    code, out, err = run(capsys, "test", "--strict", str(tmp_path))
    assert (code, err) == (0, ""), out
    assert out.splitlines()[-1] == f"{TEST.count('- name:')} cases in 1 file: 5 passed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("variables.owner != ''", "true"),
        ("[a-z][a-z0-9-]*", ".*"),
        ("CREATE, UPDATE", "CREATE"),
        ("NotIn", "Exists"),
    ],
)
def test_a_broken_policy_fails(
    old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path)
    assert old in POLICY
    path = tmp_path / "policies" / "owner-label.yaml"
    path.write_text(POLICY.replace(old, new), encoding="utf-8")
    assert run(capsys, "test", str(tmp_path))[0] != 0
