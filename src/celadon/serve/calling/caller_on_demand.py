"""The client that calls webhooks, made when the first one is called.

Most servers never call any, and loading what speaks HTTP takes longer than half of a start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celadon.admission.webhooks import Call, NoReply, Reply
from celadon.serve.calling.service_routes import ServiceRoutes

if TYPE_CHECKING:
    from celadon.serve.calling.webhook_client import WebhookClient


class CallerOnDemand:
    """As a `WebhookClient`."""

    def __init__(self, routes: ServiceRoutes) -> None:
        self._routes = routes
        self._client: WebhookClient | None = None

    async def call(self, call: Call, seconds: float) -> Reply | NoReply:
        """`seconds` are what is left of the request's own time."""
        if self._client is None:
            from celadon.serve.calling.webhook_client import WebhookClient  # late: see above

            self._client = WebhookClient(self._routes.address)
        return await self._client.call(call, seconds)

    async def aclose(self) -> None:
        """Close what is kept."""
        if self._client is not None:
            await self._client.aclose()
