"""What came of the health checks."""

from __future__ import annotations

from celadon.apiserver.discovery.health_and_version import HealthCheck, health_answer
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.operation.server_metrics import HealthCounts


def test_checks_of_a_whole_are_counted_unless_they_are_left_out() -> None:
    counts = HealthCounts()
    for target, failure in (
        ("/readyz", "disk full"),
        ("/readyz?exclude=ping", ""),
        ("/livez?exclude=storage", "disk full"),
        ("/livez/etcd", "disk full"),
    ):
        checks = (HealthCheck("ping"), HealthCheck("etcd", failure, "storage"))
        health_answer(HttpRequest("GET", target), checks, counts.observe)
    lines = counts.page()().body.decode().splitlines()
    start = lines.pop()
    assert start.startswith("process_start_time_seconds ")
    assert lines[:-2] == [
        "# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single "
        "healthcheck.",
        "# TYPE kubernetes_healthcheck gauge",
        'kubernetes_healthcheck{name="etcd",type="readyz"} 1',
        'kubernetes_healthcheck{name="ping",type="livez"} 1',
        'kubernetes_healthcheck{name="ping",type="readyz"} 1',
        "# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all "
        "healthcheck.",
        "# TYPE kubernetes_healthchecks_total counter",
        'kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1',
        'kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 1',
        'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1',
        'kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 1',
    ]
