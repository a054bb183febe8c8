"""Namespaces whose content is also with extension servers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.apiserver.aggregation.before import API_SERVICES, OWN, Before, before, until
from tests.apiserver.aggregation.extension_server import (
    GROUP,
    RESOURCES,
    ROOT,
    Certificates,
    ExtensionServer,
    api_service,
)

GONE = "/api/v1/namespaces/gone"
PODS = f"{ROOT}/namespaces/gone/pods"


async def _deleted(front: Before) -> None:
    await front.object("POST", "/api/v1/namespaces", {"metadata": {"name": "gone"}})
    await front.object("DELETE", GONE)


async def _condition(front: Before, name: str) -> dict[str, Any]:
    """When it is true."""

    async def found() -> dict[str, Any] | None:
        conditions: list[dict[str, Any]] = (await front.object("GET", GONE))["status"].get(
            "conditions", []
        )
        return next(
            (one for one in conditions if (one["type"], one["status"]) == (name, "True")), None
        )

    made: dict[str, Any] = await until(found)
    return made


async def _is_gone(front: Before) -> bool:
    return (await front.ask("GET", GONE)).code == 404


def test_it_waits_for_a_server_out_of_reach(extension: ExtensionServer) -> None:
    async def seen() -> None:
        async with before(namespace_grace=0) as front:
            await front.object("POST", API_SERVICES, api_service(extension.port))
            await front.freshness("Stale")
            await _deleted(front)
            found = await _condition(front, "NamespaceDeletionDiscoveryFailure")
            assert (found["reason"], found["message"]) == (
                "DiscoveryFailed",
                "Discovery failed for some groups, 1 failing: unable to retrieve the complete list "
                "of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: "
                "metrics.k8s.io/v1beta1",
            )
            await front.object("DELETE", OWN)
            await until(lambda: _is_gone(front))

    asyncio.run(seen())


def test_its_content_elsewhere_is_deleted(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    deletable = [{**one, "verbs": ["deletecollection", "list"]} for one in RESOURCES]
    extension.aggregates = False
    listed = {"kind": "APIResourceList", "groupVersion": f"{GROUP}/v1beta1", "resources": deletable}
    extension.answers[ROOT] = 200, {}, json.dumps(listed).encode()
    left = {"items": [{"metadata": {"name": "one", "finalizers": ["example.com/wait"]}}]}
    extension.answers[PODS] = 200, {}, json.dumps(left).encode()

    async def seen() -> None:
        async with before(certificates, namespace_grace=0) as front:
            await front.register(extension, certificates)
            await front.freshness("Current")
            await _deleted(front)
            found = await _condition(front, "NamespaceContentRemaining")
            text = "Some resources are remaining: pods.metrics.k8s.io has 1 resource instances"
            assert found["message"] == text
            extension.answers[PODS] = 200, {}, b'{"items": []}'
            await until(lambda: _is_gone(front))

    asyncio.run(seen())
    asked = extension.asked(PODS)
    assert {one[0] for one in asked} == {"DELETE", "GET"}
    account = "system:serviceaccount:kube-system:namespace-controller"
    assert asked[0][2]["x-remote-user"] == [account]
