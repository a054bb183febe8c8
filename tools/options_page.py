"""The page of all options, from the parsers: `python -m tools.options_page > docs/options.md`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Final

from celadon.cli.main import COMMANDS, Command, parser_of
from tools.man_page import shown_value

_HEAD: Final = """\
# The commands in full

*Reference.* What `celadon COMMAND --help` says: every argument and option, examples, exit codes.
[The commands](cli.md) says what else there is to know. Exit codes 70 and 74 are
[those of all commands](cli.md#exit-codes).

<!-- Made by `python -m tools.options_page > docs/options.md`; the texts are in the parsers. -->
"""
_OF_ALL: Final = ("  70  ", "  74  ")
"""How lines about exit codes begin that all commands have."""


def page() -> str:
    """The whole page, Markdown."""
    return "\n".join([_HEAD, *(line for command in COMMANDS for line in _section(command))])


def _section(command: Command) -> Iterator[str]:
    parser = parser_of(command)
    yield f"## celadon {command.name}\n"
    for paragraph in (parser.description or "").strip().split("\n\n"):
        yield f"```text\n{paragraph}\n```\n" if paragraph.startswith("  ") else f"{paragraph}\n"
    yield from rows(parser)
    epilog = (parser.epilog or "").strip().splitlines()
    shown = "\n".join(line for line in epilog if not line.startswith(_OF_ALL))
    yield f"\n```text\n{shown.strip()}\n```\n"


def rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The table of a parser's arguments; a word if it has none."""
    formatter = parser._get_formatter()
    actions = [action for action in parser._actions if action.dest != "help"]
    if not actions:
        yield "It has no options."
        return
    yield "| argument | meaning |"
    yield "|---|---|"
    for action in actions:
        text = formatter._expand_help(action) if action.help else ""
        yield f"| {_name(action)} | {_cell(_with_choices(action, text))} |"


def _name(action: argparse.Action) -> str:
    """Names as code, and what stands behind them."""
    if not action.option_strings:
        return f"`{_cell(str(action.metavar or action.dest.upper()))}`"
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    value = "" if action.nargs == 0 or action.choices else _value(action)
    return f"{names} {_cell(value)}".rstrip()


def _value(action: argparse.Action) -> str:
    """What stands behind an option; of several things each."""
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    return shown_value(action)


def _with_choices(action: argparse.Action, text: str) -> str:
    if not action.choices or not action.option_strings:
        return text
    choices = ", ".join(f"`{choice}`" for choice in action.choices)
    return f"{choices}; {text}" if text and not text.startswith("(") else f"{choices} {text}"


def _cell(text: str) -> str:
    """A text in a cell of a table: no bar ends it, nothing in it is read as HTML."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").strip()


if __name__ == "__main__":
    sys.stdout.write(page())
