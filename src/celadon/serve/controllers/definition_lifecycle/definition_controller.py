"""CustomResourceDefinitions become served at once: their names first, then `Established`.

Two writes, so that who watches sees what a real server shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from celadon.kube import JsonObject, metadata
from celadon.serve.controllers.controller_loops import Change
from celadon.serve.controllers.definition_lifecycle.definition_status import (
    established_status,
    named_status,
)
from celadon.serve.controllers.status_writes import StatusWrites


class DefinitionController:
    """Items are names of definitions. `now` gives the time as objects have it."""

    urgent = True

    def __init__(self, definitions: StatusWrites, now: Callable[[], str]) -> None:
        self._definitions = definitions
        self._now = now

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._definitions.prefix,)

    def concerned(self, change: Change) -> Iterable[str]:
        if change.new is not None:
            return (metadata.name(change.new),)
        assert change.old is not None
        return [metadata.name(one) for one in self._group(change.old)]

    async def reconcile(self, item: str) -> None:
        stored = self._definitions.get(item)
        if stored is None or metadata.deletion_timestamp(stored.object):
            return
        named = named_status(stored.object, self._group(stored.object), self._now())
        stored = await self._definitions.write(stored, named)
        await self._definitions.write(stored, established_status(stored.object, self._now()))

    def _group(self, definition: JsonObject) -> list[JsonObject]:
        """All definitions of the same group."""
        group = definition["spec"]["group"]
        return [one for one in self._definitions.all() if one["spec"]["group"] == group]
