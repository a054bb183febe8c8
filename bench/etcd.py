"""Durable creates on etcd: etcd alone, the store on it, the API server on it, and on SQLite.

One member on this disk, with its default settings. Objects of a kilobyte; writers wait for each
answer before they write again, in a process whose memory is settled as a server's is. What etcd
alone does is measured with the same connection that the store uses, and puts without a condition:
nothing that goes through it can be faster.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

import uvloop
from tests.etcd.etcd_members import cluster

from bench.server import processes, workloads
from bench.server.loads import run_load
from bench.server.measuring import set_up
from celadon.apiserver.http import settle_memory
from celadon.storage import Store, create, open_sqlite
from celadon.storage.etcd import EtcdSettings, open_etcd, parse_endpoints
from celadon.storage.etcd.etcd_client import EtcdClient, EtcdConnections
from celadon.storage.etcd.etcd_messages import EtcdTransaction

WRITERS: Final = (1, 16, 64)
SECONDS: Final = 3.0
"""Of each measurement, about."""

ROUNDS: Final = 3
VALUE: Final = os.urandom(1000)

Write = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Figure:
    """Writes a second with so many writers; the median of rounds."""

    what: str
    writers: int
    per_second: float


async def _rate(write: Write, writers: int, mark: str) -> float:
    """Writes a second."""
    end, count = perf_counter() + SECONDS, 0

    async def work(one: int) -> None:
        nonlocal count
        number = 0
        while perf_counter() < end:
            await write(f"/registry/{mark}/{one}/{number}")
            number += 1
            count += 1

    start = perf_counter()
    await asyncio.gather(*(work(one) for one in range(writers)))
    return count / (perf_counter() - start)


async def _puts(urls: str, writers: int, mark: str) -> float:
    client = EtcdClient(EtcdConnections(EtcdSettings(parse_endpoints(urls))))

    def put(key: str) -> Awaitable[object]:
        return client.transact(EtcdTransaction((), ((key.encode(), VALUE),), ()))

    try:
        return await _rate(put, writers, mark)
    finally:
        await client.close()


async def _creates(store: Store, writers: int, mark: str) -> float:
    def write(key: str) -> Awaitable[object]:
        return asyncio.wrap_future(store.submit(create(key, VALUE)))

    return await _rate(write, writers, mark)


async def _store_creates(urls: str, writers: int, mark: str) -> float:
    store = await open_etcd(EtcdSettings(parse_endpoints(urls)))
    try:
        return await _creates(store, writers, mark)
    finally:
        await store.aclose()


async def _sqlite_creates(path: Path, writers: int, mark: str) -> float:
    carry = asyncio.get_running_loop().call_soon_threadsafe
    with open_sqlite(str(path), carry=carry) as store:
        return await _creates(store, writers, mark)


def _in_loop(work: Awaitable[float]) -> float:
    async def run() -> float:
        return await work

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(run())


def figures(folder: Path) -> Iterator[Figure]:
    """One after the other, in turns."""
    with cluster(options=(), folder=folder) as members:
        urls = members.urls
        kinds: dict[str, Callable[[int, str], float]] = {
            "etcd alone": lambda writers, mark: _in_loop(_puts(urls, writers, mark)),
            "store on etcd": lambda writers, mark: _in_loop(_store_creates(urls, writers, mark)),
            "store on SQLite": lambda writers, mark: _in_loop(
                _sqlite_creates(folder / f"{mark}.db", writers, mark)
            ),
        }
        with _served(folder, urls) as served:
            kinds |= served
            for writers in WRITERS:
                found: dict[str, list[float]] = {what: [] for what in kinds}
                for turn in range(ROUNDS):
                    for what, rate in kinds.items():
                        mark = f"w{writers}-{turn}-{what.replace(' ', '-').lower()}"
                        found[what].append(rate(writers, mark))
                for what, rates in found.items():
                    yield Figure(what, writers, median(rates))


@contextmanager
def _served(folder: Path, urls: str) -> Iterator[dict[str, Callable[[int, str], float]]]:
    on_etcd = ("--etcd-servers", urls, "--credentials", str(folder / "credentials"))
    on_sqlite = ("--data", str(folder / "served.db"))
    with (
        processes.celadon(folder, *on_etcd) as first,
        processes.celadon(folder, *on_sqlite) as second,
    ):
        servers = {"API server on etcd": first, "API server on SQLite": second}
        for server in servers.values():
            set_up(server, workloads.namespaces())

        def rate_of(server: processes.ServerProcess) -> Callable[[int, str], float]:
            def rate(writers: int, mark: str) -> float:
                pace = run_load(server, workloads.config_maps(f"{mark}-w", 4 * writers), writers)
                count = max(4 * writers, int(pace.per_second * SECONDS))
                taken = run_load(server, workloads.config_maps(mark, count), writers)
                return taken.per_second

            return rate

        yield {what: rate_of(server) for what, server in servers.items()}


def main() -> None:
    """A table for docs/replicas.md."""
    argparse.ArgumentParser(prog="python -m bench.etcd", description=__doc__).parse_args()
    settle_memory()
    with tempfile.TemporaryDirectory(prefix="bench-etcd-", dir=".") as folder:
        rows: dict[str, list[float]] = {}
        for figure in figures(Path(folder).resolve()):
            rows.setdefault(figure.what, []).append(figure.per_second)
    alone = rows["etcd alone"]
    heads = " | ".join(f"{one} writer{'s' * (one > 1)}" for one in WRITERS)
    sys.stdout.write(f"| durable creates a second | {heads} |\n|---|{'---|' * len(WRITERS)}\n")
    for what, rates in rows.items():
        pairs = zip(rates, alone, strict=True)
        cells = (f"{rate:,.0f} ({rate / limit:.0%})" for rate, limit in pairs)
        sys.stdout.write(f"| {what} | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
