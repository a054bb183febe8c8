"""The page of all options is what the parsers say."""

from __future__ import annotations

import argparse
import re

import pytest
from tools.options_page import page, rows

from celadon.cli.main import COMMANDS, parser_of
from tests.paths import ROOT

PAGE = ROOT / "docs" / "options.md"


def test_it_is_current() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "python -m tools.options_page > docs/options.md"


def test_every_option_of_every_command_is_there() -> None:
    before, *sections = re.split(r"^## celadon (.*)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    named = dict(zip(sections[::2], sections[1::2], strict=True))
    assert "## Options of many commands" in before
    for command in COMMANDS:
        for action in parser_of(command)._actions:
            for name in action.option_strings:
                if action.dest != "help":
                    assert f"`{name}`" in named[command.name], f"{command.name}: {name}"


@pytest.mark.parametrize(
    ("words", "more", "row"),
    [
        (["PATHS"], {"nargs": "*", "help": "files"}, "| `PATHS` | files |"),
        (["-q", "--quiet"], {"action": "store_true", "help": "less"}, "| `-q`, `--quiet` | less |"),
        (["--jobs"], {"metavar": "N", "help": "processes"}, "| `--jobs` N | processes |"),
        (
            ["--by"],
            {"metavar": "policy|label=KEY", "help": "count <x> * %(default)s", "default": "1"},
            "| `--by` policy\\|label=KEY | count &lt;x> \\* 1 |",
        ),
        (
            ["--form"],
            {"choices": ("a", "b"), "help": "its form (default: a)"},
            "| `--form` | `a`, `b`; its form (default: a) |",
        ),
        (
            ["-o"],
            {"choices": ("a", "b"), "help": "(default: a)"},
            "| `-o` | `a`, `b` (default: a) |",
        ),
        (
            ["--against"],
            {"nargs": 2, "metavar": ("WHAT", "FILE"), "help": "two"},
            "| `--against` WHAT FILE | two |",
        ),
    ],
)
def test_a_row(words: list[str], more: dict[str, object], row: str) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(*words, **more)  # type: ignore[arg-type]  # as in a table
    assert rows(parser) == [row]
