"""A server whose clock is set back, and forward again, while it is used."""

from __future__ import annotations

import json
import signal
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.served_process import CONFIGMAPS, config_map, request_headers
from tests.faults.failing_calls import library
from tests.faults.server_under_test import Process

SOURCE = Path(__file__).with_name("other_clock.c")
DAY = 86_400
TOKENS = "/api/v1/namespaces/default/serviceaccounts/default/token"
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


class Clock:
    """That of the processes that are started from now on."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._file = folder / "clock"
        self.move(0)
        monkeypatch.setenv("LD_PRELOAD", str(library(folder, SOURCE)))
        monkeypatch.setenv("CELADON_CLOCK", str(self._file))

    def move(self, seconds: int) -> None:
        """So far from the true time."""
        mode = "r+b" if self._file.exists() else "wb"  # never without its bytes: others map them
        with self._file.open(mode) as file:
            file.write(struct.pack("=q", seconds))


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(tmp_path, monkeypatch)


@pytest.fixture
def server(clock: Clock, tmp_path: Path) -> Iterator[Process]:
    running = Process(tmp_path / "data.db")
    yield running
    running.end(signal.SIGKILL)


def call(
    server: Process, method: str, path: str, body: Any = None, token: str = ""
) -> tuple[int, Any]:
    connection = server.connection()
    data = None if body is None else json.dumps(body)
    connection.request(method, path, data, request_headers(token or server.token))
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


def created(server: Process, name: str) -> tuple[int, str]:
    """The revision, and when it was made by the server's clock."""
    code, found = call(server, "POST", CONFIGMAPS, config_map(name))
    assert code == 201, found
    return int(found["metadata"]["resourceVersion"]), found["metadata"]["creationTimestamp"]


@pytest.mark.thorough
def test_revisions_and_watches_go_on(clock: Clock, server: Process) -> None:
    first, now = created(server, "now")
    watching = server.connection()
    path = f"{CONFIGMAPS}?watch=1&resourceVersion={first}"
    watching.request("GET", path, headers=request_headers(server.token))
    lines = watching.getresponse()
    revisions, times = [first], {"now": now}
    for seconds, name in ((-DAY, "yesterday"), (DAY, "tomorrow"), (-40 * 365 * DAY, "long-ago")):
        clock.move(seconds)
        revision, times[name] = created(server, name)
        revisions.append(revision)
        event = json.loads(lines.readline())
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", name)
    watching.close()
    assert revisions == sorted(set(revisions)), "a revision came twice, or an older one"
    assert times["long-ago"] < times["yesterday"] < times["now"] < times["tomorrow"]
    found = call(server, "GET", CONFIGMAPS)[1]
    assert {"now", *times} <= {one["metadata"]["name"] for one in found["items"]}


@pytest.mark.thorough
def test_a_server_starts_behind_what_it_has_written(
    clock: Clock, server: Process, tmp_path: Path
) -> None:
    clock.move(DAY)
    revision, tomorrow = created(server, "tomorrow")
    server.end(signal.SIGKILL)
    clock.move(-DAY)
    again = Process(tmp_path / "data.db")
    try:
        later, yesterday = created(again, "yesterday")
        assert later > revision
        assert yesterday < tomorrow
        assert call(again, "GET", f"{CONFIGMAPS}/tomorrow")[0] == 200
        assert call(again, "DELETE", f"{CONFIGMAPS}/tomorrow")[0] == 200
    finally:
        again.end(signal.SIGTERM)


@pytest.mark.thorough
def test_a_token_of_the_future_is_refused_until_its_time_has_come(
    clock: Clock, server: Process
) -> None:
    code, found = call(server, "POST", TOKENS, {"spec": {"expirationSeconds": 7200}})
    assert code == 201, found
    token = found["status"]["token"]
    for seconds, expected in ((0, 201), (-DAY, 401), (0, 201), (DAY, 401), (0, 201)):
        clock.move(seconds)
        assert call(server, "POST", REVIEWS, {}, token)[0] == expected, seconds
