"""Completion in zsh: every command, option and value stands in the script, quoted."""

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
    zsh_script,
)

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


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh: make programs")
def test_zsh_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "_celadon"
    path.write_text(zsh_script(every_command()), encoding="utf-8")
    subprocess.run(["zsh", "-n", path], check=True)


SESSION = r"""
zmodload zsh/zpty
zpty shell zsh -i
zpty -r shell seen '*READY>*'
zpty -w -n shell "$LINE"$'\t'
zpty -r shell seen "*$WANTED*"
zpty -d shell
"""
"""Types a line and a tab into an interactive shell, and waits for what is wanted to be shown."""
SET_UP = """\
PROMPT='READY>'
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit
compinit -u -D
bindkey '^I' complete-word
"""


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh: make programs")
@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("celadon simu", "celadon simulate-bootstrap"),
        ("celadon replay --out", "celadon replay --output"),
        ("celadon completion f", "celadon completion fish"),
        ("celadon test im", "celadon test import"),
    ],
)
def test_a_tab(line: str, wanted: str, tmp_path: Path) -> None:
    (tmp_path / "_celadon").write_text(zsh_script(every_command()), encoding="utf-8")
    (tmp_path / ".zshrc").write_text(SET_UP, encoding="utf-8")
    here = {"ZDOTDIR": str(tmp_path), "HOME": str(tmp_path), "TERM": "vt100"}
    subprocess.run(  # waits for what is wanted, or in vain
        ["zsh", "-f", "-c", SESSION],
        env={**here, "PATH": os.environ["PATH"], "LINE": line, "WANTED": wanted},
        check=True,
        timeout=60,
    )


def test_every_command_and_option() -> None:
    commands = every_command()
    script = zsh_script(commands)
    for one in commands:
        begin = script.index(f"\n_celadon_{one.name.replace(' ', '_')}() {{\n")
        function = script[begin : script.index("\n}\n", begin)]
        for option in one.options:
            for name in option.names:
                assert f"){name}" in function or f"*{name}" in function
