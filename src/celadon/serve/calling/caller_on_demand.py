"""The client that calls webhooks, made when the first one is called.

Most servers never call any, and loading what speaks HTTP takes longer than half of a start.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from celadon.admission.webhooks import Call, NoReply, Reply
from celadon.serve.calling.service_routes import ServiceRoutes

if TYPE_CHECKING:
    from celadon.serve.calling.webhook_client import WebhookClient


class CallerOnDemand:
    """As a `WebhookClient` for each of the two types of webhooks. `kubeconfigs` are the files with
    the credentials for validating and for mutating ones, empty for none."""

    def __init__(self, routes: ServiceRoutes, kubeconfigs: tuple[str, str] = ("", "")) -> None:
        self._routes = routes
        self._kubeconfigs = kubeconfigs
        self._clients: dict[bool, WebhookClient] = {}

    async def call(self, call: Call, seconds: float, *, mutating: bool = False) -> Reply | NoReply:
        """`seconds` are what is left of the request's own time."""
        client = self._clients.get(mutating)
        if client is None:
            client = self._clients[mutating] = self._client(self._kubeconfigs[mutating])
        return await client.call(call, seconds)

    def _client(self, kubeconfig: str) -> WebhookClient:
        from celadon.serve.calling.webhook_client import WebhookClient  # late: see above

        if not kubeconfig:
            return WebhookClient(self._routes.address)
        # late: see above
        from celadon.serve.calling.webhook_credentials import WebhookCredentials
        from celadon.serve.outgoing.kubeconfig_file import read_kubeconfigs

        def read() -> WebhookCredentials:
            return WebhookCredentials(read_kubeconfigs([Path(kubeconfig)]), time.time)

        return WebhookClient(self._routes.address, read)

    async def aclose(self) -> None:
        """Close what is kept."""
        for client in self._clients.values():
            await client.aclose()
