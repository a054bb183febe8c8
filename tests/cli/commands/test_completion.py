"""`celadon completion`: a script on standard output; the scripts of all shells, whole, for three
invented commands: `pytest --update-golden` writes `tests/cases/completion` anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from celadon.cli.commands.completion import (
    CommandWords,
    OptionWords,
    Paths,
    Values,
    bash_script,
    fish_script,
    zsh_script,
)
from tests.cli.files import run
from tests.paths import ROOT


@pytest.mark.parametrize(
    ("shell", "ending"),
    [
        ("bash", "complete -F _celadon celadon\n"),
        ("zsh", '_celadon "$@"\n'),
        ("fish", " -l version -d 'show the version'\n"),
    ],
)
def test_scripts(shell: str, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "completion", shell)
    assert (code, err) == (0, "")
    assert out.startswith("#")
    assert out.endswith(ending)


def test_another_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "completion", "tcsh")[0] == 2


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
