"""Controllers of objects that a server makes itself and keeps right: FlowSchemas and priority
levels, the rules of aggregated ClusterRoles, records of addresses, the server's own Service.

The first: those of every cluster are kept, and all say whether their level exists. As
k8s.io/kubernetes `pkg/registry/flowcontrol/{rest,ensurer}` (once a minute) and k8s.io/apiserver
`pkg/util/flowcontrol/apf_controller.go` (at once).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from celadon.apiserver import bootstrap_objects
from celadon.apiserver.controllers import controller_loops
from celadon.apiserver.object_store import ObjectStore, collection_prefix, object_key
from celadon.kube import JsonObject, metadata
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import FieldWriter, track_create
from celadon.kube.go import json_text, parse_bool
from celadon.kube.protobuf import in_message_order
from celadon.kube.rbac import role_selectors
from celadon.kube.registry import Target, create, draft_of, stored_object
from celadon.kube.resources import Resource
from celadon.records import dataclass

UPKEEP_SECONDS: Final = 60.0
_UPKEEP: Final = "upkeep"
_STATUSES: Final = "statuses"
_PATH: Final = "/apis/flowcontrol.apiserver.k8s.io/v1"


class FlowControlUpkeep:
    """Keeps the FlowSchemas and priority levels of every cluster. There are two items: all specs,
    looked at now and then, and all statuses. `now` gives the time as objects have it."""

    urgent = False

    def __init__(
        self,
        schemas: controller_loops.StatusWrites,
        levels: controller_loops.StatusWrites,
        requests: controller_loops.ServerRequests,
        now: Callable[[], str],
    ) -> None:
        self._schemas = schemas
        self._levels = levels
        self._requests = requests
        self._now = now
        self._has_begun = False

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._schemas.prefix, self._levels.prefix)

    def concerned(self, change: controller_loops.Change) -> Iterable[str]:
        if not self._has_begun:
            self._has_begun = True
            yield _UPKEEP
        yield _STATUSES

    async def reconcile(self, item: str) -> float | None:
        if item == _STATUSES:
            await self._tell()
            return None
        await self._keep(
            "prioritylevelconfigurations", self._levels, list(bootstrap_objects.priority_levels())
        )
        await self._keep("flowschemas", self._schemas, list(bootstrap_objects.flow_schemas()))
        return UPKEEP_SECONDS

    async def _keep(
        self, plural: str, writes: controller_loops.StatusWrites, expected: Sequence[JsonObject]
    ) -> None:
        path = f"{_PATH}/{plural}"
        for obj in expected:
            stored = writes.get(metadata.name(obj))
            if stored is None:
                await self._requests.require("POST", path, obj)
            elif stored.object.get("spec") != obj["spec"] and is_kept(stored.object):
                name = metadata.name(obj)
                await self._requests.require(
                    "PUT", f"{path}/{name}", _corrected(stored.object, obj)
                )
        names = {metadata.name(obj) for obj in expected}
        for other in writes.all():
            name = metadata.name(other)
            if name not in names and _annotation(other) == "true":
                await self._requests.require("DELETE", f"{path}/{name}")

    async def _tell(self) -> None:
        levels = {metadata.name(item) for item in self._levels.all()}
        for schema in self._schemas.all():
            stored = self._schemas.get(metadata.name(schema))
            if stored is None:
                continue
            level = (schema.get("spec") or {}).get("priorityLevelConfiguration") or {}
            name = level.get("name") or ""
            condition = bootstrap_objects.level_condition(name, exists=name in levels)
            status = stored.object.get("status") or {}
            conditions = controller_loops.with_condition(
                status.get("conditions"), condition, self._now()
            )
            await self._schemas.write(stored, {**status, "conditions": conditions})


def is_kept(obj: JsonObject) -> bool:
    """Return whether the server looks after the spec of an object of its own."""
    if (obj.get("kind"), metadata.name(obj)) in bootstrap_objects.MANDATORY:
        return True
    annotation = _annotation(obj)
    if annotation is None:
        return metadata.generation(obj) == 1
    return parse_bool(annotation) is True


def _annotation(obj: JsonObject) -> str | None:
    annotation = metadata.annotations(obj).get(bootstrap_objects.AUTO_UPDATE)
    return None if annotation is None else str(annotation)


def _corrected(live: JsonObject, expected: JsonObject) -> JsonObject:
    meta = metadata.metadata(live)
    annotations = {**(meta.get("annotations") or {}), bootstrap_objects.AUTO_UPDATE: "true"}
    return {**live, "metadata": {**meta, "annotations": annotations}, "spec": expected["spec"]}


# --- Role aggregation --------------------------------------------------------
#
# ClusterRoles with an aggregation rule have the rules of the roles that it selects.
#
# As k8s.io/kubernetes
# `pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go`.


def aggregated_rules(role: JsonObject, roles: Iterable[JsonObject]) -> list[JsonObject] | None:
    """Return the rules the role should have, each once, in the order of selectors and of the names
    of the roles; None for a role that says its rules itself."""
    selectors = role_selectors(role)
    if not selectors:
        return None
    sources = sorted(
        (item for item in roles if metadata.name(item) != metadata.name(role)), key=metadata.name
    )
    result: dict[str, JsonObject] = {}
    seen = set[int]()
    for selector in selectors:
        for index, other in enumerate(sources):
            if index not in seen and selector.matches(metadata.labels(other)):
                seen.add(index)
                for rule in other.get("rules") or ():
                    result.setdefault(json_text(rule), rule)
    return list(result.values())


def _outdated_roles(roles: Sequence[JsonObject]) -> list[tuple[JsonObject, list[JsonObject]]]:
    """Return the roles that should have other rules, with these."""
    result = []
    for role in roles:
        rules = aggregated_rules(role, roles)
        if rules is not None and rules != (role.get("rules") or []):
            result.append((role, rules))
    return result


@dataclass(frozen=True, slots=True, eq=False)
class RoleAggregation:
    """Gives aggregated roles the rules of those that they select. There is one item: all roles, as
    each may concern any other."""

    urgent = False

    roles: controller_loops.StatusWrites
    aside: controller_loops.Offload

    @property
    def prefixes(self) -> Sequence[str]:
        return (self.roles.prefix,)

    def concerned(self, change: controller_loops.Change) -> Iterable[str]:
        return ("",)

    async def reconcile(self, item: str) -> None:
        for role, rules in await self.aside(_outdated_roles, self.roles.all()):
            stored = self.roles.get(metadata.name(role))
            if stored is None or stored.object is not role:
                raise controller_loops.Stale
            await self.roles.replace(stored, {**role, "rules": rules})


# --- Addresses of Services ---------------------------------------------------
#
# For each address of a Service there is an IPAddress, which says whose it is.
#
# As k8s.io/kubernetes `pkg/registry/core/service/ipallocator`, which makes them with the Service;
# so this controller is urgent, and runs in every server.


class AddressRecords:
    """Keeps an IPAddress for each address of a Service. Items are addresses; `new_context` gives a
    new uid each time."""

    urgent = True

    def __init__(
        self,
        objects: ObjectStore,
        services: Resource,
        records: Resource,
        new_context: Callable[[], DefaultingContext],
    ) -> None:
        self._objects = objects
        self._records = records
        self._new_context = new_context
        self._services_prefix = collection_prefix(services)
        self._owners: dict[str, tuple[str, str]] = {}
        """Namespace and name of the Service that has an address."""

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._services_prefix, collection_prefix(self._records))

    def concerned(self, change: controller_loops.Change) -> Iterable[str]:
        if not change.key.startswith(self._services_prefix):
            yield change.key.rpartition("/")[2]
            return
        for address in _addresses(change.old):
            self._owners.pop(address, None)
            yield address
        for address in _addresses(change.new):
            self._owners[address] = metadata.namespace(change.new), metadata.name(change.new)
            yield address

    async def reconcile(self, item: str) -> None:
        owner, record = self._owners.get(item), self._objects.get(self._records, "", item)
        if owner is None:
            if record is not None and _is_ours(record.object):
                await self._objects.delete(self._records, "", item, record.revision)
        elif record is None:
            target, context = Target(self._records, ""), self._new_context()
            created = create.created(
                bootstrap_objects.address_record(item, *owner), target, context
            )
            result = in_message_order(stored_object(created, target, context))
            await self._objects.create(self._records, "", item, result)


def _addresses(service: JsonObject | None) -> Iterator[str]:
    for address in ((service or {}).get("spec") or {}).get("clusterIPs") or ():
        if address and address != "None":
            yield address


def _is_ours(record: JsonObject) -> bool:
    return (
        metadata.labels(record).get(bootstrap_objects.MANAGED_BY)
        == bootstrap_objects.ADDRESS_ALLOCATOR
    )


# --- Own service -------------------------------------------------------------
#
# The server's own Service comes back when somebody deletes it.
#
# As k8s.io/kubernetes `pkg/controlplane/controller/kubernetesservice`, which looks after it
# every ten seconds, in every server.


class OwnService:
    """Makes the server's own Service again when it was deleted. There is one item, that Service:
    `wanted` is it, as a client would create it; `new_context` gives a new uid each time."""

    urgent = False

    def __init__(
        self,
        objects: ObjectStore,
        services: Resource,
        expected: JsonObject,
        new_context: Callable[[], DefaultingContext],
    ) -> None:
        self._objects = objects
        self._services = services
        self._expected = expected
        self._new_context = new_context
        self._namespace, self._name = metadata.namespace(expected), metadata.name(expected)
        self._key = object_key(services, self._namespace, self._name)

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._key,)

    def concerned(self, change: controller_loops.Change) -> Iterable[str]:
        if change.key == self._key and change.new is None:
            yield self._name

    async def reconcile(self, item: str) -> None:
        if self._objects.get(self._services, self._namespace, item) is None:
            target, context = Target(self._services, self._namespace), self._new_context()
            draft = create.begin_create(draft_of(self._expected, target, context), target)
            track_create(draft, target, FieldWriter(bootstrap_objects.SERVER, context.now))
            created = create.finish_create(draft)
            result = in_message_order(stored_object(created, target, context))
            await self._objects.create(self._services, self._namespace, item, result)
