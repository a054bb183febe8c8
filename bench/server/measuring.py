"""What is measured, in rounds: Celadon and the bare handler in turns, each under the same load.

Figures a second are the best of all rounds; a ratio is taken within each round, and the median
counts. The processor's time for one request wanders less than the clock on a shared machine.
A slow machine is not measured for longer, but with fewer requests: rounds and starts have a time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Final

from bench.pace import measured_slowness
from bench.server import processes, workloads
from bench.server.loads import Taken, body_of, fan_out, run_load
from bench.server.processes import ServerProcess
from bench.server.stored_objects import write_config_maps, write_policies
from celadon.testing import KubeApi

ROUNDS: Final = 5
REQUESTS: Final = 2000
"""In a round, if the machine can answer them in time; never fewer than FEW."""
FEW: Final = 64
ROUND_SECONDS: Final = 2.0
CONNECTIONS: Final = 16
OBJECTS: Final = 10_000
LISTS: Final = 3
WATCHERS: Final = 1000
CHANGES: Final = 5
STARTS: Final = 5
START_SECONDS: Final = 8.0
"""After which there is no further start."""
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
    def ratios(self) -> list[float]:
        """How much of the bare handler's rate is reached, by round."""
        pairs = zip(self.own, self.bare, strict=True)
        return [one.per_second / bare.per_second for one, bare in pairs]

    @property
    def micros(self) -> float:
        """Of the server's processor for one request."""
        return min(one.server_micros for one in self.own)

    @property
    def bare_micros(self) -> float:
        return min(one.server_micros for one in self.bare)


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the start of Python to ready: by the clock, and of the processor. Memory in
    bytes, before there is an object."""

    wall: float
    cpu: float
    memory: int


@dataclass(frozen=True, slots=True)
class Measured:
    """All of a run. Fan-out: seconds until the last watcher has an event. Memory in bytes."""

    rates: dict[str, Rate]
    fan_out: float
    started: Start
    started_full: Start
    stand_in: Start
    fixture: float
    """Seconds of the processor until a `KubeApi` is ready, in a process that had one before."""
    policies_memory: int
    slowness: float
    """What `bench.pace` says of the machine, the median of some looks at it."""
    connections: int = CONNECTIONS
    rounds: int = ROUNDS


def measure(say: Callable[[str], None]) -> Measured:
    """All of it, within five minutes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        say("cold starts ...")
        slow = [measured_slowness()]
        started = best_start(lambda: processes.celadon(folder))
        stand_in = best_start(lambda: processes.stand_in(folder))
        rates = _in_memory(folder, say)
        slow.append(measured_slowness())
        rates |= _durable(folder, say)
        say("watchers ...")
        until_told = watched(folder)
        say("starts with a full file ...")
        data = ("--data", str(folder / FULL))
        full = best_start(lambda: processes.celadon(folder, *data))
        slow.append(measured_slowness())
        say("policies ...")
        memory = policies_memory(folder)
        return Measured(
            rates, until_told, started, full, stand_in, fixture_seconds(), memory, median(slow)
        )


def _in_memory(folder: Path, say: Callable[[str], None]) -> dict[str, Rate]:
    with processes.celadon(folder) as server:
        set_up(server, workloads.namespaces() + workloads.config_maps("one", 1))
        say("gets ...")
        gets = rate(server, folder, lambda _, count: workloads.gets("one-0", count))
        say("dry runs ...")
        free = rate(server, folder, lambda _, count: workloads.small_deployments(count))
        set_up(server, workloads.twenty_policies())
        small = rate(server, folder, lambda _, count: workloads.small_deployments(count))
        large = rate(server, folder, lambda _, count: workloads.large_deployments(count))
    return {GET: gets, FREE: free, SMALL: small, LARGE: large}


def _durable(folder: Path, say: Callable[[str], None]) -> dict[str, Rate]:
    """Leaves a file with OBJECTS objects behind."""
    with processes.celadon(folder, "--data", str(folder / "creates.db")) as server:
        set_up(server, workloads.namespaces())
        say("durable creates ...")
        creates = rate(
            server, folder, lambda turn, count: workloads.config_maps(f"round-{turn}", count)
        )
    write_config_maps(folder, folder / FULL, OBJECTS)
    with processes.celadon(folder, "--data", str(folder / FULL)) as server:
        say("lists ...")
        lists = rate(server, folder, lambda _, __: workloads.lists(LISTS), connections=1)
    return {CREATE: creates, LIST: lists}


FULL: Final = "full.db"
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
    requests: Callable[[int, int], Sequence[bytes]],
    connections: int = CONNECTIONS,
) -> Rate:
    """In rounds, after one that warms up and one that shows the pace; `requests` of each by its
    number, and so many."""
    answer = run_load(server, requests(0, 2 * connections), connections).last
    pace = run_load(server, requests(1, 4 * connections), connections).per_second
    count = max(FEW, min(REQUESTS, int(pace * ROUND_SECONDS)))
    (folder / "answer").write_bytes(body_of(answer))
    own, plain = [], []
    with processes.bare(folder / "answer") as bare:
        for number in range(2, 2 + ROUNDS):
            asked = requests(number, count)
            own.append(run_load(server, asked, connections))
            plain.append(run_load(bare, asked, connections))
    return Rate(own, plain)


def watched(folder: Path) -> float:
    """The median of some changes."""
    with processes.celadon(folder) as server:
        set_up(server, workloads.namespaces())
        changes = workloads.watched_changes(CHANGES)
        taken = fan_out(server, WATCHERS, changes)
        return median(one.wall for one in taken)


def fixture_seconds() -> float:
    """The best of some, after one that loads what a server needs."""
    seconds = []
    for _ in range(1 + STARTS):
        began = process_time()
        with KubeApi():
            seconds.append(process_time() - began)
    return min(seconds[1:])


def best_start(started: Callable[[], AbstractContextManager[ServerProcess]]) -> Start:
    """The best of some."""
    starts: list[Start] = []
    began = perf_counter()
    while len(starts) < STARTS and (not starts or perf_counter() - began < START_SECONDS):
        with started() as server:
            memory = server.resident_bytes()
            starts.append(Start(server.ready_seconds, server.ready_cpu, memory))
    return Start(
        min(one.wall for one in starts),
        min(one.cpu for one in starts),
        min(one.memory for one in starts),
    )


def policies_memory(folder: Path, count: int = POLICIES) -> int:
    """The most that a server needs whose file has `count` policies and bindings, when it has
    judged a request by them."""
    path = write_policies(folder, count)
    with processes.celadon(folder, "--data", str(path)) as server:
        set_up(server, workloads.config_maps("judged", 1))
        return server.peak_bytes()
