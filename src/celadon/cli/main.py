"""Arguments in, an exit code out: the table of commands and the one place where errors end.

A command's module is imported only when it is asked for, so that `celadon --help` stays quick.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, Protocol, cast

from celadon import __version__
from celadon.cli import output
from celadon.cli.exits import Exit
from celadon.cli.suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: its name, one line of help, and the module that has the rest."""

    name: str
    summary: str
    module: str


COMMANDS: Final = (
    Command("check", "judge manifests by admission policies", "celadon.cli.commands.check"),
    Command("eval", "evaluate one CEL expression", "celadon.cli.commands.eval"),
    Command("lint", "find what is wrong with policies", "celadon.cli.commands.lint"),
    Command("schema", "show the fields of Kubernetes' types", "celadon.cli.commands.schema"),
    Command("serve", "run an API server that enforces policies", "celadon.cli.commands.serve"),
)

_DESCRIPTION: Final = "Kubernetes' admission control without a cluster."
_EPILOG: Final = """\
examples:
  celadon check -f policies/ manifests/
  celadon eval 'object.spec.replicas <= 5' --object deployment.yaml

`celadon COMMAND --help` tells more about a command.
"""


class CommandModule(Protocol):
    """What a module in `commands` has."""

    DESCRIPTION: str
    EPILOG: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, options: argparse.Namespace) -> Exit:
        """Do the work."""


class CommandParser(argparse.ArgumentParser):
    """Errors in the house's words, and a hint where more can be read."""

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ").split()[0]
        if unknown.startswith("--"):
            options = [name for action in self._actions for name in action.option_strings]
            message = f"no option `{unknown}`{did_you_mean(unknown, options)}"
        raise SystemExit(output.usage_error(self.prog, message))


def _overview() -> argparse.ArgumentParser:
    """The parser of `celadon` alone: help and version."""
    width = max(len(command.name) for command in COMMANDS)
    listed = "\n".join(f"  {command.name:{width}}  {command.summary}" for command in COMMANDS)
    parser = CommandParser(
        prog="celadon",
        usage="celadon COMMAND [ARGUMENT ...]",
        description=f"{_DESCRIPTION}\n\ncommands:\n{listed}",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"celadon {__version__}")
    return parser


def load(command: Command) -> CommandModule:
    """The module of a command."""
    return cast(CommandModule, importlib.import_module(command.module))


def parser_of(command: Command) -> argparse.ArgumentParser:
    """A command's parser with all its arguments and examples."""
    module = load(command)
    parser = CommandParser(
        prog=f"celadon {command.name}",
        description=module.DESCRIPTION,
        epilog=module.EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.arguments(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    return _guarded(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if not words:
        output.write(_overview().format_help())
        return Exit.USAGE
    command = next((one for one in COMMANDS if one.name == words[0]), None)
    try:
        if command is not None:
            return load(command).run(_options(command, list(words[1:])))
        if words[0].startswith("-"):
            _overview().parse_args(list(words))
    except SystemExit as stop:  # argparse has said what is wrong, or has shown the help
        return stop.code if isinstance(stop.code, int) else Exit.USAGE
    hint = did_you_mean(words[0], [one.name for one in COMMANDS])
    return output.usage_error("celadon", f"no command `{words[0]}`{hint}")


def _options(command: Command, words: list[str]) -> argparse.Namespace:
    """Options may stand between files; behind `--` there are none (argparse cannot do both)."""
    parser = parser_of(command)
    return parser.parse_args(words) if "--" in words else parser.parse_intermixed_args(words)


def _guarded(work: Callable[[], int]) -> int:
    """Ctrl-C and a closed pipe are ways to end, not accidents."""
    try:
        return int(work())
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Python would complain while it flushes the dead stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE
