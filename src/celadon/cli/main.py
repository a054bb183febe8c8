"""Arguments in, an exit code out: the table of commands and the one place where errors end.

A command's module is imported only when it is asked for, so that `celadon --help` stays quick.
"""

from __future__ import annotations

import argparse
import contextlib
import contextvars
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final, NoReturn, Protocol, cast

from celadon import __version__
from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import did_you_mean
from celadon.deep_recursion import own_process
from celadon.late_patterns import late_pattern
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand has a name, of one word or more, and one line of help."""

    name: str
    summary: str

    @property
    def module(self) -> str:
        """Return the name of the module that has the rest."""
        return "celadon.cli.commands." + self.name.replace(" ", "_").replace("-", "_")


COMMANDS: Final = (
    Command("audit", "judge what exists by admission policies"),
    Command("check", "judge manifests by admission policies"),
    Command("completion", "complete command lines in a shell"),
    Command("data", "check, copy and restore a server's data"),
    Command("diff", "compare what two sets of policies decide"),
    Command("envtest", "make programs for tests of operators"),
    Command("eval", "evaluate one CEL expression"),
    Command("explain", "tell why policies decide as they do"),
    Command("fmt", "lay out expressions in files"),
    Command("init", "write a first project"),
    Command("library", "show and copy policies to start from"),
    Command("lint", "find what is wrong with policies"),
    Command("lsp", "serve an editor"),
    Command("migrate", "translate policies of other engines"),
    Command("playground", "try policies out in a browser"),
    Command("prove", "prove what policies can and cannot do"),
    Command("replay", "judge what an audit log tells of"),
    Command("schema", "show the fields of Kubernetes' types"),
    Command("serve", "run an API server that enforces policies"),
    Command("simulate-bootstrap", "tell whether policies can lock a cluster out"),
    Command("test", "run the tests of policies"),
    Command("test import", "rewrite tests of other tools"),
    Command("test init", "write a first test for a policy"),
    Command("test schema", "print the JSON schema of test files"),
    Command("webhook", "run a webhook that enforces policies"),
    Command("webhook manifest", "print what it takes to run a webhook in a cluster"),
)

_DESCRIPTION: Final = "Kubernetes' admission control without a cluster."
_EPILOG: Final = """\
examples:
  celadon check -f policies/ manifests/
  celadon eval 'object.spec.replicas <= 5' --object deployment.yaml

`celadon help COMMAND` tells more about a command.
"""
_CODES_OF_ALL: Final = """\
  70  an error of celadon's own: some input was not judged
  74  the output cannot be written
"""
"""What the exit codes of every command's epilog end with."""


class CommandModule(Protocol):
    """A module in `commands` has these members."""

    DESCRIPTION: str
    EPILOG: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, options: argparse.Namespace) -> Exit:
        """Do the work."""


_ASKS_FOR_HELP: Final = late_pattern("--h|-[^-]*h")
"""Options as argparse takes them: cut short, or several in one word."""


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Is told the width of the terminal. argparse makes one for each argument that is declared, and
    would load `shutil` and its packers to find out (an eightieth of a `celadon check`)."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - _MARGIN)


_USUAL_COLUMNS: Final = 80
_MARGIN: Final = 2


def _columns() -> int:
    """Return what `shutil.get_terminal_size` does."""
    with contextlib.suppress(KeyError, ValueError):
        columns = int(os.environ["COLUMNS"])
        if columns > 0:
            return columns
    with contextlib.suppress(ValueError, OSError):  # it is closed, or a file
        if sys.__stdout__ is not None:
            return os.get_terminal_size(sys.__stdout__.fileno()).columns or _USUAL_COLUMNS
    return _USUAL_COLUMNS


