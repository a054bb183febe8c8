"""`celadon simulate-bootstrap`: arguments, formats, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.bootstrap.lock_outs import policy, rules
from tests.cli.files import run

EVENTS = policy("events", rules("events"), "false")


@pytest.fixture
def files(tmp_path: Path) -> str:
    (tmp_path / "policy.json").write_text("\n".join(map(json.dumps, EVENTS)))
    return str(tmp_path)


def test_text(files: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "simulate-bootstrap", files)
    assert (code, err) == (1, "")
    assert "degraded: ValidatingAdmissionPolicy `events`" in out


def test_json(files: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "simulate-bootstrap", files, "-o", "json")
    assert code == 1
    assert json.loads(out)["kind"] == "BootstrapReport"


def test_fail_on(files: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "simulate-bootstrap", files, "--fail-on", "deadlocked")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [((), "nothing to simulate: give PATHS"), (("missing.yaml",), "missing.yaml")],
)
def test_wrong_use(
    arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "simulate-bootstrap", *arguments)
    assert code == 2
    assert complaint in err


def test_a_policy_that_the_release_does_not_serve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text("""\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: m}
spec: {policyName: m}
""")
    words = ("simulate-bootstrap", str(tmp_path), "-o", "json")
    code, out, _ = run(capsys, *words, "--kubernetes-version", "1.35")
    assert code == 3
    assert 'no matches for kind \\"MutatingAdmissionPolicyBinding\\" in version' in out
    assert run(capsys, *words, "--kubernetes-version", "1.36")[0] == 0
