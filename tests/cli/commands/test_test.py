"""`celadon test` as a user meets it: exit codes, what is shown, options."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.report.report_model import TEST
from tests.cli.files import binding, full_disk, policy, run
from tests.cli.policytest.given_cases import written
from tests.paths import ROOT

NO = {"data": {"x": "no"}}
PASSING = {"expect": "admit"}
FAILING = {"patch": NO, "expect": "admit"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_passing(capsys: pytest.CaptureFixture[str]) -> None:
    written(Path(), PASSING, {"patch": NO, "expect": {"deny": "x must be ok"}})
    assert run(capsys, "test") == (0, "2 cases in 1 file: 2 passed\n", "")
    code, out, _ = run(capsys, "test", "-v")
    assert (code, out.splitlines()[1]) == (0, "PASS ./limit.policytest.yaml:25 case 1 (1.36)")


def test_reasons_to_skip_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    written(Path(), PASSING, *({"skip": why, "expect": "admit"} for why in ("a", "b", "a")))
    code, out, _ = run(capsys, "test")
    assert (code, out.splitlines()) == (
        0,
        [
            "SKIP 2 cases: a",
            "SKIP 1 case: b",
            "",
            "4 cases in 1 file: 1 passed, 3 skipped",
        ],
    )


def test_failing(capsys: pytest.CaptureFixture[str]) -> None:
    path = written(Path(), PASSING, FAILING)
    code, out, err = run(capsys, "test", path)
    assert (code, err) == (1, "")
    assert out.splitlines() == [
        "FAIL limit.policytest.yaml:25 case 1 (1.36)",
        "  expected verdict: admit",
        "            actual: deny",
        "  limit.yaml:30: policy `limit` denies: x must be ok",
        "      object.data.x == 'ok'",
        "        object.data.x == 'ok' = false",
        '        object.data.x = "no"',
        "",
        "2 cases in 1 file: 1 passed, 1 failed",
    ]
    assert run(capsys, "test", path, "-q")[1].splitlines() == out.splitlines()[:7]


def test_a_difference_of_several_lines(capsys: pytest.CaptureFixture[str]) -> None:
    written(Path(), {"patch": NO, "expect": {"deny": "x must\nbe ok\n"}})
    _, out, _ = run(capsys, "test")
    lines = [line.strip() for line in out.splitlines()]
    assert lines[1] == "message, expected (-) and actual (+):"
    assert lines[2:5] == ["-x must", "-be ok", "+x must be ok"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--run", "case 1"], 0, "1 case in 1 file: 1 passed, 2 not selected"),
        (["--run", "("], 2, "error: --run: "),
        (["-x"], 1, "1 case in 1 file: 1 failed, stopped at the first failure"),
        (["--kubernetes-version", "1.30", "--kubernetes-version", "1.36"], 1, "6 cases in 1 file"),
        (["--kubernetes-version", "1.2"], 2, "unknown version"),
        (["nowhere"], 2, "error: nowhere: cannot be read"),
    ],
)
def test_options(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    written(Path(), FAILING, PASSING, {"patch": NO, "expect": "deny"})
    found, out, err = run(capsys, "test", *words)
    assert found == code
    assert said in out + err


def test_nothing_to_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("manifest.yaml").write_text("apiVersion: v1\nkind: Pod\n", encoding="utf-8")
    code, _, err = run(capsys, "test")
    assert code == 2
    assert "no test found" in err


def test_a_file_that_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    written(Path(), PASSING, {"expect": "nomatch"})
    code, out, err = run(capsys, "test")
    assert code == 2
    assert "did you mean `noMatch`?" in err
    assert out == "0 cases in 1 file: none run\n"


def test_a_policy_that_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    written(Path(), PASSING, documents=[policy(expression="object."), binding()])
    code, out, _ = run(capsys, "test")
    assert code == 3
    assert out.startswith("BROKEN ./limit.policytest.yaml:")


def test_the_examples(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """They pass, mean something, and leave nothing out."""
    monkeypatch.chdir(ROOT)
    code, out, err = run(capsys, "test", "examples", "--strict")
    assert (code, err) == (0, ""), out
    assert out.endswith("51 passed\n")


def test_nothing_is_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    written(Path(), PASSING)
    code, _, err = run(capsys, "test", "--run", "something else")
    assert code == 2
    assert "--run: no case is called `something else`" in err


@pytest.mark.parametrize("format", TEST.names)
def test_formats(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    written(Path(), FAILING)
    code, out, _ = run(capsys, "test", "-o", format)
    assert code == 1
    assert "limit.policytest.yaml" in out


def test_update(capsys: pytest.CaptureFixture[str]) -> None:
    path = written(Path(), PASSING, {"patch": NO, "expect": "snapshot"})
    code, out, err = run(capsys, "test", path, "--update")
    assert (code, out, err) == (0, "2 cases in 1 file: 2 passed\n", "updated: 1\n")
    assert '{"deny": "x must be ok"}' in Path(path).read_text(encoding="utf-8")


def test_an_update_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    path = written(Path(), PASSING, {"patch": NO, "expect": "snapshot"})
    before = Path(path).read_bytes()
    with full_disk(100):
        code, _, err = run(capsys, "test", path, "--update")
    assert (code, err) == (2, f"error: {path}: cannot be written: file too large\n")
    assert Path(path).read_bytes() == before


def test_watch(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each beat something happens: nothing, the policy changes, a test comes, Ctrl-C."""
    path = Path(written(Path(), PASSING, {"patch": NO, "expect": "deny"}))
    text = path.read_text(encoding="utf-8")

    def add() -> None:
        Path("new.policytest.yaml").write_text(text, encoding="utf-8")

    def change() -> None:
        policies = Path("limit.yaml")
        policies.write_text(policies.read_text(encoding="utf-8").replace("'ok'", "'no'"))

    def stop() -> None:
        raise KeyboardInterrupt

    beats = iter([lambda: None, change, add, stop])
    monkeypatch.setattr("time.sleep", lambda _: next(beats)())
    code, out, _ = run(capsys, "test", "--watch")
    assert code == 130
    summaries = [line for line in out.splitlines() if " in 1 file" in line]
    assert summaries == [
        "2 cases in 1 file: 2 passed",
        "2 cases in 1 file: 2 failed",
        "2 cases in 1 file: 2 failed",
    ]
