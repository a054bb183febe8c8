"""A server that is killed while clients write and one watches, again and again on the same data.

Each writer owns some names, so it knows what must be there: what its last acknowledged write said,
or, of a write that got no answer, that or nothing of it. The watcher goes on where it was, and has
to see every change once, in order.
"""

from __future__ import annotations

import http.client
import json
import random
import signal
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.apiserver.served_process import CONFIGMAPS, config_map, request_headers
from tests.faults.server_under_test import PATIENCE, Process

WRITERS = 4
NAMES = 5
"""Of each writer."""

GONE: Any = None


@dataclass(slots=True)
class Writer:
    """`known` has for each name what was acknowledged (GONE: deleted, or never there); `begun` what
    a write without an answer wanted; `revisions` those of acknowledged creates and updates."""

    names: list[str]
    chance: random.Random
    known: dict[str, Any] = field(default_factory=dict)
    begun: dict[str, Any] = field(default_factory=dict)
    revisions: set[int] = field(default_factory=set)
    count: int = 0

    def write(self, server: Process) -> None:
        """Until the server is gone."""
        connection = server.connection()
        try:
            while True:
                self._write_one(connection, request_headers(server.token))
        except (OSError, http.client.HTTPException):
            connection.close()

    def _write_one(self, connection: http.client.HTTPConnection, headers: dict[str, str]) -> None:
        name = self.chance.choice(self.names)
        self.count += 1
        method, path, value = "PUT", f"{CONFIGMAPS}/{name}", str(self.count)
        if self.known.get(name) is GONE:
            method, path = "POST", CONFIGMAPS
        elif self.chance.random() < 0.2:
            method, value = "DELETE", GONE
        body = None
        if value is not GONE:
            body = json.dumps({**config_map(name), "data": {"value": value}})
        self.begun[name] = value
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        found = json.loads(answer.read())
        assert answer.status in (200, 201), found
        del self.begun[name]
        self.known[name] = value
        if value is not GONE:
            self.revisions.add(int(found["metadata"]["resourceVersion"]))

    def check(self, stored: dict[str, str]) -> None:
        """After the server has come back: what was not answered is settled now."""
        for name in self.names:
            found = stored.get(name, GONE)
            possible = [self.known.get(name, GONE)]
            if name in self.begun:
                possible.append(self.begun.pop(name))
            assert found in possible, f"{name} is {found}, and should be one of {possible}"
            self.known[name] = found


@dataclass(slots=True)
class Watcher:
    """`seen` are the revisions of all events so far, in order."""

    seen: list[int] = field(default_factory=list)
    last: int = 0

    def watch(self, server: Process) -> None:
        """From where it was, until the server is gone."""
        connection = server.connection()
        query = f"?watch=1&resourceVersion={self.last}"
        try:
            connection.request("GET", CONFIGMAPS + query, headers=request_headers(server.token))
            answer = connection.getresponse()
            while line := answer.readline():
                if not line.endswith(b"\n"):
                    return  # torn by the death of the server: it will come again
                event = json.loads(line)
                assert event["type"] in ("ADDED", "MODIFIED", "DELETED"), event
                revision = int(event["object"]["metadata"]["resourceVersion"])
                self.seen.append(revision)
                self.last = revision
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()


class CrashRounds:
    """All rounds on one data file. `seed` makes the writes, not their speed, repeatable."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._data = folder / "data.db"
        self._chance = random.Random(seed)
        self.writers = [
            Writer(
                [f"w{writer}-{number}" for number in range(NAMES)],
                random.Random(self._chance.random()),
            )
            for writer in range(WRITERS)
        ]
        self.watcher = Watcher()
        self._revision = 0
        self._errors: list[BaseException] = []

    def run(self, rounds: int) -> None:
        """Raises AssertionError for what should not be."""
        for _ in range(rounds):
            server = Process(self._data)
            try:
                self._check(server)
                threads = [
                    threading.Thread(target=self._guarded, args=(work, server))
                    for work in (*(one.write for one in self.writers), self.watcher.watch)
                ]
                for thread in threads:
                    thread.start()
                time.sleep(self._chance.uniform(0.2, 1.0))
            finally:
                server.end(signal.SIGKILL)
            for thread in threads:
                thread.join(PATIENCE)
                assert not thread.is_alive()
            if self._errors:
                raise self._errors[0]
        self._finish()

    def _guarded(self, work: Any, server: Process) -> None:
        try:
            work(server)
        except BaseException as error:  # noqa: BLE001  raised again in the main thread
            self._errors.append(error)

    def _check(self, server: Process) -> int:
        """What is stored is what was acknowledged. Gives the revision."""
        connection = server.connection()
        connection.request("GET", CONFIGMAPS, headers=request_headers(server.token))
        found = json.loads(connection.getresponse().read())
        connection.close()
        revision = int(found["metadata"]["resourceVersion"])
        newest = max((max(one.revisions, default=0) for one in self.writers), default=0)
        assert revision >= max(self._revision, newest, self.watcher.last), "time went backwards"
        self._revision = revision
        stored = {
            one["metadata"]["name"]: one["data"]["value"]
            for one in found["items"]
            if "value" in one.get("data", {})
        }
        for writer in self.writers:
            writer.check(stored)
        if not self.watcher.last:
            self.watcher.last = revision
        return revision

    def _finish(self) -> None:
        """Once more, unharmed: the watcher catches up, and the file is whole."""
        server = Process(self._data)
        revision = self._check(server)
        ending = threading.Thread(target=self._guarded, args=(self.watcher.watch, server))
        ending.start()
        written = set().union(*(one.revisions for one in self.writers))
        deadline = time.monotonic() + PATIENCE
        while not written <= set(self.watcher.seen) and time.monotonic() < deadline:
            time.sleep(0.05)
        server.end(signal.SIGTERM)
        ending.join(PATIENCE)
        seen = self.watcher.seen
        assert seen == sorted(set(seen)), "events came twice, or out of order"
        assert not written - set(seen), f"never seen: {sorted(written - set(seen))[:5]}"
        assert not self._errors, self._errors
        assert seen[-1] <= revision
        with sqlite3.connect(self._data) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
