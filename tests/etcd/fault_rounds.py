"""Three members of etcd, two servers, clients that do not stop, and one fault after the other."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from celadon.storage.contract import ServiceError, ServiceFull
from celadon.storage.etcd import EtcdSettings, parse_endpoints
from celadon.storage.etcd.etcd_client import EtcdClient, EtcdConnections
from celadon.storage.etcd.etcd_messages import EtcdTransaction
from tests.apiserver.served_process import CONFIGMAPS, config_map
from tests.etcd.contended_names import ANSWER_SECONDS, Acknowledged, Client, Watcher, Writer
from tests.etcd.cut_networks import Cables, cables, can_cut
from tests.etcd.etcd_members import Cluster, Member, memory_folder, planned_cluster
from tests.etcd.replicas import Replica, replicas
from tests.etcd.small_disks import Disk, can_mount, disks

WRITERS = 4
WATCHERS = 3
MEMBERS = 3
MAJORITY = 2
OPTIONS = ("--heartbeat-interval", "100", "--election-timeout", "1000", "--snapshot-count", "5000")
"""Milliseconds, etcd's defaults; and snapshots more often than by default, so that old logs go."""

Log = Callable[[str], object]

RECOVERY_SECONDS = 30.0
"""Longer, and something is wrong."""

BALLAST = b"x" * 200_000

ROOM = 64 << 20
"""Bytes that etcd may have where it is to have no room for more."""

NO_ROOM = "etcdserver: mvcc: database space exceeded"


@dataclass
class Stage:
    """What faults happen to. `cables` where members are in namespaces, `disks` where each has its
    own."""

    cluster: Cluster
    replicas: Sequence[Replica]
    chance: random.Random
    cables: Cables | None
    disks: Sequence[Disk]

    def leader(self) -> Member:
        """Waits until there is one."""
        end = time.monotonic() + RECOVERY_SECONDS
        while time.monotonic() < end:
            for member in self.cluster.members:
                if member.leads() and member.is_healthy():
                    return member
            time.sleep(0.05)
        raise AssertionError("etcd has no leader")

    def member(self) -> Member:
        """One that does not lead."""
        leader = self.leader()
        return self.chance.choice([one for one in self.cluster.members if one is not leader])


def _kill(stage: Stage, member: Member) -> None:
    member.kill()
    time.sleep(stage.chance.uniform(0.1, 1.0))
    member.start()
    member.wait()


def _stop(stage: Stage, member: Member) -> None:
    member.signal(signal.SIGSTOP)
    time.sleep(stage.chance.uniform(0.5, 2.5))
    member.signal(signal.SIGCONT)


def _cut(stage: Stage, member: Member) -> None:
    assert stage.cables is not None
    number = stage.cluster.members.index(member)
    stage.cables.pull(number)
    time.sleep(stage.chance.uniform(1.0, 3.5))
    stage.cables.plug(number)


def _slow(stage: Stage, member: Member) -> None:
    """It runs a tenth of the time."""
    end = time.monotonic() + stage.chance.uniform(1.0, 3.0)
    while time.monotonic() < end:
        member.signal(signal.SIGSTOP)
        time.sleep(0.09)
        member.signal(signal.SIGCONT)
        time.sleep(0.01)


def _kill_replica(stage: Stage) -> None:
    replica = stage.chance.choice(stage.replicas)
    replica.kill()
    replica.start()
    replica.wait()


def _stop_replica(stage: Stage) -> None:
    replica = stage.chance.choice(stage.replicas)
    replica.signal(signal.SIGSTOP)
    time.sleep(stage.chance.uniform(0.3, 2.0))
    replica.signal(signal.SIGCONT)


def _compact(stage: Stage) -> None:
    """To now, under everybody's watches."""

    async def compact(client: EtcdClient) -> None:
        await client.compact(await client.revision())

    asyncio.run(_with_client(stage.cluster.urls, compact))


async def _with_client(urls: str, work: Callable[[EtcdClient], Awaitable[None]]) -> None:
    client = EtcdClient(EtcdConnections(EtcdSettings(parse_endpoints(urls))))
    try:
        await work(client)
    finally:
        await client.close()


def _fill(stage: Stage) -> None:
    """The disk of one member, or of all: etcd ends itself when it cannot write. With room it goes
    on with what it had."""
    numbers = stage.chance.choice([(0,), (1,), (2,), (0, 1, 2)])
    full = [stage.cluster.members[number] for number in numbers]
    for number in numbers:
        stage.disks[number].fill()
    asyncio.run(_with_client(stage.cluster.urls, lambda client: _write_until_ended(client, full)))
    time.sleep(stage.chance.uniform(0.0, 1.0))
    for number in numbers:
        stage.disks[number].empty()
    for member in full:
        member.kill()
        member.start()
    for member in full:
        member.wait()


