"""Loads of reviews over TLS: as many as there can be, and so many a second."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import uvloop

from bench.server.connection import Connection
from bench.undisturbed import Disturbance
from bench.webhook.webhook_processes import Served


@dataclass(frozen=True, slots=True)
class Flood:
    """Reviews from connections that never wait. `server_micros` is the server's processor for
    one."""

    per_second: float
    server_micros: float
    last: bytes


@dataclass(frozen=True, slots=True)
class Steady:
    """Seconds from the moment when a review was due until its answer, sorted; and what kept the
    server and this process from answering and asking."""

    wanted: float
    latencies: list[float]
    kept: Disturbance

    def quantile(self, part: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * part))]


def flood(served: Served, call: bytes, count: int, connections: int) -> Flood:
    """Raises BadAnswer."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_flood(served, call, count, connections))


async def _flood(served: Served, call: bytes, count: int, connections: int) -> Flood:
    finished = asyncio.Semaphore(0)
    waiting = iter([call] * count)
    opened = [await _opened(served, waiting, finished.release) for _ in range(connections)]
    cpu, start = served.process.cpu_seconds(), time.perf_counter()
    for one in opened:
        one.send()
    for _ in opened:
        await finished.acquire()
    wall, used = time.perf_counter() - start, served.process.cpu_seconds() - cpu
    for one in opened:
        if one.error is not None:
            raise one.error
    last = next(one.last for one in opened if one.last)
    return Flood(count / wall, used / count * 1e6, last)


async def _opened(
    served: Served, requests: Iterator[bytes], finished: Callable[[], None]
) -> Connection:
    loop = asyncio.get_running_loop()
    _, one = await loop.create_connection(
        lambda: Connection(requests, finished), "127.0.0.1", served.process.port, ssl=served.tls
    )
    return one


def steady(served: Served, call: bytes, rate: float, seconds: float, connections: int) -> Steady:
    """`rate` reviews a second, each at its time, on whichever connection is free: who comes late
    because all of them are busy, or since this process was, has waited from when it was due.
    The time is that of `perf_counter`: a loop's own stands still while the loop works."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_steady(served, call, rate, seconds, connections))


class _Timed(Connection):
    """Says when it has an answer, and sends when it is told."""

    def __init__(self, call: bytes, answered: Callable[[_Timed], None]) -> None:
        super().__init__(iter(()), lambda: None)
        self._call = call
        self._answered = answered
        self.due = 0.0
        self._is_first = True

    def ask(self, due: float) -> None:
        self.due = due
        self._transport.write(self._call)

    def send(self) -> None:
        self._answered(self)


async def _steady(
    served: Served, call: bytes, rate: float, seconds: float, connections: int
) -> Steady:
    loop = asyncio.get_running_loop()
    free: asyncio.Queue[_Timed] = asyncio.Queue()
    latencies: list[float] = []
    clock = time.perf_counter

    def answered(one: _Timed) -> None:
        latencies.append(clock() - one.due)
        free.put_nowait(one)

    for _ in range(connections):
        _, one = await loop.create_connection(
            lambda: _Timed(call, answered), "127.0.0.1", served.process.port, ssl=served.tls
        )
        free.put_nowait(one)
    pids = served.process.pid, os.getpid()
    before, start, count = Disturbance.until_now(pids), clock(), int(rate * seconds)
    for number in range(count):
        due = start + number / rate
        while due > clock():  # a loop's timers count in milliseconds
            await asyncio.sleep(due - clock())
        (await free.get()).ask(due)
    while len(latencies) < count:
        await asyncio.sleep(0.001)
    return Steady(rate, sorted(latencies), Disturbance.until_now(pids).since(before))
