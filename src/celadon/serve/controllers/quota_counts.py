"""Quotas say what is used: counted when a quota is new or changed, and when something has gone.

What comes is charged by the request that brings it (`serve.charging`). As k8s.io/kubernetes
`pkg/controller/resourcequota`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from celadon.admission.plugins import counts_differ, recounted
from celadon.kube import GroupResource, JsonObject, metadata
from celadon.kube.catalogue import Resource
from celadon.serve.charging.open_charges import OpenCharges
from celadon.serve.controllers.controller_loops import Change, Stale
from celadon.serve.objects.object_keys import ROOT, collection_prefix
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.views.served_resources import Served


class QuotaCounts:
    """Items are `namespace/name` of quotas. `now` gives the time as objects have it."""

    urgent = False
    prefixes: Sequence[str] = (f"{ROOT}/",)

    def __init__(
        self,
        objects: ObjectStore,
        quotas: Resource,
        served: Callable[[], Served],
        charges: OpenCharges,
        now: Callable[[], str],
    ) -> None:
        self._objects = objects
        self._resource = quotas
        self._served = served
        self._charges = charges
        self._now = now
        self._prefix = collection_prefix(quotas)
        self._known: dict[str, set[str]] = {}

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self._prefix):
            return self._changed_quota(change) or self._counting(change)
        return self._counting(change) if self._known else ()

    def _changed_quota(self, change: Change) -> tuple[str, ...]:
        namespace, _, name = change.key.removeprefix(self._prefix).partition("/")
        item = f"{namespace}/{name}"
        known = self._known.setdefault(namespace, set())
        if change.new is None:
            known.discard(item)
            if not known:
                del self._known[namespace]
            return ()
        known.add(item)
        old = (change.old or {}).get("spec")
        return () if change.old is not None and old == change.new.get("spec") else (item,)

    def _counting(self, change: Change) -> tuple[str, ...]:
        """The quotas of a namespace in which something counts for less, or has gone."""
        namespace = metadata.namespace(change.new if change.new is not None else change.old)
        quotas = self._known.get(namespace)
        if not quotas or change.old is None:
            return ()
        if change.new is not None:
            _, _, group, resource, *_ = change.key.split("/")
            about = GroupResource("" if group == "core" else group, resource)
            if not counts_differ(about, change.new, change.old, self._now()):
                return ()
        return tuple(quotas)

    async def reconcile(self, item: str) -> None:
        namespace, _, name = item.partition("/")
        await self._charges.closed(namespace)
        stored = self._objects.get(self._resource, namespace, name)
        if stored is None:
            return
        quota = stored.object
        status = recounted(quota, lambda resource: self._there(resource, namespace), self._now())
        if status != (quota.get("status") or {}):
            changed = {**quota, "status": status}
            made = await self._objects.update(
                self._resource, namespace, name, changed, stored.revision
            )
            if made is None:
                raise Stale

    def _there(self, resource: GroupResource, namespace: str) -> Sequence[Mapping[str, Any]] | None:
        catalog = self._served().catalog
        found = next((one for one in catalog if one.gvr.group_resource == resource), None)
        if found is None or not found.namespaced:
            return None
        objects: list[JsonObject] = [
            one.object for one in self._objects.page(found, namespace).objects
        ]
        return objects
