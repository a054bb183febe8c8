"""Priority and fairness: which requests belong where, and which wait for which."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.bootstrap_objects import priority_levels
from celadon.apiserver.flowcontrol.flow_control import (
    FlowControl,
    FlowSchema,
    flow_rule,
    waiting_seconds,
)
from celadon.apiserver.flowcontrol.priority_levels import Turn
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.object_store import ROOT, ObjectStore
from celadon.apiserver.operation.metric_table import exposition
from celadon.apiserver.operation.request_limits import RequestLimits, TooManyRequests
from celadon.apiserver.operation.server_metrics import FlowCounts
from celadon.apiserver.request_info import RequestInfo, request_info
from celadon.kube import User
from celadon.kube.well_known_values import FLOW_CONTROL_GROUP
from celadon.storage import create, open_memory
from tests.apiserver.asking import ask, make, read
from tests.apiserver.http.listening import PATIENCE
from tests.apiserver.in_process import Running

MAPS = "/api/v1/namespaces/default/configmaps"
GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1"
SCHEMAS = f"{GROUP}/flowschemas"
LEVELS = f"{GROUP}/prioritylevelconfigurations"
ROBOT = User("system:serviceaccount:shop:robot", ("system:serviceaccounts",))
ALICE = User("alice", ("devs", "system:authenticated"))
EVERYBODY = [{"kind": "Group", "group": {"name": "*"}}]


def account(namespace: str, name: str) -> dict[str, Any]:
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": name}}


def resource_rule(**members: Any) -> dict[str, Any]:
    every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
    return {"subjects": EVERYBODY, "resourceRules": [{**every, "clusterScope": True, **members}]}


def path_rule(*paths: str, verbs: tuple[str, ...] = ("*",)) -> dict[str, Any]:
    rule = {"verbs": list(verbs), "nonResourceURLs": list(paths)}
    return {"subjects": EVERYBODY, "nonResourceRules": [rule]}


def of(*subjects: dict[str, Any]) -> dict[str, Any]:
    return {**resource_rule(), "subjects": list(subjects)}


@pytest.mark.parametrize(
    ("rule", "user", "method", "path", "matches"),
    [
        (of({"kind": "User", "user": {"name": "alice"}}), ALICE, "GET", MAPS, True),
        (of({"kind": "User", "user": {"name": "bob"}}), ALICE, "GET", MAPS, False),
        (of({"kind": "User", "user": {"name": "*"}}), ALICE, "GET", MAPS, True),
        (of({"kind": "Group", "group": {"name": "devs"}}), ALICE, "GET", MAPS, True),
        (of({"kind": "Group", "group": {"name": "ops"}}), ALICE, "GET", MAPS, False),
        (of(account("shop", "robot")), ROBOT, "GET", MAPS, True),
        (of(account("shop", "*")), ROBOT, "GET", MAPS, True),
        (of(account("sho", "*")), ROBOT, "GET", MAPS, False),
        (of(account("shop", "other")), ROBOT, "GET", MAPS, False),
        (of(account("shop", "robot")), ALICE, "GET", MAPS, False),
        (of(), ALICE, "GET", MAPS, False),
        (resource_rule(verbs=["list"]), ALICE, "GET", MAPS, True),
        (resource_rule(verbs=["get"]), ALICE, "GET", MAPS, False),
        (resource_rule(apiGroups=[""]), ALICE, "GET", MAPS, True),
        (resource_rule(apiGroups=["apps"]), ALICE, "GET", MAPS, False),
        (resource_rule(resources=["secrets", "configmaps"]), ALICE, "GET", MAPS, True),
        (resource_rule(resources=["pods"]), ALICE, "GET", "/api/v1/nodes/n/status", False),
        (resource_rule(resources=["nodes"]), ALICE, "GET", "/api/v1/nodes/n/status", False),
        (resource_rule(resources=["nodes/status"]), ALICE, "GET", "/api/v1/nodes/n/status", True),
        (resource_rule(namespaces=["default"]), ALICE, "GET", MAPS, True),
        (resource_rule(namespaces=["shop"]), ALICE, "GET", MAPS, False),
        (resource_rule(clusterScope=False), ALICE, "GET", MAPS, True),
        (resource_rule(clusterScope=False), ALICE, "GET", "/api/v1/nodes", False),
        (resource_rule(namespaces=["default"]), ALICE, "GET", "/api/v1/nodes", True),
        (resource_rule(), ALICE, "GET", "/version", False),
        (path_rule("*"), ALICE, "GET", "/version", True),
        (path_rule("*"), ALICE, "GET", MAPS, False),
        (path_rule("/livez"), ALICE, "GET", "/livez", True),
        (path_rule("/livez"), ALICE, "GET", "/livez/ping", True),
        (path_rule("/livez/*"), ALICE, "GET", "/livez/ping", True),
        (path_rule("/livez"), ALICE, "GET", "/livezy", False),
        (path_rule("/livez", verbs=("post",)), ALICE, "GET", "/livez", False),
    ],
)
def test_a_rule_matches_by_subject_and_request(
    rule: dict[str, Any], user: User, method: str, path: str, matches: bool
) -> None:
    schema = FlowSchema("s", "", 1, "l", "", [flow_rule(rule)])
    assert schema.matches(user, request_info(HttpRequest(method, path, [], b""))) is matches


def test_flows_are_told_apart_by_user_or_namespace() -> None:
    info = request_info(HttpRequest("GET", MAPS, [], b""))

    def told(method: str) -> str:
        return FlowSchema("s", "", 1, "l", method, []).distinguish(ALICE, info)

    assert [told("ByUser"), told("ByNamespace"), told("")] == ["alice", "default", ""]


@pytest.mark.parametrize(
    ("seconds", "most"), [(60.0, 15.0), (2.0, 0.5), (1000.0, 60.0), (None, 15.0)]
)
def test_a_request_waits_for_a_quarter_of_its_time(seconds: float | None, most: float) -> None:
    assert waiting_seconds(seconds, 60.0) == most


class Gate:
    """Holds requests of the server between their seat and their answer until it is opened."""

    def __init__(self, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
        self._event = asyncio.Event()
        self._running = running
        self.arrived = threading.Semaphore(0)
        self.is_shut = True
        monkeypatch.setattr(running.server.controllers, "caught_up", self._wait)

    async def _wait(self, **_: object) -> None:
        if self.is_shut:
            self.arrived.release()
            await self._event.wait()

    async def open(self) -> None:
        self._event.set()


@pytest.fixture
def small() -> Iterator[Running]:
    """A server with one seat for each level but those with nearly all of the shares."""
    running = Running(Settings(limits=RequestLimits(reading=1, mutating=0)))
    yield running
    running.close()


def executing(running: Running, name: str) -> Any:
    flows = running.server.core.flows
    assert flows is not None
    return flows._levels[name].executing


def test_answers_say_which_schema_and_level_they_belong_to(small: Running) -> None:
    def uids(answer: Any) -> list[str]:
        given = dict(answer.headers)
        return [given["X-Kubernetes-Pf-Flowschema-Uid"], given["X-Kubernetes-Pf-Prioritylevel-Uid"]]

    def stored(schema: str, level: str) -> list[str]:
        found = [ask(small, "GET", f"{SCHEMAS}/{schema}"), ask(small, "GET", f"{LEVELS}/{level}")]
        return [read(one)["metadata"]["uid"] for one in found]

    assert uids(ask(small, "GET", MAPS)) == stored("exempt", "exempt")
    assert uids(ask(small, "GET", "/livez", token="")) == stored("probes", "exempt")
    kept_out = ask(small, "GET", MAPS, token="alice-token")
    assert kept_out.code == 403
    assert uids(kept_out) == stored("global-default", "global-default")
    watch = ask(small, "GET", f"{MAPS}?watch=1&timeoutSeconds=1")
    assert uids(watch) == stored("exempt", "exempt")
    assert executing(small, "exempt") == 0, "a watch has its seat for its start only"
    unknown = ask(small, "GET", MAPS, token="nobody")
    assert "X-Kubernetes-Pf-Flowschema-Uid" not in dict(unknown.headers)
    log = ask(small, "GET", "/api/v1/namespaces/default/pods/p/log")
    assert "X-Kubernetes-Pf-Flowschema-Uid" not in dict(log.headers)


def test_a_full_level_holds_back_its_own_requests_only(
    small: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(small, monkeypatch)
    path = "/version"  # which anybody may read
    answers: list[Any] = []

    def read_version() -> None:
        answers.append(ask(small, "GET", path, token="alice-token"))

    threads = [threading.Thread(target=read_version) for _ in range(2)]
    threads[0].start()
    assert gate.arrived.acquire(timeout=PATIENCE)
    with monkeypatch.context() as patched:
        patched.setattr("celadon.apiserver.request_layers.waiting_seconds", lambda *_: 0.0)
        assert ask(small, "GET", path, token="alice-token").code == 429, "no seat came"
    gate.is_shut = False
    assert ask(small, "GET", MAPS).code == 200, "administrators are exempt"
    assert ask(small, "GET", "/readyz", token="").code == 200
    metrics = ask(small, "GET", "/metrics").body.decode()
    labels = 'flow_schema="global-default",priority_level="global-default"'
    assert f"apiserver_flowcontrol_current_executing_requests{{{labels}}} 1\n" in metrics
    rejected = f'apiserver_flowcontrol_rejected_requests_total{{{labels},reason="time-out"}} 1\n'
    assert rejected in metrics
    assert 'apiserver_flowcontrol_nominal_limit_seats{priority_level="workload-low"} 1\n' in metrics
    threads[1].start()
    small.wait_for(gate.open())
    for thread in threads:
        thread.join()
    assert [answer.code for answer in answers] == [200, 200]
    assert executing(small, "global-default") == 0


def test_changed_objects_are_in_force_at_once(
    small: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    reject = {
        "nominalConcurrencyShares": 1,
        "borrowingLimitPercent": 0,
        "limitResponse": {"type": "Reject"},
    }
    make(
        small,
        LEVELS,
        {"metadata": {"name": "tight"}, "spec": {"type": "Limited", "limited": reject}},
    )
    spec = {
        "priorityLevelConfiguration": {"name": "tight"},
        "matchingPrecedence": 500,
        "rules": [path_rule("/version")],
    }
    made = make(small, SCHEMAS, {"metadata": {"name": "versions"}, "spec": spec})
    answer = ask(small, "GET", "/version", token="alice-token")
    header = "X-Kubernetes-Pf-Flowschema-Uid"
    assert dict(answer.headers)[header] == made["metadata"]["uid"]

    gate = Gate(small, monkeypatch)
    holder = threading.Thread(
        target=ask, args=(small, "GET", "/version"), kwargs={"token": "alice-token"}
    )
    holder.start()
    assert gate.arrived.acquire(timeout=PATIENCE)
    gate.is_shut = False
    full = ask(small, "GET", "/version", token="alice-token")
    assert (full.code, full.body) == (429, b"Too many requests, please try again later.\n")
    assert dict(full.headers)["Retry-After"] == "1"
    assert dict(full.headers)[header] == made["metadata"]["uid"]
    assert ask(small, "DELETE", f"{SCHEMAS}/versions").code == 200
    assert ask(small, "GET", "/version", token="alice-token").code == 200
    small.wait_for(gate.open())
    holder.join()


def test_the_mandatory_objects_are_in_force_where_they_are_not_stored() -> None:
    flows = FlowControl(ObjectStore(open_memory()), 600, lambda: 0.0, FlowCounts())
    info = request_info(HttpRequest("GET", MAPS, [], b""))
    users = User("root", ("system:masters",)), ALICE, User("of no group")
    found = [flows.classify(user, info) for user in users]
    labels = [flow.labels for flow in found if flow is not None]
    assert labels == [("exempt", "exempt"), *[("catch-all", "catch-all")] * 2]


def test_who_waits_goes_on_when_a_seat_is_free_or_goes_away(small: Running) -> None:
    core = small.server.core
    flows, rejected = core.flows, core.metrics.flows.rejected.values
    assert flows is not None
    flow = flows.classify(ALICE, request_info(HttpRequest("GET", "/version", [], b"")))
    assert flow is not None

    async def wait() -> None:
        first, second, third = (flows.arrive(flow) for _ in range(3))
        waiting = [asyncio.ensure_future(flows.seated(turn, 600.0)) for turn in (second, third)]
        await asyncio.sleep(0)
        assert flow.count.waiting == 2
        waiting[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting[0]
        flow.level.leave(second)
        flow.level.leave(first)
        await waiting[1]
        assert third.is_executing
        flow.level.leave(third)

    small.wait_for(wait())
    assert rejected == {(*flow.labels, "cancelled"): 1}
    assert (flow.count.waiting, flow.count.executing, flow.count.dispatched) == (0, 0, 2)


def test_without_limits_nothing_waits() -> None:
    running = Running(Settings(limits=RequestLimits(reading=0, mutating=0)))
    try:
        flows = running.server.core.flows
        assert flows is not None
        assert {level.limit for level in flows._levels.values()} == {None}
    finally:
        running.close()


def test_how_long_requests_wait_and_execute_is_counted() -> None:
    now, counts = [10.0], FlowCounts()
    flows = FlowControl(ObjectStore(open_memory()), 1, lambda: now[0], counts)
    info = RequestInfo("get", "/api/v1/pods", is_resource=True, version="v1", resource="pods")
    flow = flows.classify(User("bob", ("system:authenticated",)), info)
    assert flow is not None
    turn, began = flows.arrive(flow), flows.now()
    with pytest.raises(TooManyRequests):
        flows.arrive(flow)  # the level has one seat, and no queues
    now[0] += 0.03
    flows.leave(turn, began, info)
    labels = ("catch-all", "catch-all")
    executed = counts.execution_seconds.values[(*labels, "regular")]
    assert executed.total == pytest.approx(0.03)
    assert sum(executed.counts) == 1
    for outcome in ("true", "false"):
        waited = counts.wait_seconds.values[(*labels, outcome)]
        assert (waited.total, waited.counts[0]) == (0.0, 1)


def test_lists_take_seats_by_what_is_stored(
    small: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    flows = small.server.core.flows
    assert flows is not None
    request = HttpRequest("GET", MAPS)
    info = request_info(request)
    flow = flows.classify(ALICE, info)
    assert flow is not None
    assert flows.estimate(flow, request, info).seats == 1
    monkeypatch.setattr(ObjectStore, "extent", lambda *_: (1_000, 1_000))
    assert flows.estimate(flow, request, info).seats == 1, "the level has one"
    monkeypatch.setitem(flows._most_seats, flow.level.name, 0)
    assert flows.estimate(flow, request, info).seats == 10
    answer = ask(small, "GET", "/metrics").body.decode()
    labels = 'flow_schema="global-default",priority_level="global-default"'
    assert f"apiserver_flowcontrol_work_estimated_seats_count{{{labels}}}" in answer


def test_what_is_lent_follows_what_is_asked_for() -> None:
    """Whoever asks for much gets, ten seconds later, what others lend; and gives it back."""
    now, counts, store = [0.0], FlowCounts(), open_memory()
    for one in priority_levels():
        key = f"{ROOT}/{FLOW_CONTROL_GROUP}/prioritylevelconfigurations/{one['metadata']['name']}"
        store.submit(create(key, json.dumps(one).encode())).result()
    flows = FlowControl(ObjectStore(store), 600, lambda: now[0], counts)
    info = RequestInfo("get", "/api/v1/pods", is_resource=True, version="v1", resource="pods")
    flow = flows.classify(User("bob", ("system:authenticated",)), info)
    assert flow is not None
    level = flow.level
    most = level.limit
    assert most is not None
    turns = [flows.arrive(flow) for _ in range(most)]
    with pytest.raises(TooManyRequests):
        flows.arrive(flow)
    now[0] = 9.0
    flows.adjust()
    assert level.limit == most
    now[0] = 10.0
    flows.adjust()
    assert level.limit is not None
    assert level.limit > most
    assert counts.seats[level.name].highest == most
    assert counts.seats[level.name].current == level.limit
    for turn in turns:
        flows.leave(turn, None, info)
    now[0] = 10_000.0
    flows.adjust()
    assert level.limit == most
    assert counts.seats[level.name].highest == 0


def sample(counts: FlowCounts, name: str, *labels: str) -> float:
    """The value of a line of `/metrics`; its labels as they stand there."""
    counts.refresh()
    text = exposition(counts.families())
    where = f"{{{','.join(labels)}}}" if labels else ""
    (line,) = re.findall(rf"^apiserver_flowcontrol_{re.escape(name + where)} (\S+)$", text, re.M)
    return float(line)


def test_what_is_in_use_is_told_by_the_nanosecond() -> None:
    now, counts = [10.0], FlowCounts()
    flows = FlowControl(ObjectStore(open_memory()), 4, lambda: now[0], counts)
    info = RequestInfo("get", "/api/v1/pods", is_resource=True, version="v1", resource="pods")
    flow = flows.classify(User("bob", ("system:authenticated",)), info)
    root = flows.classify(User("root", ("system:masters",)), info)
    assert flow is not None
    assert root is not None
    phase, level = 'phase="executing"', 'priority_level="catch-all"'
    seats = sample(counts, "current_limit_seats", level)
    now[0] += 1.0
    turn = flows.arrive(flow)
    now[0] += 0.5
    flows.leave(turn, None, info)
    now[0] += 0.25
    for name, labels in (
        ("demand_seats", (level,)),
        ("priority_level_seat_utilization", (phase, level)),
        ("priority_level_request_utilization", (phase, level)),
    ):
        assert sample(counts, f"{name}_count", *labels) == 1.75e9
        assert sample(counts, f"{name}_sum", *labels) == 0.5e9 / seats
    assert (
        sample(counts, "priority_level_seat_utilization_bucket", phase, level, 'le="0"') == 1.25e9
    )
    waiting = ('phase="waiting"', level)
    assert sample(counts, "priority_level_request_utilization_sum", *waiting) == 0.0
    exempt = flows.arrive(root)
    labels = ('flow_schema="exempt"', 'priority_level="exempt"')
    assert sample(counts, "request_concurrency_in_use", *labels) == 1
    flows.leave(exempt, None, info)
    assert sample(counts, "request_concurrency_in_use", *labels) == 0
    assert sample(counts, "request_concurrency_limit", level) == sample(
        counts, "nominal_limit_seats", level
    )


def test_queues_and_watches_are_counted(small: Running) -> None:
    flows, counts = small.server.core.flows, small.server.core.metrics.flows
    assert flows is not None
    info = request_info(HttpRequest("POST", MAPS, [], b""))
    flow = flows.classify(ALICE, info)
    assert flow is not None

    async def come(*infos: RequestInfo) -> None:
        for one in infos:
            estimate = flows.estimate(flow, HttpRequest("POST", MAPS, [], b""), one)
            turns.append(flows.arrive(flow, estimate))

    turns: list[Turn] = []
    token = replace(info, resource="serviceaccounts", subresource="token")
    flow.hand = flow.hand[:1]  # else the second would wait in another queue
    small.wait_for(come(info, info, token))
    assert counts.watches.values[flow.labels].counts[0] == 2
    assert counts.queue_lengths.values[flow.labels].total == 1 + 1 + 2
