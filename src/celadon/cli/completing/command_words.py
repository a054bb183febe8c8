"""What can stand in a command line of Celadon, from the parsers of its commands.

`METAVARS` says what values there are behind a metavar; what is not in it is free text.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from enum import Enum
from typing import Final

from celadon.cli.linting.comment_rule import EVERY_RULE
from celadon.cli.main import COMMANDS, Command, parser_of
from celadon.cli.release_option import VERSIONS
from celadon.records import dataclass


class Paths(Enum):
    """What is offered of the file system."""

    NONE = "none"
    FILES = "files"
    FOLDERS = "folders"


@dataclass(frozen=True, slots=True)
class Values:
    """What is offered in one place; nothing if anything may stand there. Of those that
    `are_listed` there may be several, with commas."""

    words: tuple[str, ...] = ()
    are_listed: bool = False
    paths: Paths = Paths.NONE


@dataclass(frozen=True, slots=True)
class OptionWords:
    """An option. `values` is None where it takes none."""

    names: tuple[str, ...]
    values: Values | None
    summary: str
    is_repeated: bool


@dataclass(frozen=True, slots=True)
class CommandWords:
    """A command. `operands` are for all places where no option stands."""

    name: str
    summary: str
    options: tuple[OptionWords, ...]
    operands: Values


_FILES: Final = Values(paths=Paths.FILES)
_FOLDERS: Final = Values(paths=Paths.FOLDERS)
_RULES: Final = tuple(word for one in EVERY_RULE for word in (one.code, one.name))
METAVARS: Final = {
    **dict.fromkeys(("FILE", "LOGS", "PATH", "PATHS", "POLICY", "RESOURCES", "SOURCES"), _FILES),
    **dict.fromkeys(("DIR", "FOLDER"), _FOLDERS),
    "RULE": Values(_RULES),
    "RULE[,RULE]": Values(_RULES, are_listed=True),
    "VERSION": Values(VERSIONS),
    "policy|namespace|label=KEY": Values(("policy", "namespace", "label=")),
}


def every_command() -> list[CommandWords]:
    """All of them, those of more words first: `test init` before `test`."""
    ordered = sorted(COMMANDS, key=lambda one: (-len(one.name.split()), one.name))
    return [*map(_command, ordered), _overview()]


def _overview() -> CommandWords:
    """`celadon` alone, which has no name; `celadon help` is told as one of its words."""
    words = tuple(one.name for one in COMMANDS if " " not in one.name)
    options = (
        OptionWords(("-h", "--help"), None, "show the commands", is_repeated=False),
        OptionWords(("--version",), None, "show the version", is_repeated=False),
    )
    return CommandWords("", "", options, Values((*words, "help")))


def _command(command: Command) -> CommandWords:
    actions = parser_of(command)._actions
    options = [_option(one) for one in actions if one.option_strings]
    operands = [_values(one) for one in actions if not one.option_strings]
    below = [one.name.split()[1] for one in COMMANDS if one.name.startswith(f"{command.name} ")]
    every = _together([Values(tuple(below)), *operands])
    return CommandWords(command.name, command.summary, tuple(options), every)


def _option(action: argparse.Action) -> OptionWords:
    return OptionWords(
        tuple(action.option_strings),
        None if action.nargs == 0 else _values(action),
        action.help or "",
        is_repeated=isinstance(action, argparse._AppendAction | argparse._CountAction),
    )


def _values(action: argparse.Action) -> Values:
    if action.choices is not None:
        return Values(tuple(map(str, action.choices)))
    return METAVARS.get(str(action.metavar), Values())


def _together(values: Iterable[Values]) -> Values:
    given = list(values)
    paths = next((one.paths for one in given if one.paths is not Paths.NONE), Paths.NONE)
    return Values(tuple(word for one in given for word in one.words), paths=paths)
