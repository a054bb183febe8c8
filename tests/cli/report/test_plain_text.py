"""Texts of others are shown, never obeyed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cli.check.check_report import ObjectResult, Place, Report, State
from celadon.cli.reading.documents import Problem
from celadon.cli.report.check_view import CheckView
from celadon.cli.report.report_model import ReportStyle, for_people, lines, one_line, snippet
from celadon.cli.report.sarif_junit_tap import as_github
from tests.cli.files import binding, policy, run, write

ONE_LINE = [
    ("web", "web"),
    ("größe 你好", "größe 你好"),
    ("a\x1b[2Jb", r"a\x1b[2Jb"),
    ("a\nb\tc\r", r"a\nb\tc\r"),
    ("\x9b31m\x7f", r"\x9b31m\x7f"),
    ("a\u202eb\u2066", r"a\u202eb\u2066"),
    ("\ud800 \U000e0001", r"\ud800 \U000e0001"),
    ("::warning::x", r"\x3a:warning::x"),
    ("  ::add-mask::x", r"  \x3a:add-mask::x"),
    ("a::b", "a::b"),
    ("x ##[error]y", r"x \x23#[error]y"),
    ("##vso[task.complete]", r"\x23#vso[task.complete]"),
    ("## heading", "## heading"),
]


@pytest.mark.parametrize(("text", "shown"), ONE_LINE)
def test_one_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_lines_stay_lines() -> None:
    assert lines("a\n\tb\x1b\n::error::c") == "a\n\tb\\x1b\n\\x3a:error::c"


def test_a_snippet_keeps_its_columns() -> None:
    assert snippet("\tx\x1b\u202ey") == " x\ufffd\ufffdy"


def test_a_line_of_many_findings_is_made_once() -> None:
    assert snippet("x\ty" * 1000) is snippet("x\ty" * 1000)


@given(st.text(alphabet=st.characters(codec=None)))
def test_nothing_is_left_to_obey(text: str) -> None:
    for shown in (one_line(text), lines(text)):
        assert all(c.isprintable() or c in "\n\t" for c in shown)
        assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))
        assert "##[" not in shown
    assert one_line(text).isprintable()


def result(name: str, sentence: str) -> ObjectResult:
    """A refused object with texts of somebody else."""
    return ObjectResult(
        place=Place(f"{name}.yaml", 1),
        title=f"ConfigMap {name}",
        api_version="v1",
        kind="ConfigMap",
        namespace="",
        name=name,
        operation="CREATE",
        state=State.DENIED,
        code=422,
        sentence=sentence,
    )


def test_every_text_of_a_report() -> None:
    evil = "x\x1b[31m\n1 object: 1 admitted"
    report = Report((result(evil, f"no\n::error::{evil}"),), problems=(Problem(evil, 1, evil),))
    shown = CheckView(for_people(report)).text(ReportStyle())
    assert "\x1b" not in shown
    assert [line for line in shown.split("\n") if line.startswith(("::", "1 object"))] == [
        "1 object: 0 admitted, 1 denied, 1 unreadable (0 policies, 0 bindings)"
    ]
    assert "\n  1 object: 1 admitted" in shown, "a sentence may have lines, but not at the margin"


def test_a_harmless_report_is_itself() -> None:
    report = Report((result("web", "no"),))
    assert for_people(report) is report


def test_workflow_commands_are_single() -> None:
    shown = as_github(CheckView(Report((result("x\r\n::warning::y", "a\r::error::b\x1b"),))))
    assert len(shown.splitlines()) == 1
    assert "\x1b" not in shown


@pytest.mark.skipif(sys.platform == "win32", reason="file names there cannot have such characters")
@pytest.mark.parametrize("command", ["check", "lint"])
def test_file_names(
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path / "a\x1b[2J.yaml", policy(expression="object.data.x =="), binding())
    _, out, err = run(capsys, command, str(tmp_path))
    assert "\\x1b[2J.yaml" in out + err
    assert "\x1b" not in out + err


@pytest.mark.parametrize("option", [(), ("--show-ast",)])
def test_values_of_expressions(option: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, "eval", "'\x1b[2J'", *option)
    assert "\x1b" not in out + err
