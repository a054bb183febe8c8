"""Policies and their tests as the files have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.exit_codes import Exit
from celadon.cli.migration.migration_run import _with_patches
from tests.cli.commands.test_migrate import PATTERN, write
from tests.cli.files import Json, run
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, rule

PATCH = "- op: add\n  path: /a\n  value: 1\n"
READ = [{"op": "add", "path": "/a", "value": 1}]


@pytest.mark.parametrize(
    ("mutate", "read"),
    [
        ({"patchesJson6902": PATCH}, {"patchesJson6902": READ}),
        ({"patchesJson6902": READ}, {"patchesJson6902": READ}),
        ({"patchesJson6902": "[op: {"}, {"patchesJson6902": "[op: {"}),
        (
            {"foreach": [{"list": "a", "patchesJson6902": PATCH}, {"list": "b"}]},
            {"foreach": [{"list": "a", "patchesJson6902": READ}, {"list": "b"}]},
        ),
        ({"patchStrategicMerge": {"a": PATCH}}, {"patchStrategicMerge": {"a": PATCH}}),
        (None, None),
    ],
)
def test_patches_that_are_texts_are_read(mutate: Json | None, read: Json | None) -> None:
    """Those of other rules of the policy stay as they are."""
    policy = {"spec": {"rules": [{"name": "r", "mutate": mutate}, {"name": "s"}]}}
    assert _with_patches(policy) == {
        "spec": {"rules": [{"name": "r", "mutate": read}, {"name": "s"}]}
    }


SUITE = {"policies": ["team.yaml"], "resources": ["pod.yaml"], "variables": "v.yaml",
         "userinfo": "u.yaml", "results": [{"policy": "p", "rule": "r", "kind": "Pod",
                                            "resources": ["a"], "result": "fail"}]}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("kyverno-test.yaml", "- a\n", "kyverno-test.yaml:1: a map is expected here"),
        ("kyverno-test.yaml", "policies: a\n", "kyverno-test.yaml:1: `policies` must be a list, "),
        ("kyverno-test.yaml", "a: [", "kyverno-test.yaml:2: did not find expected node"),
        ("v.yaml", "- a\n", "v.yaml:1: a map is expected here"),
        ("v.yaml", "policies: a\n", "v.yaml:1: "),
        ("v.yaml", None, "v.yaml"),
        ("u.yaml", "5\n", "u.yaml:1: a map is expected here"),
        ("u.yaml", "userInfo: a\n", "u.yaml:1: "),
        ("u.yaml", "{}\n", ""),
    ],
)
def test_files_of_a_test_of_another_shape(
    file: str, text: str | None, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "team.yaml", kyverno_policy(rule(PATTERN), validationFailureAction="Enforce"))
    write(tmp_path / "pod.yaml", pod())
    write(tmp_path / "kyverno-test.yaml", SUITE)
    for name in ("u.yaml", "v.yaml"):
        write(tmp_path / name, {})
    if text is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(text)
    code, _, err = run(capsys, "migrate", str(tmp_path), "-o", str(tmp_path / "out"))
    assert code == (Exit.USAGE if problem else Exit.OK)
    assert [line for line in err.splitlines() if problem in line] == err.splitlines(), err
    assert len(err.splitlines()) == bool(problem)
