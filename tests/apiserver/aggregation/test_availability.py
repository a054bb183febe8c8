"""The condition of remote APIServices, in the words that kube-apiserver 1.36 was heard to say."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from celadon.apiserver.aggregation.aggregator import Aggregator
from celadon.apiserver.aggregation.front_proxy import ExtensionServers
from tests.apiserver.aggregation.before import API_SERVICES, OWN, SERVICES, Before, before, until
from tests.apiserver.aggregation.extension_server import (
    NAMESPACE,
    ROOT,
    SERVICE,
    Certificates,
    ExtensionServer,
    api_service,
    service,
)

SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices"


def _cluster_service(**spec: Any) -> dict[str, Any]:
    ports = [{"name": "https", "port": 443}]
    meta = {"name": SERVICE, "namespace": NAMESPACE}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta,
        "spec": {"ports": ports, **spec},
    }


def _slice(port: str, *, ready: bool) -> dict[str, Any]:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": port, "labels": {"kubernetes.io/service-name": SERVICE}},
        "addressType": "IPv4",
        "ports": [{"name": port, "port": 1}],
        "endpoints": [{"addresses": ["192.0.2.1"], "conditions": {"ready": ready}}],
    }


async def _step(front: Before, reason: str) -> str:
    return str((await front.condition(reason))["message"])


def test_what_is_missing_in_the_store() -> None:
    async def said() -> list[str]:
        async with before() as front:
            await front.object("POST", API_SERVICES, api_service(443))
            found = [await _step(front, "ServiceNotFound")]
            await front.object("POST", SERVICES, _cluster_service())
            found.append(await _step(front, "EndpointsNotFound"))
            await front.object("POST", SLICES, _slice("other", ready=True))
            found.append(await _step(front, "MissingEndpoints"))
            await front.object("POST", SLICES, _slice("https", ready=False))
            await front.object("PATCH", OWN, {"spec": {"service": {"port": 77}}})
            found.append(await _step(front, "ServicePortError"))
            return found

    assert asyncio.run(said()) == [
        'service/metrics-server in "kube-system" is not present',
        'cannot find endpointslices for service/metrics-server in "kube-system"',
        'endpointslices for service/metrics-server in "kube-system" have no addresses with port '
        'name "https"',
        'service/metrics-server in "kube-system" is not listening on port 77',
    ]


async def _attempted(
    certificates: Certificates, extension: ExtensionServer, **spec: Any
) -> dict[str, Any]:
    async with before(certificates) as front:
        await front.object("POST", SERVICES, service(extension.port))
        await front.object("POST", API_SERVICES, api_service(extension.port, **spec))
        return await front.condition("FailedDiscoveryCheck")


def _message(extension: ExtensionServer, why: str) -> str:
    url = f"https://localhost:{extension.port}{ROOT}"
    return f"failing or missing response from {url}: {why.replace('URL', url)}"


def test_an_unknown_authority(certificates: Certificates, extension: ExtensionServer) -> None:
    found = asyncio.run(_attempted(certificates, extension))
    failed = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    why = f'Get "URL": {failed}'
    assert found["message"] == _message(extension, why)
    assert list(found) == ["type", "status", "lastTransitionTime", "reason", "message"]
    assert found["status"] == "False"


def test_a_refusal(certificates: Certificates, extension: ExtensionServer) -> None:
    extension.answers[ROOT] = 403, {}, b"no"
    found = asyncio.run(_attempted(certificates, extension, insecureSkipTLSVerify=True))
    assert found["message"] == _message(extension, "bad status from URL: 403")


def test_nobody_there(certificates: Certificates, extension: ExtensionServer) -> None:
    extension.end()
    found = asyncio.run(_attempted(certificates, extension, insecureSkipTLSVerify=True))
    why = f'Get "URL": dial tcp 127.0.0.1:{extension.port}: connect: connection refused'
    assert found["message"] == _message(extension, why)


def test_what_asks_is_made_beside_the_loop(
    certificates: Certificates, extension: ExtensionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When there is somebody to ask: its imports would hold the loop for 60 ms."""
    threads: list[threading.Thread] = []
    make = Aggregator._new_servers

    def noted(aggregator: Aggregator) -> ExtensionServers:
        threads.append(threading.current_thread())
        return make(aggregator)

    monkeypatch.setattr(Aggregator, "_new_servers", noted)
    asyncio.run(_attempted(certificates, extension))
    assert threads
    assert threading.main_thread() not in threads


def test_one_that_takes_its_time(
    certificates: Certificates, extension: ExtensionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celadon.apiserver.controllers.api_service_availability.SECONDS", 0.3)
    extension.held.add(ROOT)
    found = asyncio.run(_attempted(certificates, extension, insecureSkipTLSVerify=True))
    why = 'Get "URL": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
    assert found["message"] == _message(extension, why)


def test_no_certificate_is_looked_at(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    async def said() -> None:
        async with before(certificates) as front:
            await front.object("POST", SERVICES, service(extension.port))
            made = api_service(extension.port, insecureSkipTLSVerify=True)
            await front.object("POST", API_SERVICES, made)
            assert await _step(front, "Passed") == "all checks passed"
            (field,) = [
                one
                for one in (await front.object("GET", OWN))["metadata"]["managedFields"]
                if one.get("subresource") == "status"
            ]
            assert field["manager"] == "kube-apiserver"

    asyncio.run(said())
    (one, *_) = extension.asked(ROOT)
    assert one[2]["x-remote-user"] == ["system:kube-aggregator"]
    assert one[2]["x-remote-group"] == ["system:masters"]


def test_a_service_whose_place_is_given(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    """Nothing has to be in the store behind it, not even itself."""

    async def said() -> int:
        place = {(NAMESPACE, SERVICE, 0): ("127.0.0.1", extension.port)}
        async with before(certificates, webhook_services=place) as front:
            made = api_service(443, caBundle=certificates.bundle)
            await front.object("POST", API_SERVICES, made)
            await front.condition("Passed")
            return (await front.ask("GET", f"{ROOT}/nodes")).code

    assert asyncio.run(said()) == 200


def test_what_is_deleted_is_served_no_more(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    async def said() -> None:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            await front.object("DELETE", OWN)
            answer = await front.ask("GET", f"{ROOT}/nodes")
            assert (answer.code, answer.body) == (404, b"404 page not found\n")

    asyncio.run(said())


def test_a_service_that_is_gone_is_noticed(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    async def said() -> None:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            await front.object("DELETE", f"{SERVICES}/{SERVICE}")
            await front.condition("ServiceNotFound")
            answer = await front.ask("GET", f"{ROOT}/nodes")
            assert (answer.code, answer.body) == (503, b"service unavailable\n")
            wanted = {
                'aggregator_unavailable_apiservice{name="v1.apps"} 0',
                'aggregator_unavailable_apiservice{name="v1beta1.metrics.k8s.io"} 1',
                'aggregator_unavailable_apiservice_total{name="v1beta1.metrics.k8s.io",'
                'reason="ServiceNotFound"} 1',
            }

            async def counted() -> bool:
                text = (await front.ask("GET", "/metrics")).body.decode()
                return wanted <= set(text.splitlines())

            await until(counted)

    asyncio.run(said())
