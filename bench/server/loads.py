"""A load: requests over some connections until all are answered, and what that took."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import uvloop

from bench.server import workloads
from bench.server.connection import BadAnswer, Connection, WatchConnection
from bench.server.processes import ANY_SERVER, ServerProcess

WATCH_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What a load took, in seconds: by the clock, and of the processors of server and client."""

    requests: int
    wall: float
    server_cpu: float
    client_cpu: float
    last: bytes

    @property
    def per_second(self) -> float:
        return self.requests / self.wall

    @property
    def server_micros(self) -> float:
        """Of the server's processor, for one request."""
        return self.server_cpu / self.requests * 1e6


def run_load(server: ServerProcess, requests: Sequence[bytes], connections: int) -> Taken:
    """All requests, each connection taking the next when it has its answer. Raises BadAnswer."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_loaded(server, requests, connections))


async def _loaded(server: ServerProcess, requests: Sequence[bytes], connections: int) -> Taken:
    loop = asyncio.get_running_loop()
    finished = asyncio.Semaphore(0)
    waiting = iter(requests)
    opened = [
        (
            await loop.create_connection(
                lambda: Connection(waiting, finished.release), **_at(server)
            )
        )[1]
        for _ in range(connections)
    ]
    cpu, own, start = server.cpu_seconds(), time.process_time(), time.perf_counter()
    for one in opened:
        one.send()
    for _ in opened:
        await finished.acquire()
    wall = time.perf_counter() - start
    for one in opened:
        if one.error is not None:
            raise one.error
    last = next(one.last for one in opened if one.last)
    used = server.cpu_seconds() - cpu
    return Taken(len(requests), wall, used, time.process_time() - own, last)


def body_of(answer: bytes) -> bytes:
    """Without its head."""
    return answer.partition(b"\r\n\r\n")[2]


# Watches begin at the version of a list. One without a version is told of what is there already;
# and a kube-apiserver that is busy ends it with an error when its cache does not come up to the
# latest version of etcd within three seconds.
def fan_out(server: ServerProcess, watchers: int, changes: Sequence[bytes]) -> list[Taken]:
    """What each change takes from sending it until the last watcher has its event. Raises
    BadAnswer when a watch ends."""
    listed = body_of(run_load(server, [workloads.watched_list()], 1).last)
    version = json.loads(listed)["metadata"]["resourceVersion"]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_fanned_out(server, workloads.watch(version), watchers, changes))


async def _fanned_out(
    server: ServerProcess, watch: bytes, watchers: int, changes: Sequence[bytes]
) -> list[Taken]:
    loop = asyncio.get_running_loop()
    told, opened = asyncio.Semaphore(0), asyncio.Semaphore(0)
    measuring = asyncio.ensure_future(_all_told(server, told, opened, watchers, changes))
    errors: list[BadAnswer] = []

    def fail(error: BadAnswer) -> None:
        errors.append(error)
        measuring.cancel()

    watching = [
        (
            await loop.create_connection(
                lambda: WatchConnection(watch, told.release, opened.release, fail), **_at(server)
            )
        )[1]
        for _ in range(watchers)
    ]
    try:
        async with asyncio.timeout(WATCH_SECONDS):
            return await measuring
    except asyncio.CancelledError:
        raise errors[0] if errors else asyncio.CancelledError from None
    finally:
        for one in watching:
            one.close()


async def _all_told(
    server: ServerProcess,
    told: asyncio.Semaphore,
    opened: asyncio.Semaphore,
    watchers: int,
    changes: Sequence[bytes],
) -> list[Taken]:
    await _acquired(opened, watchers)
    return [await _told_of(change, server, told, watchers) for change in changes]


async def _told_of(
    change: bytes, server: ServerProcess, told: asyncio.Semaphore, watchers: int
) -> Taken:
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    _, writer = await loop.create_connection(
        lambda: Connection(iter((change,)), done.set), **_at(server)
    )
    cpu, own, start = server.cpu_seconds(), time.process_time(), time.perf_counter()
    writer.send()
    await _acquired(told, watchers)
    wall = time.perf_counter() - start
    await done.wait()
    if writer.error is not None:
        raise writer.error
    used = server.cpu_seconds() - cpu
    return Taken(1, wall, used, time.process_time() - own, writer.last)


async def _acquired(semaphore: asyncio.Semaphore, times: int) -> None:
    for _ in range(times):
        await semaphore.acquire()


def _at(server: ServerProcess) -> dict[str, Any]:
    """Where a server is to be reached, as arguments of a loop."""
    return {"host": "127.0.0.1", "port": server.port, "ssl": ANY_SERVER if server.tls else None}
