"""`celadon test import`, by its command line: what it writes means what the original means."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.files import Json, binding, config_map, policy, run, write


@pytest.fixture
def kaptest(tmp_path: Path) -> str:
    write(tmp_path / "policy.yaml", policy())
    write(tmp_path / "resources.yaml", config_map("good", x="ok"), config_map("bad", x="no"))
    tests = [_case("good", "admit"), _case("bad", "deny")]
    return write(tmp_path / "kaptest.yaml", _manifest(*tests))


def _case(name: str, expect: str) -> Json:
    named = {"kind": "ConfigMap", "namespace": "default", "name": name}
    return {"object": named, "expect": expect}


def _manifest(*tests: Json) -> Json:
    suites = [{"policy": "limit", "tests": list(tests)}]
    return {"policies": ["policy.yaml"], "resources": ["resources.yaml"], "vapTestSuites": suites}


def test_what_is_written_runs(capsys: pytest.CaptureFixture[str], kaptest: str) -> None:
    written = kaptest.replace(".yaml", ".policytest.yaml")
    code, out, error = run(capsys, "test", "import", kaptest)
    assert (code, out) == (0, "")
    assert error.startswith(f"written: {written}, 2 cases\nnote: policy `limit` has no binding")
    code, out, _ = run(capsys, "test", written, "-v")
    assert code == 0, out
    assert out.count("PASS") == 2


def test_it_is_not_replaced_unasked(capsys: pytest.CaptureFixture[str], kaptest: str) -> None:
    assert run(capsys, "test", "import", kaptest)[0] == 0
    code, _, error = run(capsys, "test", "import", kaptest)
    assert code == 2
    assert "is there already: see `--force`" in error
    assert run(capsys, "test", "import", kaptest, "--force")[0] == 0


def test_it_is_printed(capsys: pytest.CaptureFixture[str], kaptest: str, tmp_path: Path) -> None:
    code, out, _ = run(capsys, "test", "import", kaptest, "--stdout")
    assert code == 0
    assert "kind: PolicyTest\n" in out
    assert not (tmp_path / "kaptest.policytest.yaml").exists()


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (config_map(), "no test of a tool that is known"),
        (_manifest({**_case("good", "admit"), "more": 1}), "`more` has no equal in a PolicyTest"),
    ],
)
def test_what_cannot_be_said(
    capsys: pytest.CaptureFixture[str], kaptest: str, document: Json, text: str
) -> None:
    write(Path(kaptest), document)
    code, out, error = run(capsys, "test", "import", kaptest)
    assert (code, out) == (2, "")
    assert text in error


KYVERNO: Json = {
    "apiVersion": "cli.kyverno.io/v1alpha1",
    "kind": "Test",
    "metadata": {"name": "t"},
    "policies": ["p.yaml"],
    "resources": ["r.yaml"],
}
RESULT: Json = {"policy": "limit", "resources": ["cm"], "kind": "ConfigMap", "result": "fail"}


@pytest.mark.parametrize(("ours", "code"), [(True, 1), (False, 2)])
def test_cases_are_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *, ours: bool, code: int
) -> None:
    """What is left can be written; if nothing is left, nothing is."""
    write(tmp_path / "p.yaml", policy(), binding())
    write(tmp_path / "r.yaml", config_map(x="no"))
    results = [RESULT, {**RESULT, "isValidatingAdmissionPolicy": True}][: 1 + ours]
    file = write(tmp_path / "kyverno-test.yaml", {**KYVERNO, "results": results})
    found, _, error = run(capsys, "test", "import", file)
    assert found == code
    assert "Kyverno's own ClusterPolicy" in error
    written = tmp_path / "kyverno-test.policytest.yaml"
    assert written.exists() is ours
    if ours:
        assert "left out: limit: cm: fail: " in error
        assert run(capsys, "test", str(written))[0] == 0


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, "test", "import", str(tmp_path / "none.yaml"))[0] == 2
