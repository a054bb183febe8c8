"""`celadon fmt` from the outside: what it says, writes and ends with."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from celadon.cli.main import main

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  validations:
  - expression: a&&b  # é
"""
DONE = POLICY.replace("a&&b", "a && b")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fmt(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["fmt", *words])
    return code, *capsys.readouterr()


def test_files_are_changed_and_then_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(POLICY, encoding="utf-8")
    Path("b.yaml").write_text(DONE, encoding="utf-8")
    said = "a.yaml: laid out 1 expression\n1 file changed, 1 unchanged\n"
    assert fmt(capsys, "a.yaml", "b.yaml") == (0, said, "")
    assert Path("a.yaml").read_text(encoding="utf-8") == DONE
    assert fmt(capsys, ".") == (0, "0 files changed, 2 unchanged\n", "")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_encoding_and_line_ends_stay(
    encoding: str, ends: str, capsys: pytest.CaptureFixture[str]
) -> None:
    long = POLICY.replace("a&&b  # é", "|-\n      a&&   // é\n      b")
    Path("a.yaml").write_bytes(long.replace("\n", ends).encode(encoding))
    assert fmt(capsys, "a.yaml")[0] == 0
    after = Path("a.yaml").read_bytes().decode(encoding)
    assert after == long.replace("a&&   ", "a && ").replace("\n", ends)


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(POLICY, encoding="utf-8")
    said = "a.yaml: would lay out 1 expression\n1 file would change, 0 unchanged\n"
    assert fmt(capsys, "--check", "a.yaml") == (1, said, "")
    assert fmt(capsys, "--check", "-q", "a.yaml") == (1, "", "")
    assert Path("a.yaml").read_text(encoding="utf-8") == POLICY
    Path("a.yaml").write_text(DONE, encoding="utf-8")
    assert fmt(capsys, "--check", "a.yaml") == (0, "0 files would change, 1 unchanged\n", "")


def test_diff(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(POLICY, encoding="utf-8")
    code, out, _ = fmt(capsys, "--diff", "a.yaml")
    assert code == 1
    assert out.splitlines()[-2:] == ["-  - expression: a&&b  # é", "+  - expression: a && b  # é"]
    assert Path("a.yaml").read_text(encoding="utf-8") == POLICY


def test_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(POLICY.encode())))
    assert fmt(capsys, "-") == (0, DONE, "")


def test_the_width_comes_from_options_or_the_configuration(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = POLICY.replace("a&&b  # é", "object.spec.first&&object.spec.second")
    Path("a.yaml").write_text(long, encoding="utf-8")
    assert fmt(capsys, "--check", "--line-width", "40", "a.yaml")[0] == 1
    Path("celadon.toml").write_text("[fmt]\nline-width = 40\n", encoding="utf-8")
    assert fmt(capsys, "-q", "a.yaml")[0] == 0
    assert "first &&\n      object" in Path("a.yaml").read_text(encoding="utf-8")
    assert fmt(capsys, "-q", "a.yaml", "--line-width", "80")[0] == 0
    assert "first && object" in Path("a.yaml").read_text(encoding="utf-8")


def test_a_syntax_error(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(POLICY.replace("a&&b", "a &&"), encoding="utf-8")
    code, out, err = fmt(capsys, "a.yaml")
    assert (code, out) == (2, "0 files changed, 1 unchanged\n")
    assert err == (
        "error: a.yaml:6:5: this expression has a syntax error, so it keeps its layout "
        "(`celadon lint` says which)\n"
    )


def test_line_ends_of_both_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    mixed = POLICY.replace("\n", "\r\n", 1).encode()
    Path("a.yaml").write_bytes(mixed)
    code, _, err = fmt(capsys, "a.yaml")
    assert code == 2
    assert err.startswith("error: a.yaml: stays as it is")
    assert Path("a.yaml").read_bytes() == mixed


@pytest.mark.parametrize(
    ("words", "config", "said"),
    [
        ([], "", "nothing to lay out"),
        (["a.yaml", "--line-width", "5"], "", "`--line-width` must be from 20 to 1000"),
        (["a.yaml"], "line-width = 5", "`line-width` must be a number from 20 to 1000"),
        (["a.yaml"], "line-width = true", "`line-width` must be a number"),
        (["a.yaml"], "exclude = 'x'", "`exclude` must be a list of texts"),
        (["a.yaml"], "width = 5", "no option `width`"),
    ],
)
def test_wrong_usage(
    words: list[str], config: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("celadon.toml").write_text(f"[fmt]\n{config}\n", encoding="utf-8")
    code, _, err = fmt(capsys, *words)
    assert code == 2
    assert said in err


def test_excluded_files(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.yaml", "b.yaml", "c.yaml"):
        Path(name).write_text(POLICY, encoding="utf-8")
    Path("celadon.toml").write_text("[fmt]\nexclude = ['b.*']\n", encoding="utf-8")
    code, out, _ = fmt(capsys, "--check", ".", "--exclude", "c.yaml")
    assert (code, out.splitlines()[-1]) == (1, "1 file would change, 0 unchanged")
