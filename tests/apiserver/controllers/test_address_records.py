"""Who has which address of the cluster."""

from __future__ import annotations

from typing import Any

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.runtime_config import runtime_config
from tests.apiserver.asking import ask, make, read
from tests.apiserver.in_process import Running

SERVICES = "/api/v1/namespaces/default/services"
RECORDS = "/apis/networking.k8s.io/v1/ipaddresses"


def owners(running: Running) -> dict[str, str]:
    found: list[Any] = read(ask(running, "GET", RECORDS))["items"]
    return {one["metadata"]["name"]: one["spec"]["parentRef"]["name"] for one in found}


def test_each_address_has_a_record_at_the_next_request(running: Running) -> None:
    before = owners(running)
    assert before["10.0.0.1"] == "kubernetes"
    made = make(running, SERVICES, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})
    address = made["spec"]["clusterIP"]
    assert owners(running) == {**before, address: "s"}
    record = read(ask(running, "GET", f"{RECORDS}/{address}"))
    assert record["metadata"]["labels"] == {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    }
    ask(running, "DELETE", f"{RECORDS}/{address}")
    assert address in owners(running), "it is in use"
    ask(running, "DELETE", f"{SERVICES}/s")
    assert owners(running) == before


def test_services_without_an_address_have_none(running: Running) -> None:
    before = owners(running)
    headless = {"metadata": {"name": "h"}, "spec": {"clusterIP": "None", "ports": [{"port": 80}]}}
    make(running, SERVICES, headless)
    assert owners(running) == before
    ask(running, "DELETE", f"{SERVICES}/h")


def test_records_of_others_are_theirs(running: Running) -> None:
    reference = {"resource": "gateways", "name": "g", "namespace": "default"}
    make(running, RECORDS, {"metadata": {"name": "10.0.0.99"}, "spec": {"parentRef": reference}})
    assert "10.0.0.99" in owners(running)
    ask(running, "DELETE", f"{RECORDS}/10.0.0.99")


def test_a_server_may_serve_no_records() -> None:
    running = Running(Settings(runtime_config=runtime_config("networking.k8s.io/v1=false")))
    try:
        body = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
        assert make(running, SERVICES, body)["spec"]["clusterIP"]
        assert ask(running, "GET", RECORDS).code == 404
    finally:
        running.close()
