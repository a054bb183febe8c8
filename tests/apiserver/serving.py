"""What tests of the server start from: a store in memory, objects in it, endpoints."""

from __future__ import annotations

from typing import Any

from celadon.admission import ObjectWorld
from celadon.admission.webhooks import Reply
from celadon.apiserver.caches.served_resources import ServedResources
from celadon.apiserver.conversion_webhooks import Conversions
from celadon.apiserver.handlers.read import Reader
from celadon.apiserver.handlers.resource_endpoints import Endpoint
from celadon.apiserver.object_store import ObjectStore, StoredObject
from celadon.kube import GroupVersionResource
from celadon.kube.releases import DEFAULT
from celadon.kube.resources import Resource, known_resources
from celadon.storage import open_memory

CONFIG_MAPS = GroupVersionResource("", "v1", "configmaps")


def resource(gvr: GroupVersionResource = CONFIG_MAPS) -> Resource:
    found = known_resources().by_gvr(gvr)
    assert found is not None
    return found


def endpoint(namespace: str = "", name: str = "", verb: str = "list") -> Endpoint:
    """Of ConfigMaps."""
    return Endpoint(resource(), None, namespace, name, verb)


def config_map(name: str, namespace: str = "a", **labels: str) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    if labels:
        meta["labels"] = labels
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta}


async def _unasked(*_: object, **__: object) -> Reply:
    raise AssertionError("no conversion webhook is there")


class Shelf:
    """ConfigMaps in a store."""

    def __init__(self) -> None:
        self.store = open_memory()
        self.objects = ObjectStore(self.store)
        self.served = served = ServedResources(self.objects, known_resources(), DEFAULT)
        conversions = Conversions(served.current, _unasked, lambda: "uid")
        self.reader = Reader(self.objects, ObjectWorld(), served.current().custom.get, conversions)

    async def create(self, name: str, namespace: str = "a", **labels: str) -> StoredObject:
        obj = config_map(name, namespace, **labels)
        made = await self.objects.create(resource(), namespace, name, obj)
        assert made is not None
        return made

    async def update(self, name: str, namespace: str = "a", **labels: str) -> StoredObject:
        old = self.objects.get(resource(), namespace, name)
        assert old is not None
        obj = config_map(name, namespace, **labels)
        made = await self.objects.update(resource(), namespace, name, obj, old.revision)
        assert made is not None
        return made

    async def delete(self, name: str, namespace: str = "a") -> None:
        old = self.objects.get(resource(), namespace, name)
        assert old is not None
        assert await self.objects.delete(resource(), namespace, name, old.revision)
