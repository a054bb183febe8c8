"""The cost model of fleets against real runs: API servers that take their time, and refuse.

    python -m bench.fleet_limits [--objects N]

Two clusters (`bench.limited_servers`) are audited by one worker and by two. How slow the machine is
today is taken from the first run, in which nobody waits; the model says the others.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Final

from bench.audit import policies
from bench.fleet import timed
from bench.fleet_model import MEASURED, Costs, Fleet, course
from bench.limited_servers import Limits, limited_servers, page_texts
from bench.server import processes

_SOURCES: Final = 2
_POLICIES: Final = 20
_RUNS: Final = (
    (1, Limits(0.0)),
    (2, Limits(0.0)),
    (1, Limits(0.5)),
    (2, Limits(0.5)),
    (1, Limits(0.0, 1.0)),
    (2, Limits(0.0, 1.0)),
)

Pages = Mapping[str, Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class Seen:
    """Seconds by the clock, pages that were asked for, and how often a server refused."""

    wall: float
    asked: int
    refused: int


def _config(folder: Path, url: str, number: int) -> str:
    path = folder / f"config-{number}.json"
    named = {"name": "it"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "clusters": [named | {"cluster": {"server": url}}],
        "users": [named | {"user": {"token": processes.TOKEN}}],
        "contexts": [named | {"context": {"cluster": "it", "user": "it"}}],
    }
    path.write_text(json.dumps(config))
    return path.name


def audited(folder: Path, behind: str, pages: Pages, workers: int, limits: Limits) -> Seen:
    """One run of `celadon audit --fleet`."""
    with limited_servers(_SOURCES, limits, pages, behind, processes.TOKEN) as (urls, gates):
        sources = [
            {"name": f"c{number}", "kubeconfig": _config(folder, url, number)}
            for number, url in enumerate(urls)
        ]
        fleet = folder / "fleet.json"
        head = {"apiVersion": "celadon.dev/v1", "kind": "Fleet"}
        fleet.write_text(json.dumps(head | {"sources": sources}))
        given = ("-f", str(folder / "policies.json"), "--quiet", "--fleet", str(fleet))
        run = timed(*given, "--jobs", str(workers))
    return Seen(run.wall, sum(one.asked for one in gates), sum(one.refused for one in gates))


def modelled(objects: int, workers: int, limits: Limits, costs: Costs) -> float:
    """Seconds."""
    fleet = Fleet(_SOURCES, objects, _POLICIES, 0.5, 1.0, 2, live=True)
    rate = limits.rate or inf
    return course(fleet, replace(costs, page_wait=limits.wait, page_rate=rate), workers).seconds


def slower(costs: Costs, factor: float) -> Costs:
    """On a machine that takes so many times as long."""
    return replace(
        costs,
        start=costs.start * factor,
        compile=costs.compile * factor,
        read=costs.read * factor,
        judge=costs.judge * factor,
        survey=costs.survey * factor,
    )


def main() -> None:
    """Writes a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet_limits")
    parser.add_argument("--objects", type=int, default=6000, help="of each cluster")
    objects = parser.parse_args().objects
    costs, pods = MEASURED, objects * 2 // 3
    pages = page_texts({"/api/v1/pods": pods, "/apis/apps/v1/deployments": objects - pods})
    with tempfile.TemporaryDirectory() as name, processes.celadon(Path(name)) as server:
        folder = Path(name)
        (folder / "policies.json").write_text("\n".join(map(json.dumps, policies())))
        behind = f"http://127.0.0.1:{server.port}"
        print("| workers | a page takes | pages a second | seconds | the model | refusals |")  # noqa: T201
        print("|---:|---:|---:|---:|---:|---:|")  # noqa: T201
        for number, (workers, limits) in enumerate(_RUNS):
            seen = audited(folder, behind, pages, workers, limits)
            if not number:
                costs = slower(costs, seen.wall / modelled(objects, workers, limits, costs))
            told = modelled(objects, workers, limits, costs)
            row = f"{workers} | {limits.wait} s | {limits.rate or 'any'} | {seen.wall:.1f}"
            print(f"| {row} | {told:.1f} | {seen.refused} of {seen.asked} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
