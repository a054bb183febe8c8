"""Which pods go first, and how much is read to tell."""

from __future__ import annotations

from collections import Counter
from typing import Any

from celadon.apiserver.simulation.planning.replica_pods import pods_to_delete
from celadon.kube import metadata
from tests.apiserver.simulation.planning.sample_objects import at, pod


class Counted(dict[str, Any]):
    """An object that counts how often its fields are read."""

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.reads: Counter[str] = Counter()

    def get(self, key: str, default: Any = None) -> Any:
        self.reads[key] += 1
        return super().get(key, default)


def counted_pods(count: int) -> list[Counted]:
    return [Counted(pod(f"p-{number}", since=float(number))) for number in range(count)]


def test_nothing_is_read_where_no_pod_has_to_go() -> None:
    pods = counted_pods(50)
    assert pods_to_delete(pods, (), 0, at(100)) == []
    assert not any(one.reads for one in pods)


def test_each_pod_is_read_once_however_many_it_is_compared_with() -> None:
    def most_reads(count: int) -> int:
        pods = counted_pods(count)
        assert len(pods_to_delete(pods, (), count, at(10_000))) == count
        return max(one.reads["status"] for one in pods)

    assert most_reads(2) == most_reads(200)


def test_those_go_first_that_are_missed_least() -> None:
    young = pod("young", since=9_000.0)
    restarted = pod(
        "restarted", status={"containerStatuses": [{"name": "c", "restartCount": 2}]}, since=0.0
    )
    cheap = pod("cheap", annotations={"controller.kubernetes.io/pod-deletion-cost": "-1"})
    pods = [pod("old"), young, restarted, cheap, pod("unready", ready=False)]
    order = [metadata.name(one) for one in pods_to_delete(pods, (), 5, at(10_000))]
    assert order == ["unready", "cheap", "young", "restarted", "old"]
