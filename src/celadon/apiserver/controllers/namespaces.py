"""A namespace that is to be deleted is emptied, then lets go of its finalizer.

As k8s.io/kubernetes `pkg/controller/namespace/deletion/namespaced_resources_deleter.go`: some time
after the deletion, so that content which was on its way has come.
"""

from __future__ import annotations

import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from celadon.apiserver import object_store
from celadon.apiserver.bootstrap_objects import (
    ROOT_CA_CONFIG_MAP,
    default_service_account,
    root_ca_config_map,
)
from celadon.apiserver.caches.served_resources import Served
from celadon.apiserver.controllers import controller_loops as loops
from celadon.apiserver.discovery.discovery_documents import RemoteVersion
from celadon.kube import GroupResource, JsonObject, metadata
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import Target, create, stored_object
from celadon.kube.resources import Resource
from celadon.records import dataclass, field

# --- Namespace conditions ----------------------------------------------------
#
# What the status of a namespace says while its content is being deleted.
#
# As k8s.io/kubernetes `pkg/controller/namespace/deletion/status_condition_utils.go`.

_OPTIONS: Final = {"propagationPolicy": "Background"}
_PODS: Final = GroupResource("", "pods")
_DISCOVERY_FAILURE: Final = "NamespaceDeletionDiscoveryFailure"
_CONTENT_FAILURE: Final = "NamespaceDeletionContentFailure"
_CONTENT_REMAINING: Final = "NamespaceContentRemaining"
_FINALIZERS_REMAINING: Final = "NamespaceFinalizersRemaining"
_GOOD: Final = (
    loops.condition(
        _DISCOVERY_FAILURE, "False", "ResourcesDiscovered", "All resources successfully discovered"
    ),
    loops.condition(
        "NamespaceDeletionGroupVersionParsingFailure",
        "False",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    loops.condition(
        _CONTENT_FAILURE,
        "False",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    loops.condition(
        _CONTENT_REMAINING, "False", "ContentRemoved", "All content successfully removed"
    ),
    loops.condition(
        _FINALIZERS_REMAINING,
        "False",
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
)


@dataclass(frozen=True, slots=True)
class Remains:
    """Says what is left after an attempt: objects by resource, objects by finalizer, and
    problems."""

    objects: Mapping[GroupResource, int] = field(default_factory=dict)
    finalizers: Mapping[str, int] = field(default_factory=dict)
    failures: Sequence[str] = ()
    unknown: Sequence[str] = ()
    """Group versions of which nobody knows what they have."""
    awaited_pods: bool = False
    """Whether nothing but pods was deleted, since there still are some. Upstream counts nothing
    then, and its conditions tell of no remains."""


def deletion_conditions(
    conditions: Sequence[JsonObject] | None, remains: Remains, now: str
) -> list[JsonObject]:
    """Return the conditions with all five about the deletion, in the order in which they came."""
    bad = {item["type"]: item for item in _bad(remains)}
    result = list(conditions or ())
    for good in _GOOD:
        result = loops.with_condition(result, bad.get(good["type"], good), now)
    return result


def _bad(remains: Remains) -> list[JsonObject]:
    result: list[JsonObject] = []
    if remains.unknown:
        stale = ", ".join(
            f"{text}: stale GroupVersion discovery: {text}" for text in sorted(remains.unknown)
        )
        text = (
            f"Discovery failed for some groups, {len(remains.unknown)} failing: unable to "
            f"retrieve the complete list of server APIs: {stale}"
        )
        result.append(loops.condition(_DISCOVERY_FAILURE, "True", "DiscoveryFailed", text))
    if remains.failures:
        text = (
            f"Failed to delete all resource types, {len(remains.failures)} remaining: "
            + ", ".join(sorted(remains.failures))
        )
        result.append(loops.condition(_CONTENT_FAILURE, "True", "ContentDeletionFailed", text))
    if remains.objects:
        left = sorted(
            f"{key.resource}.{key.group} has {number} resource instances"
            for key, number in remains.objects.items()
        )
        text = "Some resources are remaining: " + ", ".join(left)
        result.append(loops.condition(_CONTENT_REMAINING, "True", "SomeResourcesRemain", text))
    if remains.finalizers:
        finalizers = sorted(
            f"{key} in {number} resource instances" for key, number in remains.finalizers.items()
        )
        text = "Some content in the namespace has finalizers remaining: " + ", ".join(finalizers)
        result.append(loops.condition(_FINALIZERS_REMAINING, "True", "SomeFinalizersRemain", text))
    return result


FINALIZER: Final = "kubernetes"
GRACE_SECONDS: Final = 5.0
"""Between the deletion of a namespace and that of its content (`namespaceDeletionGracePeriod`)."""
AGAIN: Final = 1.0
"""Seconds until what was still there is looked at again."""


@dataclass(frozen=True, slots=True, eq=False)
class NamespaceDeletion:
    """Empties namespaces that are being deleted. Items are names of namespaces; `offered` are the
    versions of other servers, of which the content is deleted, too. With `pods_first`, what a pod
    may still use is there as long as the pod (`OrderedNamespaceDeletion`)."""

    urgent = False

    objects: object_store.ObjectStore
    namespaces: loops.StatusWrites
    served: Callable[[], Served]
    requests: loops.ServerRequests
    now: Callable[[], datetime]
    grace: float = GRACE_SECONDS
    offered: Callable[[], Sequence[RemoteVersion]] = tuple
    pods_first: bool = True

    @property
    def prefixes(self) -> Sequence[str]:
        return (self.namespaces.prefix,)

    def concerned(self, change: loops.Change) -> Iterable[str]:
        return () if change.new is None or not _waits(change.new) else (metadata.name(change.new),)

    async def reconcile(self, item: str) -> float | None:
        stored = self.namespaces.get(item)
        if stored is None or not _waits(stored.object):
            return None
        early = self._seconds_early(stored.object)
        if early > 0:
            return early
        remains = await self._emptied(item)
        stored = await self._said(stored, remains)
        if remains.awaited_pods or remains.objects or remains.failures or remains.unknown:
            return AGAIN
        await self._finalized(stored)
        return None

    def _seconds_early(self, namespace: JsonObject) -> float:
        """Return how much too early a time may be: times in objects leave out what is below the
        second, so it counts as a whole one."""
        if not self.grace:
            return 0.0
        deleted = datetime.fromisoformat(metadata.deletion_timestamp(namespace))
        return self.grace + 1 - (self.now() - deleted).total_seconds()

    async def _emptied(self, namespace: str) -> Remains:
        objects: dict[GroupResource, int] = {}
        finalizers: Counter[str] = Counter()
        failures: list[str] = []
        deletable = list(self._deletable())
        if self.pods_first:
            # Stable: what comes behind the pods comes in the order of the catalogue.
            deletable.sort(key=lambda resource: resource.gvr.group_resource != _PODS)
        for resource in deletable:
            left = await self._left_of(resource, namespace, failures)
            if left and self.pods_first and resource.gvr.group_resource == _PODS:
                return Remains(failures=failures, awaited_pods=True)
            if left:
                objects[resource.gvr.group_resource] = len(left)
            for element in left:
                finalizers.update(metadata.finalizers(element.object))
        unknown = []
        for offered in self.offered():
            if offered.document is not None and offered.document["freshness"] != "Current":
                unknown.append(str(offered.group_version))
            for path, group_resource in _deletable_elsewhere(offered, namespace):
                reply = await self.requests.call("DELETE", path, _OPTIONS)
                if reply.failed:
                    failures.append(reply.message)
                items = (await self.requests.call("GET", path)).body.get("items") or ()
                if items:
                    objects[group_resource] = len(items)
                for item in items:
                    finalizers.update(metadata.finalizers(item))
        return Remains(objects, finalizers, failures, unknown)

    async def _left_of(
        self, resource: Resource, namespace: str, failures: list[str]
    ) -> Sequence[object_store.StoredObject]:
        """Delete a collection; return what is still there. Where that failed it is none: upstream
        counts what is left behind a deletion only."""
        if not self.objects.page(resource, namespace, limit=1).objects:
            return ()
        path = loops.resource_path(resource, namespace)
        reply = await self.requests.call("DELETE", path, _OPTIONS)
        if reply.failed:
            failures.append(reply.message)
            return ()
        return self.objects.page(resource, namespace).objects

    def _deletable(self) -> Iterator[Resource]:
        """Yield each resource that has content in namespaces, in one version."""
        for key, resource in loops.asked_resources(self.served().catalog).items():
            deletable = {"deletecollection", "list"} <= set(resource.verbs)
            if resource.namespaced and deletable and key not in object_store.STORED_ELSEWHERE:
                yield resource

    async def _said(
        self, stored: object_store.StoredObject, remains: Remains
    ) -> object_store.StoredObject:
        status = stored.object.get("status") or {}
        now = self.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        conditions = deletion_conditions(status.get("conditions"), remains, now)
        return await self.namespaces.write(stored, {**status, "conditions": conditions})

    async def _finalized(self, stored: object_store.StoredObject) -> None:
        spec = stored.object.get("spec") or {}
        finalizers = [
            finalizer for finalizer in spec.get("finalizers") or () if finalizer != FINALIZER
        ]
        name = metadata.name(stored.object)
        body = {**stored.object, "spec": {**spec, "finalizers": finalizers}}
        await self.requests.require("PUT", f"/api/v1/namespaces/{name}/finalize", body)


def _deletable_elsewhere(
    offered: RemoteVersion, namespace: str
) -> Iterator[tuple[str, GroupResource]]:
    """Yield the collections of a namespace that another server has, with their paths."""
    for resource in (offered.document or {}).get("resources") or ():
        verbs = set(resource.get("verbs") or ())
        if resource.get("scope") == "Namespaced" and {"deletecollection", "list"} <= verbs:
            name = str(resource["resource"])
            parts = (*offered.group_version, "namespaces", namespace, name)
            path = "/".join(urllib.parse.quote(part, safe="") for part in parts)
            yield f"/apis/{path}", GroupResource(offered.group_version.group, name)


def _waits(namespace: JsonObject) -> bool:
    finalizers = (namespace.get("spec") or {}).get("finalizers") or ()
    return bool(metadata.deletion_timestamp(namespace)) and FINALIZER in finalizers


# --- Default accounts --------------------------------------------------------
#
# Every namespace has the ServiceAccount `default`: pods that name none need it.
#
# As k8s.io/kubernetes `pkg/controller/serviceaccount/serviceaccounts_controller.go`. It is
# urgent: pods may come right after their namespace; upstream, the plugin that needs the account
# waits for it.


@dataclass(frozen=True, slots=True, eq=False)
class DefaultAccounts:
    """Makes the ServiceAccount `default` of each namespace. Items are names of namespaces;
    `new_context` gives a new uid each time."""

    urgent = True

    objects: object_store.ObjectStore
    namespaces: loops.StatusWrites
    accounts: Resource
    new_context: Callable[[], DefaultingContext]

    @property
    def prefixes(self) -> Sequence[str]:
        return (self.namespaces.prefix, object_store.collection_prefix(self.accounts))

    def concerned(self, change: loops.Change) -> Iterable[str]:
        if change.key.startswith(self.namespaces.prefix):
            return () if change.new is None else (metadata.name(change.new),)
        old = change.old if change.new is None else None
        return () if old is None else (metadata.namespace(old),)

    async def reconcile(self, item: str) -> None:
        namespace = self.namespaces.get(item)
        if namespace is None or metadata.deletion_timestamp(namespace.object):
            return
        account = default_service_account(item)
        name = metadata.name(account)
        if self.objects.get(self.accounts, item, name) is None:
            target, context = Target(self.accounts, item), self.new_context()
            created = create.created(account, target, context)
            result = stored_object(created, target, context)
            await self.objects.create(self.accounts, item, name, result)


# --- Root certificates -------------------------------------------------------
#
# Every namespace has the ConfigMap `kube-root-ca.crt`: what pods trust when they call the
# server.
#
# As k8s.io/kubernetes `pkg/controller/certificates/rootcacertpublisher`. Service account tokens
# are mounted together with it.


@dataclass(frozen=True, slots=True, eq=False)
class RootCertificates:
    """Keeps the ConfigMap with the certificates that pods trust in each namespace. Items are names
    of namespaces; `bundle` is PEM."""

    urgent = False

    objects: object_store.ObjectStore
    namespaces: loops.StatusWrites
    maps: Resource
    requests: loops.ServerRequests
    bundle: str

    @property
    def prefixes(self) -> Sequence[str]:
        return (self.namespaces.prefix, object_store.collection_prefix(self.maps))

    def concerned(self, change: loops.Change) -> Iterable[str]:
        if change.key.startswith(self.namespaces.prefix):
            return () if change.new is None else (metadata.name(change.new),)
        new = change.new or change.old
        if new is None or metadata.name(new) != ROOT_CA_CONFIG_MAP:
            return ()
        return (metadata.namespace(new),)

    async def reconcile(self, item: str) -> float | None:
        namespace = self.namespaces.get(item)
        if namespace is None or metadata.deletion_timestamp(namespace.object):
            return None
        expected = root_ca_config_map(item, self.bundle)
        stored = self.objects.get(self.maps, item, ROOT_CA_CONFIG_MAP)
        if stored is None:
            await self._write("POST", loops.resource_path(self.maps, item), expected)
        elif not _has(stored.object, expected):
            path = loops.resource_path(self.maps, item, ROOT_CA_CONFIG_MAP)
            await self._write("PUT", path, _restored(stored.object, expected))
        return None

    async def _write(self, method: str, path: str, body: JsonDict) -> None:
        """Write the ConfigMap. Raises Stale, RequestFailed."""
        reply = await self.requests.call(method, path, body)
        if reply.code == 409:
            raise loops.Stale
        if reply.failed:
            raise loops.RequestFailed(f"{method} {path}: {reply.code} {reply.message}")


def _has(obj: JsonObject, expected: JsonObject) -> bool:
    """Return whether data and annotations are as wanted; there may be other annotations."""
    missing = metadata.annotations(expected).items() - metadata.annotations(obj).items()
    return obj.get("data") == expected["data"] and not missing


def _restored(obj: JsonObject, expected: JsonObject) -> JsonDict:
    """Return what was found, with data and annotations as wanted."""
    annotations = metadata.annotations(obj) | metadata.annotations(expected)
    meta = {**metadata.metadata(obj), "annotations": annotations}
    return {**obj, "metadata": meta, "data": expected["data"]}
