"""What is measured, in rounds: Celadon and the bare handler in turns, each under the same load.

Figures a second are the best of all rounds; a ratio is taken within each round, and the median
counts. The processor's time for one request wanders less than the clock on a shared machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.pace import measured_slowness
from bench.server import processes, workloads
from bench.server.loads import Taken, body_of, fan_out_seconds, run_load
from bench.server.processes import ServerProcess
from bench.server.stored_policies import write_policies

ROUNDS: Final = 3
REQUESTS: Final = 2000
CONNECTIONS: Final = 16
OBJECTS: Final = 10_000
LISTS: Final = 3
WATCHERS: Final = 1000
CHANGES: Final = 5
STARTS: Final = 5
POLICIES: Final = 10_000
SETUP_CONNECTIONS: Final = 4


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests under load, by round: to Celadon, and to a bare handler that answers the same."""

    own: Sequence[Taken]
    bare: Sequence[Taken]

    @property
    def per_second(self) -> float:
        return max(one.per_second for one in self.own)

    @property
    def bare_per_second(self) -> float:
        return max(one.per_second for one in self.bare)

    @property
    def ratio(self) -> float:
        """How much of the bare handler's rate is reached."""
        pairs = zip(self.own, self.bare, strict=True)
        return median(one.per_second / bare.per_second for one, bare in pairs)

    @property
    def micros(self) -> float:
        """Of the server's processor for one request."""
        return min(one.server_micros for one in self.own)

    @property
    def bare_micros(self) -> float:
        return min(one.server_micros for one in self.bare)


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the start of Python to ready: by the clock, and of the processor."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All of a run. Fan-out: seconds until the last watcher has an event. Memory in bytes."""

    rates: dict[str, Rate]
    fan_out: float
    started: Start
    started_full: Start
    policies_memory: int
    slowness: float
    """What `bench.pace` says of the machine."""
    connections: int = CONNECTIONS
    rounds: int = ROUNDS


def measure(say: Callable[[str], None]) -> Measured:
    """All of it, within three minutes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        say("cold starts ...")
        started = best_start(folder)
        rates = _in_memory(folder, say)
        rates |= _durable(folder, say)
        say("watchers ...")
        fan_out = watched(folder)
        say("starts with a full file ...")
        full = best_start(folder, "--data", str(folder / "cluster.db"))
        say("policies ...")
        memory = policies_memory(folder)
        return Measured(rates, fan_out, started, full, memory, measured_slowness())


def _in_memory(folder: Path, say: Callable[[str], None]) -> dict[str, Rate]:
    with processes.celadon(folder) as server:
        set_up(server, workloads.namespaces() + workloads.config_maps("one", 1))
        say("gets ...")
        gets = rate(server, folder, lambda _: workloads.gets("one-0", REQUESTS))
        say("dry runs ...")
        free = rate(server, folder, lambda _: workloads.small_deployments(REQUESTS))
        set_up(server, workloads.twenty_policies())
        small = rate(server, folder, lambda _: workloads.small_deployments(REQUESTS))
        large = rate(server, folder, lambda _: workloads.large_deployments(REQUESTS // 2))
    return {GET: gets, FREE: free, SMALL: small, LARGE: large}


def _durable(folder: Path, say: Callable[[str], None]) -> dict[str, Rate]:
    """Leaves a file with OBJECTS objects behind."""
    with processes.celadon(folder, "--data", str(folder / "cluster.db")) as server:
        set_up(server, workloads.namespaces())
        say("durable creates ...")
        count = OBJECTS // ROUNDS + 1
        creates = rate(server, folder, lambda n: workloads.config_maps(f"round-{n}", count))
        say("lists ...")
        lists = rate(server, folder, lambda _: workloads.lists(LISTS), connections=1)
    return {CREATE: creates, LIST: lists}


GET: Final = "get"
FREE: Final = "dry run without policies"
SMALL: Final = "dry run"
LARGE: Final = "dry run of a large one"
CREATE: Final = "durable create"
LIST: Final = "list"


def set_up(server: ServerProcess, requests: Sequence[bytes]) -> None:
    """All of them, so that they are there."""
    run_load(server, requests, 1 if len(requests) < 10 else SETUP_CONNECTIONS)


def rate(
    server: ServerProcess,
    folder: Path,
    requests: Callable[[int], Sequence[bytes]],
    connections: int = CONNECTIONS,
) -> Rate:
    """In rounds, after one that warms up; `requests` of each round by its number."""
    answer = run_load(server, requests(-1)[: 2 * connections], connections).last
    (folder / "answer").write_bytes(body_of(answer))
    own, plain = [], []
    with processes.bare(folder / "answer") as bare:
        for number in range(ROUNDS):
            asked = requests(number)
            own.append(run_load(server, asked, connections))
            plain.append(run_load(bare, asked, connections))
    return Rate(own, plain)


def watched(folder: Path) -> float:
    """The median of some changes."""
    with processes.celadon(folder) as server:
        set_up(server, workloads.namespaces())
        changes = workloads.watched_changes(CHANGES)
        return median(fan_out_seconds(server, workloads.watch(), WATCHERS, changes))


def best_start(folder: Path, *arguments: str) -> Start:
    """The best of some."""
    starts = []
    for _ in range(STARTS):
        with processes.celadon(folder, *arguments) as server:
            starts.append(Start(server.ready_seconds, server.ready_cpu))
    return Start(min(one.wall for one in starts), min(one.cpu for one in starts))


def policies_memory(folder: Path, count: int = POLICIES) -> int:
    """The most that a server needs whose file has `count` policies and bindings, when it has
    judged a request by them."""
    path = write_policies(folder, count)
    with processes.celadon(folder, "--data", str(path)) as server:
        set_up(server, workloads.config_maps("judged", 1))
        return server.peak_bytes()
