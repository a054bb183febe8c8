"""Clients that write the same few objects through several servers, and watch them.

Whatever is written says which version it replaces. So the events that a watcher saw prove
themselves: each names the one before it under its name. A write that was accepted although its
condition was stale, an event that was left out, repeated or out of order breaks the chain.
"""

from __future__ import annotations

import http.client
import itertools
import json
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.apiserver.served_process import CONFIGMAPS, config_map, request_headers
from tests.etcd.replicas import Replica

NAMES = tuple(f"name{number}" for number in range(6))
ANSWER_SECONDS = 12.0
"""Longer than a server waits for etcd."""

THINK_SECONDS = 0.02
"""Between two writes of a writer, so that the machine has time for the rest."""

TROUBLE = (OSError, http.client.HTTPException)


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A write that succeeded: at `revision`, through `replica`, at a time. Of a deletion `revision`
    is what was deleted."""

    name: str
    verb: str
    revision: int
    replica: str
    at: float


@dataclass(slots=True)
class Client:
    """Takes another server whenever one does not answer, or errs."""

    replicas: Sequence[Replica]
    chance: random.Random
    connection: http.client.HTTPConnection | None = None
    replica: Replica | None = None

    def call(
        self, method: str, path: str, body: Any = None, seconds: float = ANSWER_SECONDS
    ) -> tuple[int, Any]:
        """Raises one of TROUBLE."""
        if self.chance.random() < 0.05:
            self.leave()  # for no reason
        if self.connection is None or self.replica is None:
            self.replica = self.chance.choice(self.replicas)
            self.connection = self.replica.connection(seconds)
        data = None if body is None else json.dumps(body).encode()
        try:
            self.connection.request(method, path, data, request_headers(self.replica.token))
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (*TROUBLE, ValueError):
            self.leave()
            raise

    def leave(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None


@dataclass(slots=True)
class Writer:
    """Reads, and writes on the condition that nobody else did. Answers of the server that say
    neither yes nor no are counted."""

    client: Client
    done: threading.Event
    acknowledged: list[Acknowledged] = field(default_factory=list)
    conflicts: int = 0
    unknown: int = 0

    def run(self) -> None:
        while not self.done.is_set():
            time.sleep(THINK_SECONDS)
            try:
                self._write(self.client.chance.choice(NAMES))
            except TROUBLE:
                self.unknown += 1
                time.sleep(0.05)
        self.client.leave()

    def since(self, moment: float) -> list[Acknowledged]:
        """What was acknowledged later, the newest first."""
        newest = reversed(self.acknowledged)  # a list that only grows: its end may move meanwhile
        return list(itertools.takewhile(lambda one: one.at > moment, newest))

    def _write(self, name: str) -> None:
        path = f"{CONFIGMAPS}/{name}"
        code, found = self.client.call("GET", path)
        if code == 404:
            body = {**config_map(name), "data": {"replaces": "0"}}
            self._note(name, "create", *self.client.call("POST", CONFIGMAPS, body), 0)
            return
        if code != 200:
            self._err(code, found)
            return
        version = found["metadata"]["resourceVersion"]
        if self.client.chance.random() < 0.1:
            body = {"preconditions": {"resourceVersion": version}}
            code, answer = self.client.call("DELETE", path, body)
            self._note(name, "delete", code, answer, int(version))
            return
        body = {**config_map(name), "data": {"replaces": version}}
        body["metadata"]["resourceVersion"] = version
        self._note(name, "update", *self.client.call("PUT", path, body), 0)

    def _note(self, name: str, verb: str, code: int, answer: Any, deleted: int) -> None:
        assert self.client.replica is not None
        if code in (200, 201):
            revision = deleted or int(answer["metadata"]["resourceVersion"])
            self.acknowledged.append(
                Acknowledged(name, verb, revision, self.client.replica.name, time.monotonic())
            )
        elif code in (404, 409):
            self.conflicts += 1
        else:
            self._err(code, answer)

    def _err(self, code: int, answer: Any) -> None:
        assert code >= 500 or code == 429, (code, answer)
        self.unknown += 1
        self.client.leave()
        time.sleep(0.05)


@dataclass(slots=True)
class Watcher:
    """Follows all names from `last` on, at one server after the other. `events`: name, revision,
    and what it replaces (None: a deletion) of each."""

    client: Client
    done: threading.Event
    last: int
    state: dict[str, int]
    seen: set[tuple[str, int]] = field(default_factory=set)
    deleted: set[tuple[str, int]] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    streams: int = 0

    def run(self) -> None:
        while not self.done.is_set():
            self.streams += 1
            try:
                self._follow()
            except (*TROUBLE, ValueError):
                time.sleep(0.05)

    def _follow(self) -> None:
        replica = self.client.chance.choice(self.client.replicas)
        connection = replica.connection(5.0)
        query = f"?watch=1&allowWatchBookmarks=true&resourceVersion={self.last}&timeoutSeconds=7"
        try:
            connection.request("GET", CONFIGMAPS + query, headers=request_headers(replica.token))
            answer = connection.getresponse()
            while not self.done.is_set() and (line := answer.readline()):
                if line.endswith(b"\n"):
                    self._take(json.loads(line))
        finally:
            connection.close()

    def _take(self, event: Any) -> None:
        kind, found = event["type"], event["object"]
        if kind == "ERROR":
            assert found.get("code") in (504, 500), found
            return
        revision = int(found["metadata"]["resourceVersion"])
        if kind != "BOOKMARK":
            name, replaces = found["metadata"]["name"], (found.get("data") or {}).get("replaces")
            if name in NAMES:
                self._check(kind, name, revision, replaces)
        self.last = max(self.last, revision)

    def _check(self, kind: str, name: str, revision: int, replaces: Any) -> None:
        if revision <= self.last:
            self.faults.append(f"{name}: {revision} comes after {self.last}")
        before = self.state.pop(name, 0)
        if kind == "DELETED":
            self.deleted.add((name, before))
            if not before:
                self.faults.append(f"{name}: {revision} deletes what was not seen")
            return
        if before != int(replaces) or (kind == "ADDED") != (before == 0):
            self.faults.append(f"{name}: {kind} {revision} replaces {replaces}, seen was {before}")
        self.state[name] = revision
        self.seen.add((name, revision))

    def missing(self, acknowledged: Sequence[Acknowledged]) -> list[Acknowledged]:
        """Which of these it has not seen."""
        return [
            one
            for one in acknowledged
            if (one.name, one.revision) not in (self.deleted if one.verb == "delete" else self.seen)
        ]
