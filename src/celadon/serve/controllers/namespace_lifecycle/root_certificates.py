"""Every namespace has the ConfigMap `kube-root-ca.crt`: what pods trust when they call the server.

As k8s.io/kubernetes `pkg/controller/certificates/rootcacertpublisher`. Service account tokens are
mounted together with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import Resource
from celadon.serve.access.initial_objects import ROOT_CA_CONFIG_MAP, root_ca_config_map
from celadon.serve.controllers.controller_loops import Change, Stale
from celadon.serve.controllers.server_requests import RequestFailed, ServerRequests, resource_path
from celadon.serve.controllers.status_writes import StatusWrites
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore


class RootCertificates:
    """Items are names of namespaces; `bundle` is PEM."""

    urgent = False

    def __init__(
        self,
        objects: ObjectStore,
        namespaces: StatusWrites,
        maps: Resource,
        requests: ServerRequests,
        bundle: str,
    ) -> None:
        self._objects = objects
        self._namespaces = namespaces
        self._maps = maps
        self._requests = requests
        self._bundle = bundle

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._namespaces.prefix, collection_prefix(self._maps))

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self._namespaces.prefix):
            return () if change.new is None else (metadata.name(change.new),)
        found = change.new or change.old
        if found is None or metadata.name(found) != ROOT_CA_CONFIG_MAP:
            return ()
        return (metadata.namespace(found),)

    async def reconcile(self, item: str) -> float | None:
        namespace = self._namespaces.get(item)
        if namespace is None or metadata.deletion_timestamp(namespace.object):
            return None
        wanted = root_ca_config_map(item, self._bundle)
        stored = self._objects.get(self._maps, item, ROOT_CA_CONFIG_MAP)
        if stored is None:
            await self._write("POST", resource_path(self._maps, item), wanted)
        elif not _has(stored.object, wanted):
            path = resource_path(self._maps, item, ROOT_CA_CONFIG_MAP)
            await self._write("PUT", path, _restored(stored.object, wanted))
        return None

    async def _write(self, method: str, path: str, body: dict[str, Any]) -> None:
        """Raises Stale, RequestFailed."""
        reply = await self._requests.call(method, path, body)
        if reply.code == 409:
            raise Stale
        if reply.failed:
            raise RequestFailed(f"{method} {path}: {reply.code} {reply.message}")


def _has(found: JsonObject, wanted: JsonObject) -> bool:
    """Whether data and annotations are as wanted; there may be other annotations."""
    missing = metadata.annotations(wanted).items() - metadata.annotations(found).items()
    return found.get("data") == wanted["data"] and not missing


def _restored(found: JsonObject, wanted: JsonObject) -> dict[str, Any]:
    """What was found, with data and annotations as wanted."""
    annotations = metadata.annotations(found) | metadata.annotations(wanted)
    meta = {**metadata.metadata(found), "annotations": annotations}
    return {**found, "metadata": meta, "data": wanted["data"]}
