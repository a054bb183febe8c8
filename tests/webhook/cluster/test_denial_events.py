from __future__ import annotations

import asyncio
import dataclasses
import logging
import re
from functools import partial
from typing import Any

import pytest

from celadon.admission import Operation, Request, Verdict
from celadon.apiserver.operation import exposition
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.webhook.cluster import denial_events
from celadon.webhook.cluster.cluster_client import ClusterRefusal, ClusterUnreachable
from celadon.webhook.cluster.denial_events import DenialEvents
from tests.webhook.cluster.against_server import until

NOW = 1_000_000.0


class Cluster:
    """Keeps Events, or refuses them."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.patches: list[dict[str, Any]] = []
        self.failure: Exception | None = None

    async def create(self, path: str, event: dict[str, Any]) -> dict[str, Any]:
        assert path == f"/api/v1/namespaces/{event['metadata']['namespace']}/events"
        if self.failure is not None:
            raise self.failure
        self.events.append(event)
        return event

    async def patch(self, path: str, change: dict[str, Any]) -> None:
        failure = self.failure
        if isinstance(failure, ClusterRefusal):
            self.failure = None
            raise failure
        self.patches.append(change)


def request(name: str = "web-", *, dry_run: bool = False, namespace: str = "team") -> Request:
    return Request(
        Operation.CREATE,
        GroupVersionKind("", "v1", "Pod"),
        GroupVersionResource("", "v1", "pods"),
        namespace=namespace,
        object={"metadata": {"generateName": name}},
        dry_run=dry_run,
    )


def denied(message: str = "no") -> Verdict:
    return Verdict(allowed=False, status={"message": message})


def told(cluster: Cluster, *steps: list[tuple[Request, Verdict]]) -> DenialEvents:
    """The denials of each step, when those of the one before have been sent."""

    async def run() -> DenialEvents:
        events = DenialEvents(cluster, "replica", lambda: NOW, lambda: 0.0)  # type: ignore[arg-type]
        running = asyncio.create_task(events.run())
        for step in steps:
            for one in step:
                events.denied(*one)
            await until(lambda: not events._waiting)
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return events

    return asyncio.run(run())


def test_an_event_is_about_the_object() -> None:
    cluster = Cluster()
    told(cluster, [(request(), denied("not a good pod"))])
    (event,) = cluster.events
    name = event["metadata"].pop("name")
    assert name.startswith("web.")
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": "team"},
        "involvedObject": {
            "apiVersion": "v1", "kind": "Pod", "namespace": "team", "name": "web"
        },
        "type": "Warning",
        "reason": "PolicyDenied",
        "message": "not a good pod",
        "count": 1,
        "firstTimestamp": "1970-01-12T13:46:40Z",
        "lastTimestamp": "1970-01-12T13:46:40Z",
        "source": {"component": "celadon-webhook"},
        "reportingComponent": "celadon-webhook",
        "reportingInstance": "replica",
    }  # fmt: skip


NAMES = {
    "web": r"web\.[0-9a-f]{16}",
    "": r"[0-9a-f]{32}",
    "system:node": r"[0-9a-f]{32}",
    "a" * 253: r"[0-9a-f]{32}",
}


@pytest.mark.parametrize("name", NAMES)
def test_an_event_has_a_name_that_events_may_have(name: str) -> None:
    cluster = Cluster()
    told(cluster, [(request(name), denied())])
    (event,) = cluster.events
    assert re.fullmatch(NAMES[name], event["metadata"]["name"])


def test_events_that_are_denied_leave_none() -> None:
    """The Event about it would be denied as well, and so on."""
    cluster = Cluster()
    for group in ("", "events.k8s.io"):
        kind = GroupVersionKind(group, "v1", "Event")
        told(cluster, [(dataclasses.replace(request(), kind=kind), denied())])
    assert cluster.events == []


def test_the_same_denial_counts() -> None:
    cluster = Cluster()
    same, other = (request(), denied()), (request(), denied("never"))
    told(cluster, [same, same, other], [same])
    assert [(one["message"], one["count"]) for one in cluster.events] == [("no", 2), ("never", 1)]
    assert [one["count"] for one in cluster.patches] == [3]


def test_an_object_that_somebody_tries_to_create_again_and_again() -> None:
    """Each attempt has a uid of its own, and what the server has made of `generateName`."""
    cluster = Cluster()
    attempts = []
    for number in range(3):
        meta = {"generateName": "web-", "name": f"web-{number}", "uid": f"u{number}"}
        attempt = dataclasses.replace(request(), name=f"web-{number}", object={"metadata": meta})
        attempts.append((attempt, denied(f'pods "web-{number}" is forbidden')))
    told(cluster, attempts)
    (event,) = cluster.events
    assert (event["count"], event["message"]) == (3, 'pods "web-" is forbidden')
    assert (event["involvedObject"]["name"], "uid" in event["involvedObject"]) == ("web", False)


def test_an_object_that_is_there_is_told_with_its_uid() -> None:
    cluster = Cluster()
    there = {"metadata": {"generateName": "web-", "name": "web-1", "uid": "u"}}
    update = dataclasses.replace(
        request(), operation=Operation.UPDATE, name="web-1", object=there, old_object=there
    )
    told(cluster, [(update, denied())])
    about = cluster.events[0]["involvedObject"]
    assert (about["name"], about["uid"]) == ("web-1", "u")


def test_an_event_that_has_ended_is_made_anew() -> None:
    cluster = Cluster()
    again = (request(), denied())

    async def run() -> None:
        events = DenialEvents(cluster, "replica", lambda: NOW, lambda: 0.0)  # type: ignore[arg-type]
        running = asyncio.create_task(events.run())
        events.denied(*again)
        await until(lambda: cluster.events)
        cluster.failure = ClusterRefusal(404, {})
        events.denied(*again)
        await until(lambda: len(cluster.events) == 2)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())
    assert [one["count"] for one in cluster.events] == [1, 1]


def test_dry_runs_leave_nothing_and_cluster_scoped_ones_are_in_default() -> None:
    cluster = Cluster()
    told(cluster, [(request(dry_run=True), denied()), (request(namespace=""), denied())])
    assert [one["metadata"]["namespace"] for one in cluster.events] == ["default"]


def test_more_than_can_be_sent_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(denial_events, "MOST_WAITING", 2)
    cluster = Cluster()
    events = told(cluster, [(request(name), denied()) for name in ("a", "b", "c")])
    assert events.dropped == 1
    assert len(cluster.events) == 2


def test_many_events_at_once_are_sent_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the server can be asked at once, and then so many for each second."""
    now = 0.0
    sent: list[float] = []
    slept = asyncio.sleep

    class Timed(Cluster):
        async def create(self, path: str, event: dict[str, Any]) -> dict[str, Any]:
            sent.append(now)
            return await super().create(path, event)

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await slept(0)

    async def run() -> None:
        nonlocal now
        events = DenialEvents(Timed(), "replica", lambda: NOW, lambda: now)  # type: ignore[arg-type]
        running = asyncio.create_task(events.run())
        for batch in (28, 2):
            for number in range(batch):
                events.denied(request(f"{batch}-{number}-"), denied())
            while events._waiting:
                await slept(0)
            now += 1000.0  # nothing is saved up beyond the burst
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    asyncio.run(run())
    waited = [0.0] * 25 + [0.2, 0.4, 0.6]
    assert sent[:-2] == pytest.approx(waited)
    assert sent[-2] == sent[-1]


