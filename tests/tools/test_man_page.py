"""The man page: complete, and roff without a warning."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from tools.man_page import page

from celadon.cli.main import COMMANDS, parser_of


def test_every_command_and_option() -> None:
    text = page()
    for command in COMMANDS:
        begin = text.index(f"\n.SS celadon {command.name}\n")
        section = text[begin : text.index("\n.S", begin + 1)]
        for action in parser_of(command)._actions:
            for name in action.option_strings or [str(action.metavar)]:
                escaped = name.replace("-", r"\-")
                assert f"\\fB{escaped}\\fR" in section or f"\\fI{escaped}\\fR" in section


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_groff_reads_it() -> None:
    words = ["groff", "-man", "-Tascii", "-ww", "-P-c"]
    done = subprocess.run(words, input=page(), capture_output=True, text=True, check=True)
    assert done.stderr == ""
    shown = re.sub(".\b", "", done.stdout)
    for line in ("NAME", "SYNOPSIS", "COMMANDS", "FILES"):
        assert f"\n{line}\n" in shown
    assert "celadon eval '1 + 1'" in shown
    assert "--kubernetes-version VERSION" in shown
