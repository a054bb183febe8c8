"""`celadon completion`: a script on standard output."""

from __future__ import annotations

import pytest

from tests.cli.files import run


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
