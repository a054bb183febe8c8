"""`celadon eval` as a user meets it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.cli.files import run

VALUES = [
    ("1 + 1", "2"),
    ("2u", "2u"),
    ("1.5", "1.5"),
    ("1.0", "1.0"),
    ("double('NaN')", 'double("NaN")'),
    ("double('-Infinity')", 'double("-Infinity")'),
    ("'a\\nä'", '"a\\nä"'),
    ("b'a\\x00\"'", 'b"a\\x00\\x22"'),
    ("[1, 2]", "[1, 2]"),
    ("{'a': {1: 2u}}", '{"a": {1: 2u}}'),
    ("timestamp('2020-01-01T00:00:00Z')", 'timestamp("2020-01-01T00:00:00Z")'),
    ("duration('90s')", 'duration("90s")'),
    ("optional.of(1)", "optional.of(1)"),
    ("optional.none()", "optional.none()"),
    ("type(1)", "int"),
    ("quantity('1500m')", 'kubernetes.Quantity("1500m")'),
]


@pytest.mark.parametrize(("expression", "shown"), VALUES)
def test_values(capsys: pytest.CaptureFixture[str], expression: str, shown: str) -> None:
    assert run(capsys, "eval", expression) == (0, f"{shown}\n", "")


def test_variables(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    manifest = tmp_path / "a.yaml"
    manifest.write_text("apiVersion: v1\nkind: A\nspec: {size: 3}\n")
    words = ["--object", str(manifest), "--params", str(manifest), "--var", "k=[4, 1.0]"]
    assert (
        run(capsys, "eval", "object.spec.size + params.spec.size + k[0] + k[1]", *words)[1]
        == "11\n"
    )


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("object", "--object FILE"),
        ("oldObject", "--old-object FILE"),
        ("params", "--params FILE"),
        ("request", "--var request=JSON"),
    ],
)
def test_a_variable_of_policies_that_has_no_value(
    capsys: pytest.CaptureFixture[str], name: str, option: str
) -> None:
    code, out, err = run(capsys, "eval", f"{name}.spec.replicas <= 5")
    assert (code, out) == (3, "")
    assert err.endswith(f"`{name}` has no value: give it one with `{option}`\n")


def test_an_expression_that_begins_with_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "eval", "--", "-double('1.5')") == (0, "-1.5\n", "")


def test_shows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "eval", "x + 1", "--var", "x=1", "--show-ast", "--show-python", "--cost"
    )
    assert code == 0
    assert "_+_(" in out
    assert "def " in out
    assert out.endswith("\n2\ncost 2\n")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["1/0"], 3, "ERROR: <input>:1:2: division by zero\n | 1/0\n | .^\n"),
        (["nope"], 3, "undeclared reference to 'nope'"),
        (
            ["[1].sortBy(x, x)", "--kubernetes-version", "1.30"],
            3,
            "undeclared reference to 'sortBy'",
        ),
        (["x", "--var", "x"], 2, "is not of the form NAME=JSON"),
        (["x", "--var", "x=text"], 2, "text needs quotes: `--var 'x=\"text\"'`"),
        (["x", "--var", "x=1 2"], 2, "needs exactly one JSON value"),
        (["x", "--object", "missing.yaml"], 2, "missing.yaml: cannot be read"),
    ],
)
def test_errors(
    capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    found, out, err = run(capsys, "eval", *words)
    assert (found, out) == (code, "")
    assert message in err


def test_standard_input_is_an_expression(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1 +\n  1\n")))
    assert run(capsys, "eval", "-") == (0, "2\n", "")


LOOPS = "{0}.all(a, {0}.all(b, {0}.all(c, {0}.all(d, true))))".format(list(range(40)))
LIMITS = [((), 3), (("--cost-limit", "100"), 3), (("--cost-limit", "20000000"), 0)]


@pytest.mark.thorough
@pytest.mark.parametrize(("words", "code"), LIMITS)
def test_evaluation_has_a_limit(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int
) -> None:
    found, _, err = run(capsys, "eval", LOOPS, *words)
    assert found == code
    assert ("actual cost limit exceeded" in err) == (code != 0)
