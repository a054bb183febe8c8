"""Webhooks really called, `--call-webhooks`: over HTTPS, as the API server calls them.

Services are looked up among the given objects, unless `--webhook-service` says where they are.
Needs the packages of `celadon[serve]`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final

from celadon.admission import World
from celadon.admission.webhooks import Call, NoReply, Reply
from celadon.apiserver.webhook_routes import CallerOnDemand, ServiceRoutes

REQUEST_SECONDS: Final = 34.0
"""What a write has at most for all its webhooks (k8s.io/apiserver
`pkg/endpoints/handlers/create.go`)."""


class RealCalls:
    """Calls webhooks, those of one phase side by side, for as long as its `with` block lasts."""

    def __init__(
        self, world: World, services: Mapping[tuple[str, str, int], tuple[str, int]]
    ) -> None:
        self._runner = asyncio.Runner()
        self._client = CallerOnDemand(ServiceRoutes(world, services))

    def __enter__(self) -> RealCalls:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()

    def answer(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply | None]:
        """Return what each webhook answers, or why it does not."""
        return self._runner.run(self._all(calls))

    async def _all(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply]:
        return await asyncio.gather(*(self._client.call(call, REQUEST_SECONDS) for call in calls))
