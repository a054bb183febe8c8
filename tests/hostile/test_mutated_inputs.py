"""Damaged inputs: a few of them, and that what goes wrong with one is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from celadon.cli.exit_codes import Exit
from tests.hostile import mutated_inputs
from tests.hostile.mutated_inputs import Mutations
from tests.paths import ROOT

_PATIENCE = 60.0
"""Seconds of the processor."""
_FORKED = """
import os, sys, time
from tests.hostile import forked_batches, mutated_inputs
mutated_inputs.main = lambda words: {}
for tally in forked_batches.attack(seed=5, count=3, jobs=2, seconds=0.2):
    print(dict(tally.exits), tally.found)
"""


@pytest.mark.thorough
def test_they_are_answered(tmp_path: Path) -> None:
    for answered in Mutations(7).run(tmp_path, 150, _PATIENCE):
        assert answered.complaint == "", (tmp_path / mutated_inputs.COMMAND).read_text()


@pytest.mark.parametrize(
    ("said", "code", "complaint"),
    [
        ("fine", Exit.OK, ""),
        ("fine", Exit.DENIED, ""),
        ("fine", Exit.INTERNAL, "exit code 70"),
        ("an internal error", Exit.POLICY, "says `internal error`"),
    ],
)
def test_what_is_wrong_is_noticed(
    said: str, code: int, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(_words: list[str]) -> int:
        sys.stdout.write(said)
        return code

    monkeypatch.setattr(mutated_inputs, "main", command)
    (answered,) = Mutations(1).run(tmp_path, 1, _PATIENCE)
    assert (answered.exit, answered.said, answered.complaint) == (code, said, complaint)


def test_an_exception_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def command(_words: list[str]) -> int:
        raise SystemExit("no")

    monkeypatch.setattr(mutated_inputs, "main", command)
    (answered,) = Mutations(1).run(tmp_path, 1, _PATIENCE)
    assert answered.complaint == "SystemExit: no"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        ("0", "{0: 3} []"),
        ("70", "{70: 3} ['exit code 70"),
        ("[time.sleep(0) for _ in iter(int, 1)]", "more than 0 s"),
        ("os.kill(os.getpid(), 9)", "the process ended with -9"),
    ],
)
def test_a_batch_has_a_process_of_its_own(behaviour: str, told: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _FORKED.format(behaviour)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told in ended.stdout
