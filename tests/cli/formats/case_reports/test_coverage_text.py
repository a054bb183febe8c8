"""What people read about coverage."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.files import binding, config_map, policy, run
from tests.cli.policy_tests.given_cases import written

DOCUMENTS = [policy(expression="object.data.x == '1' && object.data.y == '1'"), binding()]
FINE = {"object": config_map(x="1", y="1"), "expect": "admit"}
X = {"object": config_map(x="0", y="1"), "expect": "deny"}
Y = {"object": config_map(x="1", y="0"), "expect": "deny"}


def test_what_is_missing_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, FINE, X, documents=DOCUMENTS)
    code, out, _ = run(capsys, "test", path, "--coverage")
    file = tmp_path / "limit.yaml"
    assert code == 0
    assert out.splitlines()[:3] == [
        f"PART {file}:1 ValidatingAdmissionPolicy `limit`: 80% (8 of 10)",
        f"  {file}:30 validations[0]: object.data.y == '1': never false, never decisive",
        "",
    ]
    assert "coverage: 80% (8 of 10); 0 of 1 expressions gave an error once\n" in out


def test_an_expression_without_a_case_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"name": "asked", "expression": "object.data.x == '2'"}
    documents = [policy(matchConditions=[asked]), binding()]
    path = written(tmp_path, {**FINE, "expect": "noMatch"}, documents=documents)
    _, out, _ = run(capsys, "test", path, "--coverage")
    lines = [line for line in out.splitlines() if " validations[0]" in line]
    assert [line.partition("validations[0]")[2] for line in lines] == [
        ": object.data.x == 'ok': never evaluated"
    ]


@pytest.mark.parametrize(
    ("option", "code", "text"),
    [
        ("80", 0, "coverage: 80% (8 of 10); "),
        ("80.5%", 1, "coverage: 80% (8 of 10), less than 80.5%; "),
        ("101", 2, ""),
        ("much", 2, ""),
    ],
)
def test_fail_under(
    option: str, code: int, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, FINE, X, documents=DOCUMENTS)
    found, out, _ = run(capsys, "test", path, "--fail-under", option)
    assert found == code
    assert text in out


def test_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, FINE, X, Y, documents=DOCUMENTS)
    code, out, _ = run(capsys, "test", path, "--fail-under", "100")
    assert code == 0
    assert out.startswith(f"FULL {tmp_path / 'limit.yaml'}:1 ")
