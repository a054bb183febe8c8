"""What every command takes: its words, what may stand there, what holds without them.

`tests/cases/command_lines.txt` has it all, rewritten by `pytest --update-golden` and then read like
code: an option that goes, changes its name or gets another default breaks the scripts of others.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterator
from typing import Final

import pytest

from celadon.cli.main import COMMANDS, Command, parser_of
from tests.paths import ROOT

GOLDEN: Final = ROOT / "tests" / "cases" / "command_lines.txt"


def test_all_command_lines(request: pytest.FixtureRequest) -> None:
    lines = [line for command in COMMANDS for line in _told(command)]
    now = "\n".join(lines) + "\n"
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(now, encoding="utf-8")
    before = GOLDEN.read_text(encoding="utf-8").splitlines()
    differences = difflib.unified_diff(before, lines, "before", "now", lineterm="")
    assert before == lines, "\n".join(("--update-golden", *differences))


def _told(command: Command) -> Iterator[str]:
    """The command with its description, arguments and examples, for a reader."""
    parser = parser_of(command)
    yield f"== {parser.prog}"
    yield from (parser.description or "").strip().splitlines()
    for group in parser._action_groups:
        for action in group._group_actions:
            yield from _argument(action, group.title or "")
    for group in parser._mutually_exclusive_groups:
        names = [action.option_strings[0] for action in group._group_actions]
        yield f"one of: {' '.join(names)}" + (" (required)" if group.required else "")
    yield from (parser.epilog or "").strip().splitlines()
    yield ""


def _argument(action: argparse.Action, group: str) -> Iterator[str]:
    names = ", ".join(action.option_strings) or action.dest
    facts = {
        "action": type(action).__name__.strip("_").removesuffix("Action").lower(),
        "dest": action.dest,
        "metavar": action.metavar,
        "nargs": action.nargs,
        "type": getattr(action.type, "__name__", None),
        "choices": list(action.choices) if action.choices is not None else None,
        "const": action.const,
        "default": action.default,
        "required": True if action.required and action.option_strings else None,
    }
    told = " ".join(f"{name}={value!r}" for name, value in facts.items() if value is not None)
    yield f"-- {names} [{group}] {told}"
    if action.help:
        yield f"   {action.help}"
