"""Events that are told again and again, and too many of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from celadon.apiserver.simulation.cluster_client import COMBINED, Correlator
from tests.apiserver.simulation.living import EVENTS, deployment, items, living

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_tenth_similar_message_is_one_of_many() -> None:
    correlator = Correlator()

    def key(number: int, at: datetime = START, kind: str = "Normal") -> tuple[object, ...]:
        return correlator.key_of("pod", kind, "Created", f"message {number}", "", at)

    alone = [key(number) for number in range(9)]
    assert len(set(alone)) == 9
    assert key(0) == alone[0]
    assert key(9) == key(10) == ("pod", "Normal", "Created")
    assert key(11, kind="Warning") == ("pod", "Warning", "Created", "message 11", "")
    assert key(12, START + timedelta(minutes=11)) == ("pod", "Normal", "Created", "message 12", "")


def test_about_one_object_little_is_told() -> None:
    correlator = Correlator()
    told = [correlator.may_tell("pod", "Normal", START) for _ in range(26)]
    assert told == [True] * 25 + [False]
    assert correlator.may_tell("pod", "Warning", START)
    assert correlator.may_tell("other", "Normal", START)
    assert not correlator.may_tell("pod", "Normal", START + timedelta(seconds=299))
    assert correlator.may_tell("pod", "Normal", START + timedelta(seconds=301))


def test_pods_of_a_large_set_are_told_together() -> None:
    with living() as api:
        api.create(deployment(replicas=40))
        api.settle()
        told = [one for one in items(api, EVENTS) if one["involvedObject"]["kind"] == "ReplicaSet"]
        combined = [one for one in told if one["message"].startswith(COMBINED)]
        assert len(told) == 10
        assert [one["count"] for one in combined] == [16]
        assert "reportingComponent" not in combined[0] or not combined[0]["reportingComponent"]
