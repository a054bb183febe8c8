"""The store: durable writes a second, reads a second, how long a file takes to open.

Objects of a kilobyte. Writers wait for each write to be acknowledged before the next, as clients
of a server do: sixteen threads, or sixteen tasks of one event loop, which is how the API server
writes. Its loop computes, too, for every request: the same again with tasks that keep it busy.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Final

from celadon.storage import Store, create, open_memory, open_sqlite, put

WRITERS: Final = 16
OBJECTS: Final = 10_000
VALUE: Final = os.urandom(1000)
WATCHES: Final = 100
BUSY_OBJECTS: Final = 2000
COMPUTING: Final = 0.0003
READERS: Final = 4
GETS: Final = 100_000
RANGES: Final = 10


def key(number: int) -> str:
    return f"/registry/pods/namespace-{number % 20}/pod-{number:06}"


def seconds(function: Callable[[], object]) -> float:
    start = perf_counter()
    function()
    return perf_counter() - start


def write_from_threads(store: Store) -> None:
    def write(first: int) -> None:
        for number in range(first, OBJECTS, WRITERS):
            store.submit(create(key(number), VALUE)).result()

    threads = [threading.Thread(target=write, args=(first,)) for first in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def write_from_a_loop(path: Path, count: int, computing: float, readers: int) -> tuple[float, int]:
    """How long `count` creates take, and how many reads were answered meanwhile. Each create and
    each read keeps the loop busy for `computing` seconds."""

    async def run() -> tuple[float, int]:
        loop = asyncio.get_running_loop()
        reads, writing = 0, True

        async def write(store: Store, first: int) -> None:
            for number in range(first, count, WRITERS):
                compute(computing)
                await asyncio.wrap_future(store.submit(create(key(number), VALUE)))

        async def read(store: Store) -> None:
            nonlocal reads
            while writing:
                compute(computing)
                store.get(key(0))
                reads += 1
                await asyncio.sleep(0)

        with open_sqlite(str(path), carry=loop.call_soon_threadsafe) as store:
            start = perf_counter()
            reading = [asyncio.create_task(read(store)) for _ in range(readers)]
            await asyncio.gather(*(write(store, first) for first in range(WRITERS)))
            taken, writing = perf_counter() - start, False
            await asyncio.gather(*reading)
            return taken, reads

    return asyncio.run(run())


def compute(seconds: float) -> None:
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


def get(store: Store) -> None:
    found = key(OBJECTS // 2)
    for _ in range(GETS):
        store.get(found)


def turn_pages(store: Store) -> None:
    """All pods, 500 at a time, each page as of the first."""
    page = store.range("/registry/pods/", limit=500)
    while page.remaining:
        start = f"{page.entries[-1].key}\0"
        page = store.range("/registry/pods/", start, 500, page.revision)


def update_some(store: Store, count: int) -> None:
    for future in [store.submit(put(key(number), VALUE)) for number in range(count)]:
        future.result()


def line(what: str, value: float, unit: str) -> None:
    sys.stdout.write(f"{what:58} {value:12,.1f} {unit}\n")


def measure_reads(store: Store) -> None:
    line("sqlite, get", GETS / seconds(lambda: get(store)), "per second")
    ranging = min(seconds(lambda: store.range("/registry/pods/")) for _ in range(RANGES))
    line(f"sqlite, one range of {OBJECTS:,}", ranging * 1000, "ms")
    old = store.range("").revision
    update_some(store, 100)
    past = min(seconds(lambda: store.range("", revision=old)) for _ in range(RANGES))
    line(f"sqlite, one range of {OBJECTS:,} as of 100 writes ago", past * 1000, "ms")
    line("sqlite, all in pages of 500", seconds(lambda: turn_pages(store)) * 1000, "ms")


def measure(folder: Path) -> None:
    taken = seconds(lambda: write_from_threads(open_memory()))
    line(f"memory, creates by {WRITERS} threads", OBJECTS / taken, "per second")
    with open_sqlite(str(folder / "threads.db")) as store:
        taken = seconds(lambda: write_from_threads(store))
        line(f"sqlite, durable creates by {WRITERS} threads", OBJECTS / taken, "per second")
    path = folder / "loop.db"
    taken, _ = write_from_a_loop(path, OBJECTS, 0, 0)
    line(f"sqlite, durable creates by {WRITERS} tasks of a loop", OBJECTS / taken, "per second")
    taken, reads = write_from_a_loop(folder / "busy.db", BUSY_OBJECTS, COMPUTING, READERS)
    line("the same in a busy loop (0.3 ms for every request)", BUSY_OBJECTS / taken, "per second")
    line(f"    and reads by {READERS} other tasks", reads / taken, "per second")
    with open_sqlite(str(path)) as store:
        measure_reads(store)
        for number in range(WATCHES):
            store.watch(f"/registry/pods/namespace-{number % 20}/", buffer=OBJECTS)
        taken = seconds(lambda: update_some(store, 5000))
        line(f"sqlite, durable updates at once, {WATCHES} watches", 5000 / taken, "per second")
    taken = min(seconds(lambda: open_sqlite(str(path)).close()) for _ in range(3))
    line(f"sqlite, opening {OBJECTS:,} objects and 15,100 events", taken * 1000, "ms")
    with open_sqlite(str(path)) as store:
        store.compact(store.revision()).result()
    taken = min(seconds(lambda: open_sqlite(str(path)).close()) for _ in range(3))
    line(f"sqlite, opening {OBJECTS:,} objects, no history", taken * 1000, "ms")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.store", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where files are written")
    with tempfile.TemporaryDirectory(dir=parser.parse_args().folder) as name:
        measure(Path(name))


if __name__ == "__main__":
    main()
