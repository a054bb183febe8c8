"""Many damaged inputs in little time: processes that are forked with everything loaded.

A batch of inputs has a process of its own, so that what one of them leaves behind, or breaks, does
not last. Batches have seeds of their own and a folder each; the folder of a batch in which
something was found stays, with the input in it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from celadon.cli.main import COMMANDS
from tests.hostile.confinement import ADDRESS_SPACE
from tests.hostile.mutated_inputs import COMMAND, Mutations, documents

_SIZE: Final = 100
"""Inputs of a batch."""
_PREPARING: Final = 300
"""Inputs of many that this process runs first, for what commands load when they need it."""
_SEEDS: Final = 1_000_000
"""Batches that a seed may have."""
_RESULTS: Final = "results.json"
_SHOWN: Final = 600
"""Characters of what a command said."""


@dataclass(slots=True)
class Tally:
    """How commands ended, by exit code, and what was found."""

    exits: Counter[int] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.exits.total()


def attack(seed: int, count: int, jobs: int, seconds: float) -> Iterator[Tally]:
    """Runs so many inputs, so many processes at a time, none for more than so many seconds of the
    processor; after each batch, what it came to."""
    for name in ("celadon.cli.check.check_run", *(one.module for one in COMMANDS[:3])):
        importlib.import_module(name)
    documents()
    _prepare(min(_PREPARING, count // 100), seconds)
    running: dict[int, Path] = {}
    sizes = [min(_SIZE, count - start) for start in range(0, count, _SIZE)]
    for number, size in enumerate(sizes):
        if len(running) == jobs:
            yield _ended(running)
        folder = Path(tempfile.mkdtemp(prefix=f"celadon-mutated-{seed}-{number}-"))
        running[_forked(seed * _SEEDS + number, size, seconds, folder)] = folder
    while running:
        yield _ended(running)


def _prepare(count: int, seconds: float) -> None:
    """Has everything loaded that commands load late: inputs take less than half the time then."""
    with tempfile.TemporaryDirectory(prefix="celadon-mutated-") as folder:
        for _ in Mutations(0).run(Path(folder), count, seconds):
            pass
    gc.freeze()


def _forked(seed: int, size: int, seconds: float, folder: Path) -> int:
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    try:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        os.chdir(folder)  # no configuration of ours is near
        _run(seed, size, seconds, folder)
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a forked process must not go on as its parent
        traceback.print_exc()
    finally:
        os._exit(1)


def _run(seed: int, size: int, seconds: float, folder: Path) -> None:
    tally = Tally()
    for number, answered in enumerate(Mutations(seed).run(folder, size, seconds)):
        tally.exits[answered.exit] += 1
        if answered.complaint:
            kept = folder / f"found-{number}"
            kept.mkdir()
            for file in folder.glob("*.json"):
                shutil.copy(file, kept)
            command = (kept / COMMAND).read_text(encoding="utf-8")
            said = answered.said[-_SHOWN:]
            tally.found.append(f"{answered.complaint}: {command} in {kept}\n{said}")
    results = json.dumps([dict(tally.exits), tally.found])
    (folder / _RESULTS).write_text(results, encoding="utf-8")


def _ended(running: dict[int, Path]) -> Tally:
    """Waits for one of these processes."""
    process, status = os.wait()
    folder = running.pop(process)
    code = os.waitstatus_to_exitcode(status)
    if code:
        command = (folder / COMMAND).read_text(encoding="utf-8")
        return Tally(Counter({code: 1}), [f"the process ended with {code}: {command}"])
    exits, found = json.loads((folder / _RESULTS).read_text(encoding="utf-8"))
    if not found:
        shutil.rmtree(folder)
    return Tally(Counter({int(code): times for code, times in exits.items()}), found)
