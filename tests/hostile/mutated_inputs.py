"""Ordinary inputs, damaged at random, for every command that reads: no answer is a traceback.

What is damaged are the examples: policies, manifests, cluster objects, expressions. Damage is done
to documents and to bytes, as in `tests.faults.hostile_reviews`. Commands run in this process; each
input comes from a seed and its number, so that what was found can be made again.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from celadon.cli.exits import Exit
from celadon.cli.main import main
from celadon.goyaml import read_yaml
from tests.faults.hostile_reviews import Damage
from tests.paths import ROOT

_EXPECTED: Final = frozenset({Exit.OK, Exit.DENIED, Exit.USAGE, Exit.POLICY})
_SIGNS: Final = ("Traceback (most recent call last)", "internal error")
_EXPRESSIONS: Final = (
    "object.spec.replicas <= 5 && has(object.metadata.labels)",
    "[1, 2, 3].map(x, x * 2).exists(x, x > 4) ? 'a'.matches('^a+$') : false",
    "quantity('1Gi').isGreaterThan(quantity('900Mi')) || ip('::1').isLoopback()",
    "'%s %d'.format([object.kind, 7]).split(' ')[?1].orValue('') in {'a': [1u, -2.5e3]}",
)
_ODD: Final = "()[]{}.,?:+-*/%!&|<>='\"\\`0919aex_\x00\x1b\n\u202e\U0001f4a3"


def documents() -> list[dict[str, Any]]:
    """Of all examples."""
    found = []
    for file in sorted((ROOT / "examples").rglob("*.yaml")):
        values = (value for _, value in read_yaml(file.read_text(encoding="utf-8")))
        found += [value for value in values if isinstance(value, dict)]
    return found


class Mutations:
    """A stream of commands with damaged inputs, from a seed."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._seed = seed
        self._documents = documents()
        self._damage = Damage(self._documents, seed)
        self._bodies = self._damage.bodies(sys.maxsize)

    def run(self, count: int) -> int:
        """Runs so many; how many were not withstood."""
        exits: Counter[int] = Counter()
        failed = 0
        with tempfile.TemporaryDirectory(prefix="celadon-mutated-") as folder:
            for number, words in enumerate(self._commands(Path(folder), count)):
                code, said = _ran(words)
                exits[code] += 1
                if code not in _EXPECTED or any(sign in said for sign in _SIGNS):
                    failed += 1
                    kept = Path(tempfile.mkdtemp(prefix="celadon-found-"))
                    for file in Path(folder).iterdir():
                        (kept / file.name).write_bytes(file.read_bytes())
                    found = f"seed {self._seed}, number {number}: {words} in {kept}"
                    sys.stdout.write(f"{found}: {code}\n{said[-600:]}\n")
        sys.stdout.write(f"{count} damaged inputs: {dict(sorted(exits.items()))}\n")
        return failed

    def _commands(self, folder: Path, count: int) -> Iterator[list[str]]:
        dice = self._dice
        damaged, whole = str(folder / "damaged.json"), str(folder / "whole.json")
        for _ in range(count):
            Path(damaged).write_bytes(next(self._bodies))
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


def _ran(words: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(words)
    return code, said.getvalue()
