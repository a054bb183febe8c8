"""FlowSchemas and priority levels: those of every cluster are kept, and all say whether their level
exists.

As k8s.io/kubernetes `pkg/registry/flowcontrol/{rest,ensurer}` (once a minute) and k8s.io/apiserver
`pkg/util/flowcontrol/apf_controller.go` (at once).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from celadon.kube import JsonObject, metadata
from celadon.kube.go import parse_bool
from celadon.serve.access.flow_control_objects import (
    AUTO_UPDATE,
    MANDATORY,
    flow_schemas,
    level_condition,
    priority_levels,
)
from celadon.serve.controllers.conditions import with_condition
from celadon.serve.controllers.controller_loops import Change
from celadon.serve.controllers.server_requests import ServerRequests
from celadon.serve.controllers.status_writes import StatusWrites

UPKEEP_SECONDS: Final = 60.0
_UPKEEP: Final = "upkeep"
_STATUSES: Final = "statuses"
_PATH: Final = "/apis/flowcontrol.apiserver.k8s.io/v1"


class FlowControlUpkeep:
    """There are two items: all specs, looked at now and then, and all statuses. `now` gives the
    time as objects have it."""

    urgent = False

    def __init__(
        self,
        schemas: StatusWrites,
        levels: StatusWrites,
        requests: ServerRequests,
        now: Callable[[], str],
    ) -> None:
        self._schemas = schemas
        self._levels = levels
        self._requests = requests
        self._now = now
        self._begun = False

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._schemas.prefix, self._levels.prefix)

    def concerned(self, change: Change) -> Iterable[str]:
        if not self._begun:
            self._begun = True
            yield _UPKEEP
        yield _STATUSES

    async def reconcile(self, item: str) -> float | None:
        if item == _STATUSES:
            await self._tell()
            return None
        await self._keep("prioritylevelconfigurations", self._levels, list(priority_levels()))
        await self._keep("flowschemas", self._schemas, list(flow_schemas()))
        return UPKEEP_SECONDS

    async def _keep(self, plural: str, found: StatusWrites, wanted: Sequence[JsonObject]) -> None:
        path = f"{_PATH}/{plural}"
        for obj in wanted:
            stored = found.get(metadata.name(obj))
            if stored is None:
                await self._requests.require("POST", path, obj)
            elif stored.object.get("spec") != obj["spec"] and is_kept(stored.object):
                name = metadata.name(obj)
                await self._requests.require(
                    "PUT", f"{path}/{name}", _corrected(stored.object, obj)
                )
        known = {metadata.name(obj) for obj in wanted}
        for other in found.all():
            name = metadata.name(other)
            if name not in known and _annotation(other) == "true":
                await self._requests.require("DELETE", f"{path}/{name}")

    async def _tell(self) -> None:
        levels = {metadata.name(one) for one in self._levels.all()}
        for schema in self._schemas.all():
            stored = self._schemas.get(metadata.name(schema))
            if stored is None:
                continue
            level = (schema.get("spec") or {}).get("priorityLevelConfiguration") or {}
            name = level.get("name") or ""
            said = level_condition(name, exists=name in levels)
            status = stored.object.get("status") or {}
            conditions = with_condition(status.get("conditions"), said, self._now())
            await self._schemas.write(stored, {**status, "conditions": conditions})


def is_kept(obj: JsonObject) -> bool:
    """Whether the server looks after the spec of an object of its own."""
    if (obj.get("kind"), metadata.name(obj)) in MANDATORY:
        return True
    said = _annotation(obj)
    if said is None:
        return metadata.generation(obj) == 1
    return parse_bool(said) is True


def _annotation(obj: JsonObject) -> str | None:
    found = metadata.annotations(obj).get(AUTO_UPDATE)
    return None if found is None else str(found)


def _corrected(live: JsonObject, wanted: JsonObject) -> JsonObject:
    meta = metadata.metadata(live)
    annotations = {**(meta.get("annotations") or {}), AUTO_UPDATE: "true"}
    return {**live, "metadata": {**meta, "annotations": annotations}, "spec": wanted["spec"]}
