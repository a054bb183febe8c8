"""`celadon audit --fleet` from outside: one worker and two, beside what the cost model says.

    python -m bench.fleet [--objects N]

The fleet is two dumps of the objects of `bench.audit`, judged by its twenty policies. The engine's
own share is what an audit of the same files without a fleet takes less, per object.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

from bench.audit import policies, write_stream
from bench.pace import measured_slowness

OBJECTS: Final = 100_000
_SOURCES: Final = 2


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds by the clock, and of all processors."""

    wall: float
    processor: float


def timed(*words: str) -> Run:
    """One run of `celadon audit`."""
    start = perf_counter()
    command = [sys.executable, "-m", "celadon", "audit", *words, "--fail-on", "never"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ValueError(f"celadon audit ended with {process.returncode}")
    return Run(perf_counter() - start, used.ru_utime + used.ru_stime)


def main() -> None:
    """Writes a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet")
    parser.add_argument("--objects", type=int, default=OBJECTS)
    count = parser.parse_args().objects
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given = folder / "policies.json"
        given.write_text("\n".join(json.dumps(one) for one in policies()), encoding="utf-8")
        dumps = [folder / f"{number}.jsonl" for number in range(_SOURCES)]
        for dump in dumps:
            write_stream(dump, count // _SOURCES)
        sources = [{"name": one.stem, "dumps": [one.name]} for one in dumps]
        fleet = folder / "fleet.json"
        head = {"apiVersion": "celadon.dev/v1", "kind": "Fleet"}
        fleet.write_text(json.dumps(head | {"sources": sources}), encoding="utf-8")
        base = ("-f", str(given), "--quiet")
        runs = {
            "without a fleet, one process": timed(*base, *map(str, dumps), "--jobs", "1"),
            "a fleet, one worker": timed(*base, "--fleet", str(fleet), "--jobs", "1"),
            "a fleet, two workers": timed(*base, "--fleet", str(fleet), "--jobs", "2"),
        }
    print(f"{count} objects, this machine takes {measured_slowness():.2f} times as long")  # noqa: T201
    print("| | seconds | of processors | µs an object |")  # noqa: T201
    print("|---|---:|---:|---:|")  # noqa: T201
    for what, run in runs.items():
        each = run.processor / count * 1e6
        print(f"| {what} | {run.wall:.1f} | {run.processor:.1f} | {each:.0f} |")  # noqa: T201


if __name__ == "__main__":
    main()
