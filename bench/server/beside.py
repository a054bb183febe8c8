"""`python -m bench.server.beside KUBE_APISERVER ETCD`: Celadon and kube-apiserver, the same work.

Both run as they do by default, over TLS and HTTP/1.1, from the same client with the same bytes, in
turns. What counts is the processor time of the server's process by all of its threads, in user mode
and in the kernel, less what it uses while nobody asks. What etcd uses is shown apart: Celadon keeps
its objects in its own process.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.page import MISSED, add_check, record, under_floor
from bench.server import processes, workloads
from bench.server.loads import fan_out, run_load
from bench.server.processes import ServerProcess

ROUNDS: Final = 5
CONNECTIONS: Final = 16
IDLE_SECONDS: Final = 5.0
LISTED: Final = 1_000
WATCHERS: Final = 1_000
CHANGED: Final = tuple(f"changed-{n}" for n in range(64))
"""Objects that are changed again and again, each by one connection at a time."""

Requests = Callable[[int, int], Sequence[bytes]]
"""Of a round by its number, so many."""


@dataclass(frozen=True, slots=True)
class Work:
    """One row: `count` requests in a round, and how many times less of the processor Celadon
    should use."""

    what: str
    requests: Requests
    count: int
    goal: float
    connections: int = CONNECTIONS


@dataclass(frozen=True, slots=True)
class Sides:
    """Both servers, and the bare handler."""

    own: ServerProcess
    other: ServerProcess
    etcd: ServerProcess
    bare: ServerProcess
    own_idle: float
    other_idle: float
    """Processor time for each second in which nobody asks."""


@dataclass(frozen=True, slots=True)
class Row:
    """Microseconds of the processor for one request, by round."""

    what: str
    goal: float
    own: Sequence[float]
    other: Sequence[float]
    etcd: Sequence[float]
    bare: Sequence[float] = ()

    @property
    def ratios(self) -> list[float]:
        """How many times as much kube-apiserver uses."""
        return [other / own for own, other in zip(self.own, self.other, strict=True)]

    @property
    def floor(self) -> float:
        """How many times as much it must be."""
        return FLOORS.get(self.what, 0.0)

    @property
    def judged(self) -> str:
        """What the last cell says. Only what is under its floor was missed."""
        reached = median(self.ratios)
        if reached < self.floor:
            return MISSED
        return "reached" if reached >= self.goal else "not yet"


def works() -> list[Work]:
    """In the order of the table; later ones find what earlier ones have left."""
    named = workloads
    return [
        Work("get of a ConfigMap", lambda _, n: named.gets("listed-0", n), 2000, 5),
        Work(f"list of {LISTED:,} ConfigMaps", lambda _, n: named.lists(n), 60, 8, 1),
        Work("create of a ConfigMap", lambda i, n: named.config_maps(f"new-{i}", n), 600, 3),
        Work("update of a ConfigMap", lambda i, n: named.updates(MAPS, i, n), 600, 3),
        Work("delete of a ConfigMap", lambda i, n: named.deletions(f"new-{i}", n), 600, 3),
        Work("create of a Deployment", lambda i, n: named.deployments(f"new-{i}", n), 400, 3),
        Work("JSON patch", lambda i, n: named.json_patches(CHANGED, i, n), 400, 3),
        Work("merge patch", lambda i, n: named.merge_patches(CHANGED, i, n), 400, 3),
        Work("strategic merge patch", lambda i, n: named.strategic_patches(CHANGED, i, n), 400, 3),
        Work("apply", lambda i, n: named.applies(CHANGED, i, n), 400, 3),
        Work("apply of what is there", lambda _, n: named.same_applies(CHANGED, n), 400, 3),
        Work("dry run of a Deployment", lambda _, n: named.small_deployments(n), 400, 3),
        Work("create of a policy", lambda i, n: named.named_policies(i, n), 100, 1.5),
    ]


MAPS: Final = tuple(f"listed-{n}" for n in range(64))
UNDER_POLICIES: Final = Work(
    "dry run under 20 policies", lambda _, n: workloads.small_deployments(n), 400, 20
)


def measure(sides: Sides, say: Callable[[str], None], only: str = "") -> Iterator[Row]:
    """Row by row."""
    for work in works():
        if only in work.what:
            yield _row(sides, work)
    if only in FAN_OUT:
        yield _fanned_out(sides)
    if only in UNDER_POLICIES.what:
        say("twenty policies ...")
        _on_all(sides, workloads.twenty_policies())
        time.sleep(_UNTIL_IN_FORCE)
        yield _row(sides, UNDER_POLICIES)


FLOORS: Final = {
    "get of a ConfigMap": 3.5,
    f"list of {LISTED:,} ConfigMaps": 10,
    "create of a ConfigMap": 0.9,
    "update of a ConfigMap": 0.9,
    "delete of a ConfigMap": 1.2,
    "create of a Deployment": 0.8,
    "JSON patch": 1.3,
    "merge patch": 1.4,
    "strategic merge patch": 1.3,
    "apply": 2,
    "apply of what is there": 3,
    "dry run of a Deployment": 1,
    "create of a policy": 0.5,
    "one event to 1,000 watchers": 0.8,
    "dry run under 20 policies": 11,
}
"""What has been reached, less what single ratios wander: `--check` fails under it."""


_UNTIL_IN_FORCE: Final = 2.0
"""Seconds after which kube-apiserver has noticed policies."""
FAN_OUT: Final = f"one event to {WATCHERS:,} watchers"


def _row(sides: Sides, work: Work) -> Row:
    for number, share in enumerate(_WARM_UP):
        asked = work.requests(number, max(work.connections, work.count // share))
        for server in (sides.own, sides.other, sides.bare):
            run_load(server, asked, work.connections)
    own, other, etcd, bare = [], [], [], []
    for number in range(len(_WARM_UP), len(_WARM_UP) + ROUNDS):
        asked = work.requests(number, work.count)
        mine = run_load(sides.own, asked, work.connections)
        own.append(_micros(mine.server_cpu - mine.wall * sides.own_idle, mine.requests))
        kept = sides.etcd.cpu_seconds()
        theirs = run_load(sides.other, asked, work.connections)
        other.append(_micros(theirs.server_cpu - theirs.wall * sides.other_idle, theirs.requests))
        etcd.append(_micros(sides.etcd.cpu_seconds() - kept, theirs.requests))
        least = run_load(sides.bare, asked, work.connections)
        bare.append(_micros(least.server_cpu, least.requests))
    return Row(work.what, work.goal, own, other, etcd, bare)


_WARM_UP: Final = (4, 2)
"""Parts of a round that go before all others."""


def _fanned_out(sides: Sides) -> Row:
    own: list[float] = []
    other: list[float] = []
    etcd: list[float] = []
    pairs = ((sides.own, own, sides.own_idle), (sides.other, other, sides.other_idle))
    for number in range(ROUNDS):
        changes = workloads.watched_changes(_CHANGES, f"watched-{number}")
        for server, found, idle in pairs:
            kept = sides.etcd.cpu_seconds()
            taken = fan_out(server, WATCHERS, changes)
            used = sum(one.server_cpu - one.wall * idle for one in taken)
            found.append(_micros(used, len(taken)))
            if found is other:
                etcd.append(_micros(sides.etcd.cpu_seconds() - kept, len(changes)))
    return Row(FAN_OUT, 5, own, other, etcd)


_CHANGES: Final = 10


def _micros(seconds: float, requests: int) -> float:
    return max(seconds, 1e-6) / requests * 1e6


def _on_all(sides: Sides, requests: Sequence[bytes]) -> None:
    for server in (sides.own, sides.other, sides.bare):
        run_load(server, requests, 1)


def _idle(server: ServerProcess) -> float:
    before = server.cpu_seconds()
    time.sleep(IDLE_SECONDS)
    return (server.cpu_seconds() - before) / IDLE_SECONDS


HEAD: Final = (
    "| µs of a processor | Celadon | bare | kube-apiserver | etcd"
    " | times | spread | goal | floor | |",
    "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | --- |",
)


def _table_line(row: Row) -> str:
    ratios = row.ratios
    bare = f"{median(row.bare):,.0f}" if row.bare else ""
    return (
        f"| {row.what} | {median(row.own):,.0f} | {bare} |"
        f" {median(row.other):,.0f} | {median(row.etcd):,.0f} | {median(ratios):.1f} ×"
        f" | {min(ratios):.1f} to {max(ratios):.1f} | ≥ {row.goal:g} × | ≥ {row.floor:g} ×"
        f" | {row.judged} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.server.beside", description=__doc__)
    parser.add_argument("kube_apiserver", type=Path)
    parser.add_argument("etcd", type=Path)
    parser.add_argument("--only", default="", help="rows whose names contain this")
    parser.add_argument("--write", action="store_true", help="put the figures into the docs")
    add_check(parser)
    options = parser.parse_args()
    lines = list(HEAD)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            processes.secure_celadon(folder, "--data", str(folder / "objects.db")) as own,
            processes.kube_apiserver(folder, options.kube_apiserver, options.etcd) as (other, etcd),
            processes.bare_store(folder) as bare,
        ):
            time.sleep(IDLE_SECONDS)  # what a start leaves to be done
            sides = Sides(own, other, etcd, bare, _idle(own), _idle(other))
            _on_all(sides, workloads.namespaces())
            _on_all(sides, workloads.config_maps("listed", LISTED))
            _on_all(sides, workloads.applies(CHANGED, 0, len(CHANGED)))
            for row in measure(sides, _say, options.only):
                lines.append(_table_line(row))
                _say(lines[-1])
            _say(f"idle: {sides.own_idle:.3f} and {sides.other_idle:.3f} of a processor")
            _say(f"memory: {own.peak_bytes() >> 20} and {other.peak_bytes() >> 20} MiB")
    if options.write:
        record({"beside": lines}, whole=not options.only)
    return int(options.check and bool(under_floor(lines)))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
