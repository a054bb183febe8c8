"""A webhook in two replicas: what happens to one of them, or to the cluster, harms no request."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.replicas.webhook_replicas import Cluster, Load, running_cluster, until

pytestmark = pytest.mark.thorough

GOOD = "good: 201 "
BAD = (
    'bad: 422 admission webhook "policies.example.com" denied the request: configmaps "bad" is '
    "forbidden: ValidatingAdmissionPolicy 'named' with binding 'named' denied request: not named"
)
SECRET = "/api/v1/namespaces/default/secrets/tls"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def test_a_new_policy_is_enforced_within_a_second(cluster: Cluster) -> None:
    """The best of some: other processes may keep the machine busy."""
    cluster.apply("named", "object.metadata.name != 'bad'")
    took = [until(lambda: cluster.tried("bad") != "created")]
    while min(took) > 1 and len(took) < 4:
        name = f"not-{len(took)}"
        cluster.apply(name, f"object.metadata.name != '{name}'")
        took.append(until(lambda name=name: cluster.tried(name) != "created"))  # type: ignore[misc]
    assert min(took) < 1, took
    assert cluster.tried("good") == "created"


def test_a_replica_that_ends_harms_nobody(cluster: Cluster) -> None:
    with Load(cluster) as load:
        assert cluster.replicas[0].end(signal.SIGTERM) == 0
    assert load.results.keys() == {GOOD, BAD}
    cluster.replicas[0].start()
    until(lambda: cluster.replicas[0].page("/readyz"))


def test_a_replica_that_is_killed(cluster: Cluster) -> None:
    """Only what it was asked at that moment may fail, as the failure policy says."""
    with Load(cluster) as load:
        cluster.replicas[1].end(signal.SIGKILL)
    others = load.results.keys() - {GOOD, BAD}
    assert all("500 Internal error occurred: failed calling webhook" in one for one in others)
    assert sum(load.results[one] for one in others) <= 3
    cluster.replicas[1].start()
    until(lambda: cluster.replicas[1].page("/readyz"))


def test_a_new_authority_harms_nobody(cluster: Cluster) -> None:
    before = cluster.call("GET", SECRET)["data"]
    with Load(cluster) as load:
        cluster.patch(SECRET, {"metadata": {"annotations": {"celadon.dev/renew": "authority"}}})
        until(lambda: cluster.call("GET", SECRET)["data"]["tls.crt"] != before["tls.crt"])
    assert load.results.keys() == {GOOD, BAD}
    assert cluster.call("GET", SECRET)["data"]["ca.crt"] != before["ca.crt"]


def test_denials_are_told_as_events(cluster: Cluster) -> None:
    """Those of dry runs are not."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bad"}}
    path = "/api/v1/namespaces/default/"
    for _ in range(2):
        assert cluster.served.call("POST", f"{path}configmaps", body)[0] == 422

    def counted() -> int:
        found = cluster.call("GET", f"{path}events")["items"]
        return sum(one["count"] for one in found if one["reason"] == "PolicyDenied")

    until(lambda: counted() == 2)


def test_the_cluster_is_restarted(cluster: Cluster) -> None:
    assert cluster.served.end(signal.SIGTERM) == 0
    cluster.start()
    assert cluster.tried("bad").endswith("not named")
    cluster.apply("short", "size(object.metadata.name) < 10")
    until(lambda: cluster.tried("much-too-long").endswith("not short"))
    assert [one.process.poll() for one in cluster.replicas] == [None, None]
