"""Ordinary inputs, damaged at random, for every command that reads: no answer is a traceback.

What is damaged are the examples: policies, manifests, cluster objects, expressions. Damage is done
to documents and to bytes, as in `tests.faults.hostile_reviews`. Commands run in the process that
asks; `tests.hostile.forked_batches` asks in many. The same seed gives the same inputs.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import random
import resource
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from celadon.cli.exit_codes import Exit
from celadon.cli.main import main
from celadon.goyaml import read_yaml
from tests.faults.hostile_reviews import Damage
from tests.hostile.confinement import SIGNS
from tests.hostile.hostile_case import MOST_BYTES, MOST_MEGABYTES
from tests.paths import ROOT

COMMAND: Final = "command.json"
"""The file with the arguments, beside those with the inputs."""
_EXPECTED: Final = frozenset({Exit.OK, Exit.DENIED, Exit.USAGE, Exit.POLICY})
_EXPRESSIONS: Final = (
    "object.spec.replicas <= 5 && has(object.metadata.labels)",
    "[1, 2, 3].map(x, x * 2).exists(x, x > 4) ? 'a'.matches('^a+$') : false",
    "quantity('1Gi').isGreaterThan(quantity('900Mi')) || ip('::1').isLoopback()",
    "'%s %d'.format([object.kind, 7]).split(' ')[?1].orValue('') in {'a': [1u, -2.5e3]}",
)
_ODD: Final = "()[]{}.,?:+-*/%!&|<>='\"\\`0919aex_\x00\x1b\n\u202e\U0001f4a3"


@dataclass(frozen=True, slots=True)
class Answered:
    """What a command said and ended with, and what is wrong with that, if anything."""

    exit: int
    said: str
    complaint: str


class _TimeIsUp(BaseException):
    """Not an error that commands would answer for."""


@functools.cache
def documents() -> list[dict[str, Any]]:
    """Of all examples; nobody changes them."""
    found = []
    for file in sorted((ROOT / "examples").rglob("*.yaml")):
        values = (value for _, value in read_yaml(file.read_text(encoding="utf-8")))
        found += [value for value in values if isinstance(value, dict)]
    return found


class Mutations:
    """A stream of commands with damaged inputs, from a seed."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._documents = documents()
        self._damage = Damage(self._documents, seed)
        bodies = self._damage.bodies(sys.maxsize)
        self._small = (body for body in bodies if len(body) <= MOST_BYTES)

    def run(self, folder: Path, count: int, seconds: float) -> Iterator[Answered]:
        """Runs so many, one by one, with their files in a folder. None may take more than so many
        seconds of the processor."""
        for words in self._commands(folder, count):
            (folder / COMMAND).write_text(json.dumps(words), encoding="utf-8")
            yield _ran(words, seconds)

    def _commands(self, folder: Path, count: int) -> Iterator[list[str]]:
        dice = self._dice
        damaged, whole = str(folder / "damaged.json"), str(folder / "whole.json")
        for _ in range(count):
            Path(damaged).write_bytes(next(self._small))
            others = dice.sample(self._documents, 2)
            Path(whole).write_text("\n".join(map(json.dumps, others)), encoding="utf-8")
            yield dice.choice(
                (
                    ["check", "-f", whole, damaged],
                    ["check", "-f", damaged, whole],
                    ["check", "-f", damaged, damaged, "-o", "json"],
                    ["check", "--operation", "UPDATE", "--old", damaged, "-f", whole, damaged],
                    ["lint", damaged],
                    ["lint", damaged, "-o", "json"],
                    ["eval", "object == object || has(object.spec)", "--object", damaged],
                    ["eval", "--cost", "--", self._expression()],
                )
            )

    def _expression(self) -> str:
        dice = self._dice
        text = dice.choice(_EXPRESSIONS)
        for _ in range(dice.choice((1, 1, 2, 5))):
            at, until = sorted((dice.randrange(len(text) + 1), dice.randrange(len(text) + 1)))
            part = text[at:until]
            new = dice.choice(("", part * 2, dice.choice(_ODD), dice.choice(_EXPRESSIONS)))
            text = f"{text[:at]}{new}{text[until:]}"[:2000]
        return text


def _ran(words: list[str], seconds: float) -> Answered:
    said = io.StringIO()
    before = _megabytes()
    signal.signal(signal.SIGVTALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main(words)
    except _TimeIsUp:
        return Answered(-1, "", f"more than {seconds:.0f} s")
    except BaseException as failure:  # noqa: BLE001 - whatever it is, it is what is looked for
        return Answered(-1, said.getvalue(), f"{type(failure).__name__}: {failure}")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return Answered(code, said.getvalue(), _complaint(code, said.getvalue(), _megabytes() - before))


def _complaint(code: int, said: str, megabytes: int) -> str:
    if code not in _EXPECTED:
        return f"exit code {code}"
    if megabytes > MOST_MEGABYTES:
        return f"{megabytes} MB"
    return next((f"says `{sign}`" for sign in SIGNS if sign in said), "")


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _time_is_up(number: int, frame: object) -> NoReturn:
    raise _TimeIsUp
