"""Completion in bash, asked of bash itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from celadon.cli.commands.completion import bash_script, every_command
from celadon.cli.main import COMMANDS, parser_of
from celadon.cli.options import VERSIONS

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash"),
]
SCRIPT = bash_script(every_command())


def completed(folder: Path, *lines: list[str]) -> list[list[str]]:
    """What bash offers for the last word of each of these lines."""
    asked = "".join(
        f"COMP_WORDS=({' '.join(map(quoted, ['celadon', *words]))}); "
        f"COMP_CWORD={len(words)}; _celadon; (IFS=$'\\t'; echo \"${{COMPREPLY[*]}}\")\n"
        for words in lines
    )
    done = subprocess.run(
        ["bash", "--noprofile", "--norc"],
        input=f"{SCRIPT}\n{asked}",
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def quoted(word: str) -> str:
    return f"'{word}'"


ROWS = {
    "commands": (["c"], ["check", "completion"]),
    "help of": (["help", "ch"], ["check"]),
    "version": (["--v"], ["--version"]),
    "an option": (["check", "--fi"], ["--filename", "--field-validation"]),
    "after files": (["check", "a.yaml", "--str"], ["--strict"]),
    "choices": (["check", "-o", "j"], ["json", "junit"]),
    "with =": (["check", "--output", "=", "j"], ["json", "junit"]),
    "right behind =": (["audit", "--operation", "="], ["CREATE", "UPDATE"]),
    "versions": (["eval", "--kubernetes-version", ""], list(VERSIONS)),
    "rules": (["lint", "--explain", "CEL02"], [f"CEL02{n}" for n in range(10)]),
    "listed rules": (["lint", "--select", "CEL001,CEL00"], [f"CEL001,CEL00{n}" for n in range(10)]),
    "free text": (["check", "--policy", ""], [""]),
    "files": (["check", "-f", "po"], ["policies", "pod with spaces.yaml"]),
    "folders": (["check", "--mutated-out", "po"], ["policies"]),
    "operands": (["lint", "pod"], ["pod with spaces.yaml"]),
    "words among files": (["test", "in"], ["init"]),
    "below": (["test", "init", "--st"], ["--stdout"]),
    "not below": (["test", "x", "init", "--st"], ["--strict"]),
    "shells": (["completion", ""], ["bash", "zsh", "fish"]),
}


def test_rows(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "pod with spaces.yaml").touch()
    found = completed(tmp_path, *(words for words, _ in ROWS.values()))
    for (name, (words, wanted)), offered in zip(ROWS.items(), found, strict=True):
        if "CEL" in words[-1]:
            assert offered, name
            assert set(offered) <= set(wanted), name
        else:
            assert sorted(offered) == sorted(wanted), name


def test_every_option_of_every_command(tmp_path: Path) -> None:
    found = completed(tmp_path, *([*one.name.split(), "-"] for one in COMMANDS))
    for command, offered in zip(COMMANDS, found, strict=True):
        actions = parser_of(command)._actions
        assert sorted(offered) == sorted(name for one in actions for name in one.option_strings)
