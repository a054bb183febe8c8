"""Completion in zsh: every command, option and value stands in the script, quoted."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from celadon.cli.completing.command_words import (
    CommandWords,
    OptionWords,
    Paths,
    Values,
    every_command,
)
from celadon.cli.completing.zsh_completion import zsh_script

HOSTILE = CommandWords(
    "a b",
    "",
    (
        OptionWords(("-x", "--xx"), Values(("u", "v")), "it's [so]: $HOME", is_repeated=False),
        OptionWords(("--rules",), Values(("r", "s"), are_listed=True), "", is_repeated=True),
        OptionWords(("--into",), Values(paths=Paths.FOLDERS), "", is_repeated=False),
    ),
    Values(("w",), paths=Paths.FILES),
)


def test_a_command() -> None:
    script = zsh_script([HOSTILE])
    for line in (
        """'(-x --xx)-x[it'"'"'s \\[so\\]\\: $HOME]:value:(u v)'""",
        """'(-x --xx)--xx=[it'"'"'s \\[so\\]\\: $HOME]:value:(u v)'""",
        "'*--rules=[]:value:_sequence compadd - r s'",
        "'(--into)--into=[]:value:_files -/'",
        "'*: :{compadd - w; _files}'",
    ):
        assert f"    {line}" in script
    assert "    'a b') (( CURRENT > 3 )) && { shift 2 words;" in script


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "_celadon"
    path.write_text(zsh_script(every_command()), encoding="utf-8")
    subprocess.run(["zsh", "-n", path], check=True)


def test_every_command_and_option() -> None:
    commands = every_command()
    script = zsh_script(commands)
    for one in commands:
        begin = script.index(f"\n_celadon_{one.name.replace(' ', '_')}() {{\n")
        function = script[begin : script.index("\n}\n", begin)]
        for option in one.options:
            for name in option.names:
                assert f"){name}" in function or f"*{name}" in function