class CommandParser(argparse.ArgumentParser):
    """Errors in the house's words, and a hint where more can be read. Switches may have a value, as
    those of programs in Go: `--force=false`."""

    def without_values(self, words: Sequence[str]) -> tuple[list[str], dict[str, bool]]:
        """Return the words but for switches that have values, and these values."""
        switches = {
            name: action.dest
            for action in self._actions
            if action.nargs == 0 and action.const is True
            for name in action.option_strings
        }
        remaining: list[str] = []
        truths: dict[str, bool] = {}
        for word in words:
            name, _, value = word.partition("=")
            has_truth = value and name in switches and "--" not in remaining
            truth = _truth(value) if has_truth else None
            if truth is None:
                remaining.append(word)
            else:
                truths[switches[name]] = truth
        return remaining, truths

    def parsed(self, words: Sequence[str]) -> argparse.Namespace:
        """Return the options and operands that words say. Options may stand between operands;
        behind `--` there are operands only."""
        if "--" not in words:
            return self.parse_intermixed_args(words)
        # argparse can do one or the other: so first the options in front, without any operands.
        end = words.index("--")
        self.usage = self.usage or self.format_usage().removeprefix("usage: ")
        operands = [action for action in self._actions if not action.option_strings]
        declared = [(action.nargs, action.default) for action in operands]
        for operand in operands:
            operand.nargs = operand.default = argparse.SUPPRESS
        namespace, remaining = self.parse_known_args(words[:end])
        for operand, (nargs, default) in zip(operands, declared, strict=True):
            operand.nargs, operand.default = nargs, default
        return self.parse_args([*remaining, *words[end:]], namespace)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line and end; an option that is not there gets the
        name of one that is like it."""
        unknown = message.removeprefix("unrecognized arguments: ").split()[0]
        if unknown.startswith("--"):
            options = [name for action in self._actions for name in action.option_strings]
            message = f"no option `{unknown}`{did_you_mean(unknown, options)}"
        raise SystemExit(output.usage_error(self.prog, message))

    def _print_message(self, message: str, file: object = None) -> None:
        """Help and version, where argparse itself would not mind if nobody can read them."""
        output.write(message)


def _truth(text: str) -> bool | None:
    """Return the value of a switch as Go reads it, None for a text that says none."""
    # late: few give switches values, and `celadon --version` loads nothing of Kubernetes
    from celadon.kube.go import parse_bool

    return parse_bool(text)


def _overview() -> argparse.ArgumentParser:
    """Return the parser of `celadon` alone: help and version."""
    width = max(len(command.name) for command in COMMANDS)
    listed = "\n".join(f"  {command.name:{width}}  {command.summary}" for command in COMMANDS)
    parser = CommandParser(
        prog="celadon",
        usage="celadon COMMAND [ARGUMENT ...]",
        description=f"{_DESCRIPTION}\n\ncommands:\n{listed}",
        epilog=_EPILOG,
        formatter_class=_HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"celadon {__version__}")
    return parser


def command_of(words: Sequence[str]) -> Command | None:
    """Return the command that these words begin with, of several the longest."""
    commands = [
        command
        for command in COMMANDS
        if command.name.split() == list(words[: len(command.name.split())])
    ]
    # `test import` goes before `test`.
    return max(commands, key=lambda command: len(command.name), default=None)


def load(command: Command) -> CommandModule:
    """Return the module of a command."""
    return cast(CommandModule, importlib.import_module(command.module))


def parser_of(command: Command) -> CommandParser:
    """Return a command's parser with all its arguments and examples."""
    module = load(command)
    parser = CommandParser(
        prog=f"celadon {command.name}",
        description=module.DESCRIPTION,
        epilog=module.EPILOG + _CODES_OF_ALL,
        formatter_class=_HelpFormatter,
    )
    module.arguments(parser)
    return parser


def main(arguments: Sequence[str] | None = None, *, is_process: bool = False) -> int:
    """Run the whole program; returns the exit code. Without `arguments`, or if it `is_process`, the
    process has nothing else to do: a command may end it itself."""
    is_process |= arguments is None
    with own_process():
        # A release that is entered for a command (`celadon.kube.releases`) ends with it.
        return contextvars.copy_context().run(_guided, arguments, is_process=is_process)


def _guided(arguments: Sequence[str] | None, *, is_process: bool) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    return _guarded(lambda: _run(words, is_process=True) if is_process else _run(words))


def _enter_release(options: argparse.Namespace) -> None:
    """Enter the release that a command is told: it is the current one from now on."""
    version = getattr(options, "kubernetes_version", None)
    if isinstance(version, str):
        # late: commands that know no release load nothing of Kubernetes
        from celadon.kube.releases import enter_release

        enter_release(version)


def _run(words: Sequence[str], *, is_process: bool = False) -> int:
    if not words:
        output.write(_overview().format_help())
        return Exit.USAGE
    command = command_of(words)
    program = "celadon" if command is None else f"celadon {command.name}"
    try:
        if command is not None:
            options = _options(command, list(words[len(command.name.split()) :]))
            options.is_process = is_process
            _enter_release(options)
            return load(command).run(options)
        if words[0].startswith("-"):
            _overview().parse_args(list(words))
    except WrongUseError as error:
        return output.usage_error(program, str(error))
    except SystemExit as stop:  # argparse has said what is wrong, or has shown the help
        return stop.code if isinstance(stop.code, int) else Exit.USAGE
    hint = did_you_mean(words[0], [command.name for command in COMMANDS])
    return output.usage_error(program, f"no command `{words[0]}`{hint}")


def _options(command: Command, words: list[str]) -> argparse.Namespace:
    """Return what the words behind a command say."""
    parser = parser_of(command)
    remaining, truths = parser.without_values(words)
    if not any(map(_ASKS_FOR_HELP.match, remaining)):
        parser.usage = parser.prog  # only the help shows more, which argparse would lay out first
    namespace = parser.parsed(remaining)
    vars(namespace).update(truths)
    return namespace


def _guarded(work: Callable[[], int]) -> int:
    """Ctrl-C and a closed pipe are ways to end; accidents have codes of their own."""
    try:
        return int(work())
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        output.give_up()
        return Exit.BROKEN_PIPE
    except output.UnwritableError as error:
        output.complain_if_possible(f"error: the output cannot be written: {error}")
        output.give_up()
        return Exit.OUTPUT
    except Exception as error:  # noqa: BLE001 - the last resort: never a traceback, never code 1
        from celadon.cli.reading.documents import HELP, summary

        output.complain_if_possible(f"error: internal error: {summary(error)} ({HELP})")
        return Exit.INTERNAL
