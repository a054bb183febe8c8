"""Completion in fish: every command, option and value stands in the script, quoted."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from celadon.cli.commands.completion import (
    CommandWords,
    OptionWords,
    Paths,
    Values,
    every_command,
    fish_script,
)

HOSTILE = CommandWords(
    "a b",
    "",
    (
        OptionWords(("-x", "--xx"), Values(("u", "v")), "it's \\ $HOME", is_repeated=False),
        OptionWords(("--rules",), Values(("r", "s"), are_listed=True), "", is_repeated=True),
        OptionWords(("--into",), Values(paths=Paths.FOLDERS), "", is_repeated=False),
    ),
    Values(("w",), paths=Paths.FILES),
)
BEGIN = "complete -c celadon -n '__celadon_is \\'a b\\''"


def test_a_command() -> None:
    lines = fish_script([HOSTILE]).splitlines()
    assert "    for name in 'a b'" in lines
    assert lines[-4:] == [
        f"{BEGIN} -F -a 'w'",
        rf"{BEGIN} -s x -l xx -r -f -a 'u v' -d 'it\'s \\ $HOME'",
        f"{BEGIN} -l rules -r -f -a '(__fish_append , r s)' -d ''",
        f"{BEGIN} -l into -r -f -a '(__fish_complete_directories)' -d ''",
    ]


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish: make programs")
def test_fish_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "celadon.fish"
    path.write_text(fish_script(every_command()), encoding="utf-8")
    subprocess.run(["fish", "--no-execute", path], check=True)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish: make programs")
@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("celadon simu", {"simulate-bootstrap"}),
        ("celadon replay --out", {"--output"}),
        ("celadon completion ", {"bash", "fish", "zsh"}),
        ("celadon simulate-bootstrap -o ", {"json", "text"}),
    ],
)
def test_a_tab(line: str, wanted: set[str], tmp_path: Path) -> None:
    path = tmp_path / "celadon.fish"
    path.write_text(fish_script(every_command()), encoding="utf-8")
    done = subprocess.run(
        ["fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"', path, line],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert {row.partition("\t")[0] for row in done.stdout.splitlines()} == wanted


def test_every_command_and_option() -> None:
    commands = every_command()
    lines = fish_script(commands).splitlines()
    for one in commands:
        name = f"\\'{one.name}\\''"
        count = sum(name in line and " -d " in line for line in lines)
        assert count == len(one.options), one.name