def test_a_failure_is_not_repeated(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster()
    cluster.failure = ClusterUnreachable("gone")
    events = told(cluster, [(request(), denied()), (request(), denied("never"))])
    assert events.dropped == 2
    assert "\nceladon_webhook_dropped_events_total 2\n" in exposition(events.families())
    assert cluster.events == []
    assert [one.message for one in caplog.records] == ["events cannot be written"]
    assert [vars(one)["celadon_fields"] for one in caplog.records] == [{"err": "gone"}]


def test_that_events_can_be_written_again_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster()

    def written(count: int) -> bool:
        return len(cluster.events) == count

    async def run() -> None:
        events = DenialEvents(cluster, "replica", lambda: NOW, lambda: 0.0)  # type: ignore[arg-type]

        def dropped(count: int) -> bool:
            return events.dropped == count

        running = asyncio.create_task(events.run())
        for number in range(2):
            cluster.failure = ClusterUnreachable("gone")
            events.denied(request(), denied(f"lost {number}"))
            await until(partial(dropped, number + 1))
            cluster.failure = None
            for text in ("first", "second"):
                events.denied(request(), denied(f"{text} {number}"))
            await until(partial(written, 2 * number + 2))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    with caplog.at_level(logging.INFO):
        asyncio.run(run())
    said = ["events cannot be written", "events can be written again"]
    assert [one.message for one in caplog.records] == said * 2


def test_secrets_are_not_told() -> None:
    cluster = Cluster()
    secret = Request(
        Operation.CREATE,
        GroupVersionKind("", "v1", "Secret"),
        GroupVersionResource("", "v1", "secrets"),
        name="s",
        namespace="team",
        object={"stringData": {"password": "correct horse"}},
    )
    told(cluster, [(secret, denied("`correct horse` is too short"))])
    assert cluster.events[0]["message"] == "`[redacted]` is too short"


def test_a_denial_that_waits_is_counted_when_no_more_may_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(denial_events, "MOST_WAITING", 1)
    cluster = Cluster()
    events = told(cluster, [(request(name), denied()) for name in ("a", "a", "b")])
    assert events.dropped == 1
    assert [one["count"] for one in cluster.events] == [2]


def test_denials_of_long_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(denial_events, "MOST_SERIES", 2)
    cluster = Cluster()
    told(cluster, *([(request(name), denied())] for name in ("a", "b", "a", "c", "a", "b")))
    assert [one["involvedObject"]["name"] for one in cluster.events] == ["a", "b", "c", "b"]
    assert [one["count"] for one in cluster.patches] == [2, 3]


def test_messages_have_the_length_that_events_may_have() -> None:
    cluster = Cluster()
    told(cluster, [(request(), denied("x" * 1025))])
    assert cluster.events[0]["message"] == "x" * 1024


def test_a_count_that_is_refused_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster()

    async def run() -> DenialEvents:
        events = DenialEvents(cluster, "replica", lambda: NOW, lambda: 0.0)  # type: ignore[arg-type]
        running = asyncio.create_task(events.run())
        events.denied(request(), denied())
        await until(lambda: cluster.events)
        cluster.failure = ClusterRefusal(403, {"message": "no"})
        events.denied(request(), denied())
        await until(lambda: events.dropped)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return events

    assert asyncio.run(run()).dropped == 1
    assert [one.message for one in caplog.records] == ["events cannot be written"]
    assert len(cluster.events) == 1
