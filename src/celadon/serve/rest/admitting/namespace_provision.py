"""NamespaceAutoProvision: a namespace comes with the first object in it.

It is the one mutating plugin that writes. As k8s.io/kubernetes
`plugin/pkg/admission/namespace/autoprovision`; off unless it is enabled.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from celadon.admission import Operation, Request, World
from celadon.admission.plugins import forbidden

AUTO_PROVISION: Final = "NamespaceAutoProvision"
"""The name of the plugin."""

Create = Callable[[str], Awaitable[str]]
"""Makes a namespace of that name; why that was not possible, empty if it was."""


class NamespaceProvision:
    """`create` is None where nobody wants it."""

    def __init__(self, world: World, create: Create | None) -> None:
        self._world = world
        self._create = create

    async def provide(self, request: Request) -> None:
        """Raises StatusError when there can be no such namespace."""
        if self._create is None or request.operation is not Operation.CREATE or request.dry_run:
            return
        name = request.namespace
        if not name or request.resource.resource == "namespaces":
            return
        if self._world.namespace(name) is None:
            why = await self._create(name)
            if why:
                raise forbidden(request, why)
