"""`celadon test init`: a first test, which passes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.files import binding, policy, run, write
from tests.paths import ROOT


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "policy_name"),
    [
        ("policies/image-registry.yaml", ""),
        ("policies/no-privileged-pods.yaml", ""),
        ("policies/replica-limit.yaml", ""),
        ("policies/required-labels.yaml", "team-label"),
        ("update/policy.yaml", ""),
    ],
)
def test_the_examples(name: str, policy_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The written test passes, and means something."""
    shutil.copy(ROOT / "examples" / name, "p.yaml")
    words = ["--policy", policy_name] if policy_name else []
    code, _, err = run(capsys, "test", "init", "p.yaml", *words)
    assert code == 0, err
    assert "written: p.policytest.yaml, 2 cases after " in err
    code, out, _ = run(capsys, "test", "p.policytest.yaml")
    assert (code, out.splitlines()[-1]) == (0, "2 cases in 1 file: 2 passed"), out


def test_without_a_binding(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("p.yaml"), policy())
    assert run(capsys, "test", "init", "p.yaml")[0] == 0
    assert run(capsys, "test", "--strict")[0] == 0


def test_what_was_not_found(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("p.yaml"), policy(expression="true"), binding())
    code, out, err = run(capsys, "test", "init", "p.yaml", "--stdout")
    assert code == 1
    assert "not found: a request that validation 0 refuses" in err
    assert out.splitlines()[-1] == "#   true"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere.yaml"], 2, "cannot be read"),
        (["two.yaml"], 2, "several policies: a, b (say which: `--policy`)"),
        (["two.yaml", "--policy", "c"], 2, "no policy `c`"),
        (["two.yaml", "--policy", "b", "--stdout"], 0, ""),
        (["broken.yaml"], 3, "is invalid: "),
        (["there.yaml"], 2, "`there.policytest.yaml` is there already"),
    ],
)
def test_wrong_use(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("two.yaml"), policy("a"), policy("b"))
    write(Path("broken.yaml"), policy(expression="object."))
    write(Path("there.policytest.yaml"), policy())
    found, _, err = run(capsys, "test", "init", *words)
    assert found == code
    assert said in err
