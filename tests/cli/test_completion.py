"""The scripts of all shells, whole, for three invented commands; what shells make of them is tested
by the shells themselves.

`pytest --update-golden` writes `tests/cases/completion` anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from celadon.cli.completion import (
    CommandWords,
    OptionWords,
    Paths,
    Values,
    bash_script,
    fish_script,
    zsh_script,
)
from tests.paths import ROOT

COMMANDS = [
    CommandWords("test init", "write it's [first] test", (), Values(paths=Paths.FOLDERS)),
    CommandWords(
        "test",
        "run: the tests",
        (
            OptionWords(("-o", "--output"), Values(("a", "b")), "the form", is_repeated=False),
            OptionWords(("--rule",), Values(("X", "Y"), are_listed=True), "of them", True),
            OptionWords(("-f", "--filename"), Values(paths=Paths.FILES), "policies", True),
            OptionWords(("--to",), Values(paths=Paths.FOLDERS), "", is_repeated=False),
            OptionWords(("--name",), Values(), "any $name", is_repeated=False),
            OptionWords(("-v", "--verbose"), None, "more", is_repeated=True),
            OptionWords(("-q",), None, "less", is_repeated=False),
        ),
        Values(("init",), paths=Paths.FILES),
    ),
    CommandWords("", "", (OptionWords(("--version",), None, "it", False),), Values(("test",))),
]


@pytest.mark.parametrize("script", [bash_script, fish_script, zsh_script])
def test_whole_script(
    script: Callable[[Sequence[CommandWords]], str], request: pytest.FixtureRequest
) -> None:
    path = ROOT / "tests" / "cases" / "completion" / f"{script.__name__}.txt"
    found = script(COMMANDS)
    if request.config.getoption("--update-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