async def _write_until_ended(client: EtcdClient, members: Sequence[Member]) -> None:
    """More than fits into pages that etcd's files have already. Without a majority the last ones
    have nothing to write."""
    ballast = EtcdTransaction((), ((b"/ballast", BALLAST),), ())
    end = time.monotonic() + RECOVERY_SECONDS
    while sum(one.has_ended() for one in members) < min(len(members), MAJORITY):
        assert time.monotonic() < end, "a member goes on with a full disk"
        with contextlib.suppress(ServiceError, TimeoutError):
            await asyncio.wait_for(client.transact(ballast), 1.0)


def _exhaust(stage: Stage) -> None:
    """The quota of etcd: writes are refused, and say why; reads and deletions go on. With room it
    takes writes again."""
    asyncio.run(_with_client(stage.cluster.urls, _write_until_refused))
    for replica in stage.replicas:
        refused = _answer(replica, "POST", CONFIGMAPS, config_map("no-room"))
        assert refused[0] >= HTTPStatus.INTERNAL_SERVER_ERROR, refused
        assert NO_ROOM in refused[1]["message"], refused
        assert _answer(replica, "GET", CONFIGMAPS)[0] == HTTPStatus.OK
        gone = _answer(replica, "DELETE", f"{CONFIGMAPS}/not-there")
        assert gone[0] == HTTPStatus.NOT_FOUND, gone
    asyncio.run(_with_client(stage.cluster.urls, _delete_ballast))
    _compact(stage)
    for member in stage.cluster.members:
        _shrink(member)
    member = stage.cluster.members[0]
    for alarm in member.ask("maintenance/alarm", {"action": "GET"}).get("alarms", ()):
        member.ask("maintenance/alarm", {**alarm, "action": "DEACTIVATE"})


def _shrink(member: Member) -> None:
    """Once it has done what compaction asks of it, which takes a while."""
    end = time.monotonic() + RECOVERY_SECONDS
    while int(member.ask("maintenance/status", {})["dbSize"]) > ROOM // 4:
        assert time.monotonic() < end, "etcd does not become smaller"
        time.sleep(0.2)
        member.ask("maintenance/defragment", {})


