"""Every namespace has the ConfigMap `kube-root-ca.crt`: what pods trust when they call the server.

As k8s.io/kubernetes `pkg/controller/certificates/rootcacertpublisher`. Service account tokens are
mounted together with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import Resource
from celadon.serve.access.initial_objects import ROOT_CA_CONFIG_MAP
from celadon.serve.controllers.controller_loops import Change, Stale
from celadon.serve.controllers.server_requests import RequestFailed, ServerRequests, resource_path
from celadon.serve.controllers.status_writes import StatusWrites
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore

KEY: Final = "ca.crt"
ANNOTATIONS: Final = {
    "kubernetes.io/description": (
        "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
        "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
        "guaranteed across distributions of Kubernetes clusters."
    )
}


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
        stored = self._objects.get(self._maps, item, ROOT_CA_CONFIG_MAP)
        if stored is None:
            wanted = {
                "metadata": {"name": ROOT_CA_CONFIG_MAP, "annotations": ANNOTATIONS},
                "data": self._data,
            }
            await self._write("POST", resource_path(self._maps, item), wanted)
        elif not self._is_right(stored.object):
            meta = metadata.metadata(stored.object)
            annotations = {**(meta.get("annotations") or {}), **ANNOTATIONS}
            wanted = {
                **stored.object,
                "metadata": {**meta, "annotations": annotations},
                "data": self._data,
            }
            await self._write("PUT", resource_path(self._maps, item, ROOT_CA_CONFIG_MAP), wanted)
        return None

    @property
    def _data(self) -> dict[str, str]:
        return {KEY: self._bundle}

    def _is_right(self, obj: JsonObject) -> bool:
        return obj.get("data") == self._data and not (
            ANNOTATIONS.items() - metadata.annotations(obj).items()
        )

    async def _write(self, method: str, path: str, body: dict[str, Any]) -> None:
        """Raises Stale, RequestFailed."""
        reply = await self._requests.call(method, path, body)
        if reply.code == 409:
            raise Stale
        if reply.failed:
            raise RequestFailed(f"{method} {path}: {reply.code} {reply.message}")
