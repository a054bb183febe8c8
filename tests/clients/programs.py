"""Programs that talk to a server, run as from a shell.

They are looked for beside the interpreter, where `tools/install_clients.py` puts them, and then
where the shell does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest

SECONDS = 30
"""No command takes so long."""


def program(name: str) -> str:
    """Its path; skips the test if there is none."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which(name, path=places)
    if found is None:
        pytest.skip(f"{name} is not installed: python tools/install_clients.py .venv/bin")
    return found


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Client:
    """A program in one namespace of one server."""

    path: str
    environment: Mapping[str, str]
    folder: Path
    arguments: Sequence[str] = ()

    def run(self, *arguments: str, given: str = "", **environment: str) -> Done:
        """Whatever comes of it; `given` is its standard input."""
        done = subprocess.run(  # a client, with arguments of the test
            [self.path, *self.arguments, *arguments],
            env={**self.environment, **environment},
            cwd=self.folder,
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def __call__(self, *arguments: str, given: str = "", **environment: str) -> str:
        """The standard output of a command that succeeds and warns of nothing."""
        done = self.run(*arguments, given=given, **environment)
        assert done.code == 0, f"{' '.join(arguments)}: {done.code}: {done.err}{done.out}"
        assert done.err == "", done.err
        return done.out

    def fails(self, *arguments: str, given: str = "", **environment: str) -> str:
        """The standard error of a command that ends with code 1."""
        done = self.run(*arguments, given=given, **environment)
        assert done.code == 1, f"{' '.join(arguments)}: {done.code}: {done.err}{done.out}"
        return done.err

    def json(self, *arguments: str) -> Any:
        """The output of a command with `-o json`, read."""
        return json.loads(self(*arguments, "-o", "json"))

    @contextmanager
    def lines(self, *arguments: str) -> Iterator[Callable[[], str]]:
        """A command that goes on; what gives its next line of output, which must come soon."""
        running = subprocess.Popen(  # a client, with arguments of the test
            [self.path, *self.arguments, *arguments],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        output, lines = running.stdout, SimpleQueue[str]()
        assert output is not None

        def read() -> None:
            for line in output:
                lines.put(line)

        reader = Thread(target=read, daemon=True)
        reader.start()
        try:
            yield lambda: lines.get(timeout=SECONDS)
        finally:
            running.terminate()
            running.wait()
            reader.join()
            output.close()

    def write(self, name: str, text: str) -> str:
        """A file in the folder where commands run; its name."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return name