def _answer(replica: Replica, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    client = Client([replica], random.Random(0))
    try:
        return client.call(method, path, body, ANSWER_SECONDS)
    finally:
        client.leave()


async def _write_until_refused(client: EtcdClient) -> None:
    end = time.monotonic() + RECOVERY_SECONDS
    with contextlib.suppress(ServiceFull):
        while True:
            assert time.monotonic() < end, "etcd has room without end"
            await client.transact(EtcdTransaction((), ((b"/ballast", BALLAST),), ()))


async def _delete_ballast(client: EtcdClient) -> None:
    await client.transact(EtcdTransaction((), ((b"/ballast", None),), ()))


FAULTS: dict[str, Callable[[Stage], None]] = {
    "a member is killed": lambda stage: _kill(stage, stage.member()),
    "the leader is killed": lambda stage: _kill(stage, stage.leader()),
    "a member is stopped": lambda stage: _stop(stage, stage.member()),
    "the leader is stopped": lambda stage: _stop(stage, stage.leader()),
    "a member is slow": lambda stage: _slow(stage, stage.member()),
    "the leader is slow": lambda stage: _slow(stage, stage.leader()),
    "a server is killed": _kill_replica,
    "a server is stopped": _stop_replica,
    "etcd is compacted": _compact,
}
CUTS: dict[str, Callable[[Stage], None]] = {
    "a member is cut off": lambda stage: _cut(stage, stage.member()),
    "the leader is cut off": lambda stage: _cut(stage, stage.leader()),
}
EXHAUSTED: dict[str, Callable[[Stage], None]] = {"etcd has no room": _exhaust}
FULL: dict[str, Callable[[Stage], None]] = {"a disk is full": _fill}


@dataclass
class Result:
    """`pauses`: of each fault, in seconds, how long no server acknowledged anything."""

    acknowledged: list[Acknowledged] = field(default_factory=list)
    events: int = 0
    conflicts: int = 0
    unknown: int = 0
    streams: int = 0
    pauses: dict[str, list[float]] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """For people."""
        yield (
            f"{len(self.acknowledged)} acknowledged writes, {self.conflicts} conflicts, "
            f"{self.unknown} without an answer, {self.events} events on {self.streams} watches: "
            "none lost, stale, missed or repeated"
        )
        for fault, pauses in self.pauses.items():
            ordered = sorted(pauses)
            yield (
                f"{fault}: {len(pauses)} times; nothing was acknowledged for "
                f"{ordered[len(ordered) // 2]:.1f} s (median), {ordered[-1]:.1f} s (most)"
            )


@contextlib.contextmanager
def stage(
    chance: random.Random, *, cut: bool, fill: bool, options: Sequence[str] = OPTIONS
) -> Iterator[Stage]:
    """Everything is up."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(memory_folder()))
        keys = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="celadon-keys-")))
        wires = stack.enter_context(cables(MEMBERS)) if cut else None
        where = (wires.hosts, wires.before) if wires is not None else ((), ())
        cluster = planned_cluster(MEMBERS, options, folder, *where)
        own = [folder / one.name for one in cluster.members] if fill else ()
        small = stack.enter_context(disks(own))
        stack.callback(cluster.end)
        cluster.start()
        servers = stack.enter_context(replicas(2, cluster.urls, keys))
        yield Stage(cluster, servers, chance, wires, small)


def run(
    rounds: int, seed: int, faults: Iterable[str], *, seconds: float = math.inf, log: Log = str
) -> Result:
    """Each fault so many times, in any order, or until the time is over. Raises AssertionError for
    what should not be."""
    chance = random.Random(seed)
    table = {**FAULTS, **CUTS, **FULL, **EXHAUSTED}
    names = list(faults)
    order = [name for _ in range(rounds) for name in chance.sample(names, len(names))]
    cut, fill = not CUTS.keys().isdisjoint(names), not FULL.keys().isdisjoint(names)
    end = time.monotonic() + seconds
    bounded = () if EXHAUSTED.keys().isdisjoint(names) else ("--quota-backend-bytes", str(ROOM))
    with stage(chance, cut=cut, fill=fill, options=(*OPTIONS, *bounded)) as on:
        clients = _Clients(on, log)
        until = itertools.takewhile(lambda _: time.monotonic() < end, order)
        return clients.survive((name, table[name]) for name in until)


class _Clients:
    def __init__(self, on: Stage, log: Log) -> None:
        self._on = on
        self._log = log
        self._done = threading.Event()
        self._writers = [Writer(self._client(), self._done) for _ in range(WRITERS)]
        client = self._client()
        code, found = client.call("GET", CONFIGMAPS)
        assert code == 200, found
        last = int(found["metadata"]["resourceVersion"])
        client.leave()
        self._watchers = [Watcher(self._client(), self._done, last, {}) for _ in range(WATCHERS)]
        self._errors: list[BaseException] = []

    def _client(self) -> Client:
        return Client(self._on.replicas, random.Random(self._on.chance.random()))

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  raised again in the main thread
            self._errors.append(error)

    def survive(self, faults: Iterable[tuple[str, Callable[[Stage], None]]]) -> Result:
        work = [*(one.run for one in self._writers), *(one.run for one in self._watchers)]
        threads = [threading.Thread(target=self._guarded, args=(one,), daemon=True) for one in work]
        result = Result()
        for thread in threads:
            thread.start()
        try:
            for name, fault in faults:
                self._recovered(time.monotonic())
                began = time.monotonic()
                fault(self._on)
                self._recovered(time.monotonic())
                pause = self._pause(began)
                result.pauses.setdefault(name, []).append(pause)
                self._check()
                self._log(f"{name}: nothing acknowledged for {pause:.1f} s")
            self._wait_for_watchers()
        finally:
            self._done.set()
        for thread in threads:
            thread.join(ANSWER_SECONDS + 5)
        self._check()
        return self._summed(result)

    def _acknowledged(self, since: float = 0.0) -> list[Acknowledged]:
        return [one for writer in self._writers for one in writer.since(since)]

    def _recovered(self, since: float) -> None:
        """Wait until each server has acknowledged something."""
        end = time.monotonic() + RECOVERY_SECONDS
        names = {one.name for one in self._on.replicas}
        while {one.replica for one in self._acknowledged(since)} != names:
            assert not self._errors, self._errors
            assert time.monotonic() < end, f"no recovery after {RECOVERY_SECONDS} s"
            time.sleep(0.02)

    def _pause(self, since: float) -> float:
        """The longest time without an acknowledgement."""
        times = sorted(one.at for one in self._acknowledged(since))
        return max(b - a for a, b in zip([since, *times], times, strict=False))

    def _wait_for_watchers(self) -> None:
        written = self._acknowledged()
        end = time.monotonic() + RECOVERY_SECONDS
        while any(one.missing(written) for one in self._watchers):
            assert time.monotonic() < end, [one.missing(written)[:3] for one in self._watchers]
            time.sleep(0.1)

    def _check(self) -> None:
        assert not self._errors, self._errors
        faults = [fault for one in self._watchers for fault in one.faults]
        assert not faults, faults[:5]

    def _summed(self, result: Result) -> Result:
        result.acknowledged = self._acknowledged()
        result.events = sum(len(one.seen) + len(one.deleted) for one in self._watchers)
        result.streams = sum(one.streams for one in self._watchers)
        result.conflicts = sum(one.conflicts for one in self._writers)
        result.unknown = sum(one.unknown for one in self._writers)
        return result


def main(rounds: int, seconds: float) -> None:
    """All faults that can be had here, until the time is over."""
    seed = random.SystemRandom().randrange(10**6)
    began = time.monotonic()

    def say(line: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began:.0f} s: {line}\n")
        sys.stdout.flush()

    say(f"seed {seed}")
    faults = list(FAULTS)
    if can_cut():
        faults += CUTS
    else:
        say("no network namespaces here: nobody is cut off")
    if can_mount():
        faults += FULL
    else:
        say("no mounts here: no disk is full")
    for names in (faults, list(EXHAUSTED)):  # apart: the quota is for the latter
        left = seconds - (time.monotonic() - began)
        for line in run(rounds, seed, names, seconds=left, log=say).lines():
            say(line)
    say("all is well")
