"""Routes calls of admission webhooks to their servers: the network side of
`celadon.admission.webhooks`.

`webhook_dispatch` asks the hooks of a request through whatever can make a call; `webhook_client` is
what does so over HTTP. `ServiceRoutes` knows where a service is.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from celadon.admission import World
from celadon.admission.webhooks import NoReply, Reply, UnreadableBody, WebhookCall
from celadon.apiserver.forks import require_server
from celadon.apiserver.http_messages import HeldBytes, NetworkFailure
from celadon.kube.go import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import HTTPS_PORT, SERVICES

if TYPE_CHECKING:
    from celadon.apiserver.webhook_client import WebhookClient

__all__ = ["CallerOnDemand", "ServiceRoutes", "as_json"]


# --- Service routes ----------------------------------------------------------
#
# Where a service is that a webhook is behind.
#
# A server outside of a cluster's network can be told (`given`); else the address is that of the
# Service in the store. As k8s.io/apiserver `pkg/util/webhook/serviceresolver.go` and
# `pkg/util/proxy` of k8s.io/kube-aggregator, with their texts.

SUFFIX: Final = ".svc"

Address = tuple[str, int]


class ServiceRoutes:
    """Leads calls of services to where they are served. `given` is by (namespace, name, port); a
    port of 0 is for all of them. Without a `world`, who asks is in the network of the cluster,
    where services have their names."""

    def __init__(
        self, world: World | None, addresses: Mapping[tuple[str, str, int], Address] = {}
    ) -> None:
        self._world = world
        self._addresses = addresses

    def address(self, host: str, port: int) -> Address:
        """Return where to dial `host`, the host of a URL. Raises NetworkFailure."""
        name, dot, namespace = host.removesuffix(SUFFIX).partition(".")
        if not host.endswith(SUFFIX) or not dot or "." in namespace:
            return host, port
        for key in ((namespace, name, port), (namespace, name, 0)):
            if key in self._addresses:
                return self._addresses[key]
        if self._world is None:
            return host, port
        service = self._world.get(SERVICES, namespace, name)
        if service is None:
            raise NetworkFailure(f"service {quote(name)} not found")
        return _service_address(service.get("spec") or {}, name, port)


def _service_address(spec: JsonObject, name: str, port: int) -> Address:
    kind = spec.get("type", "ClusterIP")
    if kind == "ExternalName":
        return spec.get("externalName", ""), port
    if kind not in {"ClusterIP", "NodePort", "LoadBalancer"}:
        raise NetworkFailure(f"unsupported service type {quote(kind)}")
    if spec.get("clusterIP") == "None":
        raise NetworkFailure('cannot route to service with ClusterIP "None"')
    if all(item.get("port") != port for item in spec.get("ports") or ()):
        raise NetworkFailure(f"no service port {port} found for service {quote(name)}")
    return spec.get("clusterIP", ""), port


# --- Caller on demand --------------------------------------------------------
#
# The client that calls webhooks, made when the first one is called.
#
# Most servers never call any, and loading what speaks HTTP takes longer than half of a start.


class CallerOnDemand:
    """Makes a `WebhookClient` for each type of webhooks when it is first needed. `kubeconfigs` are
    the files with the credentials for validating and for mutating ones, empty for none; those of
    conversion have none."""

    def __init__(self, routes: ServiceRoutes, kubeconfigs: tuple[str, str] = ("", "")) -> None:
        self._routes = routes
        self._kubeconfigs = kubeconfigs
        self._clients: dict[bool | None, WebhookClient] = {}

    async def call(
        self,
        call: WebhookCall,
        seconds: float,
        *,
        mutating: bool | None = False,
        held: HeldBytes | None = None,
        body: bytes | None = None,
    ) -> Reply | NoReply:
        """Call a webhook as `WebhookClient.call` does. `mutating` is None for conversion."""
        require_server("webhooks")
        client = self._clients.get(mutating)
        if client is None:
            kubeconfig = "" if mutating is None else self._kubeconfigs[mutating]
            # In a thread: to import what speaks HTTP takes 40 ms. Of two that are made at once one
            # stays, and the other has no connections yet.
            new_client = await asyncio.to_thread(self._client, kubeconfig)
            client = self._clients.setdefault(mutating, new_client)
        return await client.call(call, seconds, held, body)

    def _client(self, kubeconfig: str) -> WebhookClient:
        # late: see above
        from celadon.apiserver.webhook_client import WebhookClient

        if not kubeconfig:
            return WebhookClient(self._routes.address)
        # late: see above
        from celadon.apiserver.clientconfig import read_kubeconfigs
        from celadon.apiserver.webhook_client import WebhookCredentials

        def read() -> WebhookCredentials:
            return WebhookCredentials(read_kubeconfigs([Path(kubeconfig)]), time.time)

        return WebhookClient(self._routes.address, read)

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        for client in self._clients.values():
            await client.aclose()


# --- Reply bodies ------------------------------------------------------------
#
# The bodies that webhooks answer with: JSON, or YAML that becomes JSON.


def as_json(body: bytes) -> bytes:
    """Return a body that may be YAML. Raises UnreadableBody."""
    if body.lstrip().startswith(b"{"):
        return body
    from celadon.goyaml import UnreadableError, first_document  # late: it takes long to load

    try:
        value = first_document(body).value
    except UnreadableError as error:
        raise UnreadableBody(error.upstream) from None
    return json.dumps(value).encode()


# --- Given services ----------------------------------------------------------
#
# Services of webhooks that are reached elsewhere than in a cluster's network, as the command
# line says it: `NAMESPACE/NAME[:PORT]=HOST:PORT`, the right side also as the URL of a host.

Services = dict[tuple[str, str, int], tuple[str, int]]


def given_services(texts: Iterable[str]) -> Services:
    """Return the services by namespace, name and port; a port of 0 is for all of them. Raises
    ValueError."""
    return dict(map(_given, texts))


def _given(text: str) -> tuple[tuple[str, str, int], tuple[str, int]]:
    service, equals, address = text.partition("=")
    namespace, slash, name = service.partition("/")
    name, colon, port = name.partition(":")
    url = urlsplit(address if "//" in address else f"//{address}")
    try:
        target_port = url.port or HTTPS_PORT
        number = int(port) if colon else 0
    except ValueError:
        target_port = 0
        number = -1
    readable = equals and slash and namespace and name and url.hostname and target_port
    plain = url.scheme in {"", "https"} and url.path in {"", "/"} and not url.query
    if not readable or not plain or not 0 <= number <= 65535 or (colon and not number):
        raise ValueError(f"`{text}` is not NAMESPACE/NAME[:PORT]=HOST:PORT")
    return (namespace, name, number), (url.hostname or "", target_port)
