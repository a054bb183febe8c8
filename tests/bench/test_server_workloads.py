"""What the server is measured with are requests that it answers as it should."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.page import Figures
from bench.server import workloads
from bench.server.figures import bars
from bench.server.loads import Taken
from bench.server.measuring import CREATE, FREE, GET, LARGE, LIST, SMALL, Measured, Rate, Start
from bench.server.page import write
from bench.server.processes import TOKEN

from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from tests.apiserver.in_process import Running

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    running = Running()
    for one in workloads.namespaces() + workloads.twenty_policies():
        assert answer(running, one).code == 201
    yield running
    running.close()


def answer(running: Running, sent: bytes) -> HttpAnswer:
    head, _, body = sent.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split()
    pairs = (line.partition(": ") for line in lines)
    headers = [(name.lower(), value.replace(TOKEN, "admin-token")) for name, _, value in pairs]
    return running.answer(HttpRequest(method, target, headers, body))


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (workloads.small_deployments(1), 201),
        (workloads.large_deployments(1), 201),
        (workloads.config_maps("one", 1), 201),
        (workloads.gets("one-0", 1), 200),
        (workloads.lists(1), 200),
        (workloads.many_policies(21)[-2:], 201),
        (workloads.watched_changes(1), 201),
    ],
)
def test_each_load_is_answered(running: Running, sent: list[bytes], code: int) -> None:
    for one in sent:
        assert answer(running, one).code == code


def test_a_dry_run_that_a_policy_denies_is_denied(running: Running) -> None:
    (sent,) = workloads.small_deployments(1)
    denied = answer(running, sent.replace(b"registry.example.com", b"somewhere.test").strip())
    assert denied.code in (400, 422)


def test_rates_are_recorded(tmp_path: Path) -> None:
    taken = Taken(100, 0.5, 0.25, 0.1, b"")
    rate = Rate([taken, taken], [Taken(100, 0.25, 0.1, 0.1, b"")] * 2)
    names = (GET, FREE, SMALL, LARGE, CREATE, LIST)
    start = Start(0.2, 0.1, 70 << 20)
    measured = Measured(dict.fromkeys(names, rate), 0.05, start, start, start, 0.01, 1 << 29, 0.3)
    assert [bar.holds for bar in bars(measured)] == [False] * 3 + [True] * 8
    path = tmp_path / "figures.json"
    Figures().write(path)
    write(measured, path)
    figures = Figures.read(path)
    assert ["get", "200", "400", "50%", "50% to 50%", "2,500", "1,000"] in figures.tables[
        "server-rates"
    ]
    assert figures.values["server-slowness"] == "0.30"
