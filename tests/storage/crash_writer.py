"""A process that writes to a store from many threads until it is killed: `PATH ROUND`.

It says on standard output what it has been told, one line each: `A revision key value` for an
acknowledged write (`-` for a deletion), `E revision key` for an event that its watch showed. Every
third write of a thread is a transaction that gives two keys the same value.
"""

from __future__ import annotations

import os
import sys
import threading
from random import Random

from celadon.storage import (
    Committed,
    Put,
    Retention,
    Transaction,
    create,
    delete,
    open_sqlite,
    update,
)
from celadon.storage.local_store import LocalStore

THREADS = 8
KEYS = 5


def say(text: str) -> None:
    """One write to the pipe, so that lines of threads do not mix and none waits in a buffer."""
    os.write(1, f"{text}\n".encode())


def write(store: LocalStore, thread: int, name: str) -> None:
    random = Random(f"{name}/{thread}")
    number = 0
    while True:
        number += 1
        value = f"{name}.{thread}.{number}".ljust(random.randrange(10, 3000), "x")
        if number % 3 == 0:
            pair = (f"/pair/{thread}/left", f"/pair/{thread}/right")
            puts = tuple(Put(key, value.encode()) for key in pair)
            outcome = store.submit(Transaction((), puts)).result()
            for key in pair:
                say(f"A {outcome.revision} {key} {value}")
            continue
        key = f"/own/{thread}/{random.randrange(KEYS)}"
        entry = store.get(key)
        if entry is None:
            outcome = store.submit(create(key, value.encode())).result()
        elif number % 4 == 0:
            outcome, value = store.submit(delete(key, entry.mod_revision)).result(), "-"
        else:
            outcome = store.submit(update(key, value.encode(), entry.mod_revision)).result()
        assert isinstance(outcome, Committed)  # nobody else writes these keys
        say(f"A {outcome.revision} {key} {value}")


def follow(store: LocalStore) -> None:
    ready = threading.Event()
    watch = store.watch("", notify=ready.set)
    while True:
        ready.clear()
        for event in watch.take().events:
            say(f"E {event.revision} {event.key}")
        ready.wait()


def main(path: str, name: str) -> None:
    store = open_sqlite(path, Retention(events=300))
    follower = threading.Thread(target=follow, args=(store,))
    follower.start()
    for thread in range(THREADS):
        threading.Thread(target=write, args=(store, thread, name)).start()
    follower.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
