"""`celadon audit --fleet` from outside: one worker and two, beside what the cost model says.

    python -m bench.fleet [--objects N]        a million: a quarter of an hour

The fleet is two dumps of the objects of `bench.audit`, judged by its twenty policies. The engine's
own share is what an audit of the same files without a fleet takes less, per object. In a further
run one of the two workers is killed when half of the time is over; the report must be the same.
Ends with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep
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


def timed(*words: str, report: Path | None = None, kill_after: float = 0.0) -> Run:
    """One run of `celadon audit`, whose report goes to a file; a worker of it is killed after so
    many seconds, unless that is 0."""
    start = perf_counter()
    command = [sys.executable, "-m", "celadon", "audit", *words, "--fail-on", "never"]
    with (
        (report or Path(os.devnull)).open("wb") as output,
        subprocess.Popen(command, stdout=output) as process,
    ):
        if kill_after:
            sleep(kill_after)
            os.kill(_children(process.pid)[0], signal.SIGKILL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ValueError(f"celadon audit ended with {process.returncode}")
    return Run(perf_counter() - start, used.ru_utime + used.ru_stime)


def _children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(one) for one in found]


def main() -> int:
    """Writes a table, and whether goals are reached."""
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
        base = ("-f", str(given), "--quiet", "--output", "json")
        whole = (*base, "--fleet", str(fleet), "--jobs")
        reports = [folder / f"report-{name}" for name in ("one", "two", "killed")]
        runs = {
            "without a fleet, one process": timed(*base, *map(str, dumps), "--jobs", "1"),
            "a fleet, one worker": timed(*whole, "1", report=reports[0]),
            "a fleet, two workers": timed(*whole, "2", report=reports[1]),
        }
        alone, one, two = runs.values()
        runs["one of two workers killed"] = timed(
            *whole, "2", report=reports[2], kill_after=two.wall / 2
        )
        same = len({report.read_bytes() for report in reports}) == 1
    print(f"{count} objects, this machine takes {measured_slowness():.2f} times as long")  # noqa: T201
    print("| | seconds | of processors | µs an object |")  # noqa: T201
    print("|---|---:|---:|---:|")  # noqa: T201
    for what, run in runs.items():
        each = run.processor / count * 1e6
        print(f"| {what} | {run.wall:.1f} | {run.processor:.1f} | {each:.0f} |")  # noqa: T201
    share = one.processor / alone.processor - 1
    goals = {
        f"two workers take {2 * two.wall / alone.wall:.2f} of half of one process (1.15)": (
            2 * two.wall <= 1.15 * alone.wall
        ),
        f"the engine takes {share:.1%} of an object's time (5 %)": share <= 0.05,
        "the reports are the same, a worker killed or not": same,
    }
    for goal, reached in goals.items():
        print(f"{'reached' if reached else 'MISSED'}: {goal}")  # noqa: T201
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
