"""Health: the whole, the parts, what is left out."""

from __future__ import annotations

import pytest

from celadon.apiserver.discovery.health_and_version import HealthCheck, checks_of, health_answer
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.operation.server_metrics import HealthCounts
from celadon.kube.releases import answering_as

WELL = (HealthCheck("ping"), HealthCheck("etcd", group="storage"))
ILL = (HealthCheck("ping"), HealthCheck("etcd", "disk full", "storage"))
ROWS = [
    ("/livez", WELL, 200, "ok"),
    ("/livez/", WELL, 404, "404 page not found\n"),
    ("/livez/ping/", WELL, 404, "404 page not found\n"),
    ("/livez?verbose", WELL, 200, "[+]ping ok\n[+]etcd ok\nlivez check passed\n"),
    (
        "/readyz?verbose&exclude=ping&exclude=nope&exclude=a",
        WELL,
        200,
        "[+]ping excluded: ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: "
        'no matches for "a", "nope"\nreadyz check passed\n',
    ),
    (
        "/readyz",
        ILL,
        500,
        "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n",
    ),
    ("/readyz?exclude=etcd", ILL, 200, "ok"),
    (
        "/readyz?verbose&exclude=storage",
        ILL,
        200,
        "[+]ping ok\n[+]etcd excluded with storage: ok\nreadyz check passed\n",
    ),
    ("/healthz/ping", ILL, 200, "ok"),
    ("/healthz/etcd", ILL, 500, "internal server error: disk full\n"),
    ("/healthz/nope", ILL, 404, "404 page not found\n"),
]


@pytest.mark.parametrize(("target", "checks", "code", "text"), ROWS)
def test_health(target: str, checks: tuple[HealthCheck, ...], code: int, text: str) -> None:
    answer = health_answer(HttpRequest("GET", target), checks, HealthCounts().observe)
    assert (answer.code, answer.body.decode()) == (code, text)
    assert answer.content_type == "text/plain; charset=utf-8"


def test_method_does_not_matter() -> None:
    answer = health_answer(HttpRequest("FROB", "/healthz"), WELL, HealthCounts().observe)
    assert (answer.code, dict(answer.headers)) == (200, {"X-Content-Type-Options": "nosniff"})


def every_gate(_: str) -> bool:
    return True


def test_hooks_behind_gates() -> None:
    def found(*gates: str) -> set[str]:
        return {one.name for one in checks_of("livez", "", "", "", gates.__contains__)}

    behind = {
        "MultiCIDRServiceAllocator": "poststarthook/start-kubernetes-service-cidr-controller",
        "WatchCacheInitializationPostStartHook": "poststarthook/storage-readiness",
    }
    for gate, hook in behind.items():
        assert found(gate) - found() == {hook}


def test_checks_have_the_names_that_upstream_gives_them() -> None:
    alive = [one.name for one in checks_of("livez", "", "", "", every_gate)]
    ready = [one.name for one in checks_of("readyz", "", "", "", every_gate) if not one.silent]
    first_hook = "poststarthook/start-apiserver-admission-initializer"
    assert alive[:5] == ["ping", "log", "loopback-serving-certificate", "etcd", first_hook]
    assert {"poststarthook/rbac/bootstrap-roles", "autoregister-completion"} <= set(alive)
    only_ready = [one for one in ready if one not in alive]
    assert only_ready == ["etcd-readiness", "informer-sync", "shutdown"]
    assert (ready[2:5], ready[-1]) == (["etcd", "etcd-readiness", "informer-sync"], "shutdown")


@pytest.mark.parametrize(("release", "has"), [("1.35", False), ("1.36", True)])
def test_checks_of_later_releases(release: str, has: bool) -> None:
    since = {"loopback-serving-certificate", "poststarthook/peer-endpoint-reconciler-controller"}
    with answering_as(release):
        alive = {one.name for one in checks_of("healthz", "", "", "", every_gate)}
    assert alive & since == (since if has else set())


def test_what_is_wrong_with_a_server() -> None:
    checks = checks_of("readyz", "no etcd", "disk full", "going", every_gate)
    failing = [one.name for one in checks if one.failure]
    assert failing == ["etcd", "etcd-readiness", "data-writable", "shutdown"]


def test_that_data_cannot_be_written_is_listed_only_then() -> None:
    well, full = (
        checks_of("readyz", "", trouble, "", every_gate) for trouble in ("", "the disk is full")
    )

    def asked(target: str, checks: tuple[HealthCheck, ...]) -> tuple[int, str]:
        answer = health_answer(HttpRequest("GET", target), checks, HealthCounts().observe)
        return answer.code, answer.body.decode()

    code, text = asked("/readyz?verbose", full)
    assert code == 500
    assert "[-]data-writable failed: reason withheld\n" in text
    single = "/readyz/data-writable"
    assert asked(single, full) == (500, "internal server error: the disk is full\n")
    assert "data-writable" not in asked("/readyz?verbose", well)[1]
    assert asked(single, well)[0] == 200
