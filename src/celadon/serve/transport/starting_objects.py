"""Objects that a server is given at its start, created as its administrator would.

Namespaces and CustomResourceDefinitions come first, whatever the order of the files; what is there
already stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import Resource
from celadon.serve.apiserver import ApiServer
from celadon.serve.http_messages import HttpRequest
from celadon.serve.transport.server_settings import StartError

FIRST: Final = ("Namespace", "CustomResourceDefinition")
CREATED: Final = 201
EXISTS: Final = 409


async def create_objects(
    server: ApiServer, objects: Iterable[tuple[str, JsonObject]], token: str
) -> None:
    """Each with its place, for errors. Raises StartError for one that is refused."""
    for place, obj in in_creation_order(objects):
        await server.controllers.caught_up()
        resource = server.served.current().catalog.by_gvk(metadata.gvk(obj))
        if resource is None:
            raise StartError(f"{place}: no kind {obj.get('kind')} in {obj.get('apiVersion')}")
        headers = [("authorization", f"Bearer {token}"), ("content-type", "application/json")]
        target = collection_path(resource, metadata.namespace(obj) or "default")
        answer = await server.handle(HttpRequest("POST", target, headers, json.dumps(obj).encode()))
        if answer.code not in (CREATED, EXISTS):
            raise StartError(f"{place}: {json.loads(answer.body).get('message')}")


def in_creation_order(objects: Iterable[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """What others need comes before them."""
    return sorted(objects, key=lambda one: one[1].get("kind") not in FIRST)


def collection_path(resource: Resource, namespace: str) -> str:
    """Where objects of the kind are created; `namespace` is for those that have one."""
    gvk = resource.gvk
    root = f"/apis/{gvk.group}/{gvk.version}" if gvk.group else f"/api/{gvk.version}"
    place = f"namespaces/{namespace}/" if resource.namespaced else ""
    return f"{root}/{place}{resource.gvr.resource}"
