"""Controllers that write statuses: the type checks of validating policies, and what quotas count.

As k8s.io/kubernetes `pkg/controller/validatingadmissionpolicystatus` and
`pkg/controller/resourcequota`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final

from celadon.admission import TypeChecker
from celadon.admission.plugins import counts_differ, recounted
from celadon.admission.registration import RegistrationError, decode_policy
from celadon.apiserver.caches.served_resources import Served
from celadon.apiserver.controllers import controller_loops
from celadon.apiserver.loop_offloading import BRIEF_BYTES
from celadon.apiserver.object_store import ROOT, ObjectStore, collection_prefix
from celadon.apiserver.quota_charging import OpenCharges
from celadon.kube import GroupResource, GroupVersionKind, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.resources import Catalog, Resource
from celadon.kube.schemas import Schema, custom_schemas

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
        """Return the type checker, made anew when other kinds are served."""
        if self._checker is None or served is not self._for:
            self._for, self._numbered = served, self._number()
            self._checker = TypeChecker(_by_default(served), _schemas(served), self._version)
        return self._checker


def merged_status(former: JsonObject, update: JsonObject) -> JsonDict:
    """Return the status of a policy with what was found. Before 1.36, who took away all warnings
    that there were was left without the field that had held them."""
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
# Quotas say what is used: counted when a quota is new or changed, when something has gone, and from
# time to time, for a status that somebody else has written is noticed by nothing else.
#
# What comes is charged by the request that brings it (`quota_charging`). As k8s.io/kubernetes
# `pkg/controller/resourcequota`.

RESYNC_SECONDS: Final = 300.0
"""Until a quota is counted anew in any case (`--resource-quota-sync-period`)."""


class QuotaCounts:
    """Counts what quotas cover. Items are `namespace/name` of quotas; `now` gives the time as
    objects have it."""

    urgent = False

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

    @property
    def prefixes(self) -> Sequence[str]:
        """Return that of quotas, and while there are any that of everything, too: most servers have
        none, and would be woken by each write for nothing, which is 3 % of it."""
        return (self._prefix, f"{ROOT}/") if self._namespaces else (self._prefix,)

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
        """Return the quotas of a namespace in which something counts for less, or has gone."""
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

    async def reconcile(self, item: str) -> float | None:
        """Count what a quota covers, and again after a while. Raises Stale, so that it is counted
        again at once, also where charges were open beside it: what they were for may be stored by
        now."""
        namespace, _, name = item.partition("/")
        if self._objects.get(self._resource, namespace, name) is None:
            return None
        await self._charges.closed(namespace)
        with self._charges.counting(namespace) as disturbed:
            is_current = await self._count(namespace, name)
        if disturbed.is_set() or not is_current:
            raise controller_loops.Stale
        return RESYNC_SECONDS

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
