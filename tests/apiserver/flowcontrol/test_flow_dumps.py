"""The debugging pages of flow control, as kube-apiserver 1.36 shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.flowcontrol.flow_dumps import PAGES, _duration, _seat_seconds, _time, table
from celadon.apiserver.flowcontrol.priority_levels import Estimate
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.operation.request_limits import RequestLimits, TooManyRequests
from celadon.apiserver.request_info import request_info
from celadon.kube import User
from tests.apiserver.asking import ask
from tests.apiserver.in_process import Running

LEVELS = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
ALICE = User("alice", ("system:authenticated",))


@pytest.fixture
def running() -> Iterator[Running]:
    server = Running(Settings(limits=RequestLimits(reading=1, mutating=0)))
    yield server
    server.close()


def lines(running: Running, page: str) -> list[str]:
    answer = ask(running, "GET", f"{PAGES}{page}")
    assert (answer.code, answer.content_type) == (200, "text/plain; charset=utf-8")
    return answer.body.decode().splitlines()


def test_levels(running: Running) -> None:
    found = lines(running, "dump_priority_levels")
    assert found[0] == (
        "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, "
        "DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests"
    )
    assert found[1:3] == [
        "catch-all,         0,            true,   false,       0,               0,                 "
        "0,                  0,                0,                0",
        "exempt,            0,            false,  false,       0,               1,                 "
        "1,                  0,                0,                0",
    ]
    names = [line.partition(",")[0] for line in found[1:]]
    assert names == sorted(names)


def test_queues(running: Running) -> None:
    found = lines(running, "dump_queues")
    assert found[0] == (
        "PriorityLevelName, Index,  PendingRequests, ExecutingRequests, SeatsInUse, NextDispatchR, "
        "InitialSeatsSum, MaxSeatsSum, TotalWorkSum"
    )
    assert len(found) > 100
    assert found[1] == (
        "global-default,    0,      0,               0,                 0,          0.00000000ss,  "
        "0,               0,           0.00000000ss"
    )


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(",")]


def test_requests_that_execute_wait_and_are_rejected(running: Running) -> None:
    flows = running.server.core.flows
    assert flows is not None
    info = request_info(HttpRequest("GET", "/api/v1/namespaces/a/pods/b", [], b""))
    flow = flows.classify(ALICE, info)
    assert flow is not None

    async def arrive() -> None:
        assert flows is not None
        assert flow is not None
        flow.level.queue_length = 1
        for estimate in (Estimate(), Estimate(1, 2, 0.0105)):
            turn = flows.arrive(flow, estimate)
            flows.appear(turn, ALICE, info)
        with pytest.raises(TooManyRequests):
            flows.arrive(flow)

    flow.level.hand_size = 1
    flow.hand = flow.hand[:1]
    running.wait_for(arrive())
    (level,) = (
        cells(line)
        for line in lines(running, "dump_priority_levels")
        if line.startswith(flow.level.name)
    )
    assert level == [flow.level.name, "1", "false", "false", "1", "1", "1", "1", "0", "0"]
    queue = cells(lines(running, "dump_queues")[1 + flow.hand[0]])
    assert queue[:5] == [flow.level.name, str(flow.hand[0]), "1", "1", "1"]
    assert queue[6:] == ["1", "2", "0.02400000ss"]
    found = [cells(line) for line in lines(running, "dump_requests?includeRequestDetails=1")]
    waiting, executing = (row for row in found if row[0] == flow.level.name)
    assert waiting[:5] == [flow.level.name, flow.labels[1], str(flow.hand[0]), "0", "alice"]
    assert waiting[6:10] == ["1", "2", "10.5ms", "0001-01-01T00:00:00Z"]
    assert executing[2:4] == [str(flow.hand[0]), "-1"]
    assert executing[5] == executing[9]
    assert executing[10:] == ["alice", "get", info.path, "a", "b", "v1", "pods", ""]
    assert found[0][10:] == [
        "UserName",
        "Verb",
        "APIPath",
        "Namespace",
        "Name",
        "APIVersion",
        "Resource",
        "SubResource",
    ]
    assert len(lines(running, "dump_requests")[0].split(",")) == 10


def test_a_request_is_told_of_as_long_as_it_is_there(running: Running) -> None:
    for _ in range(2):
        (own,) = lines(running, "dump_requests")[1:]
        assert cells(own)[:5] == ["exempt", "exempt", "-1", "-1", ""]
    running.wait_for(asyncio.sleep(0))


def test_who_may_not_see_them_does_not(running: Running) -> None:
    assert ask(running, "GET", f"{PAGES}dump_queues", token="alice-token").code == 403
    assert ask(running, "GET", f"{PAGES}others").code == 404
    assert b"debug" not in ask(running, "GET", "/").body


def test_without_flow_control_there_are_none() -> None:
    server = Running(Settings(limits=RequestLimits(fairness=False)))
    try:
        assert ask(server, "GET", f"{PAGES}dump_queues").code == 404
    finally:
        server.close()


def test_how_things_are_written() -> None:
    assert table([("a", "b"), ("long-name-", "c")]) == "a,          b\nlong-name-, c\n"
    assert table([("a", "b")]) == "a,      b\n"
    assert [_duration(one) for one in (0.0, 0.005, 0.0105, 0.00025, 1.5)] == [
        "0s",
        "5ms",
        "10.5ms",
        "250µs",
        "1.5s",
    ]
    assert _seat_seconds(12.003) == "12.00300000ss"
    assert _time(1.25) == "1970-01-01T00:00:01.25Z"
    assert _time(1.0) == "1970-01-01T00:00:01Z"
