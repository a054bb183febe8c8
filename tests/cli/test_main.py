"""Help, version, Ctrl-C, closed pipes; what the shell sees."""

from __future__ import annotations

import argparse
import io
import subprocess
import sys

import pytest

from celadon import __version__
from celadon.cli import main as main_module
from celadon.cli.main import COMMANDS, _HelpFormatter, main, parser_of
from celadon.cli.output import Progress, use_color, write
from tests.cli.files import run


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert all(command.name in out and command.summary in out for command in COMMANDS)
    assert run(capsys, "--version")[:2] == (0, f"celadon {__version__}\n")
    assert run(capsys)[0] == 2


def test_help_is_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "help") == run(capsys, "--help")
    assert run(capsys, "help", "lint") == run(capsys, "lint", "--help")


@pytest.mark.parametrize("asking", [["--hel"], ["-h"], ["-f", "x", "--he"]])
def test_help_in_other_words(capsys: pytest.CaptureFixture[str], asking: list[str]) -> None:
    assert run(capsys, "check", *asking) == run(capsys, "check", "--help")


@pytest.mark.parametrize(
    ("command", "words", "paths", "output"),
    [
        ("diff", "A..B --only looser -o json -- old new", ["A..B", "old", "new"], "json"),
        ("diff", "--only looser A..B -o json -- -o", ["A..B", "-o"], "json"),
        ("diff", "--only looser -- -- a", ["--", "a"], "text"),
        ("diff", "A..B -o json --", ["A..B"], "json"),
        ("test", "-o json a -- b", ["a", "b"], "json"),
        ("prove", "a --items 3 b -o json -- c", ["a", "b", "c"], "json"),
    ],
)
def test_behind_two_dashes_there_are_operands_only(
    command: str, words: str, paths: list[str], output: str
) -> None:
    """In front of them options may stand between operands, as without them (and as in git)."""
    (found,) = (one for one in COMMANDS if one.name == command)
    options = parser_of(found).parsed(words.split())
    assert (options.paths, options.output) == (paths, output)


@pytest.mark.parametrize(
    ("words", "library", "sources"),
    [
        ("--library -o json -- dump", [], ["dump"]),
        ("a --library storage -- dump", ["storage"], ["a", "dump"]),
        ("a --library -- storage", [], ["a", "storage"]),
    ],
)
def test_two_dashes_end_the_values_of_an_option(
    words: str, library: list[str], sources: list[str]
) -> None:
    (audit,) = (one for one in COMMANDS if one.name == "audit")
    options = parser_of(audit).parsed(words.split())
    assert (options.library, options.sources) == (library, sources)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["diff", "a", "--bad", "--", "b"], "no option `--bad`"),
        (["prove", "--"], "the following arguments are required: PATHS"),
    ],
)
def test_what_is_wrong_in_front_of_two_dashes(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, *words)
    assert code == 2
    assert err.startswith(f"error: {message}\n")


def test_help_in_front_of_two_dashes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "diff", "--help", "--", "a") == run(capsys, "diff", "--help")


@pytest.mark.parametrize("said", ["", "0", "-3", "many", "120"])
def test_help_is_as_wide_as_argparse_makes_it(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("COLUMNS", said)
    ours, theirs = (
        argparse.ArgumentParser(prog="x", usage="x", description="word " * 99, formatter_class=one)
        for one in (_HelpFormatter, argparse.RawDescriptionHelpFormatter)
    )
    for parser in (ours, theirs):
        parser.add_argument("--one", help="word " * 99)
    assert ours.format_help() == theirs.format_help()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_help_with_examples(
    command: main_module.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, *command.name.split(), "--help")
    assert code == 0
    assert "examples:\n  celadon" in out
    assert "exit codes:" in out
    assert all(action.help or action.choices for action in parser_of(command)._actions), (
        "every option says what it is for"
    )


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(words: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main_module, "_run", interrupted)
    assert run(capsys, "check") == (130, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close differently there")
def test_a_closed_pipe_is_no_traceback() -> None:
    read = "import os,sys; sys.stdout.flush(); os.close(0)"
    command = f"{sys.executable} -m celadon eval \"'x'.replace('x', 'y')\" --show-python"
    done = subprocess.run(  # our own interpreter
        f"({command}; echo code $? >&2) | {sys.executable} -c '{read}'",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "code " in done.stderr


def test_colour_depends_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert use_color(Terminal(), forbidden=False)
    assert not use_color(Terminal(), forbidden=True)
    assert not use_color(io.StringIO(), forbidden=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not use_color(Terminal(), forbidden=False)


def test_what_the_terminal_cannot_show_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    write("ä\ud800\n")
    assert raw.getvalue() == b"\\xe4\\ud800\n"


def test_progress_is_patient_and_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    clock = iter([0.0, 1.0, 2.5, 2.55, 3.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    progress = Progress("read:")
    for done in range(1, 5):
        progress.step(done)
    progress.done()
    assert terminal.getvalue() == "\rread: 2\033[K\rread: 4\033[K\r\033[K"


def test_main_without_arguments_reads_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["celadon", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("celadon ")
