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
from typing import Final, Protocol, cast

from celadon import __version__
from celadon.cli import output
from celadon.cli.exits import Exit


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: its name, one line of help, and the module that has the rest."""

    name: str
    summary: str
    module: str


COMMANDS: Final = (
    Command("check", "judge manifests by admission policies", "celadon.cli.commands.check"),
    Command("eval", "evaluate one CEL expression", "celadon.cli.commands.eval"),
)

_DESCRIPTION: Final = "Kubernetes' admission control without a cluster."
_EPILOG: Final = """\
examples:
  celadon check -f policies/ manifests/
  celadon eval 'object.spec.replicas <= 5' --object deployment.yaml

`celadon COMMAND --help` tells more about a command.
"""


class _CommandModule(Protocol):
    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, options: argparse.Namespace) -> Exit:
        """Do the work."""


class _Parser(argparse.ArgumentParser):
    """Errors in the house's words, and a hint where more can be read."""

    def error(self, message: str) -> None:  # type: ignore[override]  # NoReturn: it raises
        raise SystemExit(_usage(self.prog, message))


def _usage(program: str, message: str) -> int:
    output.complain(f"error: {message}")
    output.complain(f"  see `{program} --help`")
    return Exit.USAGE


def _parser(chosen: str) -> argparse.ArgumentParser:
    """The parser of everything; only the chosen command's module is loaded."""
    parser = _Parser(
        prog="celadon",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"celadon {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS:
        added = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if command.name == chosen:
            load(command).arguments(added)
    return parser


def load(command: Command) -> _CommandModule:
    """The module of a command."""
    return cast(_CommandModule, importlib.import_module(command.module))


def parser_of(command: Command) -> argparse.ArgumentParser:
    """A command's own parser, with all its arguments: for the documentation's tests."""
    parser = argparse.ArgumentParser(prog=f"celadon {command.name}")
    load(command).arguments(parser)
    return parser


def _chosen(arguments: Sequence[str]) -> str:
    return next((word for word in arguments if not word.startswith("-")), "")


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    return _guarded(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    chosen = _chosen(words)
    known = [command.name for command in COMMANDS]
    if chosen and chosen not in known:
        from celadon.cli.similar import did_you_mean

        return _usage("celadon", f"no command `{chosen}`{did_you_mean(chosen, known)}")
    parser = _parser(chosen)
    try:
        options = parser.parse_args(words)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else Exit.USAGE
    if options.command is None:
        output.write(parser.format_help())
        return Exit.USAGE
    command = next(one for one in COMMANDS if one.name == options.command)
    return load(command).run(options)


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
