"""Small controllers that keep up what others rely on: priority levels and FlowSchemas, statuses of
policies and quotas, aggregated roles, addresses, the server's own Service.

The first: those of every cluster are kept, and all say whether their level exists. As
k8s.io/kubernetes `pkg/registry/flowcontrol/{rest,ensurer}` (once a minute) and k8s.io/apiserver
`pkg/util/flowcontrol/apf_controller.go` (at once).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from celadon.admission import TypeChecker
from celadon.admission.plugins import counts_differ, recounted
from celadon.admission.registration import RegistrationError, decode_policy
from celadon.apiserver import bootstrap_objects
from celadon.apiserver.caches.served_resources import Served
from celadon.apiserver.controllers import controller_loops
from celadon.apiserver.handlers.write import in_order
from celadon.apiserver.object_store import ROOT, ObjectStore, collection_prefix, object_key
from celadon.apiserver.quota_charging import OpenCharges
from celadon.apiserver.request_work import BRIEF_BYTES
from celadon.kube import GroupResource, GroupVersionKind, JsonObject, metadata
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import FieldWriter, track_create
from celadon.kube.go import json_text, parse_bool
from celadon.kube.json_types import JsonDict
from celadon.kube.rbac import role_selectors
from celadon.kube.registry import Target, create, draft_of, stored_object
from celadon.kube.releases import is_since
from celadon.kube.resources import Catalog, Resource
from celadon.kube.schemas import Schema, custom_schemas

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


# --- Policy type checks ------------------------------------------------------
#
# The status of ValidatingAdmissionPolicies: which generation was seen, and what is wrong with
# its expressions for the kinds that it matches.


_CHECKED_AT_ONCE: Final = 16
"""Policies that one work checks, beside the one whose turn it is."""


class PolicyTypeChecks:
    """Writes what is wrong with the expressions of policies into their statuses. Items are names of
    policies; `version` is the release whose CEL they are written in, `number` gives what names of
    types end with."""

    urgent = False

    def __init__(
        self,
        policies: controller_loops.StatusWrites,
        served: Callable[[], Served],
        version: str,
        number: Callable[[], int],
        aside: controller_loops.Offload,
    ) -> None:
        self._policies = policies
        self._served = served
        self._version = version
        self._number = number
        self._aside = aside
        self._for: Served | None = None
        self._numbered = 0
        self._checker: TypeChecker | None = None
        self._waiting: dict[str, None] = {}
        """Names of those whose turn it will be."""
        self._found: dict[str, tuple[JsonObject, JsonObject | None]] = {}
        """Some of them that were checked before that, and what their statuses should say."""

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._policies.prefix,)

    def concerned(self, change: controller_loops.Change) -> Iterable[str]:
        new = change.new
        if new is None or _is_current(new):
            return ()
        name = metadata.name(new)
        self._waiting[name] = None
        return (name,)

    async def reconcile(self, item: str) -> None:
        self._waiting.pop(item, None)
        obj, status = self._found.pop(item, (None, None))
        stored = self._policies.get(item)
        if stored is None or _is_current(stored.object):
            return
        if obj is not stored.object:
            status = await self._check(stored.object)
        if status is None:
            return
        former = stored.object.get("status") or {}
        await self._policies.write(stored, merged_status(former, status))

    async def _check(self, obj: JsonObject) -> JsonObject | None:
        """Return what a status should say. To ask a worker takes as long as to check a policy, so
        that brief ones that wait are checked with it."""
        some: dict[str, JsonObject] = {}
        for name in islice(self._waiting, _CHECKED_AT_ONCE):
            stored = self._policies.get(name)
            if stored is not None and stored.size <= BRIEF_BYTES:
                some[name] = stored.object
        for name in some:
            del self._waiting[name]
        objects = [obj, *some.values()]
        status, *others = await self._aside(self._all_checked, objects, self._served())
        pairs = zip(some.items(), others, strict=True)
        self._found.update((name, (waiting, other)) for (name, waiting), other in pairs)
        return status

    def _all_checked(
        self, objects: Sequence[JsonObject], served: Served
    ) -> Sequence[JsonObject | None]:
        return [self._checked(obj, served) for obj in objects]

    def _checked(self, obj: JsonObject, served: Served) -> JsonObject | None:
        """Return what its status should say; None for a policy that cannot be read."""
        try:
            policy = decode_policy(obj).value
        except RegistrationError:
            return None
        return self._type_checker(served).status(policy, self._numbered)

    def _type_checker(self, served: Served) -> TypeChecker:
        """Made anew when other kinds are served."""
        if self._checker is None or served is not self._for:
            self._for, self._numbered = served, self._number()
            self._checker = TypeChecker(_by_default(served), _schemas(served), self._version)
        return self._checker


def merged_status(former: JsonObject, update: JsonObject) -> JsonDict:
    """The status of a policy with what was found. Before 1.36, who took away all warnings that
    there were was left without the field that had held them."""
    status = {**former, **update}
    if former.get("typeChecking") and not update["typeChecking"] and not is_since("1.36"):
        del status["typeChecking"]
    return status


def _is_current(policy: JsonObject) -> bool:
    observed = (policy.get("status") or {}).get("observedGeneration") or 0
    return bool(metadata.generation(policy) <= observed)


def _by_default(served: Served) -> Catalog:
    return Catalog(tuple(resource for resource in served.catalog if resource.by_default))


def _schemas(served: Served) -> dict[GroupVersionKind, Schema]:
    result: dict[GroupVersionKind, Schema] = {}
    for definition in served.definitions:
        result.update(custom_schemas(definition))
    return result


# --- Quota counts ------------------------------------------------------------
#
# Quotas say what is used: counted when a quota is new or changed, and when something has gone.
#
# What comes is charged by the request that brings it (`quota_charging`). As k8s.io/kubernetes
# `pkg/controller/resourcequota`.


class QuotaCounts:
    """Counts what quotas cover. Items are `namespace/name` of quotas; `now` gives the time as
    objects have it."""

    urgent = False
    prefixes: Sequence[str] = (f"{ROOT}/",)

    def __init__(
        self,
        objects: ObjectStore,
        quotas: Resource,
        served: Callable[[], Served],
        charges: OpenCharges,
        now: Callable[[], str],
        aside: controller_loops.Offload,
    ) -> None:
        self._aside = aside
        self._objects = objects
        self._resource = quotas
        self._served = served
        self._charges = charges
        self._now = now
        self._prefix = collection_prefix(quotas)
        self._namespaces: dict[str, set[str]] = {}

    def concerned(self, change: controller_loops.Change) -> Iterable[str]:
        if change.key.startswith(self._prefix):
            return self._changed_quota(change) or self._counting(change)
        return self._counting(change) if self._namespaces else ()

    def _changed_quota(self, change: controller_loops.Change) -> tuple[str, ...]:
        namespace, _, name = change.key.removeprefix(self._prefix).partition("/")
        item = f"{namespace}/{name}"
        items = self._namespaces.setdefault(namespace, set())
        if change.new is None:
            items.discard(item)
            if not items:
                del self._namespaces[namespace]
            return ()
        items.add(item)
        old = (change.old or {}).get("spec")
        return () if change.old is not None and old == change.new.get("spec") else (item,)

    def _counting(self, change: controller_loops.Change) -> tuple[str, ...]:
        """The quotas of a namespace in which something counts for less, or has gone."""
        namespace = metadata.namespace(change.new if change.new is not None else change.old)
        quotas = self._namespaces.get(namespace)
        if not quotas or change.old is None:
            return ()
        if change.new is not None:
            _, _, group, resource, *_ = change.key.split("/")
            about = GroupResource("" if group == "core" else group, resource)
            if not counts_differ(about, change.new, change.old, self._now()):
                return ()
        return tuple(quotas)

    async def reconcile(self, item: str) -> None:
        """Count what a quota covers. Raises Stale, so that it is counted again, also where charges
        were open beside it: what they were for may be stored by now."""
        namespace, _, name = item.partition("/")
        await self._charges.closed(namespace)
        with self._charges.counting(namespace) as disturbed:
            is_current = await self._count(namespace, name)
        if disturbed.is_set() or not is_current:
            raise controller_loops.Stale

    async def _count(self, namespace: str, name: str) -> bool:
        """Return whether nobody else has written the quota meanwhile."""
        stored = self._objects.get(self._resource, namespace, name)
        if stored is None:
            return True
        quota = stored.object
        status = await self._aside(
            recounted, quota, lambda resource: self._there(resource, namespace), self._now()
        )
        if status == (quota.get("status") or {}):
            return True
        changed = {**quota, "status": status}
        updated = await self._objects.update(
            self._resource, namespace, name, changed, stored.revision
        )
        return updated is not None

    def _there(self, resource: GroupResource, namespace: str) -> Sequence[JsonObject] | None:
        catalog = self._served().catalog
        resource_type = next(
            (item for item in catalog if item.gvr.group_resource == resource), None
        )
        if resource_type is None or not resource_type.namespaced:
            return None
        objects: list[JsonObject] = [
            obj.object for obj in self._objects.page(resource_type, namespace).objects
        ]
        return objects


# --- Role aggregation --------------------------------------------------------
#
# ClusterRoles with an aggregation rule have the rules of the roles that it selects.
#
# As k8s.io/kubernetes
# `pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go`.


def aggregated_rules(role: JsonObject, roles: Iterable[JsonObject]) -> list[JsonObject] | None:
    """The rules the role should have, each once, in the order of selectors and of the names of the
    roles; None for a role that says its rules itself."""
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
    """Roles that should have other rules, with these."""
    result = []
    for role in roles:
        rules = aggregated_rules(role, roles)
        if rules is not None and rules != (role.get("rules") or []):
            result.append((role, rules))
    return result


class RoleAggregation:
    """Gives aggregated roles the rules of those that they select. There is one item: all roles, as
    each may concern any other."""

    urgent = False

    def __init__(
        self, roles: controller_loops.StatusWrites, aside: controller_loops.Offload
    ) -> None:
        self._roles = roles
        self._aside = aside

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._roles.prefix,)

    def concerned(self, change: controller_loops.Change) -> Iterable[str]:
        return ("",)

    async def reconcile(self, item: str) -> None:
        for role, rules in await self._aside(_outdated_roles, self._roles.all()):
            stored = self._roles.get(metadata.name(role))
            if stored is None or stored.object is not role:
                raise controller_loops.Stale
            await self._roles.replace(stored, {**role, "rules": rules})


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
            result = in_order(stored_object(created, target, context))
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
            result = in_order(stored_object(created, target, context))
            await self._objects.create(self._services, self._namespace, item, result)
