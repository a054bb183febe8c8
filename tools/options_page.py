"""The page of all options, from the parsers: `python -m tools.options_page > docs/options.md`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
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
_MANY = 4
"""So many commands make an option one of many commands."""
_OF_ALL: Final = ("  70  ", "  74  ")
"""How lines about exit codes begin that all commands have."""


def page() -> str:
    """The whole page, Markdown."""
    shared = _shared()
    lines = [_HEAD, "## Options of many commands", "", *_table(shared), ""]
    for command in COMMANDS:
        lines += _section(command, shared)
    return "\n".join(lines)


def _shared() -> list[str]:
    """The rows that stand in many tables."""
    counted = Counter(row for command in COMMANDS for row in rows(parser_of(command)))
    return [row for row, count in counted.items() if count >= _MANY]


def _section(command: Command, shared: Collection[str]) -> Iterator[str]:
    parser = parser_of(command)
    yield f"## celadon {command.name}\n"
    for paragraph in (parser.description or "").strip().split("\n\n"):
        yield f"```text\n{paragraph}\n```\n" if paragraph.startswith("  ") else f"{paragraph}\n"
    every = rows(parser)
    if own := [row for row in every if row not in shared]:
        yield from _table(own)
    if also := [row.split("|")[1].strip() for row in every if row in shared]:
        yield f"\nAnd [of many commands](#options-of-many-commands): {', '.join(also)}."
    epilog = (parser.epilog or "").strip().splitlines()
    shown = "\n".join(line for line in epilog if not line.startswith(_OF_ALL))
    yield f"\n```text\n{shown.strip()}\n```\n"


def _table(shown: Iterable[str]) -> Iterator[str]:
    yield "| argument | meaning |"
    yield "|---|---|"
    yield from shown


def rows(parser: argparse.ArgumentParser) -> list[str]:
    """A row for each argument of a parser, without `--help`."""
    formatter = parser._get_formatter()
    return [
        f"| {_name(action)} | {_cell(_with_choices(action, formatter._expand_help(action)))} |"
        for action in parser._actions
        if action.dest != "help"
    ]


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
