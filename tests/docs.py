"""Console blocks of the documentation: commands, and the output that is shown under them.

A block begins with three backticks and `console`; a line that begins with `$ ` is a command, the
lines up to the next command or the end of the block are its output. Commands of kubectl find a
server that began with SERVED, audits of a cluster one that began with AUDITED. `update(path)`
rewrites outputs: `python -m tests.docs README.md`.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from celadon.cli.main import main
from celadon.testing import KubeApi
from tests.clients.programs import program
from tests.paths import ROOT

_BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shown:
    """A command and what the documentation says it prints."""

    command: str
    output: str


def shown(path: Path) -> list[Shown]:
    """All commands of a document, in order."""
    return [
        Shown(command, output)
        for block in _BLOCK.findall(path.read_text(encoding="utf-8"))
        for command, output in _COMMAND.findall(block)
    ]


SERVED = ("examples/cluster", "examples/policies")
"""The manifests that the documentation has a server begin with before it uses kubectl."""

AUDITED = ("examples/cluster", "examples/manifests")
"""What is in the cluster that the documentation audits."""


def actual(command: str) -> str:
    """What a command prints, standard error first."""
    words = shlex.split(command)
    if words[0] == "kubectl":
        return _with_a_server(words)
    assert words[0] == "celadon", f"only celadon and kubectl are run: {command}"
    if "--from-cluster" in words:
        served = [str(ROOT / one) for one in AUDITED]
        with KubeApi(served) as api, pytest.MonkeyPatch.context() as patch:
            patch.setenv("KUBECONFIG", api.admin.environment()["KUBECONFIG"])
            return in_process(words)
    return in_process(words)


def in_process(words: list[str], folder: Path = ROOT) -> str:
    """Both outputs of `celadon`, run in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        main(words[1:])
    return err.getvalue() + out.getvalue()


def _with_a_server(words: list[str]) -> str:
    """Both outputs of a client, as a terminal shows them."""
    path = program(words[0])
    with contextlib.chdir(ROOT), KubeApi(SERVED) as api:
        done = subprocess.run(  # a client, with arguments of the documentation
            [path, *words[1:]],
            env=api.admin.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
    return done.stdout


def update(path: Path) -> None:
    """Write the actual outputs into the document."""

    def block(match: re.Match[str]) -> str:
        commands = _COMMAND.sub(lambda one: f"$ {one[1]}\n{actual(one[1])}", match[1])
        return f"```console\n{commands}```\n"

    path.write_text(_BLOCK.sub(block, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        update(Path(name))
