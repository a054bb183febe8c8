"""What can stand where, from the parsers."""

from __future__ import annotations

import pytest

from celadon.cli.commands.completion import METAVARS, Paths, every_command
from celadon.cli.main import COMMANDS, parser_of
from celadon.cli.options import VERSIONS

FREE = {
    "CIDR",
    "audit-log|webhook|cluster",
    "LEVEL",
    "URL",
    "ADDRESS",
    "COLUMNS",
    "CONFIG",
    "DURATION",
    "EXPR",
    "GATES",
    "GROUP",
    "HOST:PORT",
    "IMAGE",
    "KIB",
    "KIND[,KIND]",
    "LIST",
    "MODULE:NAME",
    "N",
    "NAME",
    "NAME=JSON",
    "NAMES",
    "NAMESPACE/NAME[:PORT]=HOST:PORT",
    "NAMESPACE/NAME[:PORT]=URL",
    "OBJECT",
    "PART",
    "PATTERN",
    "PATTERN:RULE[,RULE]",
    "PERCENT",
    "PORT",
    "PREFIX",
    "REGEX",
    "REV",
    "SECONDS",
    "STANDARD",
    "URLS",
    "USER",
    "[NAMESPACE/]NAME",
}
"""Metavars behind which anything may stand."""
BY_NAME = {one.name: one for one in every_command()}


def test_every_metavar_is_free_or_known() -> None:
    """Whoever needs a new one says here or there what can be behind it."""
    used = {
        str(word)
        for command in COMMANDS
        for action in parser_of(command)._actions
        if action.nargs != 0 and action.choices is None
        for word in (action.metavar if isinstance(action.metavar, tuple) else (action.metavar,))
    }
    assert used == FREE | METAVARS.keys()


def test_longer_names_come_first() -> None:
    names = list(BY_NAME)
    assert names.index("test init") < names.index("test")
    assert set(names) == {one.name for one in COMMANDS} | {""}


@pytest.mark.parametrize(
    ("command", "option", "words", "listed", "paths"),
    [
        (
            "check",
            "-o",
            ("table", "json", "yaml", "github", "junit", "sarif", "tap"),
            False,
            Paths.NONE,
        ),
        ("check", "--kubernetes-version", VERSIONS, False, Paths.NONE),
        ("check", "-f", (), False, Paths.FILES),
        ("check", "--mutated-out", (), False, Paths.FOLDERS),
        ("check", "--policy", (), False, Paths.NONE),
    ],
)
def test_values(
    command: str, option: str, words: tuple[str, ...], listed: bool, paths: Paths
) -> None:
    values = next(one.values for one in BY_NAME[command].options if option in one.names)
    assert values is not None
    assert (values.words, values.are_listed, values.paths) == (words, listed, paths)


def test_operands() -> None:
    assert BY_NAME["test"].operands.words == ("import", "init", "schema")
    assert BY_NAME["test"].operands.paths is Paths.FILES
    assert BY_NAME["completion"].operands.words == ("bash", "zsh", "fish")
    assert "test" in BY_NAME[""].operands.words


def test_options_without_a_value() -> None:
    strict = next(one for one in BY_NAME["check"].options if "--strict" in one.names)
    assert strict.values is None
    assert not strict.is_repeated
