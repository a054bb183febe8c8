"""What a new server has before the first request: namespaces, roles, flow control, what there is of
its network.

Objects that are there already stay as they are: after a restart nothing is done.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import Catalog
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Target, create, draft_of
from celadon.kube.roles import bootstrap_roles
from celadon.serve.access.api_service_objects import api_services
from celadon.serve.access.flow_control_objects import flow_schemas, priority_levels
from celadon.serve.access.initial_objects import (
    authentication_config_map,
    default_service_account,
    initial_namespaces,
    initial_priority_classes,
    kubernetes_endpoints,
    kubernetes_service,
    service_range,
)
from celadon.serve.objects.object_keys import object_key
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.rest.object_writes import in_order
from celadon.serve.views.service_network_view import CLUSTER_ADDRESSES


@cache
def initial_objects() -> Sequence[JsonObject]:
    """Those that are the same everywhere, in an order in which each finds what it needs."""
    namespaces = list(initial_namespaces())
    accounts = (default_service_account(metadata.name(one)) for one in namespaces)
    service = kubernetes_service()
    flow_control = (*priority_levels(), *flow_schemas())
    others = (*initial_priority_classes(), *bootstrap_roles(), *flow_control, service)
    return (*namespaces, *accounts, *others)


def objects_of_server(address: str, client_ca: str, now: str) -> Iterator[JsonObject]:
    """Those that depend on it: `address` is its host and port, `client_ca` PEM or empty, `now` the
    time as objects have it."""
    yield service_range(CLUSTER_ADDRESSES, now)
    yield authentication_config_map(client_ca)
    host, _, port = address.rpartition(":")
    with contextlib.suppress(ValueError):  # the name of a host
        listened = ipaddress.ip_address(host.strip("[]"))
        if not (listened.is_loopback or listened.is_unspecified):
            yield from kubernetes_endpoints(str(listened), int(port))


async def create_initial_objects(
    objects: ObjectStore,
    catalog: Catalog,
    new_context: Callable[[], DefaultingContext],
    of_server: Iterable[JsonObject] = (),
) -> None:
    """`new_context` gives a new uid each time, `of_server` are those of this one. All are written
    at once: with one flush to disk."""
    writes = []
    for obj in (*initial_objects(), *api_services(catalog), *of_server):
        resource = catalog.by_gvk(metadata.gvk(obj))
        if resource is None:  # a version that is not to be served
            continue
        namespace, name = metadata.namespace(obj), metadata.name(obj)
        if objects.store.get(object_key(resource, namespace, name)) is None:
            target = Target(resource, namespace)
            context = new_context()
            draft = create.begin_create(draft_of(obj, target, context), target)
            made = create.finish_create(draft)
            status = _status(obj, context.now)
            kept = in_order({**create.stored_new(draft, made, target), **status})
            writes.append(objects.create(resource, namespace, name, kept))
    await asyncio.gather(*writes)


def _status(obj: JsonObject, now: str) -> JsonObject:
    """Which no client could have given it; conditions without a time are from now."""
    if "status" not in obj:
        return {}
    conditions = [{"lastTransitionTime": now, **one} for one in obj["status"]["conditions"]]
    return {"status": {**obj["status"], "conditions": conditions}}
