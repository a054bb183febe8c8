"""What a new server has before the first request: namespaces, roles, priority classes.

Objects that are there already stay as they are: after a restart nothing is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import Catalog
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.writes import Target, write_path
from celadon.serve.access.bootstrap_roles import bootstrap_roles
from celadon.serve.access.initial_objects import (
    default_service_account,
    initial_namespaces,
    initial_priority_classes,
    kubernetes_service,
)
from celadon.serve.objects.object_keys import object_key
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.rest.object_writes import in_order

FIRST_ADDRESS: Final = "10.0.0.1"
"""Of the Services: that of the server's own."""

API_PORT: Final = 6443
"""What that Service leads to (`--secure-port` of kube-apiserver)."""


@cache
def initial_objects() -> Sequence[JsonObject]:
    """In an order in which each finds what it needs."""
    namespaces = list(initial_namespaces())
    accounts = (default_service_account(metadata.name(one)) for one in namespaces)
    service = kubernetes_service(FIRST_ADDRESS, API_PORT)
    return (*namespaces, *accounts, *initial_priority_classes(), *bootstrap_roles(), service)


async def create_initial_objects(
    objects: ObjectStore, catalog: Catalog, new_context: Callable[[], DefaultingContext]
) -> None:
    """`new_context` gives a new uid each time. All are written at once: with one flush to disk."""
    writes = []
    for obj in initial_objects():
        resource = catalog.by_gvk(metadata.gvk(obj))
        assert resource is not None, f"no resource for {metadata.gvk(obj)}"
        namespace, name = metadata.namespace(obj), metadata.name(obj)
        if objects.store.get(object_key(resource, namespace, name)) is None:
            target = Target(resource, namespace)
            context = new_context()
            made = write_path.created(obj, target, context)
            kept = in_order(write_path.stored_object(made, target, context))
            writes.append(objects.create(resource, namespace, name, kept))
    await asyncio.gather(*writes)
