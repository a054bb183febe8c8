"""`celadon migrate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.cli.reading.documents import Exit
from tests.cli.files import run
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, rule

PATTERN = {"message": "a team is needed", "pattern": {"metadata": {"labels": {"team": "?*"}}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A policy with its test, as they lie in repositories of policies."""
    write(tmp_path / "team.yaml", kyverno_policy(rule(PATTERN), validationFailureAction="Enforce"))
    tests = tmp_path / ".kyverno-test"
    write(tests / "resources.yaml", pod(labels={"team": "a"}), {**pod(), "metadata": {"name": "b"}})
    results = [
        {"policy": "p", "rule": "r", "kind": "Pod", "resources": ["a"], "result": "pass"},
        {"policy": "p", "rule": "r", "kind": "Pod", "resources": ["b"], "result": "fail"},
    ]
    suite = {"policies": ["../team.yaml"], "resources": ["resources.yaml"], "results": results}
    write(tests / "kyverno-test.yaml", suite)
    return tmp_path


def write(file: Path, *documents: dict[str, Any]) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump_all(documents))
    return file


def test_policies_are_written_with_bindings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = folder / "out"
    code, out, err = run(capsys, "migrate", str(folder), "-o", str(made))
    assert (code, err) == (Exit.OK, "")
    assert "1 rules: 1 translated" in out
    assert "2 cases of their tests: 0 come out otherwise" in out
    policy, binding = yaml.safe_load_all((made / "p.yaml").read_text())
    assert policy["spec"]["validations"] == [
        {
            "expression": "object.metadata.?labels[?'team'].orValue('') != ''",
            "message": "a team is needed",
        }
    ]
    assert binding["spec"] == {"policyName": "p", "validationActions": ["Deny"]}
    # What was written is laid out, has no findings, and admits what it should.
    assert run(capsys, "fmt", "--check", "--line-width", "100", str(made))[0] == Exit.OK
    assert run(capsys, "lint", str(made))[0] == Exit.OK
    objects = str(folder / ".kyverno-test" / "resources.yaml")
    assert run(capsys, "check", "-f", str(made), objects)[0] == Exit.DENIED


def test_files_that_are_there_are_not_replaced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = folder / "out"
    assert run(capsys, "migrate", str(folder), "-o", str(made))[0] == Exit.OK
    code, _, err = run(capsys, "migrate", str(folder), "-o", str(made))
    assert code == Exit.USAGE
    assert "see `--force`" in err
    assert run(capsys, "migrate", str(folder), "-o", str(made), "--force")[0] == Exit.OK


def test_what_differs_and_what_is_not_translated_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = folder / ".kyverno-test" / "kyverno-test.yaml"
    suite.write_text(suite.read_text().replace("result: fail", "result: skip"))
    generate = {"name": "g", "match": {}, "generate": {"kind": "ConfigMap"}}
    write(folder / "generate.yaml", kyverno_policy(generate))
    code, out, _ = run(capsys, "migrate", str(folder), "--report", "json", "-o", str(folder / "o"))
    assert code == Exit.DENIED
    generated, differing = json.loads(out)
    assert generated["state"] == "not translated"
    assert generated["reason"] == "it generates objects"
    assert differing["differences"] == [
        {"object": "Pod b", "expected": "skip", "found": "fail", "message": "a team is needed"}
    ]
    code, _, err = run(capsys, "migrate", str(folder))
    assert code == Exit.DENIED
    assert "p/g: not translated: it generates objects" in err
    assert "Pod b: expected skip, found fail" in err


def test_what_is_no_policy_of_kyverno(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.yaml", pod())
    code, _, err = run(capsys, "migrate", str(file))
    assert code == Exit.USAGE
    assert "there is no policy of Kyverno" in err


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"rules": 5}, "`spec.rules` must be a list, not"),
        ({"rules": [{}]}, "`spec.rules[0].name` must be text"),
        (
            {"rules": [{"name": "r", "match": {"any": [{"resources": {"kinds": [1]}}]}}]},
            "`spec.rules[0].match.any[0].resources.kinds[0]` must be text",
        ),
    ],
)
def test_policies_of_another_shape(
    spec: dict[str, Any], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"apiVersion": "kyverno.io/v1", "kind": "ClusterPolicy"}
    file = write(tmp_path / "a.yaml", {**document, "metadata": {"name": "p"}, "spec": spec})
    code, _, err = run(capsys, "migrate", str(file))
    assert code == Exit.USAGE
    assert text in err
